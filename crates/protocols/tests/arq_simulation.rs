//! ARQ in time, where it can be computed by hand.

use everypath_net::simulate::{METRICS, Run, Settings, simulate, simulate_checked};
use everypath_net::{Options, Topology};
use everypath_protocols::Arq;
use std::time::Duration;

fn run(bugs: &[&str], settings: &Settings) -> Run {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    let options = Options { bugs, ..Options::new(Topology::chain(2)) };
    simulate::<Arq>(&options, settings).unwrap()
}

fn metric(run: &Run, name: &str) -> f64 {
    METRICS.iter().find(|metric| metric.name == name).unwrap().value(run).unwrap()
}

/// Data takes 10 ms there and its acknowledgement 10 ms back: fifty a second.
#[test]
fn without_loss_a_packet_takes_a_round_trip() {
    for (delay, throughput) in [(10, 50.0), (20, 25.0), (1, 500.0)] {
        let delay = Duration::from_millis(delay);
        let run = run(&[], &Settings { delay, ..Settings::default() });
        assert_eq!(metric(&run, "throughput"), throughput);
        for name in ["delay-mean", "delay-p50", "delay-p99"] {
            assert_eq!(metric(&run, name), delay.as_secs_f64() * 1e3);
        }
        assert_eq!(metric(&run, "hops"), 1.0);
        let counts = run.counts;
        // The last acknowledgement has just arrived, and the next data is on its way.
        assert_eq!((counts.offered, counts.in_flight), (counts.delivered + 1, 1));
        assert_eq!((counts.control, counts.data), (counts.delivered, counts.delivered + 1));
        assert_eq!((counts.lost, counts.duplicates, counts.dropped), (0, 0, 0));
    }
}

/// A data or acknowledgement that is lost costs a second. With a loss of p each way, a round trip
/// succeeds with q = (1 - p)², so that 1/q - 1 seconds are lost for a packet, on average.
#[test]
fn with_loss_throughput_is_as_computed() {
    for loss in [0.01, 0.1, 0.3] {
        let duration = Duration::from_secs(200_000);
        let run = run(&[], &Settings { duration, loss, ..Settings::default() });
        let success = (1.0 - loss) * (1.0 - loss);
        let expected = 1.0 / (0.020 + (1.0 / success - 1.0));
        let measured = metric(&run, "throughput");
        assert!((measured / expected - 1.0).abs() < 0.02, "{measured} {expected}");
        // Data arrives, after so many attempts on average, each a second after the one before.
        let delay = 10.0 + 1000.0 * (1.0 / (1.0 - loss) - 1.0);
        let measured = metric(&run, "delay-mean");
        assert!((measured / delay - 1.0).abs() < 0.05, "{measured} {delay}");
    }
}

/// Exploration finds the bug; a simulation shows what it costs, but only where acknowledgements
/// come later than the sender's patience lasts.
#[test]
fn the_bug_loses_data_when_acknowledgements_are_late() {
    let delivered = |bugs: &[&str], delay| {
        let settings = Settings {
            duration: Duration::from_secs(1000),
            delay: Duration::from_millis(delay),
            loss: 0.2,
            ..Settings::default()
        };
        metric(&run(bugs, &settings), "delivery-ratio")
    };
    assert!(delivered(&["unchecked-ack"], 450) > 0.99);
    assert!(delivered(&["unchecked-ack"], 600) < 0.85);
    assert!(delivered(&[], 600) > 0.99);
}

/// The handlers that are explored are those that are simulated: what holds there holds here, and the
/// timers of a state are those that its handlers have set.
#[test]
fn the_properties_are_checked_while_simulating() {
    let run = |bugs: &[&str]| {
        let bugs = bugs.iter().map(ToString::to_string).collect();
        let options = Options { bugs, ..Options::new(Topology::chain(2)) };
        let delay = Duration::from_millis(600);
        let settings = Settings { delay, loss: 0.2, ..Settings::default() };
        simulate_checked::<Arq>(&options, &settings, &|_| true).unwrap().unwrap().violation
    };
    assert_eq!(run(&[]), None);
    assert_eq!(run(&["unchecked-ack"]).unwrap().property, "delivery");
}
