//! Sobeih's names of searches.

use crate::experiment::ExperimentError;
use everypath_explore::{Add, SearchOrder};

/// What a name such as `AODV-3-BeFS-ANS` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strategy<'a> {
    pub(crate) order: SearchOrder,
    pub(crate) add: Add,
    pub(crate) shuffle: bool,
    pub(crate) rank: Option<&'a str>,
}

/// Reads a name: a protocol and a rank if it is best-first, the order, and one of AN, AC and R
/// (add next, add current, recursive), with an S if it is shuffled.
pub(crate) fn strategy(name: &str) -> Result<Strategy<'_>, ExperimentError> {
    read(name).ok_or_else(|| ExperimentError::Unknown(format!("search {name}")))
}

pub(crate) fn read(name: &str) -> Option<Strategy<'_>> {
    let (front, how) = name.rsplit_once('-')?;
    let (how, shuffle) = match how.strip_suffix('S') {
        Some(how) => (how, true),
        None => (how, false),
    };
    let add = match how {
        "AN" | "R" => Add::Next,
        "AC" => Add::Current,
        _ => return None,
    };
    let (order, rank) = match (front, how) {
        ("BFS", _) => (SearchOrder::Bfs, None),
        ("DFS", "R") => (SearchOrder::DfsRecursive, None),
        ("DFS", _) => (SearchOrder::Dfs, None),
        _ => (SearchOrder::Befs, Some(front.strip_suffix("-BeFS")?.rsplit_once('-')?.1)),
    };
    Some(Strategy { order, add, shuffle, rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_paper_explains_them() {
        let check = |name, order, add, shuffle, rank| {
            assert_eq!(read(name), Some(Strategy { order, add, shuffle, rank }), "{name}");
        };
        check("BFS-AN", SearchOrder::Bfs, Add::Next, false, None);
        check("DFS-ACS", SearchOrder::Dfs, Add::Current, true, None);
        check("DFS-RS", SearchOrder::DfsRecursive, Add::Next, true, None);
        check("AODV-3-BeFS-ANS", SearchOrder::Befs, Add::Next, true, Some("3"));
        check("DD-6-BeFS-AC", SearchOrder::Befs, Add::Current, false, Some("6"));
        assert_eq!(read("BFS"), None);
        assert_eq!(read("AODV-BFS-XX"), None);
    }
}
