//! The cost of the operations of a search (Sobeih 2008, table 7.2), measured on a sample.

/// A clock, in nanoseconds from any start. The engine has none of its own.
pub type Clock<'a> = &'a (dyn Fn() -> u64 + Sync);

/// How often an operation was timed, and how long it took all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often it was timed.
    pub calls: u64,
    /// Nanoseconds, without those of the clock itself.
    pub nanoseconds: u64,
}

impl Cost {
    /// The average in nanoseconds, if it was ever timed.
    pub fn mean(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.nanoseconds as f64 / self.calls as f64)
    }

    fn add(&mut self, nanoseconds: u64) {
        self.calls += 1;
        self.nanoseconds += nanoseconds;
    }

    pub(crate) fn merge(&mut self, other: Cost) {
        self.calls += other.calls;
        self.nanoseconds += other.nanoseconds;
    }
}

/// What the operations cost, each once for an event unless something else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// X: executing an event, the restoring of the state before it included.
    pub execute: Cost,
    /// H: writing the bytes of a state and hashing them.
    pub hash: Cost,
    /// Y: checking the properties.
    pub check: Cost,
    /// A: searching among the visited states.
    pub search_visited: Cost,
    /// A and R: a failed lookup, and adding the state.
    pub add_visited: Cost,
    /// N: adding a state to those to be explored, and how it was reached.
    pub add_frontier: Cost,
    /// U: ranking a state.
    pub rank: Cost,
    /// L: searching in the graph. It is searched once a state; this is the share of an event.
    pub search_graph: Cost,
    /// Listing the enabled events of a state; the share of an event.
    pub enabled: Cost,
}

impl Costs {
    pub(crate) fn merge(&mut self, other: &Costs) {
        let Costs {
            execute,
            hash,
            check,
            search_visited,
            add_visited,
            add_frontier,
            rank,
            search_graph,
            enabled,
        } = other;
        self.execute.merge(*execute);
        self.hash.merge(*hash);
        self.check.merge(*check);
        self.search_visited.merge(*search_visited);
        self.add_visited.merge(*add_visited);
        self.add_frontier.merge(*add_frontier);
        self.rank.merge(*rank);
        self.search_graph.merge(*search_graph);
        self.enabled.merge(*enabled);
    }
}

/// How many empty measurements tell what the clock itself takes.
const CALIBRATION: usize = 64;

/// A clock that knows the cost of reading it.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch<'a> {
    clock: Clock<'a>,
    overhead: u64,
}

impl<'a> Stopwatch<'a> {
    pub(crate) fn new(clock: Clock<'a>) -> Self {
        let overhead = (0..CALIBRATION).map(|_| {
            let start = clock();
            clock().saturating_sub(start)
        });
        Stopwatch { clock, overhead: overhead.min().unwrap_or(0) }
    }

    /// Does something and adds what it took.
    pub(crate) fn time<R>(&self, cost: &mut Cost, operation: impl FnOnce() -> R) -> R {
        let start = (self.clock)();
        let result = operation();
        cost.add((self.clock)().saturating_sub(start).saturating_sub(self.overhead));
        result
    }

    /// Does something for several events at once and adds what it took for each.
    pub(crate) fn time_for<R>(
        &self,
        events: usize,
        cost: &mut Cost,
        operation: impl FnOnce() -> R,
    ) -> R {
        let mut whole = Cost::default();
        let result = self.time(&mut whole, operation);
        cost.merge(Cost { calls: events as u64, ..whole });
        result
    }
}

/// When the next sample is due: close together at first, so that small searches have some, and
/// further and further apart, so that large ones lose nothing.
pub(crate) struct Rhythm {
    interval: u32,
    left: u32,
    taken: u32,
}

/// How many samples are taken before they come half as often, and how rare they get.
const SAMPLES: u32 = 16;
const RAREST: u32 = 4096;

impl Rhythm {
    pub(crate) fn every(interval: u32) -> Self {
        Rhythm { interval, left: interval, taken: 0 }
    }

    /// Whether this one is to be sampled.
    pub(crate) fn beat(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.taken += 1;
        if self.taken.is_multiple_of(SAMPLES) {
            self.interval = (self.interval * 2).min(RAREST);
        }
        self.left = self.interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_the_clock_takes_is_not_counted() {
        let now = AtomicU64::new(0);
        let clock = || now.fetch_add(5, Ordering::Relaxed);
        let watch = Stopwatch::new(&clock);
        let mut cost = Cost::default();
        watch.time(&mut cost, || now.fetch_add(100, Ordering::Relaxed));
        assert_eq!(cost, Cost { calls: 1, nanoseconds: 100 });
        watch.time_for(4, &mut cost, || now.fetch_add(60, Ordering::Relaxed));
        assert_eq!(cost.mean(), Some(32.0));
    }

    #[test]
    fn samples_come_further_and_further_apart() {
        let mut rhythm = Rhythm::every(4);
        let beats = |rhythm: &mut Rhythm, n: u32| (0..n).filter(|_| rhythm.beat()).count();
        assert_eq!(beats(&mut rhythm, 64), 16);
        assert_eq!(beats(&mut rhythm, 128), 16);
        assert!(beats(&mut rhythm, 1 << 20) < 16 * 11 + 256);
    }
}
