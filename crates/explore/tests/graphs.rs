//! The engine against a brute-force reference, on random graphs.
//!
//! A graph of at most thirty nodes is explored by every strategy with every visited set; what the
//! engine says must agree with a search written without any of its parts.

use everypath_explore::{
    Canonical, Control, Ended, Exploration, PANIC, Property, Rank, Search, SearchOrder,
    SimulationRelation, Step, System, Task, VisitedKind, explore, replay,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many bytes a state takes: one (stored inside the visited set), nine (all the same), or a
/// number that varies.
#[derive(Clone, Copy, Debug)]
enum Width {
    Packed,
    Uniform,
    Varied,
}

#[derive(Clone, Debug)]
struct Graph {
    /// For each node its edges: the event on it, and where it leads.
    edges: Vec<Vec<(u16, u8)>>,
    bad: BTreeSet<u8>,
    /// Nodes that panic when reached.
    explosive: BTreeSet<u8>,
}

/// A state of the graph, encoded in the width that `W` names.
struct Node<const W: u8>(u8);

impl<const W: u8> Node<W> {
    fn padding(&self) -> usize {
        match W {
            0 => 0,
            1 => 8,
            _ => usize::from(self.0 % 5) * 3,
        }
    }
}

impl<const W: u8> Canonical for Node<W> {
    const SIZE: Option<usize> = if W == 0 { Some(1) } else { None };

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.0);
        bytes.resize(bytes.len() + self.padding(), 0xaa);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.0 = bytes[0];
        *bytes = &bytes[1 + self.padding()..];
    }
}

struct GraphSystem<'a, const W: u8>(&'a Graph);

impl<const W: u8> System for GraphSystem<'_, W> {
    type State = Node<W>;

    fn initial(&self) -> Node<W> {
        Node(0)
    }
    fn enabled(&self, state: &Node<W>, steps: &mut Vec<Step>) {
        for (number, &(event, _)) in self.0.edges[state.0 as usize].iter().enumerate() {
            steps.push(Step { actor: 0, event, param: number as u32 });
        }
    }
    fn take(&self, state: &mut Node<W>, step: Step) {
        state.0 = self.0.edges[state.0 as usize][step.param as usize].1;
        assert!(!self.0.explosive.contains(&state.0), "reached {}", state.0);
    }
}

fn run(graph: &Graph, width: Width, search: &Search) -> Exploration {
    match width {
        Width::Packed => run_as::<0>(graph, search),
        Width::Uniform => run_as::<1>(graph, search),
        Width::Varied => run_as::<2>(graph, search),
    }
}

fn run_as<const W: u8>(graph: &Graph, search: &Search) -> Exploration {
    let system = GraphSystem::<W>(graph);
    let bad = graph.bad.clone();
    let good = Property::new("good", move |node: &Node<W>| match bad.contains(&node.0) {
        true => Err(format!("{} is bad", node.0)),
        false => Ok(()),
    });
    let rank = Rank::new("far", "", |node: &Node<W>, tuple: &mut Vec<i64>| {
        tuple.push(i64::from(node.0) / 4);
    });
    let task = Task { system: &system, properties: &[good], rank: Some(&rank), search };
    let exploration = explore(&task, &Control::default());
    for found in exploration.found.iter().filter(|found| found.property != PANIC) {
        let path = replay(&system, &found.schedule, |node, _, _| node.0).unwrap().seen;
        assert!(graph.bad.contains(path.last().unwrap()));
        assert!(path[..path.len() - 1].iter().all(|node| !graph.bad.contains(node)));
    }
    exploration
}

/// The shortest distance to each node through good nodes, whether the event was met on the way
/// or not, without any part of the engine.
fn reference(graph: &Graph, event: Option<u16>) -> BTreeMap<(u8, bool), u32> {
    let start = (0u8, event.is_none());
    let mut distance = BTreeMap::from([(start, 0)]);
    let mut queue = VecDeque::from([start]);
    while let Some(state @ (node, met)) = queue.pop_front() {
        if graph.bad.contains(&node) {
            continue;
        }
        for &(label, next) in &graph.edges[node as usize] {
            let next = (next, met || Some(label) == event);
            if !distance.contains_key(&next) {
                distance.insert(next, distance[&state] + 1);
                queue.push_back(next);
            }
        }
    }
    distance
}

