//! Searches over the schedules of a program.
//!
//! - [`stateless`]: the depth-first search itself, with sleep sets; with [`Reduction::None`] it
//!   is plain, and the oracle for all others.
//! - [`optimal_dpor`], [`source_dpor`]: which other schedules a schedule makes necessary.
//! - [`wakeup_tree`]: the schedules that are still to be explored from a state.
//! - [`happens_before`]: the order that an execution's steps have among themselves.
//! - [`estimate`]: how large a search is going to be.
//! - [`stateful`]: another depth-first search, which goes from state to state and stops at those
//!   that it has met before.

pub mod estimate;
pub mod happens_before;
pub mod optimal_dpor;
pub mod source_dpor;
pub mod stateful;
pub mod stateless;
pub mod wakeup_tree;

pub use estimate::Estimate;
pub use stateless::{Alternative, Ended, Executed, Executor, Finished, Key, Run, Stateless, Taken};

use everypath_dependence::Part;

/// What is left out of a search because it can make no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    None,
    /// Schedules that only swap independent steps, by source sets.
    Source,
    /// The same, by wakeup trees: none of them is even begun.
    #[default]
    Optimal,
}

/// Whether a step with some parts commutes with a later one that has others.
fn commute(mut some: impl Iterator<Item = Part>, others: &[Part]) -> bool {
    some.all(|part| others.iter().all(|&other| part.commutes(other)))
}
