//! The echo algorithm: exact sizes, its bugs, and its broadcasts in time.

use crate::support::run;
use everypath_explore::{Exploration, Search, VisitedKind};
use everypath_net::simulate::{Settings, simulate};
use everypath_net::{Config, Network, NodeId, Options, Scenario as _, Shape, Topology};
use everypath_protocols::Echo;

fn explored(shape: Shape, nodes: NodeId, bugs: &[&str], duplicate: bool) -> Exploration {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    let options = Options { bugs, duplicate, ..Options::new(Topology::new(shape, nodes)) };
    let depth = if duplicate { Some(12) } else { None };
    let visited = VisitedKind::Equality;
    let search = Search { max_depth: depth, visited, ..Search::default() };
    run(&Network::<Echo>::new(options), "", &search)
}

#[test]
fn nobody_decides_too_early_on_any_network() {
    let networks = [
        (Shape::Chain, 2),
        (Shape::Chain, 4),
        (Shape::Ring, 3),
        (Shape::Ring, 4),
        (Shape::Star, 4),
        (Shape::Grid, 5),
    ];
    let states = networks.map(|(shape, nodes)| {
        let result = explored(shape, nodes, &[], false);
        assert_eq!(result.found, [], "{shape:?} of {nodes}");
        result.counts.states
    });
    // Of two nodes: nothing, a token, none left, an echo, none left, decided.
    assert_eq!(states, [6, 14, 80, 149, 126, 501]);
    assert_eq!(explored(Shape::Ring, 3, &[], true).found, []);
}

#[test]
fn an_early_echo_is_found() {
    let found = |shape, nodes| {
        let result = explored(shape, nodes, &["early-echo"], false);
        result.found.first().map(|found| found.schedule.len())
    };
    // Broadcast, the first node's token, its echo: node 2 knows nothing.
    assert_eq!(found(Shape::Chain, 3), Some(3));
    // The only neighbour is the parent, so there is nothing to be early for.
    assert_eq!(found(Shape::Chain, 2), None);
}

#[test]
fn counted_tokens_fail_if_tokens_are_duplicated() {
    let found = |duplicate| {
        let result = explored(Shape::Star, 3, &["counted-tokens"], duplicate);
        result.found.first().map(|found| found.schedule.len())
    };
    assert_eq!(found(false), None);
    // Node 1 echoes, its echo is duplicated, and node 2 knows nothing.
    assert_eq!(found(true), Some(5));
}

#[test]
fn a_network_that_is_not_connected_is_refused() {
    let broken = Config { links: Some(vec![(0, 1), (2, 3)]), ..Config::new(4) };
    assert!(Echo::check(&Options::from(&broken)).is_err());
    assert!(Echo::check(&Options::new(Topology::chain(4))).is_ok());
}

/// A token takes 10 ms a link; each broadcast is a token or two on every link.
#[test]
fn every_broadcast_reaches_the_last_node() {
    let options = Options::new(Topology::chain(5));
    let run = simulate::<Echo>(&options, &Settings::default()).unwrap();
    assert!(run.counts.delivered + 1 >= run.counts.offered, "{:?}", run.counts);
    assert_eq!(run.delays[run.delays.len() / 2], 40_000_000);
    let lossy = Settings { loss: 0.1, ..Settings::default() };
    let run = simulate::<Echo>(&options, &lossy).unwrap();
    assert!(run.counts.delivered < run.counts.offered && run.counts.delivered > 0);
}
