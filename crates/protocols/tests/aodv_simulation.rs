//! AODV in time, where it can be computed by hand, and what must be true of all its runs.

use everypath_net::simulate::{Arrivals, Counts, Run, Settings, simulate_checked};
use everypath_net::{Options, Shape, Topology};
use everypath_protocols::Aodv;
use std::time::Duration;

fn run(topology: Topology, settings: &Settings) -> Run {
    let run = simulate_checked::<Aodv>(&Options::new(topology), settings, &|_| true);
    let run = run.unwrap().unwrap();
    assert_eq!(run.violation, None);
    run
}

/// The first data waits for a request to go there and a reply to come back, 10 ms a link.
#[test]
fn a_route_takes_a_round_trip_and_data_the_way() {
    let settings = Settings { flows: 1, ..Settings::default() };
    for seed in 0..10 {
        let run = run(Topology::chain(5), &Settings { seed, ..settings.clone() });
        let (&hops, &delivered) = run.hops.first_key_value().unwrap();
        let link = 10_000_000 * u64::from(hops);
        assert_eq!((run.hops.len(), delivered), (1, run.counts.delivered));
        assert_eq!(run.discoveries, [2 * link]);
        assert_eq!((run.delays[0], run.delays.last()), (link, Some(&(3 * link))));
        assert!(run.counts.offered - run.counts.delivered <= 1);
    }
}

#[test]
fn nothing_appears_or_vanishes() {
    for seed in 0..10 {
        let settings = Settings {
            jitter: Duration::from_millis(5),
            loss: 0.05,
            failures: 1.0,
            arrivals: Arrivals::Poisson,
            seed,
            ..Settings::default()
        };
        let run = run(Topology::new(Shape::Random { seed }, 30), &settings);
        let Counts { offered, delivered, dropped, sent, arrived, lost, in_flight, .. } = run.counts;
        assert_eq!(sent, arrived + lost + in_flight);
        // How much arrives is left open: a node that waits after a reboot cuts whole routes.
        assert!(delivered + dropped <= offered, "{:?}", run.counts);
    }
}
