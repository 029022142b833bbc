//! Preemption bounding: all schedules with at most so many preemptions.
//!
//! Madanlal Musuvathi, Shaz Qadeer: Iterative Context Bounding for Systematic Testing of
//! Multithreaded Programs. PLDI 2007.
//!
//! A preemption is a switch away from a thread that could have gone on. Most bugs need few of them,
//! and for a fixed bound the number of schedules is polynomial in their length.
//!
//! Nothing is reduced beside that. A schedule within the bound may be equivalent to none but such that
//! are beyond it, in which the races are that lead to it: a reduction would never find it.
//!
//! The paper raises the bound step by step; here it is given, and the search tells whether another one
//! would find more ([`Algorithm::has_left_out`]).
//!
//! Where we depart: a thread that yields or spins is not preempted by others.

use super::{Added, Algorithm};
use crate::executor::{Alternative, Key};
use crate::frame::Frame;
use everypath_dependence::Enabled;

/// Explores every enabled step within the bound.
#[derive(Debug)]
pub struct PreemptionBound {
    /// For each state on the path, how many preemptions there may still be; the last one is for the
    /// state after the path.
    left: Vec<u32>,
    /// Whether a step was enabled that would have been one preemption too many.
    has_left_out: bool,
}

impl PreemptionBound {
    /// At most so many preemptions in an execution.
    pub fn new(most: u32) -> Self {
        PreemptionBound { left: vec![most], has_left_out: false }
    }
}

impl<E: Enabled> Algorithm<E> for PreemptionBound {
    fn uses_sleep_sets(&self) -> bool {
        false
    }

    fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>) {
        self.left.truncate(added.first + 1);
        for at in added.first..path.len() {
            let before = at.checked_sub(1).map(|before| path[before].taken.key.thread);
            let (left, frame) = (self.left[at], &mut path[at]);
            if at >= added.entered {
                let running = running(frame, before);
                let is_within =
                    |of: &Alternative<E>| left > 0 || running.is_none_or(|it| it == of.thread);
                frame.expand_where(is_within);
                self.has_left_out |=
                    frame.alternatives().iter().any(|of| !of.step.yields() && !is_within(of));
            }
            let running = running(frame, before);
            let preempts = running.is_some_and(|it| it != frame.taken.key.thread);
            self.left.push(left.saturating_sub(u32::from(preempts)));
        }
    }
}

/// The thread that took the step before, if it could go on.
fn running<E: Enabled>(frame: &Frame<E>, before: Option<u16>) -> Option<u16> {
    let goes_on = |&thread: &u16| {
        frame
            .enabled(Key { thread, timeout: None })
            .is_some_and(|of| !of.step.yields() && !of.step.spins())
    };
    before.filter(goes_on)
}
