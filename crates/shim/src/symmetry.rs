//! Symmetry reduction among processes with the same command.
//!
//! Up to a permutation, the first of them to use the network is the one with the lowest number: so
//! the others may not do so before it has, and after it the next one. Their steps before that are
//! private. A process that exits or is killed before it has used the network blocks no other any
//! longer.

use crate::multi_process;
use crate::region::setup;
use crate::state::{Ending, State, Status, Thread};
use everypath_shim_abi::{Outcome, is_use_of_network};

/// Whether there are any.
fn is_declared() -> bool {
    multi_process::is_one_of_several() && setup().leaders.iter().any(|&leader| leader != 0)
}

/// To be called once, before anybody runs: who can go on is not only a matter of threads.
pub(crate) fn declare(state: &State) {
    if multi_process::is_first() && is_declared() {
        state.selectable.set(state.selectable.get() + 1);
    }
}

fn uses_network(thread: &Thread) -> bool {
    is_use_of_network(thread.kind.get(), thread.object.get())
}

/// Whether another process must use the network before a thread may.
pub(crate) fn holds_back(state: &State, thread: &Thread) -> bool {
    if !multi_process::is_one_of_several() {
        return false;
    }
    let process = multi_process::owner(thread.number.get());
    let has_used = |process: usize| state.seen.get() >> process & 1 != 0;
    let leader = usize::from(setup().leaders[process]).checked_sub(1);
    leader.is_some_and(|leader| !has_used(leader)) && !has_used(process) && uses_network(thread)
}

/// Notes that a thread takes its step.
pub(crate) fn note(state: &State, thread: &Thread) {
    if multi_process::is_one_of_several() && uses_network(thread) {
        be_seen(state, multi_process::owner(thread.number.get()));
    }
}

/// A process has used the network, or never will.
pub(crate) fn be_seen(state: &State, process: usize) {
    state.seen.set(state.seen.get() | 1 << process);
}

/// If a process is held back while no step is enabled, a symmetric one blocks for ever before it uses
/// the network. That is explored with the two swapped.
pub(crate) fn stuck(state: &State) -> Option<Ending> {
    let is_held = |it: &Thread| it.status() == Status::Ready && holds_back(state, it);
    let ending = Ending { outcome: Outcome::Abandoned, detail: 0 };
    state.threads().any(is_held).then_some(ending)
}
