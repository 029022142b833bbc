//! A system whose operations are timed one by one.

use everypath_explore::{Canonical, MultisetSketch, Property, SimulationRelation, Step, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An operation of a system that the engine asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Listing the enabled steps.
    Enabled,
    /// Taking a step.
    Take,
    /// Writing the canonical bytes of a state.
    Encode,
    /// Filling a state: from its bytes, or from the state before.
    Restore,
    /// Comparing two states with the relation.
    Compare,
    /// Checking a property.
    Check,
}

impl Operation {
    /// All operations, in the order of their numbers, in words.
    pub const NAMES: [(Operation, &'static str); 6] = [
        (Operation::Enabled, "list enabled steps"),
        (Operation::Take, "take a step"),
        (Operation::Encode, "encode a state"),
        (Operation::Restore, "restore a state"),
        (Operation::Compare, "compare by the relation"),
        (Operation::Check, "check properties"),
    ];
}

/// How often an operation happened, and how long it took in all.
#[derive(Debug, Default)]
struct Cost {
    calls: AtomicU64,
    nanos: AtomicU64,
}

/// The costs of all operations. Meant for one thread: additions of several may be lost.
#[derive(Debug, Default)]
pub struct Clock {
    costs: [Cost; Operation::NAMES.len()],
}

impl Clock {
    /// Runs one operation and adds what it took.
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "the time of operations is what is measured")]
    pub fn time<T>(&self, operation: Operation, run: impl FnOnce() -> T) -> T {
        let add = |sum: &AtomicU64, value| {
            sum.store(sum.load(Ordering::Relaxed) + value, Ordering::Relaxed);
        };
        let cost = &self.costs[operation as usize];
        let start = Instant::now();
        let result = run();
        let nanos = start.elapsed().as_nanos() as u64;
        add(&cost.calls, 1);
        add(&cost.nanos, nanos);
        result
    }

    /// How often an operation happened.
    pub fn calls(&self, operation: Operation) -> u64 {
        self.costs[operation as usize].calls.load(Ordering::Relaxed)
    }

    /// How long an operation took in all, reading the clock included.
    pub fn total(&self, operation: Operation) -> Duration {
        Duration::from_nanos(self.costs[operation as usize].nanos.load(Ordering::Relaxed))
    }
}

/// What an operation that does nothing seems to take, in seconds: the cost of reading the clock.
pub fn empty_operation() -> f64 {
    const CALLS: u32 = 100_000;
    let batch = || {
        let clock = Clock::default();
        (0..CALLS).for_each(|_| clock.time(Operation::Take, || ()));
        clock.total(Operation::Take).as_secs_f64() / f64::from(CALLS)
    };
    (0..10).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// A system that explores like the one inside and tells a clock what that costs.
pub struct Timed<S> {
    inner: S,
    clock: Arc<Clock>,
}

/// A state of a timed system.
pub struct TimedState<T> {
    inner: T,
    clock: Arc<Clock>,
}

impl<S: System> Timed<S> {
    /// Times the operations of `inner`.
    pub fn new(inner: S, clock: Arc<Clock>) -> Self {
        Timed { inner, clock }
    }

    /// Times the properties of the system inside.
    pub fn properties(&self, inner: Vec<Property<S::State>>) -> Vec<Property<TimedState<S::State>>>
    where
        S::State: 'static,
    {
        let timed = |property: Property<S::State>| {
            let clock = Arc::clone(&self.clock);
            let respects = property.respects_relation();
            let timed =
                Property::new(property.name.clone(), move |state: &TimedState<S::State>| {
                    clock.time(Operation::Check, || property.check(&state.inner))
                });
            if respects { timed.respecting_relation() } else { timed }
        };
        inner.into_iter().map(timed).collect()
    }
}

impl<T: Canonical> Canonical for TimedState<T> {
    const SIZE: Option<usize> = T::SIZE;

    fn write(&self, bytes: &mut Vec<u8>) {
        self.clock.time(Operation::Encode, || self.inner.write(bytes));
    }

    fn read(&mut self, bytes: &mut &[u8]) {
        self.clock.time(Operation::Restore, || self.inner.read(bytes));
    }
}

impl<S: System> System for Timed<S> {
    type State = TimedState<S::State>;

    fn initial(&self) -> Self::State {
        TimedState { inner: self.inner.initial(), clock: Arc::clone(&self.clock) }
    }

    fn enabled(&self, state: &Self::State, steps: &mut Vec<Step>) {
        self.clock.time(Operation::Enabled, || self.inner.enabled(&state.inner, steps));
    }

    fn take(&self, state: &mut Self::State, step: Step) {
        self.clock.time(Operation::Take, || self.inner.take(&mut state.inner, step));
    }

    fn restore(&self, original: &Self::State, bytes: &[u8], state: &mut Self::State) {
        self.clock.time(Operation::Restore, || {
            self.inner.restore(&original.inner, bytes, &mut state.inner);
        });
    }

    fn relation(&self) -> Option<&dyn SimulationRelation> {
        self.inner.relation().map(|_| self as &dyn SimulationRelation)
    }
}

/// The relation of the system inside. The length of the key is not timed: it is two bytes read.
impl<S: System> SimulationRelation for Timed<S> {
    fn key_len(&self, bytes: &[u8]) -> usize {
        self.inner.relation().map_or(bytes.len(), |relation| relation.key_len(bytes))
    }

    fn sketch(&self, rest: &[u8]) -> MultisetSketch {
        self.clock.time(Operation::Compare, || match self.inner.relation() {
            Some(relation) => relation.sketch(rest),
            None => MultisetSketch::default(),
        })
    }

    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        let relation = self.inner.relation();
        self.clock.time(Operation::Compare, || match relation {
            Some(relation) => relation.simulates(larger, smaller),
            None => larger == smaller,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_explore::{Config, Control, Model as _, Search, SearchOrder, Task, explore};
    use everypath_protocols::aodv::Model;

    #[test]
    fn a_timed_model_is_explored_like_the_plain_one() {
        let config = Config { bugs: vec!["reboot-forgets".into()], ..Config::new(3) };
        let build = || Model::build(&config);
        for order in [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::DfsRecursive] {
            let search =
                Search { order, max_depth: Some(9), keep_going: true, ..Search::default() };
            let (system, control) = (build(), Control::default());
            let properties = system.properties();
            let task =
                Task { system: &system, properties: &properties, rank: None, search: &search };
            let plain = explore(&task, &control);
            assert!(plain.counts.events > 1_000 && !plain.found.is_empty(), "{plain:?}");

            let clock = Arc::new(Clock::default());
            let timed = Timed::new(system, Arc::clone(&clock));
            let properties = timed.properties(properties);
            let task =
                Task { system: &timed, properties: &properties, rank: None, search: &search };
            assert_eq!(explore(&task, &control), plain);
            for (number, (operation, name)) in Operation::NAMES.into_iter().enumerate() {
                assert_eq!(operation as usize, number);
                assert!(clock.calls(operation) > 0, "{order}: {name}");
            }
            assert!(clock.calls(Operation::Take) >= plain.counts.events);
        }
    }
}
