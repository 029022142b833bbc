//! Incremental exploration against exploration from scratch, on random graphs that change.

use everypath_explore::graph::{About, Baseline, Graph, GraphError, Ledger, Makeup};
use everypath_explore::{
    Add, Canonical, Control, Ended, Exploration, Increment, Incremental, Property, Rank, Search,
    SearchOrder, Step, System, Task, VisitedKind, explore_incrementally, fingerprint,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io::Cursor;

const EVENTS: u16 = 4;

/// One version of a model: for each node its edges, by event, and the nodes that are bad.
#[derive(Clone, Debug)]
struct Version {
    edges: Vec<Vec<(u16, u8)>>,
    bad: BTreeSet<u8>,
}

struct Node(u8);

impl Canonical for Node {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.0; 9]);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.0 = bytes[0];
        *bytes = &bytes[9..];
    }
}

impl System for Version {
    type State = Node;

    fn initial(&self) -> Node {
        Node(0)
    }
    fn enabled(&self, state: &Node, steps: &mut Vec<Step>) {
        for (number, &(event, _)) in self.edges[state.0 as usize].iter().enumerate() {
            steps.push(Step { actor: 0, event, param: number as u32 });
        }
    }
    fn take(&self, state: &mut Node, step: Step) {
        state.0 = self.edges[state.0 as usize][step.param as usize].1;
    }
}

impl Version {
    /// What a step can lead to is what the edges of its event say; which nodes are bad is the
    /// property.
    fn makeup(&self) -> Makeup {
        let print = |event: u16| {
            let mut bytes = Vec::new();
            for (node, edges) in self.edges.iter().enumerate() {
                let own = edges.iter().enumerate().filter(|(_, edge)| edge.0 == event);
                bytes.extend(own.flat_map(|(at, edge)| [node as u8, at as u8, edge.1]));
            }
            fingerprint(&bytes)
        };
        Makeup {
            frame: vec![("property".into(), fingerprint(format!("{:?}", self.bad).as_bytes()))],
            events: (0..EVENTS)
                .map(|event| (format!("event-{event}"), Some(print(event))))
                .collect(),
            enabling: Some(fingerprint(format!("{:?}", self.events()).as_bytes())),
        }
    }

    /// Which steps are enabled in each node.
    fn events(&self) -> Vec<Vec<u16>> {
        let events = |edges: &Vec<(u16, u8)>| edges.iter().map(|edge| edge.0).collect();
        self.edges.iter().map(events).collect()
    }

    fn explore(&self, search: &Search, incremental: Incremental<'_>) -> (Exploration, Increment) {
        let bad = self.bad.clone();
        let good = Property::new("good", move |node: &Node| match bad.contains(&node.0) {
            true => Err("bad".into()),
            false => Ok(()),
        });
        let rank = Rank::new("far", "", |node: &Node, tuple: &mut Vec<i64>| {
            tuple.push(i64::from(node.0) / 4);
        });
        let task = Task { system: self, properties: &[good], rank: Some(&rank), search };
        explore_incrementally(&task, incremental, &Control::default())
    }

    fn scratch(&self, search: &Search) -> (Exploration, u128) {
        let (exploration, increment) =
            self.explore(search, Incremental { digest: true, ..Incremental::default() });
        (exploration, increment.digest)
    }
}

fn written(
    ledger: Ledger,
    baseline: Option<&Baseline<'_>>,
    version: &Version,
    search: &Search,
) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let makeup = version.makeup();
    let about = About { makeup: &makeup, left_out: &search.disabled, counterexamples: &[] };
    let written = ledger.write(&mut file, baseline, about).unwrap();
    assert_eq!(written.bytes, file.get_ref().len() as u64);
    file.into_inner()
}

/// The graph of a version.
fn saved(version: &Version, search: &Search) -> Vec<u8> {
    let (_, increment) =
        version.explore(search, Incremental { record: true, ..Incremental::default() });
    written(increment.ledger.unwrap(), None, version, search)
}