fn graphs() -> impl Strategy<Value = Graph> {
    (1usize..30).prop_flat_map(|nodes| {
        let edge = (0u16..3, 0..nodes as u8);
        let edges = prop::collection::vec(prop::collection::vec(edge, 0..4), nodes);
        let bad = prop::collection::btree_set(0..nodes as u8, 0..3);
        (edges, bad).prop_map(|(edges, bad)| Graph { edges, bad, explosive: BTreeSet::new() })
    })
}

fn searches() -> impl Strategy<Value = Search> {
    let visited =
        prop::sample::select(vec![VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash]);
    let strategy = (0usize..14, any::<u64>());
    let depth = prop::option::of(1u32..8);
    (strategy, visited, depth, 1usize..4).prop_map(
        |((number, seed), visited, max_depth, threads)| Search {
            visited,
            max_depth,
            threads,
            ..Search::fourteen(seed)[number].clone()
        },
    )
}

fn widths() -> impl Strategy<Value = Width> {
    prop::sample::select(vec![Width::Packed, Width::Uniform, Width::Varied])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_violation_is_found_exactly_if_there_is_one(
        graph in graphs(), search in searches(), width in widths(),
    ) {
        let result = run(&graph, width, &search);
        let nearest = reference(&graph, None)
            .into_iter()
            .filter(|((node, _), _)| graph.bad.contains(node))
            .map(|(_, distance)| distance)
            .min();
        let within = nearest.filter(|&depth| search.max_depth.is_none_or(|bound| depth <= bound));
        prop_assert_eq!(!result.found.is_empty(), within.is_some());
        if let (SearchOrder::Bfs, Some(shortest)) = (search.order, within) {
            prop_assert_eq!(result.found[0].schedule.len() as u32, shortest);
        }
    }

    #[test]
    fn going_on_explores_every_state_below_the_bound(
        graph in graphs(), search in searches(), width in widths(),
    ) {
        let search = Search { keep_going: true, ..search };
        let result = run(&graph, width, &search);
        let stored = reference(&graph, None)
            .into_iter()
            .filter(|((node, _), depth)| {
                !graph.bad.contains(node) && search.max_depth.is_none_or(|bound| *depth < bound)
            })
            .count();
        prop_assert_eq!(result.counts.states, stored as u64);
        let counts = &result.counts;
        prop_assert_eq!(counts.events, counts.safe + counts.unsafe_events);
        prop_assert_eq!(counts.safe, counts.tree + counts.non_tree + counts.deepest);
        prop_assert_eq!(result.ended, Ended::Complete);
    }

    #[test]
    fn must_contain_misses_nothing(
        graph in graphs(), search in searches(), width in widths(), event in 0u16..3,
    ) {
        let search = Search { must_contain: Some(event), ..search };
        let result = run(&graph, width, &search);
        let expected = reference(&graph, Some(event)).into_iter().any(|((node, met), depth)| {
            met && graph.bad.contains(&node) && search.max_depth.is_none_or(|bound| depth <= bound)
        });
        prop_assert_eq!(!result.found.is_empty(), expected);
        for found in &result.found {
            prop_assert!(found.schedule.iter().any(|step| step.event == event));
        }
    }

    #[test]
    fn the_visited_set_and_the_number_of_threads_change_nothing(
        graph in graphs(), search in searches(), width in widths(), keep_going: bool,
    ) {
        let search = Search { keep_going, ..search };
        let baseline = Search { visited: VisitedKind::Equality, threads: 1, ..search.clone() };
        // A shuffle depends on the bytes of the state, so with one the width must stay.
        let other = if search.shuffle.is_some() { width } else { Width::Varied };
        prop_assert_eq!(run(&graph, width, &search), run(&graph, other, &baseline));
    }

    #[test]
    fn disabled_events_do_not_happen(graph in graphs(), search in searches(), event in 0u16..3) {
        let mut pruned = graph.clone();
        pruned.edges.iter_mut().for_each(|edges| edges.retain(|(label, _)| *label != event));
        let result = run(&graph, Width::Packed, &Search { disabled: vec![event], ..search.clone() });
        let expected = run(&pruned, Width::Packed, &search);
        // Shuffles see the same lists; only the numbers of the edges differ.
        prop_assert_eq!(result.counts, expected.counts);
    }

    #[test]
    fn a_panic_is_a_violation_of_the_model(
        graph in graphs(), search in searches(), width in widths(), node in 1u8..30,
    ) {
        let graph = Graph { bad: BTreeSet::new(), explosive: BTreeSet::from([node]), ..graph };
        let expected = reference(&graph, None).into_iter().any(|((reached, _), depth)| {
            reached == node && search.max_depth.is_none_or(|bound| depth <= bound)
        });
        let result = run(&graph, width, &Search { keep_going: true, ..search.clone() });
        prop_assert_eq!(result.found.iter().any(|found| found.property == PANIC), expected);
        let first = run(&graph, width, &search);
        prop_assert_eq!(!first.found.is_empty(), expected);
        if expected {
            let expected = format!("reached {node}");
            prop_assert!(first.found[0].message.ends_with(&expected));
        }
    }

    #[test]
    fn limits_end_the_search_and_say_so(
        graph in graphs(), search in searches(), limit in 1u64..10,
    ) {
        let all = run(&graph, Width::Packed, &Search { keep_going: true, ..search.clone() });
        let search = Search { keep_going: true, max_states: Some(limit), ..search };
        let result = run(&graph, Width::Packed, &search);
        match result.ended {
            Ended::Complete => prop_assert!(all.counts.states <= limit + 4),
            Ended::Limit(_) => prop_assert!(result.counts.states >= limit),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

/// Nodes of a graph with a set of packets; more packets simulate fewer.
///
/// A packet can be received, which moves along the edge of its number, or be lost. Losing must
/// always be possible for the relation to be a simulation.
struct Lossy<'a> {
    graph: &'a Graph,
}

struct Cloud {
    node: u8,
    packets: Vec<u8>,
}

impl Canonical for Cloud {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.node);
        bytes.extend_from_slice(&self.packets);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.node = bytes[0];
        self.packets = bytes[1..].to_vec();
        *bytes = &[];
    }
}

