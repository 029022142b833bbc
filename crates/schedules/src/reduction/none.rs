//! No reduction: every schedule is explored.
//!
//! Patrice Godefroid: Model checking for programming languages using VeriSoft. POPL 1997 (a stateless
//! search, which executes schedules from the start).
//!
//! It is the oracle for all others: on small programs they must reach the same final states.
//!
//! Where we depart: a thread that yields goes on only if no other can, or programs that spin would
//! have executions without end.

use super::{Added, Algorithm};
use crate::frame::Frame;
use everypath_dependence::Enabled;

/// Explores every enabled step from every state.
#[derive(Debug)]
pub struct NoReduction;

impl<E: Enabled> Algorithm<E> for NoReduction {
    fn uses_sleep_sets(&self) -> bool {
        false
    }

    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>) {
        path[added.entered..].iter_mut().for_each(Frame::expand);
    }
}
