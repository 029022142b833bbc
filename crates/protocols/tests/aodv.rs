//! AODV against the figures and tables of Sobeih (2008), chapter 4 and appendix B.

use crate::support::paper::{Paper, search};
use crate::support::{chain, event, follow, run};
use everypath_explore::{Add, Exploration, Model as _, Search, SearchOrder, VisitedKind};
use everypath_net::{Cloud as _, Network, Options, Scenario, Topology, World};
use everypath_protocols::Aodv;
use everypath_protocols::aodv::{Model, Packet, Route};

/// The simulation model under study: its own fault is in all of the paper's experiments.
fn faulty(bug: Option<&str>) -> Model {
    let bugs: Vec<&str> = ["reboot-forgets"].into_iter().chain(bug).collect();
    chain(3, &bugs)
}

/// The three counterexamples: the fault itself, and two injected ones whose counterexamples must
/// contain a route timeout.
fn experiments() -> [(Model, Option<u16>); 3] {
    let must = Some(event::<Aodv>("route-timeout"));
    [
        (faulty(None), None),
        (faulty(Some("stale-seqno")), must),
        (faulty(Some("delete-route")), must),
    ]
}

fn to_depth(depth: u32) -> Search {
    Search { max_depth: Some(depth), ..Search::default() }
}

fn depth(result: &Exploration) -> Option<usize> {
    result.found.first().map(|found| found.schedule.len())
}

fn render(world: &World<Aodv>) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, node) in world.nodes.iter().enumerate() {
        let mut line = format!("node {id}: seqno {}, id {}", node.sequence, node.next_id);
        for Route { destination, hops, sequence, next, .. } in &node.routes {
            let hops = if *hops == Route::INFINITE { "inf".into() } else { hops.to_string() };
            line += &format!("; route {destination}: hops {hops}, seqno {sequence}, next {next}");
        }
        for (source, id) in &node.seen {
            line += &format!("; seen {source}:{id}");
        }
        lines.push(line);
    }
    let mut packets: Vec<String> = world
        .cloud
        .envelopes()
        .map(|envelope| match envelope.packet {
            Packet::Reply(reply) => {
                format!("RREP {}>{} seqno {}", envelope.from, reply.requester, reply.sequence)
            }
            packet => format!("{packet} {}>{}", envelope.from, envelope.to),
        })
        .collect();
    packets.sort();
    let packets = if packets.is_empty() { "empty".into() } else { packets.join(", ") };
    lines.push(format!("network: {packets}"));
    lines
}

#[test]
fn the_published_counterexamples_are_paths_of_the_model() {
    follow(&faulty(None), include_str!("figures/b1.txt"), render);
    // These two need no reboot, so they are paths with and without the first fault.
    let (b2, b3) = (include_str!("figures/b2.txt"), include_str!("figures/b3.txt"));
    follow(&chain(3, &["stale-seqno"]), b2, render);
    follow(&faulty(Some("stale-seqno")), b2, render);
    follow(&chain(3, &["delete-route"]), b3, render);
    follow(&faulty(Some("delete-route")), b3, render);
}

#[test]
fn the_shortest_violation_is_nine_steps_away() {
    for visited in [VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash] {
        let search = Search { visited, ..to_depth(10) };
        for (model, must_contain) in experiments() {
            let search = Search { must_contain, ..search.clone() };
            assert_eq!(depth(&run(&model, "", &search)), Some(9));
        }
    }
    for bug in ["stale-seqno", "delete-route"] {
        assert_eq!(depth(&run(&chain::<Aodv>(3, &[bug]), "", &to_depth(10))), Some(9));
    }
}

/// Waiting is what removes the fault; noticing and announcing it alone does not.
#[test]
fn the_fixed_protocol_holds_to_the_same_depth() {
    for visited in [VisitedKind::Relation, VisitedKind::Equality] {
        let search = Search { visited, ..to_depth(10) };
        assert_eq!(run(&chain::<Aodv>(3, &[]), "", &search).found, []);
    }
    let with = |features: &[&str]| {
        let features = Some(features.iter().map(ToString::to_string).collect());
        let options = Options { features, ..Options::new(Topology::chain(3)) };
        depth(&run(&Network::<Aodv>::new(options), "", &to_depth(10)))
    };
    assert_eq!(with(&["wait"]), None);
    assert_eq!(with(&["hello", "rerr"]), Some(9));
}