impl System for Lossy<'_> {
    type State = Cloud;

    fn initial(&self) -> Cloud {
        Cloud { node: 0, packets: vec![0, 1, 1, 2] }
    }
    fn enabled(&self, state: &Cloud, steps: &mut Vec<Step>) {
        for packet in 0..state.packets.len() as u32 {
            steps.push(Step { actor: 0, event: 0, param: packet });
            steps.push(Step { actor: 0, event: 1, param: packet });
        }
    }
    fn take(&self, state: &mut Cloud, step: Step) {
        let packet = state.packets.remove(step.param as usize);
        let edges = &self.graph.edges[state.node as usize];
        if step.event == 0
            && let Some((event, next)) = edges.get(packet as usize)
        {
            state.node = *next;
            if state.packets.len() < 4 {
                state.packets.push(*event as u8);
                state.packets.sort_unstable();
            }
        }
    }
    fn relation(&self) -> Option<&dyn SimulationRelation> {
        Some(self)
    }
}

impl SimulationRelation for Lossy<'_> {
    fn key_len(&self, _: &[u8]) -> usize {
        1
    }
    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        let count = |packets: &[u8], packet| packets.iter().filter(|&&p| p == packet).count();
        (0..3).all(|packet| count(larger, packet) >= count(smaller, packet))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_relation_prunes_without_changing_the_verdict(
        graph in graphs(), search in searches(), keep_going: bool,
    ) {
        let system = Lossy { graph: &graph };
        let bad = graph.bad.clone();
        let good = Property::new("good", move |state: &Cloud| match bad.contains(&state.node) {
            true => Err("bad".into()),
            false => Ok(()),
        })
        .respecting_relation();
        let rank = Rank::new("few", "", |state: &Cloud, tuple: &mut Vec<i64>| {
            tuple.push(-(state.packets.len() as i64));
        });
        let run = |visited| {
            let search = Search { visited, keep_going, ..search.clone() };
            let properties = std::slice::from_ref(&good);
            let task = Task { system: &system, properties, rank: Some(&rank), search: &search };
            explore(&task, &Control::default())
        };
        let (related, equal) = (run(VisitedKind::Relation), run(VisitedKind::Equality));
        prop_assert_eq!(related.found.is_empty(), equal.found.is_empty());
        if keep_going {
            prop_assert!(related.counts.states <= equal.counts.states);
        }
        if search.order == SearchOrder::Bfs && !related.found.is_empty() {
            prop_assert_eq!(related.found[0].schedule.len(), equal.found[0].schedule.len());
        }
    }
}

