//! Sleep sets: a step that was explored from a state is not taken again after steps that commute with
//! it.
//!
//! Patrice Godefroid: Partial-Order Methods for the Verification of Concurrent Systems, 1996,
//! chapter 5.
//!
//! Both orders of two steps that commute lead to the same state. So once one of them was explored from
//! a state with all that follows, it *sleeps* there while the other is explored, until a step is taken
//! that does not commute with it. Each class of equivalent executions is then completed once. But
//! executions are begun in vain: all that is enabled in the end sleeps. DPOR, which avoids most of
//! these, uses sleep sets, too.
//!
//! Where we depart: a step sleeps only once all of its outcomes were explored. A step wakes up also if
//! it would have more outcomes than it had ([`Relation::Missed`](everypath_dependence::Relation)).

use super::wakeup_tree::Branch;
use super::{Added, Algorithm, commute};
use crate::executor::{Alternative, Key};
use crate::frame::Frame;
use everypath_dependence::Enabled;

/// Explores every enabled step that does not sleep.
#[derive(Debug)]
pub struct SleepSets;

impl<E: Enabled> Algorithm<E> for SleepSets {
    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>) {
        path[added.entered..].iter_mut().for_each(Frame::expand);
    }
}

/// The steps that sleep in a state.
#[derive(Clone, Debug)]
pub(crate) struct SleepSet<E>(Vec<Alternative<E>>);

impl<E> Default for SleepSet<E> {
    fn default() -> Self {
        SleepSet(Vec::new())
    }
}

impl<E: Enabled> SleepSet<E> {
    /// Whether a step sleeps.
    pub(crate) fn contains(&self, key: Key) -> bool {
        self.0.iter().any(|sleeping| sleeping.key() == key)
    }

    /// The steps.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Alternative<E>> {
        self.0.iter()
    }

    /// The same and one more, if there is one.
    pub(crate) fn with(&self, explored: Option<&Alternative<E>>) -> Self {
        SleepSet(self.0.iter().chain(explored).cloned().collect())
    }

    /// The steps that still sleep after one was taken.
    pub(crate) fn after(&self, taken: &Branch) -> Self {
        SleepSet(self.0.iter().filter(|sleeping| sleeps_on(sleeping, taken)).cloned().collect())
    }

    /// Whether no step sleeps after one was taken.
    pub(crate) fn is_empty_after(&self, taken: &Branch) -> bool {
        !self.0.iter().any(|sleeping| sleeps_on(sleeping, taken))
    }

    /// The steps that still sleep after several were taken.
    pub(crate) fn after_all(mut self, path: &[&Branch]) -> Vec<Alternative<E>> {
        self.0.retain(|sleeping| path.iter().all(|taken| sleeps_on(sleeping, taken)));
        self.0
    }
}

/// Whether a step still sleeps after another one was taken.
fn sleeps_on<E: Enabled>(sleeping: &Alternative<E>, taken: &Branch) -> bool {
    sleeping.thread != taken.key.thread
        && commute(sleeping.step.footprint().into_parts(), &taken.parts)
}
