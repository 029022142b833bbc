//! Parent pointers: the path to each state, from which a counterexample is reconstructed.

use crate::SearchOrder;
use crate::frontier::Work;

/// The way from the initial state to the states that are waiting or visited, as choices: which
/// of the enabled steps was taken in each state.
pub(crate) enum Parents {
    /// Parent and choice of each state: eight bytes a state.
    Tree(Vec<Link>),
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

impl Parents {
    pub(crate) fn new(order: SearchOrder) -> Self {
        match order {
            SearchOrder::Dfs | SearchOrder::DfsRecursive => Parents::Path(Vec::new()),
            SearchOrder::Bfs | SearchOrder::Befs => Parents::Tree(Vec::new()),
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Parents::Tree(links) => links.capacity() * size_of::<Link>(),
            Parents::Path(path) => path.capacity() * size_of::<u32>(),
        }
    }

    /// Remembers that `node` was reached from `parent`.
    ///
    /// A node may be reached again by a shorter way, which then replaces the longer one. The
    /// chain of parents stays free of cycles because their depths strictly decrease.
    pub(crate) fn link(&mut self, node: u32, parent: u32, choice: u32) {
        if let Parents::Tree(links) = self {
            let link = Link { parent, choice };
            if links.len() == node as usize {
                links.push(link);
                return;
            }
            if links.len() < node as usize {
                links.resize(node as usize + 1, Link { parent: ROOT, choice: 0 });
            }
            links[node as usize] = link;
        }
    }

    /// Lets `node` be reached the way `other` was.
    pub(crate) fn relink(&mut self, node: u32, other: u32) {
        if let Parents::Tree(links) = self {
            links[node as usize] = links[other as usize];
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
            Parents::Tree(links) => {
                let mut choices = Vec::new();
                let mut link = links[work.node as usize];
                while link.parent != ROOT {
                    choices.push(link.choice);
                    link = links[link.parent as usize];
                }
                choices.reverse();
                choices
            }
        }
    }
}
