//! Stopping and watching a search from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a running search and whoever watches it: clones are the same control.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    states: AtomicU64,
    executions: AtomicU64,
    events: AtomicU64,
    depth: AtomicU64,
    frontier: AtomicU64,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States stored as visited.
    pub states: u64,
    /// Executions that were run.
    pub executions: u64,
    /// Events executed.
    pub events: u64,
    /// The greatest depth reached.
    pub depth: u64,
    /// States, or ways from a state, that are known and still to be explored.
    pub frontier: u64,
}

impl Control {
    /// Asks the search to stop; it does so after the states it is just expanding.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked the search to stop.
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// How far the search has come. The numbers may be a batch apart from each other.
    pub fn progress(&self) -> Progress {
        Progress {
            states: self.shared.states.load(Ordering::Relaxed),
            executions: self.shared.executions.load(Ordering::Relaxed),
            events: self.shared.events.load(Ordering::Relaxed),
            depth: self.shared.depth.load(Ordering::Relaxed),
            frontier: self.shared.frontier.load(Ordering::Relaxed),
        }
    }

    /// Says how far the search has come.
    pub fn publish(&self, progress: Progress) {
        self.shared.states.store(progress.states, Ordering::Relaxed);
        self.shared.executions.store(progress.executions, Ordering::Relaxed);
        self.shared.events.store(progress.events, Ordering::Relaxed);
        self.shared.depth.store(progress.depth, Ordering::Relaxed);
        self.shared.frontier.store(progress.frontier, Ordering::Relaxed);
    }
}
