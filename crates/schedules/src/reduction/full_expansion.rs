//! States that DPOR must expand fully, because no race tells what else could have been done there.

use crate::executor::{Alternative, ExecutionEnd};
use crate::frame::Frame;
use everypath_dependence::Enabled;

/// Expands states in which a step is enabled that may disable others, such as the end of the process,
/// or may be disabled, such as a time-out.
pub(super) fn expand_where_steps_disable<E: Enabled>(entered: &mut [Frame<E>]) {
    let may_disable = |frame: &&mut Frame<E>| {
        frame.alternatives().iter().any(|alternative| alternative.step.may_disable())
    };
    entered.iter_mut().filter(may_disable).for_each(Frame::expand);
}

/// Expands states if an execution was cut: the steps that were still to come race with those that
/// conflict with everything, and with the last one.
pub(super) fn expand_if_cut<E: Enabled>(path: &mut [Frame<E>], ended: ExecutionEnd) {
    let Some((last, before)) = path.split_last_mut().filter(|_| ended == ExecutionEnd::Cut) else {
        return;
    };
    let conflicts = |of: &Alternative<E>| of.step.conflicts_with_all();
    last.expand();
    let before = before.iter_mut().filter(|frame| frame.alternatives().iter().any(conflicts));
    before.for_each(Frame::expand);
}