/// A multiset has fewer states than the paper's lists (70,308 hash codes in table 4.5), and the
/// relation counts packets where the paper's only looks for them (4,699 states in table 4.2).
#[test]
fn the_relation_stores_far_fewer_states_than_equality() {
    let counts = |visited| run(&faulty(None), "", &Search { visited, ..to_depth(10) }).counts;
    let (relation, equality) = (counts(VisitedKind::Relation), counts(VisitedKind::Equality));
    assert_eq!((relation.states, relation.events), (5_406, 30_903));
    assert_eq!((equality.states, equality.events), (15_941, 74_950));
    assert_eq!(counts(VisitedKind::Hash), equality);
}

/// Table 4.2: every rank needs far fewer events than breadth-first search, but for ranks 4 and 5
/// on the second counterexample, which barely pay in the paper either (25,205 and 20,976 events
/// against 26,641).
#[test]
fn ranking_pays() {
    for (number, (model, must_contain)) in experiments().into_iter().enumerate() {
        for add in [Add::Next, Add::Current] {
            let search = Search { add, must_contain, ..to_depth(10) };
            let bfs = run(&model, "", &search).counts.events;
            for rank in ["1", "2", "3", "4", "5"] {
                let search = Search { order: SearchOrder::Befs, ..search.clone() };
                let result = run(&model, rank, &search);
                let barely = number == 1 && matches!(rank, "4" | "5");
                let factor = if barely { 1 } else { 3 };
                assert!(result.counts.events * factor < bfs, "rank {rank}: {:?}", result.counts);
            }
        }
    }
}

/// Table 4.2, as the paper searched: states visited and events until the violation.
///
/// Ranks 2 and 3 give the same numbers. The others come within one in a hundred: in the paper a
/// reply to a distant node seems to be stuck when its sender reboots, so that some deliveries are
/// missing.
#[test]
fn the_model_has_the_published_costs() {
    let rows = [
        [(4699, 26303), (489, 4169), (394, 1606), (240, 1179), (745, 8229), (588, 6025)],
        [(4762, 26641), (485, 4116), (389, 1562), (240, 1140), (2123, 25205), (1809, 20976)],
        [(4310, 25211), (477, 4039), (386, 1552), (239, 1131), (743, 8216), (581, 5806)],
    ];
    for ((model, must_contain), row) in experiments().into_iter().zip(rows) {
        for (rank, (states, events)) in ["", "1", "2", "3", "4", "5"].into_iter().zip(row) {
            let paper = Paper { depth: 10, rank, relation: true, must_contain, disabled: None };
            let cost = search::<Aodv>(model.options().clone(), paper);
            if matches!(rank, "2" | "3") {
                assert_eq!((cost.visited, cost.events), (states, events));
            }
            assert!(near(cost.visited as u64, states as u64) && near(cost.events, events));
        }
    }
}

/// Tables 4.3 and 4.6: longer chains, with the relation and with hash codes.
#[test]
fn longer_chains_have_the_published_costs() {
    let related = [
        (74, 155),
        (402, 2235),
        (1332, 12976),
        (548, 3447),
        (628, 2605),
        (838, 2931),
        (1578, 23658),
        (3875, 118_119),
    ];
    let equal = [(86, 134), (520, 1988), (7094, 62206), (3437, 42631), (5269, 102_833)];
    for (relation, rows) in [(true, &related[..]), (false, &equal[..])] {
        for (nodes, &(states, events)) in (3..).zip(rows) {
            let model: Model = chain(nodes, &["reboot-forgets", "delete-route"]);
            let must_contain = Some(event::<Aodv>("route-timeout"));
            let depth = u32::from(nodes) * 5;
            let paper = Paper { depth, rank: "1", relation, must_contain, disabled: None };
            let cost = search::<Aodv>(model.options().clone(), paper);
            if relation {
                assert_eq!(cost.events, events);
            }
            assert!(near(cost.visited as u64, states) && near(cost.events, events));
        }
    }
}

/// Whether two counts differ by at most one in a hundred.
fn near(ours: u64, paper: u64) -> bool {
    ours.abs_diff(paper) * 100 <= paper
}

#[test]
fn all_fourteen_strategies_find_the_fault() {
    for strategy in Search::fourteen(1) {
        let search = Search { max_depth: Some(10), ..strategy };
        let found = depth(&run(&faulty(None), "3", &search));
        assert!(matches!(found, Some(9 | 10)), "{search:?}: {found:?}");
    }
}

#[test]
fn a_violation_and_its_steps_are_explained() {
    let model = faulty(None);
    let result = run(&model, "", &to_depth(10));
    assert!(result.found[0].message.starts_with("the route of node 0 to node 2"), "{result:?}");
    let names: Vec<&str> = Aodv::EVENTS.iter().map(|event| event.name).collect();
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    assert_eq!(model.ranks().len(), 5);
}
