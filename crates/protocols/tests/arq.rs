//! ARQ against the figures of Sobeih (2008), chapters 6 and 8.

use everypath_explore::{
    Add, Control, Exploration, Model as _, Search, SearchOrder, Task, VisitedKind, explore, replay,
};
use everypath_net::Config;
use everypath_protocols::arq::{Model, Node};

fn model(bugs: &[&str]) -> Model {
    Model::build(&Config { bugs: bugs.iter().map(ToString::to_string).collect(), ..Config::new(2) })
}

fn run(bugs: &[&str], rank: &str, search: &Search) -> Exploration {
    let model = model(bugs);
    let ranks = model.ranks();
    let task = Task {
        system: &model,
        properties: &model.properties(),
        rank: ranks.iter().find(|candidate| candidate.name == rank),
        search,
    };
    explore(&task, &Control::default())
}

fn to_depth(depth: u32) -> Search {
    Search { max_depth: Some(depth), ..Search::default() }
}

/// Table 8.13, version A, and the tree share t of table 8.14.
#[test]
fn the_correct_protocol_has_the_published_numbers_of_states_and_events() {
    for visited in [VisitedKind::Equality, VisitedKind::Hash, VisitedKind::Relation] {
        for (depth, states, events) in [(30, 24_847, 97_911), (35, 80_092, 318_223)] {
            let result = run(&[], "", &Search { visited, ..to_depth(depth) });
            assert_eq!(result.found, []);
            assert_eq!((result.counts.states, result.counts.events), (states, events));
        }
    }
    let counts = run(&[], "", &to_depth(35)).counts;
    assert_eq!(format!("{:.4}", counts.tree as f64 / counts.events as f64), "0.2517");
}

/// Table 8.13, version B: the safe share v.
#[test]
fn the_bug_has_the_published_share_of_safe_events() {
    for (depth, events, share) in [(30, 68_060, "0.923905"), (35, 229_046, "0.929023")] {
        let search = Search { keep_going: true, ..to_depth(depth) };
        let counts = run(&["unchecked-ack"], "", &search).counts;
        assert_eq!(counts.events, events);
        assert_eq!(format!("{:.6}", counts.safe as f64 / counts.events as f64), share);
        assert_eq!(counts.violations, counts.unsafe_events);
    }
}

#[test]
fn all_fourteen_strategies_find_the_bug() {
    let strategies = Search::fourteen(1);
    assert_eq!(strategies.len(), 14);
    for strategy in strategies {
        let search = Search { max_depth: Some(10), ..strategy };
        let result = run(&["unchecked-ack"], "1", &search);
        let depth = result.found[0].schedule.len();
        match search.order {
            SearchOrder::Bfs => assert_eq!(depth, 8, "breadth-first returns a shortest one"),
            _ => assert!((8..=10).contains(&depth), "{search:?}"),
        }
    }
}

/// Table 6.1: the good rank needs fewer events than bfs, the bad one more than everything.
#[test]
fn ranking_pays_if_the_rank_is_good() {
    for add in [Add::Next, Add::Current] {
        let events = |order, rank| {
            let search = Search { order, add, ..to_depth(10) };
            run(&["unchecked-ack"], rank, &search).counts.events
        };
        let (bfs, dfs) = (events(SearchOrder::Bfs, ""), events(SearchOrder::Dfs, ""));
        let (good, bad) = (events(SearchOrder::Befs, "1"), events(SearchOrder::Befs, "2"));
        assert!(good < bfs && bfs < bad && dfs < bad, "{good} {bfs} {dfs} {bad}");
    }
}

/// Table 6.1: the averages over a hundred seeds lie within a tenth of the paper's, and for
/// best-first search within a hundredth. (The paper stores a state again that it reaches by a
/// shorter way, we do not; with rank 2 that is often, so only its events are compared.)
#[test]
fn a_hundred_seeds_give_the_published_averages() {
    let rows = [
        (SearchOrder::Bfs, Add::Next, "", 87.46, 125.34, 0.1),
        (SearchOrder::Bfs, Add::Current, "", 89.32, 125.34, 0.1),
        (SearchOrder::Dfs, Add::Next, "", 40.78, 60.82, 0.1),
        (SearchOrder::Dfs, Add::Current, "", 41.62, 75.13, 0.1),
        (SearchOrder::DfsRecursive, Add::Next, "", 29.35, 62.77, 0.1),
        (SearchOrder::Befs, Add::Next, "1", 53.51, 99.06, 0.01),
        (SearchOrder::Befs, Add::Current, "1", 51.39, 99.58, 0.01),
        (SearchOrder::Befs, Add::Next, "2", f64::NAN, 338.02, 0.01),
        (SearchOrder::Befs, Add::Current, "2", f64::NAN, 472.96, 0.01),
    ];
    for (order, add, rank, stored, events, tolerance) in rows {
        let mut totals = (0, 0);
        for seed in 1..=100 {
            let search = Search { order, add, shuffle: Some(seed), ..to_depth(10) };
            let counts = run(&["unchecked-ack"], rank, &search).counts;
            totals.0 += counts.stored;
            totals.1 += counts.events;
        }
        let near = |total: u64, paper: f64| {
            paper.is_nan() || (total as f64 / 100.0 / paper - 1.0).abs() < tolerance
        };
        let agree = near(totals.0, stored) && near(totals.1, events);
        assert!(agree, "{order} {add} {rank} {totals:?}");
    }
}

/// Figure 6.2 step by step: the sequence numbers and counters of sender and receiver, and the
/// packets in flight (the figure lists data first, we in the order of sending).
#[test]
fn the_published_counterexample_is_a_path_of_the_model() {
    let (deliver_data, deliver_ack, timeout, lose_data) = ((1, 0), (0, 1), (0, 2), (1, 3));
    let schedule: Vec<_> = [
        deliver_data,
        timeout,
        deliver_data,
        deliver_ack,
        deliver_ack,
        lose_data,
        deliver_data,
        deliver_ack,
    ]
    .map(|(actor, event)| everypath_net::Step { actor, event, param: 0 })
    .to_vec();
    let model = model(&["unchecked-ack"]);
    let mut violated = Vec::new();
    let properties = model.properties();
    let replayed = replay(&model, &schedule, |world, _, _| {
        violated.push(properties[0].check(world).is_err());
        let [sender, receiver] = &world.nodes[..] else { panic!("two nodes") };
        let numbers = |node: &Node| match *node {
            Node::Sender { sequence, distinct } | Node::Receiver { sequence, distinct } => {
                (sequence, distinct)
            }
        };
        let mut packets: Vec<String> =
            world.cloud.iter().map(|envelope| envelope.packet.to_string()).collect();
        packets.sort_by_key(|packet| packet.starts_with('A'));
        (numbers(sender), numbers(receiver), packets.join(", "))
    });
    let expected = [
        ((0, 1), (0, 0), "D0"),
        ((0, 1), (1, 1), "ACK1"),
        ((0, 1), (1, 1), "D0, ACK1"),
        ((0, 1), (1, 1), "ACK1, ACK1"),
        ((1, 2), (1, 1), "D1, ACK1"),
        ((0, 3), (1, 1), "D1, D0"),
        ((0, 3), (1, 1), "D0"),
        ((0, 3), (1, 1), "ACK1"),
        ((1, 4), (1, 1), "D1"),
    ];
    let seen = replayed.unwrap().seen;
    let seen: Vec<_> = seen.iter().map(|(s, r, packets)| (*s, *r, packets.as_str())).collect();
    assert_eq!(seen, expected);
    assert_eq!(violated, [false, false, false, false, false, false, false, false, true]);
}
