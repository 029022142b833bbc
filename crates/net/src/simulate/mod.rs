//! Discrete-event simulation of the handlers that are explored.
//!
//! - [`simulate`]: one run of a protocol under [`Settings`]; a [`Run`] is what was measured.
//!   [`simulate_checked`]: the same with its properties checked.
//! - [`Traffic`]: what a protocol says in order to be simulated; [`Sources`]: who sends to whom.
//! - [`METRICS`]: what a network engineer wants to know of a run. [`Summary`]: of several runs.
//! - [`GENERATOR`]: the name of all randomness; the same seed gives the same run everywhere.
//!
//! Inside: `faults` (what breaks, and when), `queue` (events in order of time), `timers`, `random` (distributions from integers),
//! `medium` (what handlers act on), `meter` (what is counted).
//!
//! Links are independent of each other: no packet waits for another, and none collides. What is
//! measured is what the protocol does, not what a radio would.

mod check;
mod engine;
mod faults;
mod medium;
mod meter;
mod metrics;
mod queue;
mod random;
mod settings;
mod summary;
mod timers;
mod traffic;

pub use check::Violation;
pub use engine::{LogLine, Panicked, simulate, simulate_checked, simulate_logged, simulate_while};
pub use meter::{Counts, Run};
pub use metrics::{METRICS, Metric, Unit};
pub use random::GENERATOR;
pub use settings::{Arrivals, Settings};
pub use summary::{Summary, student_t95};
pub use traffic::{Sources, Traffic};

/// A point in time, or a stretch of it, in nanoseconds.
pub(crate) type Nanos = u64;

/// Nanoseconds in a second.
pub(crate) const SECOND: Nanos = 1_000_000_000;
