//! The end of a process, which other threads of it need not be kept from.
//!
//! An execution in which a process ends while another thread could take a *silent* step, one that only
//! its own process can see, shows nothing that another one does not show in which that step comes
//! first: the process ends in the same way, with the same output, and whatever the other thread does
//! wrong is shown by the longer execution only. So a search lets silent steps come first, and tries the
//! end of the process against all others. Which of its threads were still at work is then no choice, as
//! it would be after every step of theirs.

use super::STEPS;
use super::alternatives::{can_run, offers};
use crate::multi_process;
use crate::region::setup;
use crate::state::{State, Thread, state};
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{
    Family, Operation, OperationKind, PackedOperation, Phase, ProcessEnd, TimeMode,
};

/// Others may go on for ever: after so many steps the end of the process is tried against every one.
const PATIENCE: u32 = 1000;

/// The running thread is about to exit its process.
pub(crate) fn begin_to_exit() {
    if setup().exits_wait {
        state().current().exits_since.set(STEPS.load(Relaxed) + 1);
    }
}

/// Whether a thread that exits its process waits for a silent step of another one.
pub(super) fn waits(state: &State, thread: &Thread, mode: TimeMode) -> bool {
    let since = thread.exits_since.get();
    let is_patient = since != 0 && STEPS.load(Relaxed) + 1 - since < PATIENCE;
    is_patient
        && thread.kind.get() == OperationKind::ProcessExit
        && state.members(can_run(state)).any(|other| {
            let owner = multi_process::owner(other.number.get());
            owner == multi_process::owner(thread.number.get())
                && is_silent(other)
                && offers(state, other, mode) > 0
        })
}

/// Whether only its own process can see the pending step of a thread.
fn is_silent(thread: &Thread) -> bool {
    let kind = thread.kind.get();
    thread.phase.get() != Phase::Limited
        && match kind.family() {
            Family::Memory | Family::Locks => true,
            // Joining a thread takes note of its panic.
            Family::Threads => matches!(
                kind,
                OperationKind::Start
                    | OperationKind::Exit
                    | OperationKind::Create
                    | OperationKind::Yield
                    | OperationKind::Pause
                    | OperationKind::Spin
            ),
            Family::Files | Family::Network | Family::Process => false,
        }
}

/// What a thread does that exits its process: nobody takes notice if nobody else could move.
pub(super) fn refined(thread: &Thread) -> Option<PackedOperation> {
    let state = state();
    let Operation::ProcessExit(end) = thread.operation() else { return None };
    let is_alone = state.ready.bits().count_ones() == 1 && state.deadlines.get() == 0;
    let is_last = thread.exits_since.get() != 0 && is_alone;
    is_last.then(|| Operation::ProcessExit(ProcessEnd { is_unnoticed: true, ..end }).pack())
}
