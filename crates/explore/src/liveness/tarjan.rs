//! Strongly connected components of a part of a state graph.
//!
//! R. Tarjan: *Depth-first search and linear graph algorithms*, SIAM Journal on Computing 1(2), 1972.
//! Where we depart: recursion is a stack of our own, since paths are as long as there are states.

use super::state_graph::StateGraph;

/// The number of a state that was not visited.
const UNVISITED: u32 = u32::MAX;

/// The search for components, whose memory is used again for every part of the graph.
pub(crate) struct Tarjan {
    /// When each state was visited; and the earliest state on the stack that is known to be reachable
    /// from it through its subtree.
    index: Vec<u32>,
    low: Vec<u32>,
    /// Visited states whose component is not complete.
    stack: Vec<u32>,
    on_stack: Vec<bool>,
    /// The path of the depth-first search: a state, and which of its edges comes next.
    path: Vec<(u32, u32)>,
}

impl Tarjan {
    /// For a graph of so many states.
    pub(crate) fn new(states: usize) -> Self {
        Tarjan {
            index: vec![UNVISITED; states],
            low: vec![0; states],
            stack: Vec::new(),
            on_stack: vec![false; states],
            path: Vec::new(),
        }
    }

    /// Shows the components of the part of the graph that `part` is true of, of which `states` are all
    /// states, to `found`, until it returns true.
    pub(crate) fn components(
        &mut self,
        graph: &StateGraph,
        states: &[u32],
        part: &dyn Fn(u32) -> bool,
        found: &mut dyn FnMut(&[u32]) -> bool,
    ) {
        states.iter().for_each(|&state| self.index[state as usize] = UNVISITED);
        let mut count = 0;
        for &root in states {
            if self.index[root as usize] != UNVISITED {
                continue;
            }
            self.enter(root, &mut count);
            while let Some((state, edge)) = self.path.last_mut() {
                let (state, at) = (*state, *edge);
                match graph.edges(state).get(at as usize) {
                    Some(edge) => {
                        self.path.last_mut().expect("it is not empty").1 += 1;
                        let to = edge.to;
                        if !part(to) {
                            continue;
                        }
                        if self.index[to as usize] == UNVISITED {
                            self.enter(to, &mut count);
                        } else if self.on_stack[to as usize] {
                            self.lower(state, self.index[to as usize]);
                        }
                    }
                    None => {
                        self.path.pop();
                        if let Some(&(parent, _)) = self.path.last() {
                            self.lower(parent, self.low[state as usize]);
                        }
                        if self.low[state as usize] == self.index[state as usize]
                            && self.complete(state, found)
                        {
                            self.stack.drain(..).for_each(|s| self.on_stack[s as usize] = false);
                            self.path.clear();
                            return;
                        }
                    }
                }
            }
        }
    }

    fn enter(&mut self, state: u32, count: &mut u32) {
        (self.index[state as usize], self.low[state as usize]) = (*count, *count);
        *count += 1;
        self.stack.push(state);
        self.on_stack[state as usize] = true;
        self.path.push((state, 0));
    }

    fn lower(&mut self, state: u32, to: u32) {
        let low = &mut self.low[state as usize];
        *low = (*low).min(to);
    }

    /// Takes the component of `root` from the stack and shows it.
    fn complete(&mut self, root: u32, found: &mut dyn FnMut(&[u32]) -> bool) -> bool {
        let at = self.stack.iter().rposition(|&state| state == root).expect("it is on the stack");
        self.stack[at..].iter().for_each(|&state| self.on_stack[state as usize] = false);
        let stop = found(&self.stack[at..]);
        self.stack.truncate(at);
        stop
    }
}
