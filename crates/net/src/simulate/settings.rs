//! The settings of a simulation.

use super::{Nanos, SECOND};
use crate::Faults;
use std::time::Duration;

/// Everything but the network and the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How long the simulated time is. Events at its very end still happen.
    pub duration: Duration,
    /// How long a packet takes over a link.
    pub delay: Duration,
    /// How much longer it may take; how much is drawn evenly from zero to this.
    pub jitter: Duration,
    /// The probability that a packet is lost on a link.
    pub loss: f64,
    /// How many pairs of source and destination, if the protocol leaves the choice.
    pub flows: usize,
    /// How much time is between two data of a pair, on average.
    pub interval: Duration,
    /// How regular that is.
    pub arrivals: Arrivals,
    /// How often a node reboots, on average, in a minute.
    pub failures: f64,
    /// Faults that happen, each as often as said, at random moments.
    pub faults: Faults,
    /// The seed of everything random.
    pub seed: u64,
}

/// When the data of a pair is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal intervals, from a random time within the first.
    Constant,
    /// As a Poisson process: intervals are exponentially distributed.
    Poisson,
}

impl Default for Settings {
    /// A hundred seconds on links of ten milliseconds that lose nothing; five pairs, four packets
    /// a second each.
    fn default() -> Self {
        Settings {
            duration: Duration::from_secs(100),
            delay: Duration::from_millis(10),
            jitter: Duration::ZERO,
            loss: 0.0,
            flows: 5,
            interval: Duration::from_millis(250),
            arrivals: Arrivals::Constant,
            failures: 0.0,
            faults: Faults::default(),
            seed: 1,
        }
    }
}

impl Settings {
    /// The time between two reboots in a network of this many nodes, on average; `None` if none
    /// ever reboots.
    pub(super) fn between_failures(&self, nodes: usize) -> Option<Nanos> {
        let each_minute = self.failures * nodes as f64;
        (each_minute > 0.0).then(|| (60.0 * SECOND as f64 / each_minute) as Nanos)
    }
}

/// A duration in nanoseconds; more than five hundred years are five hundred years.
pub(super) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}
