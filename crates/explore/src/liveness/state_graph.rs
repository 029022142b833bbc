//! The whole graph of states and steps of a system, in memory.

use crate::states::States;
use crate::table::{Lookup, Table};
use crate::{Canonical, Control, Ended, Limit, Progress, Search, Step, System};
use xxhash_rust::xxh3::xxh3_64;

/// How many states are expanded before their successors are looked up.
const BATCH: usize = 64;

/// All reachable states, numbered in the order of a breadth-first search, and all steps between them.
///
/// States are told apart by equality. The initial state has number 0.
pub struct StateGraph {
    states: States,
    /// Where the edges of each state end.
    ends: Vec<u32>,
    edges: Vec<Edge>,
    /// For each state the one from which it was first reached, and by which of its edges.
    parents: Vec<(u32, u32)>,
    /// How many states were expanded; the others lie at the depth bound.
    expanded: u32,
    /// Why it ended.
    pub ended: Ended,
}

/// A step, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the state that it leads to.
    pub to: u32,
    /// Who acts.
    pub actor: u16,
    /// What kind of event happens.
    pub event: u16,
}

/// The successors of a batch of states, before they are looked up.
#[derive(Default)]
struct Successors {
    bytes: Vec<u8>,
    /// Of each: where its bytes end, its hash, its actor and event.
    items: Vec<(usize, u64, u16, u16)>,
    /// How many successors the states of the batch have, up to and including each.
    counts: Vec<usize>,
}

impl StateGraph {
    /// Explores a system breadth-first, within the bounds of `search` (depth, states, events that are
    /// switched off). `visit` sees every state, in the order of the numbers.
    pub fn new<S: System>(
        system: &S,
        search: &Search,
        control: &Control,
        mut visit: impl FnMut(&S::State),
    ) -> StateGraph {
        let (mut current, mut next) = (system.initial(), system.initial());
        let (mut table, mut steps) = (Table::default(), Vec::new());
        let mut graph = StateGraph {
            states: States::default(),
            ends: Vec::new(),
            edges: Vec::new(),
            parents: Vec::new(),
            expanded: 0,
            ended: Ended::Complete,
        };
        let mut bytes = Vec::new();
        current.write(&mut bytes);
        graph.number(&mut table, &bytes, xxh3_64(&bytes), (0, 0));
        let (mut depth, mut level) = (0, graph.states.len());
        let mut successors = Successors::default();
        while graph.expanded < graph.states.len() {
            if let Some(ended) = graph.limit(search, control) {
                graph.ended = ended;
                break;
            }
            if graph.expanded == level {
                (depth, level) = (depth + 1, graph.states.len());
            }
            if search.max_depth.is_some_and(|bound| depth >= bound) {
                break;
            }
            let until = level.min(graph.expanded + BATCH as u32);
            successors.clear();
            for number in graph.expanded..until {
                let own = graph.states.get(number);
                current.read(&mut &own[..]);
                visit(&current);
                steps.clear();
                system.enabled(&current, &mut steps);
                steps.retain(|step| !search.disabled.contains(&step.event));
                for &step in &steps {
                    system.restore(&current, own, &mut next);
                    system.take(&mut next, step);
                    table.prefetch(successors.add(&next, step));
                }
                successors.counts.push(successors.items.len());
            }
            graph.absorb(&mut table, &successors);
            control.publish(Progress {
                states: u64::from(graph.states.len()),
                events: graph.edges.len() as u64,
                depth: u64::from(depth),
                frontier: u64::from(graph.states.len() - graph.expanded),
                ..Progress::default()
            });
        }
        for number in graph.expanded..graph.states.len() {
            current.read(&mut graph.states.get(number));
            visit(&current);
        }
        graph.ends.resize(graph.states.len() as usize, graph.edges.len() as u32);
        graph
    }

    fn limit(&self, search: &Search, control: &Control) -> Option<Ended> {
        if control.stopped() {
            return Some(Ended::Stopped);
        }
        let most = u64::from(u32::MAX / 2);
        let limit = search.max_states.unwrap_or(most).min(most);
        let full =
            u64::from(self.states.len()) >= limit || self.edges.len() as u64 >= 2 * most - 4096;
        full.then_some(Ended::Limit(Limit::States(u64::from(self.states.len()))))
    }

    /// Looks the successors of the next states up and adds the edges to them.
    fn absorb(&mut self, table: &mut Table, successors: &Successors) {
        for &(_, hash, ..) in &successors.items {
            if let Some(guess) = table.guess(hash) {
                self.states.prefetch(guess);
            }
        }
        let (mut start, mut at) = (0, 0);
        for &count in &successors.counts {
            let first = at;
            for &(end, hash, actor, event) in &successors.items[at..count] {
                let from = (self.expanded, (at - first) as u32);
                let to = self.number(table, &successors.bytes[start..end], hash, from);
                self.edges.push(Edge { to, actor, event });
                (start, at) = (end, at + 1);
            }
            self.ends.push(self.edges.len() as u32);
            self.expanded += 1;
        }
    }

    /// The number of a state; a new one, if there is none.
    fn number(&mut self, table: &mut Table, bytes: &[u8], hash: u64, parent: (u32, u32)) -> u32 {
        let states = &mut self.states;
        table.reserve(states.len(), |number| xxh3_64(states.get(number)));
        match table.find(hash, |number| states.get(number) == bytes) {
            Lookup::Found(number) => number,
            Lookup::Vacant(slot) => {
                let number = states.push(bytes);
                table.fill(slot, hash, number);
                self.parents.push(parent);
                number
            }
        }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len() as usize
    }

    /// Whether there are none, which never is.
    pub fn is_empty(&self) -> bool {
        self.states.len() == 0
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.edges.len()
    }

    /// The steps that are enabled in a state; none in one at the depth bound.
    pub fn edges(&self, state: u32) -> &[Edge] {
        let at = state as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.edges[start as usize..self.ends[at] as usize]
    }

    /// Whether a state was expanded: it does not lie at the depth bound.
    pub fn is_expanded(&self, state: u32) -> bool {
        state < self.expanded
    }

    /// The canonical bytes of a state.
    pub fn bytes(&self, state: u32) -> &[u8] {
        self.states.get(state)
    }

    /// The shortest way to a state: which of the edges of each state on it.
    pub fn path(&self, state: u32) -> Vec<u32> {
        let (mut path, mut at) = (Vec::new(), state);
        while at != 0 {
            let (parent, edge) = self.parents[at as usize];
            path.push(edge);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The steps that belong to a sequence of edges from the initial state.
    pub fn schedule<S: System>(&self, system: &S, search: &Search, path: &[u32]) -> Vec<Step> {
        let (mut state, mut at) = (system.initial(), 0);
        let (mut steps, mut schedule) = (Vec::new(), Vec::new());
        for &edge in path {
            state.read(&mut self.states.get(at));
            steps.clear();
            system.enabled(&state, &mut steps);
            steps.retain(|step| !search.disabled.contains(&step.event));
            schedule.push(steps[edge as usize]);
            at = self.edges(at)[edge as usize].to;
        }
        schedule
    }
}

impl Successors {
    fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.counts.clear();
    }

    /// Adds a state that a step has led to; its hash.
    fn add(&mut self, state: &impl Canonical, step: Step) -> u64 {
        let start = self.bytes.len();
        state.write(&mut self.bytes);
        let hash = xxh3_64(&self.bytes[start..]);
        self.items.push((self.bytes.len(), hash, step.actor, step.event));
        hash
    }
}
