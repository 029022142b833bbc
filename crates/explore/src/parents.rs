//! Parent pointers: the path to each state, from which a counterexample is reconstructed.

use crate::SearchOrder;
use crate::frontier::Work;

/// The way from the initial state to the states that are waiting or visited, as choices: which
/// of the enabled steps was taken in each state.
pub(crate) enum Parents {
    /// Parent and choice of each state, eight bytes a state, by its shard and its number there.
    Tree(Vec<Vec<Link>>),
    /// The choices to the state being explored. Depth-first search needs no more: when a state of
    /// depth d is taken from the stack, the last one explored at depth d - 1 is its parent,
    /// because everything explored in between lies deeper.
    Path(Vec<u32>),
}

/// The parent of a state and the choice that led from it.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    parent: u32,
    choice: u32,
}

/// The parent of the initial state.
pub(crate) const ROOT: u32 = u32::MAX;

/// The shard of a node, and its number there.
pub(crate) fn place(shards: usize, node: u32) -> (usize, u32) {
    (node as usize & (shards - 1), node >> shards.ilog2())
}

/// The node of a number in a shard.
pub(crate) fn node_of(shards: usize, (shard, number): (usize, u32)) -> u32 {
    number << shards.ilog2() | shard as u32
}

/// Remembers how the state of a number in a shard was reached.
pub(crate) fn link_in(links: &mut Vec<Link>, number: u32, (parent, choice): (u32, u32)) {
    let link = Link { parent, choice };
    if links.len() == number as usize {
        links.push(link);
        return;
    }
    if links.len() < number as usize {
        links.resize(number as usize + 1, Link { parent: ROOT, choice: 0 });
    }
    links[number as usize] = link;
}

impl Parents {
    pub(crate) fn new(order: SearchOrder, shards: usize) -> Self {
        match order {
            SearchOrder::Dfs | SearchOrder::DfsRecursive => Parents::Path(Vec::new()),
            SearchOrder::Bfs | SearchOrder::Befs => Parents::Tree(vec![Vec::new(); shards]),
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Parents::Tree(shards) => {
                shards.iter().map(|links| links.capacity() * size_of::<Link>()).sum()
            }
            Parents::Path(path) => path.capacity() * size_of::<u32>(),
        }
    }

    /// Remembers that `node` was reached from `parent`.
    ///
    /// A node may be reached again by a shorter way, which then replaces the longer one. The
    /// chain of parents stays free of cycles because their depths strictly decrease.
    pub(crate) fn link(&mut self, node: u32, parent: u32, choice: u32) {
        if let Parents::Tree(shards) = self {
            let (shard, number) = place(shards.len(), node);
            link_in(&mut shards[shard], number, (parent, choice));
        }
    }

    /// Lets `node` be reached the way `other` was.
    pub(crate) fn relink(&mut self, node: u32, other: u32) {
        if let Parents::Tree(shards) = self {
            let [(to, number), (from, other)] = [node, other].map(|node| place(shards.len(), node));
            shards[to][number as usize] = shards[from][other as usize];
        }
    }

    /// The links of each shard, for the threads that fill them.
    pub(crate) fn shards(&mut self) -> &mut [Vec<Link>] {
        match self {
            Parents::Tree(shards) => shards,
            Parents::Path(_) => unreachable!("depth-first search has one thread"),
        }
    }

    /// Notes that `work` is about to be explored.
    pub(crate) fn enter(&mut self, work: &Work) {
        if let Parents::Path(path) = self
            && work.depth > 0
        {
            path.truncate(work.depth as usize - 1);
            path.push(work.choice);
        }
    }

    /// The choices that lead to `work`, which is being explored.
    pub(crate) fn choices(&self, work: &Work) -> Vec<u32> {
        match self {
            Parents::Path(path) => path[..work.depth as usize].to_vec(),
            Parents::Tree(shards) => {
                let link = |node| {
                    let (shard, number) = place(shards.len(), node);
                    shards[shard][number as usize]
                };
                let (mut choices, mut at) = (Vec::new(), link(work.node));
                while at.parent != ROOT {
                    choices.push(at.choice);
                    at = link(at.parent);
                }
                choices.reverse();
                choices
            }
        }
    }
}
