//! Partial-order reduction: which branches of the search are explored.
//!
//! Executions are equivalent if they differ only in the order of steps that commute. One of each class
//! is enough. A file for each [`Algorithm`], with its citation and where we depart from it:
//!
//! - [`none`]: every schedule.
//! - [`sleep_sets`]: no step again after steps that commute with it.
//! - [`source_dpor`]: only branches that reverse a race, by source sets.
//! - [`optimal_dpor`]: the same by wakeup trees ([`wakeup_tree`]): no execution is begun in vain.
//! - [`preemption_bound`]: every schedule with few preemptions.

pub mod none;
pub mod optimal_dpor;
pub mod preemption_bound;
pub mod sleep_sets;
pub mod source_dpor;
pub mod wakeup_tree;

mod full_expansion;

use crate::executor::{Executed, ExecutionEnd, Taken};
use crate::frame::Frame;
use everypath_dependence::{Enabled, Part};

/// A reduction, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Every schedule is explored.
    None,
    /// Sleep sets.
    SleepSets,
    /// Source-DPOR.
    Source,
    /// Optimal DPOR.
    #[default]
    Optimal,
}

impl Reduction {
    /// The algorithm of that name.
    pub(crate) fn algorithm<E: Enabled>(self) -> Box<dyn Algorithm<E>> {
        match self {
            Reduction::None => Box::new(none::NoReduction),
            Reduction::SleepSets => Box::new(sleep_sets::SleepSets),
            Reduction::Source => Box::new(source_dpor::SourceDpor::default()),
            Reduction::Optimal => Box::new(optimal_dpor::OptimalDpor::default()),
        }
    }
}

/// What an execution has added to the path of a search.
#[derive(Clone, Copy, Debug)]
pub struct Added<'a> {
    /// The number of the first step that is new, or is another one than before.
    pub first: usize,
    /// The steps from that one on.
    pub steps: &'a [Taken],
    /// The number of the first state that is new.
    pub entered: usize,
    /// How the execution ended.
    pub ended: ExecutionEnd,
}

/// Which branches a search explores.
///
/// It is asked twice for each execution, so that its calls need not be resolved by the compiler.
pub trait Algorithm<E: Enabled> {
    /// Whether a step that was explored with all of its outcomes sleeps.
    fn uses_sleep_sets(&self) -> bool {
        true
    }

    /// Whether the algorithm can be used for a program that has an execution like this one.
    fn supports(&mut self, _executed: &Executed<E>) -> bool {
        true
    }

    /// Whether a bound has kept the search from schedules that could be.
    fn has_left_out(&self) -> bool {
        false
    }

    /// Adds the branches that an execution makes necessary to the states on its path.
    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>);
}

/// Whether a step with some parts commutes with a later one that has others.
fn commute(mut some: impl Iterator<Item = Part>, others: &[Part]) -> bool {
    some.all(|part| others.iter().all(|&other| part.commutes(other)))
}
