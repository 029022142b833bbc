//! Searches over the schedules of a program.
//!
//! - [`stateless`]: the depth-first search itself, with sleep sets; with [`Reduction::None`] it
//!   is plain, and the oracle for all others.
//! - [`source_dpor`]: which other schedules a schedule makes necessary.
//! - [`happens_before`]: the order that an execution's steps have among themselves.
//! - [`stateful`]: another depth-first search, which goes from state to state and stops at those
//!   that it has met before.

pub mod happens_before;
pub mod source_dpor;
pub mod stateful;
pub mod stateless;

pub use stateless::{Alternative, Choice, Ended, Executed, Executor, Stateless, Taken};

/// What is left out of a search because it can make no difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing.
    None,
    /// Schedules that only swap independent steps.
    #[default]
    Dpor,
}

/// What it means that two parts of steps of different actors meet in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Their order makes no difference.
    Independent,
    /// The second cannot come before the first.
    Ordered,
    /// They could come in the other order, and that makes a difference.
    Racing,
}

/// What a step touches.
pub trait Footprint: Clone {
    /// A part of it: a step may ask for something and get it, which are two.
    type Part: Copy;

    /// The parts, in the order in which they happen.
    fn parts(&self) -> Vec<Self::Part>;

    /// Whether a part would become a step of its own if it could not happen at once: getting what
    /// the parts before it ask for.
    fn is_separable(part: Self::Part) -> bool;

    /// How a part and a later one of another actor are related.
    fn relation(earlier: Self::Part, later: Self::Part) -> Relation;

    /// Whether this step and another one of another actor can be swapped.
    fn commutes(&self, other: &Self) -> bool;

    /// Whether the step can be swapped with no other.
    fn is_everything(&self) -> bool;
}
