//! Faults of connections to peers: choices within a budget.
//!
//! How many bytes a call moves is the outcome of the step that moves them. What does not depend on
//! bytes is a step of its own before that. A budget limits the whole execution, in
//! whatever order it is spent, so steps that spend it are independent.

use super::{Object, joint, peer};
use crate::region::setup;
use crate::scheduler::step;
use crate::state::{Thread, state};
use crate::sys::errno;
use everypath_shim_abi::{self as abi, Fault, Operation, OperationKind, TIMEOUT};

/// Whether anything may go wrong in this check.
pub(crate) fn are_explored() -> bool {
    setup().faults.are_explored()
}

fn is_left(fault: Fault) -> bool {
    state().spent.get()[fault as usize] < setup().faults.of(fault)
}

/// Counts a fault that happens.
pub(super) fn happens(fault: Fault) {
    let mut spent = state().spent.get();
    spent[fault as usize] += 1;
    state().spent.set(spent);
}

/// Lets the search choose whether something goes wrong here; says whether it does.
pub(super) fn strikes(fault: Fault, object: abi::Object) -> bool {
    if setup().faults.of(fault) == 0 {
        return false;
    }
    let struck = step(Operation::Fault(fault), object) == 1;
    if struck {
        happens(fault);
    }
    struck
}

/// Lets the search choose whether a call that may wait is interrupted.
pub(super) fn interrupt(waits: bool) -> Result<(), i32> {
    match waits && strikes(Fault::Interrupt, abi::Object::NONE) {
        true => Err(errno::EINTR),
        false => Ok(()),
    }
}

/// The outcome of the step that is being taken.
fn outcome() -> usize {
    match state().current().outcome.get() {
        _ if !are_explored() => 0,
        TIMEOUT => 0,
        outcome => usize::from(outcome),
    }
}

/// In how many ways the pending step of a thread can go.
pub(crate) fn ways(thread: &Thread) -> u32 {
    match thread.operation() {
        Operation::Fault(fault) => 1 + u32::from(is_left(fault)),
        Operation::ConnectPeer(_) => 1 + u32::from(is_left(Fault::Refuse)),
        Operation::Send(_) | Operation::Receive(_) => match super::divisible(thread) {
            Some((socket, length)) if thread.kind.get() == OperationKind::Send => {
                ways_to_send(socket, length) as u32
            }
            // What comes of it is for the other program to say.
            Some((socket, _)) if joint::is_joint(socket) => 1,
            Some((socket, length)) => {
                let count = length.min(peer::available(socket));
                let (whole, broken) = ways_to_receive(socket, count);
                (whole + broken).min(usize::from(TIMEOUT) - 1) as u32
            }
            None => 1,
        },
        _ => 1,
    }
}

/// Whether a connection is refused although somebody listens.
pub(super) fn refuses() -> bool {
    let refuses = outcome() == 1;
    if refuses {
        happens(Fault::Refuse);
    }
    refuses
}

/// All of it, or any smaller part, but not nothing.
fn ways_to_send(socket: &Object, length: usize) -> usize {
    let may_be_short = is_left(Fault::ShortWrite) && !peer::is_reset(socket);
    if may_be_short { length.clamp(1, usize::from(TIMEOUT) - 1) } else { 1 }
}

/// How many of so many bytes are written.
pub(super) fn written(length: usize) -> usize {
    match outcome() {
        0 => length,
        shorter => {
            happens(Fault::ShortWrite);
            shorter.min(length)
        }
    }
}

/// Whether the step that receives may find the connection broken.
pub(super) fn may_reset(socket: &Object) -> bool {
    peer::is_remote(socket) && !peer::is_reset(socket) && is_left(Fault::Reset)
}

/// The ways in which so many bytes are received, and then those in which fewer are, because the
/// connection breaks.
fn ways_to_receive(socket: &Object, count: usize) -> (usize, usize) {
    let whole = if setup().faults.chunks { count.max(1) } else { 1 };
    let broken = if may_reset(socket) { count.max(1) } else { 0 };
    (whole, broken)
}

/// How many of so many bytes are received, and whether the connection breaks then.
pub(super) fn received(socket: &Object, count: usize) -> (usize, bool) {
    let outcome = outcome();
    let (whole, broken) = ways_to_receive(socket, count);
    match outcome {
        0 => (count, false),
        _ if outcome < whole => (outcome, false),
        _ if outcome - whole < broken => {
            happens(Fault::Reset);
            (outcome - whole, true)
        }
        _ => (count, false),
    }
}
