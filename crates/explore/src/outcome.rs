//! The result of a search: counts, coverage, violations.

use crate::NotSimulated;
use everypath_trace::Step;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// What was counted.
    pub counts: Counts,
    /// For each violated property the shallowest violation that was found, in the order in which
    /// the properties were first seen violated. Each was replayed.
    pub found: Vec<Found>,
    /// Every state of at most this depth was generated and checked, however the search ended.
    /// Only a search that goes level by level can tell; the others say 0.
    pub checked_depth: u32,
    /// Why the search ended.
    pub ended: Ended,
    /// How often each event was executed, by number, up to the last that was. What a graph made it
    /// unnecessary to execute is not counted.
    pub by_event: Vec<u64>,
    /// For each property that some state must satisfy, in their order: its name and the steps to the
    /// first state that does.
    pub witnesses: Vec<(String, Option<Vec<Step>>)>,
}

impl Exploration {
    /// Whether another search has explored the same. Which events it executed is left out of account:
    /// that is what a graph changes.
    pub fn same_as(&self, other: &Exploration) -> bool {
        let other = Exploration { by_event: self.by_event.clone(), ..other.clone() };
        *self == other
    }
}

/// What a search counted.
///
/// Every executed event is either safe or unsafe, and every safe one is a tree, a non-tree or a
/// deepest event (Sobeih 2008, section 3.3.2). With [`Add::Current`](crate::Add) a generated
/// state is compared with the visited ones only when its turn comes, so an event that is found
/// to be non-tree then counts as one, and states still waiting at the end count as tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States stored as visited.
    pub states: u64,
    /// States stored as visited or waiting to be explored, at the end.
    pub stored: u64,
    /// Events executed.
    pub events: u64,
    /// Events that led to a state without a violation.
    pub safe: u64,
    /// Events that led to a violation.
    pub unsafe_events: u64,
    /// Safe events that led to a new state.
    pub tree: u64,
    /// Safe events that led to a state like one already visited.
    pub non_tree: u64,
    /// Safe events that led to a state at the depth bound.
    pub deepest: u64,
    /// States in which nothing was enabled.
    pub dead_ends: u64,
    /// The depth of the deepest state generated.
    pub depth: u32,
    /// Violations that count (see [`Search::must_contain`](crate::Search)).
    pub violations: u64,
    /// How often each property was violated, in the order of the properties; panics last.
    pub by_property: Vec<u64>,
}

impl Counts {
    /// Paths that have come to their end: pruned, at the bound, stuck, or violating.
    pub fn executions(&self) -> u64 {
        self.non_tree + self.deepest + self.unsafe_events + self.dead_ends
    }
}

/// A confirmed violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The property's name, or [`PANIC`](crate::PANIC).
    pub property: String,
    /// Why the state violates it.
    pub message: String,
    /// The steps from the initial state.
    pub schedule: Vec<Step>,
    /// Of a counterexample that goes on for ever: the steps from this one on (counted from 0) are
    /// repeated.
    pub loop_start: Option<usize>,
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything within the depth bound was explored.
    Complete,
    /// A violation was found, and the search was not asked to go on.
    Violation,
    /// A limit was reached.
    Limit(Limit),
    /// It was stopped through [`Control`](crate::Control).
    Stopped,
    /// What the search runs on failed: a file could not be read or written, a process is gone; which, and why.
    Failed(String),
    /// A violation could not be repeated: the system is not a function of its steps.
    Unconfirmed(String),
    /// The graph of an earlier version is wrong about the event of this number, whose handler is
    /// said to be the same.
    Stale(u16),
    /// Actors that the model calls symmetric are not alike; why.
    NotSymmetric(String),
    /// Steps that the model says to commute do not; which.
    NotIndependent(String),
    /// The simulation relation has pruned what it must not: a step of a state that the one which is
    /// said to simulate it cannot match.
    NotSimulated(Box<NotSimulated>),
}

/// A limit of the engine. Time and memory are watched from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of stored states.
    States(u64),
    /// The number of finished paths.
    Executions(u64),
}