fn versions() -> impl Strategy<Value = Vec<Version>> {
    (2usize..30).prop_flat_map(|nodes| {
        let edge = (0..EVENTS, 0..nodes as u8);
        let edges = prop::collection::vec(prop::collection::vec(edge, 0..5), nodes);
        let bad = prop::collection::btree_set(0..nodes as u8, 0..3);
        let change = (0..EVENTS, 0..nodes, 0usize..5, 0..nodes as u8);
        let changes = prop::collection::vec(prop::collection::vec(change, 0..4), 3);
        (edges, bad, changes).prop_map(|(edges, bad, changes)| {
            let mut versions = vec![Version { edges, bad }];
            for change in changes {
                let mut next = versions.last().unwrap().clone();
                for (event, node, at, to) in change {
                    match next.edges[node].get_mut(at) {
                        Some(edge) => *edge = (event, to),
                        None => next.edges[node].push((event, to)),
                    }
                }
                versions.push(next);
            }
            versions
        })
    })
}

fn searches() -> impl Strategy<Value = Search> {
    let orders =
        vec![SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::DfsRecursive, SearchOrder::Befs];
    let kinds = vec![VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash];
    (
        (prop::sample::select(orders), prop::option::of(any::<u64>()), prop::sample::select(kinds)),
        (prop::option::of(1u32..9), prop::option::of(0..EVENTS), prop::option::of(0..EVENTS)),
        (1usize..4, any::<bool>()),
    )
        .prop_map(|((order, shuffle, visited), (max_depth, must_contain, disabled), rest)| {
            Search {
                order,
                add: Add::Next,
                shuffle,
                visited,
                max_depth,
                must_contain,
                disabled: disabled
                    .into_iter()
                    .filter(|event| must_contain != Some(*event))
                    .collect(),
                threads: rest.0,
                keep_going: rest.1,
                ..Search::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A graph is saved by one search of the first version; every later version is explored by
    /// another search, with the graph, which is updated each time.
    #[test]
    fn the_graph_changes_nothing_but_the_work(
        versions in versions(),
        first in searches(),
        others in prop::collection::vec(searches(), 3),
    ) {
        let mut file = saved(&versions[0], &first);
        for (version, search) in versions[1..].iter().zip(&others) {
            let graph = Graph::open(&file).unwrap();
            let baseline = Baseline::new(&graph, &version.makeup(), None).unwrap();
            let given = Incremental {
                baseline: Some(&baseline),
                record: true,
                digest: true,
                ..Incremental::default()
            };
            let (exploration, increment) = version.explore(search, given);
            let (expected, digest) = version.scratch(search);
            prop_assert!(exploration.same_as(&expected), "{exploration:?} {expected:?}");
            prop_assert_eq!(increment.digest, digest);
            let reuse = &increment.reuse;
            prop_assert_eq!(reuse.hits + reuse.misses + reuse.modified, exploration.counts.events);
            prop_assert!(reuse.executed <= exploration.counts.events);
            let alone = Search { threads: 1, ..search.clone() };
            prop_assert_eq!(&version.explore(&alone, given).1.reuse, reuse);
            let next = written(increment.ledger.unwrap(), Some(&baseline), version, search);
            file = next;
        }
    }

    /// With the same version and the same search, everything safe is a hit, and only tree events
    /// (and those that the graph cannot hold) are executed.
    #[test]
    fn without_modification_only_tree_and_unsafe_events_are_executed(
        versions in versions(),
        search in searches(),
    ) {
        let search = Search { visited: VisitedKind::Hash, keep_going: true, threads: 1, ..search };
        let file = saved(&versions[0], &search);
        let graph = Graph::open(&file).unwrap();
        let baseline = Baseline::new(&graph, &versions[0].makeup(), None).unwrap();
        prop_assert!(search.disabled.len() == baseline.modified().len());
        let given = Incremental { baseline: Some(&baseline), ..Incremental::default() };
        let (Exploration { counts, .. }, Increment { reuse, .. }) =
            versions[0].explore(&search, given);
        prop_assert_eq!(reuse.hits, counts.safe);
        prop_assert_eq!(reuse.misses, counts.unsafe_events);
        prop_assert_eq!(reuse.executed, counts.tree + counts.unsafe_events);
    }

    /// Whatever happens to a byte or to the length of a file: it is refused, or nothing but the
    /// amount of work changes.
    #[test]
    fn a_damaged_file_is_refused_or_harmless(
        versions in versions(),
        search in searches(),
        place in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in any::<bool>(),
    ) {
        let mut file = saved(&versions[0], &search);
        let at = place.index(file.len());
        if cut {
            file.truncate(at);
            prop_assert!(Graph::open(&file).is_err());
            return Ok(());
        }
        file[at] ^= 1 << bit;
        let Ok(graph) = Graph::open(&file) else { return Ok(()) };
        let baseline = Baseline::new(&graph, &versions[0].makeup(), None).unwrap();
        let given = Incremental { baseline: Some(&baseline), digest: true, ..Incremental::default() };
        let (exploration, increment) = versions[0].explore(&search, given);
        let (expected, digest) = versions[0].scratch(&search);
        prop_assert!(exploration.same_as(&expected), "{exploration:?} {expected:?}");
        prop_assert_eq!(increment.digest, digest);
    }
}

fn line() -> Version {
    let edges = (0..100).map(|node| vec![(0, node + 1), (1, node)]).chain([vec![]]).collect();
    Version { edges, bad: BTreeSet::new() }
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    let file = saved(&line(), &Search::default());
    assert_eq!(Graph::open(b"something else").err(), Some(GraphError::Foreign));
    assert_eq!(Graph::open(b"").err(), Some(GraphError::Foreign));
    let mut newer = file.clone();
    newer[16] = 99;
    assert_eq!(Graph::open(&newer).err(), Some(GraphError::Version(99)));
    let length = GraphError::Length { expected: file.len() as u64, found: file.len() as u64 - 1 };
    assert_eq!(Graph::open(&file[..file.len() - 1]).err(), Some(length));
    assert!(Graph::open(&file).is_ok());
}

#[test]
fn another_property_makes_the_graph_unusable() {
    let file = saved(&line(), &Search::default());
    let graph = Graph::open(&file).unwrap();
    let stricter = Version { bad: BTreeSet::from([5]), ..line() };
    let refused = Baseline::new(&graph, &stricter.makeup(), None).err().unwrap();
    assert_eq!(refused.differs, ["property"]);
}

/// Somebody says that nothing was modified although it was: a tree event leads elsewhere. One in
/// 64 is compared with the graph, and this is one of them.
#[test]
fn a_graph_that_lies_is_found_out() {
    let file = saved(&line(), &Search::default());
    let graph = Graph::open(&file).unwrap();
    let mut changed = line();
    changed.edges[63][0].1 = 70;
    for (said, ended) in [(&[][..], Ended::Stale(0)), (&[0], Ended::Complete)] {
        let baseline = Baseline::new(&graph, &changed.makeup(), Some(said)).unwrap();
        let search = Search { visited: VisitedKind::Hash, ..Search::default() };
        let given = Incremental { baseline: Some(&baseline), ..Incremental::default() };
        assert_eq!(changed.explore(&search, given).0.ended, ended);
    }
}

#[test]
fn modified_handlers_that_behave_alike_are_noticed() {
    let file = saved(&line(), &Search::default());
    let graph = Graph::open(&file).unwrap();
    let mut changed = line();
    changed.edges[3][1].1 = 0;
    changed.edges[4].push((2, 0));
    let baseline = Baseline::new(&graph, &changed.makeup(), None).unwrap();
    assert_eq!(baseline.modified(), [1, 2]);
    let given = Incremental { baseline: Some(&baseline), ..Incremental::default() };
    let reuse = changed.explore(&Search::default(), given).1.reuse;
    let changes: Vec<_> = reuse.changes.iter().map(|c| (c.same, c.different, c.new)).collect();
    assert_eq!(changes, [(0, 0, 0), (99, 1, 0), (0, 0, 1), (0, 0, 0)]);
}

/// The states behind the depth bound are not in a graph, only that the events to them are safe; with a
/// larger bound these events are executed.
#[test]
fn states_beyond_the_bound_are_left_out() {
    let search = Search { max_depth: Some(5), visited: VisitedKind::Hash, ..Search::default() };
    let file = saved(&line(), &search);
    let graph = Graph::open(&file).unwrap();
    // Nodes 0 to 4 are expanded; the last of them leads to the bound by both of its events.
    assert_eq!((graph.states(), graph.expanded(), graph.transitions()), (5, 5, 10));
    let baseline = Baseline::new(&graph, &line().makeup(), None).unwrap();
    let given = Incremental { baseline: Some(&baseline), ..Incremental::default() };
    let executed = |search: &Search| {
        let (exploration, increment) = line().explore(search, given);
        assert!(exploration.same_as(&line().scratch(search).0));
        increment.reuse.executed
    };
    assert_eq!(executed(&search), 4, "only tree events");
    let deeper = Search { max_depth: Some(6), ..search };
    assert_eq!(executed(&deeper), 4 + 2 + 2);
}