/// Four counters that are raised one at a time: levels wide enough for several threads.
///
/// The relation, by which higher third and fourth counters simulate lower ones, serves to be
/// looked up by several threads; it says nothing about the properties.
struct Counters;

impl SimulationRelation for Counters {
    fn key_len(&self, _: &[u8]) -> usize {
        2
    }
    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        larger.iter().zip(smaller).all(|(larger, smaller)| larger >= smaller)
    }
}

impl System for Counters {
    type State = [u16; 4];

    fn initial(&self) -> [u16; 4] {
        [0; 4]
    }
    fn enabled(&self, state: &[u16; 4], steps: &mut Vec<Step>) {
        for (actor, &count) in state.iter().enumerate().filter(|(_, count)| **count < 12) {
            steps.push(Step { actor: actor as u16, event: (count % 3), param: 0 });
        }
    }
    fn take(&self, state: &mut [u16; 4], step: Step) {
        state[step.actor as usize] += 1;
    }
    fn relation(&self) -> Option<&dyn SimulationRelation> {
        Some(self)
    }
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let even = Property::new("even", |state: &[u16; 4]| match state {
        [7, 7, 7, ..] => Err(format!("{state:?}")),
        _ => Ok(()),
    });
    let first = Property::new("first", |state: &[u16; 4]| match state {
        [11, 3, ..] => Err(format!("{state:?}")),
        _ => Ok(()),
    });
    let properties = [even, first];
    for (number, strategy) in Search::fourteen(5).into_iter().enumerate() {
        if strategy.order != SearchOrder::Bfs {
            continue;
        }
        for visited in [VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash] {
            for keep_going in [false, true] {
                let run = |threads| {
                    let search = Search { visited, keep_going, threads, ..strategy.clone() };
                    let properties = &properties[..];
                    let task = Task { system: &Counters, properties, rank: None, search: &search };
                    explore(&task, &Control::default())
                };
                let one = run(1);
                assert!(!one.found.is_empty(), "{number}");
                for threads in 2..6 {
                    assert_eq!(run(threads), one, "{number} {visited} {keep_going} {threads}");
                }
            }
        }
    }
}

/// Counters whose bytes are of different lengths; one value of them panics.
#[derive(Clone, Copy)]
struct Uneven([u8; 4]);

impl Canonical for Uneven {
    fn write(&self, bytes: &mut Vec<u8>) {
        for count in self.0 {
            bytes.push(count);
            bytes.resize(bytes.len() + usize::from(count % 3), 0xaa);
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        for count in &mut self.0 {
            *count = bytes[0];
            *bytes = &bytes[1 + usize::from(*count % 3)..];
        }
    }
}

struct UnevenCounters;

impl System for UnevenCounters {
    type State = Uneven;

