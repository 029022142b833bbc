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
pub use stateless::{
    Alternative, Choice, Ended, Executed, Executor, Finished, Key, Run, Stateless, Taken,
};

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

/// What it means that two parts of steps of different actors meet in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Their order makes no difference.
    Independent,
    /// The second cannot come before the first.
    Ordered,
    /// They could come in the other order, and that makes a difference.
    Racing,
    /// They can be swapped, so they are not ordered; but if the second came first, there would be
    /// more that the first could do. In the other order they are independent: whoever comes second
    /// and does what it could have done before might as well have come first.
    Missed,
}

/// What a part of a step can be related to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only to what can be related to everything.
    Nothing,
    /// To that, and to parts that use the same object.
    Object(u64),
    /// To everything, and it races with it.
    Everything,
}

/// What a step touches.
pub trait Footprint: Clone {
    /// A part of it: a step may ask for something and get it, which are two.
    type Part: Copy;

    /// The parts, in the order in which they happen.
    fn parts(&self) -> impl Iterator<Item = Self::Part> + Clone;

    /// What the step might touch if it came at another moment, if that is not always the same.
    fn may_touch(&self) -> Option<Vec<Self::Part>> {
        None
    }

    /// Where the step may miss what comes later: see [`Relation::Missed`].
    fn misses_at(&self) -> Option<u64> {
        None
    }

    /// What a part can be related to.
    fn scope(part: Self::Part) -> Scope;

    /// Whether a part, and those after it, would become a step of their own if they could not happen
    /// at once: getting what the parts before ask for.
    fn is_separable(part: Self::Part) -> bool;

    /// How a part and a later one of another actor are related. Which of the two is the later must
    /// not matter for whether they race; only one of them can have missed the other.
    fn relation(earlier: Self::Part, later: Self::Part) -> Relation;

    /// Whether two parts take from the same: then the later one would get something else if it came
    /// before the earlier one, even if what it gets was not there yet.
    fn competes(_earlier: Self::Part, _later: Self::Part) -> bool {
        false
    }

    /// Whether everything that is related to an earlier part is related to this one of the same
    /// object, too.
    fn covers(part: Self::Part, earlier: Self::Part) -> bool;

    /// Whether the step can be swapped with no other.
    fn conflicts_with_all(&self) -> bool {
        self.parts().any(|part| Self::scope(part) == Scope::Everything)
    }

    /// Whether the actor waits for others to go first, although it could go on: it does so if a race
    /// asks for that, or if all that the others could do sleeps, and not otherwise. Whoever waits for
    /// others again and again would have executions without end.
    fn yields(&self) -> bool {
        false
    }

    /// Whether the step may never be taken although it could have been, or may keep others from being
    /// taken: then no race tells of what else could have been. A step that only changes what others
    /// find, and is taken in every execution that ends by itself, is not of this kind.
    fn may_disable(&self) -> bool {
        self.conflicts_with_all()
    }
}

/// Whether what two steps of different actors do can be swapped, and the first could do no more then.
fn commute<F: Footprint>(mut some: impl Iterator<Item = F::Part>, others: &[F::Part]) -> bool {
    let can =
        |part, other| matches!(F::relation(part, other), Relation::Independent | Relation::Ordered);
    some.all(|part| others.iter().all(|&other| can(part, other)))
}
