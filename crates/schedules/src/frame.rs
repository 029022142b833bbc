//! A state on the path of a search over schedules, with the branches that are explored from it.
//!
//! Which branches these are is up to the [`reduction`](crate::reduction). That all outcomes of a step
//! are explored, one after the other, is not: no reduction leaves one out.

use crate::executor::{Alternative, Key, Taken};
use crate::reduction::sleep_sets::SleepSet;
use crate::reduction::wakeup_tree::Branch;
use everypath_dependence::{Choice, Enabled};
use std::mem;

/// A state on the path that is being explored.
pub struct Frame<E> {
    /// The steps that are enabled.
    alternatives: Vec<Alternative<E>>,
    /// The steps that were explored from here, or from an equivalent state.
    pub(crate) sleep: SleepSet<E>,
    /// The branch that is being explored.
    pub(crate) taken: Branch,
    /// The branches that are to be explored, in this order.
    pub(crate) branches: Vec<Branch>,
    /// How many branches were explored.
    pub(crate) done: usize,
}

impl<E: Enabled> Frame<E> {
    /// The state from which a step was taken for the first time. `planned` are the branches that were
    /// planned for it beforehand, without the one that was taken, and `then` those after that one.
    pub(crate) fn new(
        step: &Taken,
        alternatives: Vec<Alternative<E>>,
        sleep: SleepSet<E>,
        planned: Vec<Branch>,
        then: &[Branch],
    ) -> Self {
        let Choice { thread, outcome } = step.choice;
        let fired = Key { thread, timeout: Some(outcome) };
        let is_timeout = alternatives.iter().any(|of| of.key() == fired);
        let (key, outcome) =
            if is_timeout { (fired, 0) } else { (Key { thread, timeout: None }, outcome) };
        let parts = step.footprint.parts().collect();
        let taken = Branch { key, outcome, parts, then: Vec::new() };
        let mut frame = Frame { alternatives, sleep, taken, branches: planned, done: 0 };
        frame.begin_outcomes(then);
        frame
    }

    /// The steps that are enabled.
    pub(crate) fn alternatives(&self) -> &[Alternative<E>] {
        &self.alternatives
    }

    /// A step, if it is enabled.
    pub(crate) fn enabled(&self, key: Key) -> Option<&Alternative<E>> {
        self.alternatives.iter().find(|alternative| alternative.key() == key)
    }

    /// Whether a step was explored from here, or will be.
    pub(crate) fn has(&self, key: Key) -> bool {
        let to_come = self.branches.iter().any(|branch| branch.key == key);
        to_come || self.taken.key == key || self.sleep.contains(key)
    }

    /// Whether the branch that is being explored can be taken.
    pub(crate) fn is_possible(&self) -> bool {
        self.enabled(self.taken.key).is_some_and(|of| self.taken.outcome < of.outcomes)
    }

    /// Adds the branches of all enabled steps that are missing, but for threads that yield.
    pub(crate) fn expand(&mut self) {
        self.expand_where(|_| true);
    }

    /// Adds those of them for which a condition holds.
    pub(crate) fn expand_where(&mut self, condition: impl Fn(&Alternative<E>) -> bool) {
        let missing = self.alternatives.iter().filter(|alternative| {
            !self.has(alternative.key()) && !alternative.step.yields() && condition(alternative)
        });
        let leaves: Vec<_> = missing.map(|alternative| Branch::leaf(alternative, 0)).collect();
        self.branches.extend(leaves);
    }

    /// Explores all outcomes of the step that is being explored, next.
    ///
    /// Not while steps sleep that the planned ones after it shall wake: another outcome might not
    /// enable those. Whatever sleeps was explored before this step with all of its outcomes, and if
    /// one of them enables a step that wakes it, that race has brought it here.
    fn begin_outcomes(&mut self, then: &[Branch]) {
        let key = self.taken.key;
        if !then.is_empty() && !self.sleep.is_empty_after(&self.taken) {
            return;
        }
        let Some(alternative) = self.enabled(key).filter(|of| of.outcomes > 1) else { return };
        let mut outcomes: Vec<Branch> =
            (0..alternative.outcomes).map(|outcome| Branch::leaf(alternative, outcome)).collect();
        let (known, others) =
            mem::take(&mut self.branches).into_iter().partition::<Vec<_>, _>(|b| b.key == key);
        for branch in known {
            if let Some(leaf) = outcomes.get_mut(usize::from(branch.outcome)) {
                *leaf = branch;
            }
        }
        outcomes.retain(|branch| branch.outcome != self.taken.outcome);
        self.branches = outcomes.into_iter().chain(others).collect();
    }

    /// Whether the next branch is another outcome of the step that is being explored.
    fn has_more_outcomes(&self) -> bool {
        self.branches.first().is_some_and(|next| next.key == self.taken.key)
    }

    /// Goes on to the next branch, if there is one; the steps that are planned after it.
    pub(crate) fn advance(&mut self, with_sleep_sets: bool) -> Option<Vec<Branch>> {
        if self.branches.is_empty() {
            return None;
        }
        let more_outcomes = self.has_more_outcomes();
        self.sleep = self.sleep_before_next(with_sleep_sets);
        self.taken = self.branches.remove(0);
        self.done += 1;
        let then = mem::take(&mut self.taken.then);
        if !more_outcomes {
            self.begin_outcomes(&then);
        }
        Some(then)
    }

    /// The sleep set here when the next branch is explored.
    pub(crate) fn sleep_before_next(&self, with_sleep_sets: bool) -> SleepSet<E> {
        let falls_asleep = with_sleep_sets && !self.has_more_outcomes();
        self.sleep.with(self.enabled(self.taken.key).filter(|_| falls_asleep))
    }

    /// The sleep set after the branch that is being explored.
    pub(crate) fn sleep_after(&self) -> SleepSet<E> {
        self.sleep.after(&self.taken)
    }
}