    fn initial(&self) -> Uneven {
        Uneven([0; 4])
    }
    fn enabled(&self, state: &Uneven, steps: &mut Vec<Step>) {
        // Some states are dead ends.
        let counts = state.0.iter().enumerate().filter(|(_, count)| **count < 10);
        let counts = counts.filter(|_| state.0 != [4, 4, 3, 3]);
        steps.extend(counts.map(|(actor, &count)| Step {
            actor: actor as u16,
            event: u16::from(count % 3),
            param: 0,
        }));
    }
    fn take(&self, state: &mut Uneven, step: Step) {
        state.0[usize::from(step.actor)] += 1;
        assert!(state.0 != [5, 6, 4, 2], "reached");
    }
}

/// Bounds, filters, panics, dead ends and witnesses fall into the middle of what a thread has expanded.
#[test]
fn any_number_of_threads_gives_the_same_result_with_bounds_and_panics() {
    let properties = [
        Property::new("below", |state: &Uneven| match state.0 {
            [7, 7, 2, ..] | [9, 9, ..] => Err("too high".into()),
            _ => Ok(()),
        }),
        Property::sometimes("threes", |state: &Uneven| state.0 == [3; 4]),
    ];
    let plain = Search { order: SearchOrder::Bfs, ..Search::default() };
    let searches = [
        plain.clone(),
        Search { max_depth: Some(22), ..plain.clone() },
        Search { must_contain: Some(2), ..plain.clone() },
        Search { disabled: vec![1], max_depth: Some(9), ..plain.clone() },
        Search { max_states: Some(4000), ..plain.clone() },
        Search { max_executions: Some(5000), ..plain.clone() },
        Search { shuffle: Some(3), ..plain },
    ];
    for search in searches {
        for visited in [VisitedKind::Equality, VisitedKind::Hash] {
            for keep_going in [false, true] {
                let run = |threads| {
                    let search = Search { visited, keep_going, threads, ..search.clone() };
                    let (system, properties) = (&UnevenCounters, &properties[..]);
                    let task = Task { system, properties, rank: None, search: &search };
                    explore(&task, &Control::default())
                };
                let one = run(1);
                for threads in 2..6 {
                    assert_eq!(run(threads), one, "{search:?} {visited} {keep_going} {threads}");
                }
            }
        }
    }
}

/// Of a thousand states next to each other, the first hundred have a successor.
struct MostlyBarren;

impl System for MostlyBarren {
    type State = Uneven;

    fn initial(&self) -> Uneven {
        Uneven([0; 4])
    }
    fn enabled(&self, state: &Uneven, steps: &mut Vec<Step>) {
        let [depth, high, low, _] = state.0;
        let number = u16::from(high) * 100 + u16::from(low);
        let successors = match depth {
            0 => 1000,
            1 => u16::from(number < 100),
            _ => 0,
        };
        steps.extend((0..successors).map(|actor| Step { actor, event: 0, param: 0 }));
    }
    fn take(&self, state: &mut Uneven, step: Step) {
        state.0[0] += 1;
        if state.0[0] == 1 {
            (state.0[1], state.0[2]) = ((step.actor / 100) as u8, (step.actor % 100) as u8);
        }
    }
}

#[test]
fn threads_that_find_no_more_successors_keep_those_that_they_have() {
    for visited in [VisitedKind::Equality, VisitedKind::Hash] {
        let run = |threads| {
            let order = SearchOrder::Bfs;
            let search = Search { order, visited, threads, ..Search::default() };
            let task = Task { system: &MostlyBarren, properties: &[], rank: None, search: &search };
            explore(&task, &Control::default())
        };
        let one = run(1);
        assert_eq!(one.counts.tree, 1100);
        for threads in 2..6 {
            assert_eq!(run(threads), one, "{visited} {threads}");
        }
    }
}

#[test]
fn a_model_that_is_not_deterministic_is_found_out() {
    use std::sync::atomic::{AtomicU32, Ordering};
    struct Fickle(AtomicU32);
    impl System for Fickle {
        type State = u32;
        fn initial(&self) -> u32 {
            0
        }
        fn enabled(&self, _: &u32, steps: &mut Vec<Step>) {
            steps.push(Step::default());
        }
        fn take(&self, state: &mut u32, _: Step) {
            *state = self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let below = Property::new("below", |state: &u32| match state {
        3 => Err("reached".into()),
        _ => Ok(()),
    });
    let system = Fickle(AtomicU32::new(1));
    let search = Search::default();
    let task = Task { system: &system, properties: &[below], rank: None, search: &search };
    let result = explore(&task, &Control::default());
    assert!(matches!(result.ended, Ended::Unconfirmed(_)), "{:?}", result.ended);
    assert!(result.found.is_empty());
}

#[test]
fn a_search_can_be_stopped_from_outside() {
    let graph = Graph {
        edges: vec![vec![(0, 1)], vec![(0, 0)]],
        bad: BTreeSet::new(),
        explosive: BTreeSet::new(),
    };
    let system = GraphSystem::<0>(&graph);
    let control = Control::default();
    control.stop();
    let search = Search::default();
    let task = Task { system: &system, properties: &[], rank: None, search: &search };
    assert_eq!(explore(&task, &control).ended, Ended::Stopped);
}
