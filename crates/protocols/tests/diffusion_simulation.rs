//! Directed diffusion in time, and what must be true of all its runs.

use everypath_net::simulate::{Counts, Run, Settings, simulate_checked};
use everypath_net::{Options, Topology};
use everypath_protocols::Diffusion;
use std::time::Duration;

fn run(topology: Topology, settings: &Settings) -> Run {
    let run = simulate_checked::<Diffusion>(&Options::new(topology), settings, &|_| true);
    let run = run.unwrap().unwrap();
    assert_eq!(run.violation, None);
    run
}

/// Once a path is reinforced, data takes 10 ms a link.
#[test]
fn on_a_chain_almost_all_data_arrives_after_its_way() {
    for seed in 0..5 {
        let run = run(Topology::chain(5), &Settings { seed, ..Settings::default() });
        assert!(run.counts.delivered + 12 >= run.counts.offered, "{:?}", run.counts);
        assert_eq!(run.delays[run.delays.len() / 2], 40_000_000);
    }
}

/// Gradients live for two minutes; the sink says again what it is interested in.
#[test]
fn data_flows_for_longer_than_a_gradient_lives() {
    let settings = Settings { duration: Duration::from_secs(600), ..Settings::default() };
    let run = run(Topology::chain(5), &settings);
    assert_eq!(run.counts.offered, 2400);
    assert!(run.counts.delivered >= 2388, "{:?}", run.counts);
}

#[test]
fn nothing_appears_or_vanishes() {
    for seed in 0..5 {
        let jitter = Duration::from_millis(5);
        let settings = Settings { jitter, loss: 0.05, failures: 1.0, seed, ..Settings::default() };
        let run = run(Topology::chain(6), &settings);
        let Counts { offered, delivered, sent, arrived, lost, in_flight, .. } = run.counts;
        assert_eq!(sent, arrived + lost + in_flight);
        assert!(delivered <= offered, "{:?}", run.counts);
    }
}
