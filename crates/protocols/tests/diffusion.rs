//! Directed diffusion against the figures and tables of Sobeih (2008), chapter 5 and appendix C.

use crate::support::paper::{Paper, search};
use crate::support::{chain, event, follow, run};
use everypath_explore::{Add, Exploration, Search, SearchOrder, VisitedKind};
use everypath_net::{Cloud as _, World};
use everypath_protocols::Diffusion;
use everypath_protocols::diffusion::Model;

fn with(bugs: &[&str]) -> Model {
    chain(4, bugs)
}

/// The simulation model under study has both faults.
fn faulty() -> Model {
    with(&["cache-timeout", "reboot"])
}

fn to_depth(depth: u32) -> Search {
    Search { max_depth: Some(depth), ..Search::default() }
}

/// The second experiment: data caches never time out, and the violation must contain a reboot.
fn without_timeouts() -> Search {
    Search {
        must_contain: Some(event::<Diffusion>("reboot")),
        disabled: vec![event::<Diffusion>("data-cache-timeout")],
        ..to_depth(20)
    }
}

fn depth(result: &Exploration) -> Option<usize> {
    result.found.first().map(|found| found.schedule.len())
}

fn render(world: &World<Diffusion>) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, node) in world.nodes.iter().enumerate() {
        let mut parts = Vec::new();
        for gradient in &node.gradients {
            let rate = if gradient.reinforced { "5.0" } else { "60.0" };
            parts.push(format!("gradient {} rate {rate}", gradient.to));
        }
        parts.extend(node.samples.iter().map(|sample| format!("data from {}", sample.from)));
        let parts = if parts.is_empty() { "empty".into() } else { parts.join("; ") };
        lines.push(format!("node {id}: {parts}"));
    }
    let envelopes = world.cloud.envelopes();
    let mut packets: Vec<String> =
        envelopes.map(|e| format!("{} {}>{}", e.packet, e.from, e.to)).collect();
    packets.sort();
    let packets = if packets.is_empty() { "empty".into() } else { packets.join(", ") };
    lines.push(format!("network: {packets}"));
    lines
}

#[test]
fn the_published_counterexamples_are_paths_of_the_model() {
    // Each needs only one of the faults.
    follow(&with(&["cache-timeout"]), include_str!("figures/c1.txt"), render);
    follow(&faulty(), include_str!("figures/c1.txt"), render);
    follow(&with(&["reboot"]), include_str!("figures/c2.txt"), render);
}

#[test]
fn the_shortest_violation_is_thirteen_steps_away() {
    for model in [faulty(), with(&["cache-timeout"])] {
        assert_eq!(depth(&run(&model, "", &to_depth(15))), Some(13));
    }
    let search = Search { visited: VisitedKind::Hash, ..to_depth(13) };
    assert_eq!(depth(&run(&faulty(), "", &search)), Some(13));
}

#[test]
fn reboots_alone_close_a_loop() {
    let bfs = run(&with(&["reboot"]), "", &without_timeouts());
    assert_eq!(depth(&bfs), Some(17));
    let search = Search { order: SearchOrder::Befs, ..without_timeouts() };
    let best = run(&with(&["reboot"]), "4", &search);
    assert!(matches!(depth(&best), Some(17..=20)));
    assert!(best.counts.events < bfs.counts.events);
}

#[test]
fn without_the_faults_no_violation_is_found() {
    assert_eq!(run(&with(&[]), "", &to_depth(15)).found, []);
    let search = Search { visited: VisitedKind::Equality, ..to_depth(10) };
    assert_eq!(run(&with(&[]), "", &search).found, []);
}

/// Table 5.1: ranks 1, 2 and 4 need far fewer events than breadth-first search.
#[test]
fn ranking_pays_if_the_rank_is_good() {
    let bfs = run(&faulty(), "", &to_depth(15)).counts.events;
    for add in [Add::Next, Add::Current] {
        for rank in ["1", "2", "4"] {
            let search = Search { order: SearchOrder::Befs, add, ..to_depth(15) };
            let result = run(&faulty(), rank, &search);
            assert!(result.counts.events * 20 < bfs, "rank {rank}: {:?}", result.counts);
        }
    }
}

/// Table 5.1, as the paper searched: all states stored, and events, until the violation.
#[test]
fn the_model_has_exactly_the_published_costs() {
    let first = [
        ("", 16735, 115_698),
        ("1", 513, 1042),
        ("2", 501, 1279),
        ("3", 5638, 113_342),
        ("4", 284, 474),
        ("5", 14284, 175_807),
        ("6", 12985, 95036),
    ];
    let second =
        [("", 44348, 425_181), ("1", 18063, 92820), ("2", 20435, 132_382), ("4", 3574, 18373)];
    let timeouts =
        Paper { depth: 15, rank: "", relation: true, must_contain: None, disabled: None };
    let reboots = Paper {
        depth: 20,
        must_contain: Some(event::<Diffusion>("reboot")),
        disabled: Some(event::<Diffusion>("data-cache-timeout")),
        ..timeouts
    };
    for (paper, rows) in [(timeouts, &first[..]), (reboots, &second[..])] {
        for &(rank, stored, events) in rows {
            let cost = search::<Diffusion>(faulty().options().clone(), Paper { rank, ..paper });
            assert_eq!((cost.visited + cost.waiting, cost.events), (stored, events), "rank {rank}");
        }
    }
}
