//! Which search: the fourteen strategies of Sobeih (2008), visited sets and limits.

use std::fmt;

/// In which order states are explored: the frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Breadth-first: a queue.
    Bfs,
    /// Depth-first: a stack of states.
    Dfs,
    /// Depth-first, one event at a time (figure 3.4).
    DfsRecursive,
    /// Best-first: a priority queue by rank.
    Befs,
}

impl SearchOrder {
    /// All orders, as people name them.
    pub const NAMES: [(&'static str, SearchOrder); 4] = [
        ("bfs", SearchOrder::Bfs),
        ("dfs", SearchOrder::Dfs),
        ("dfs-recursive", SearchOrder::DfsRecursive),
        ("befs", SearchOrder::Befs),
    ];
}

impl fmt::Display for SearchOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            SearchOrder::NAMES.iter().find(|(_, order)| order == self).map_or("", |(n, _)| n),
        )
    }
}

/// When duplicates are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Add {
    /// When a state is generated (figure 3.2).
    Next,
    /// When a state is about to be explored (figure 3.3).
    Current,
}

impl fmt::Display for Add {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Add::Next => "next",
            Add::Current => "current",
        })
    }
}

/// How visited states are kept and recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitedKind {
    /// Exact states; a state simulated by a visited one is pruned. Equality for a system that
    /// has no relation.
    Relation,
    /// Exact states; only equal ones are pruned.
    Equality,
    /// 128-bit fingerprints.
    Hash,
}

impl fmt::Display for VisitedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VisitedKind::Relation => "relation",
            VisitedKind::Equality => "equality",
            VisitedKind::Hash => "hash",
        })
    }
}

/// One search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The frontier.
    pub order: SearchOrder,
    /// When duplicates are removed. Recursive depth-first search removes them when generated.
    pub add: Add,
    /// The seed of the shuffle of the enabled events, if they are shuffled.
    pub shuffle: Option<u64>,
    /// The visited set.
    pub visited: VisitedKind,
    /// States at this depth are checked, but neither stored nor explored.
    pub max_depth: Option<u32>,
    /// Stop when this many states are stored.
    pub max_states: Option<u64>,
    /// Stop when this many paths have come to their end.
    pub max_executions: Option<u64>,
    /// Go on after a violation; violating states are not explored.
    pub keep_going: bool,
    /// Only violations count whose path contains this event.
    ///
    /// Where we depart from the paper: whether the event has happened is part of what makes two
    /// states equal. Otherwise a violation could be missed because its state was first reached
    /// without the event.
    pub must_contain: Option<u16>,
    /// Events that are switched off.
    pub disabled: Vec<u16>,
    /// Worker threads. Breadth-first search uses them all and gives the same result with any
    /// number; the other orders are sequential by nature and use one.
    pub threads: usize,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            order: SearchOrder::Bfs,
            add: Add::Next,
            shuffle: None,
            visited: VisitedKind::Relation,
            max_depth: None,
            max_states: None,
            max_executions: None,
            keep_going: false,
            must_contain: None,
            disabled: Vec::new(),
            threads: 1,
        }
    }
}

impl Search {
    /// The fourteen strategies of the paper: breadth-, depth- and best-first, each adding next or
    /// current, and recursive depth-first; each plain, and shuffled by `seed`.
    pub fn fourteen(seed: u64) -> Vec<Search> {
        let mut strategies = Vec::new();
        for shuffle in [None, Some(seed)] {
            for order in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::Befs] {
                for add in [Add::Next, Add::Current] {
                    strategies.push(Search { order, add, shuffle, ..Search::default() });
                }
            }
            strategies.push(Search {
                order: SearchOrder::DfsRecursive,
                shuffle,
                ..Search::default()
            });
        }
        strategies
    }

    /// Whether states come level by level, so that a visited state is never deeper than a new one.
    pub(crate) fn level_by_level(&self) -> bool {
        self.order == SearchOrder::Bfs
    }

    /// Whether the depth of visited states matters.
    ///
    /// With a depth bound, a state that was reached by a longer path was not explored as far as
    /// it can be from a shorter one, so in searches that are not level by level it prunes only
    /// states of equal or greater depth. Without a bound everything below a visited state is
    /// explored whatever its depth, and depths need not be kept.
    pub(crate) fn depth_matters(&self) -> bool {
        self.max_depth.is_some() && !self.level_by_level()
    }
}
