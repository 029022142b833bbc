//! Faults of connections to peers: choices within a budget.
//!
//! How many bytes a call moves is the outcome of the step that moves them. What does not depend on
//! bytes is a step of its own before that. A budget limits the whole execution, in
//! whatever order it is spent, so steps that spend it are independent.

use crate::host::{Host, Thread};
use crate::object::Object;
use crate::refine::divisible;
use crate::{errno, joint, peer};
use everypath_shim_abi::{self as abi, Fault, Operation, OperationKind, TIMEOUT};

/// Whether anything may go wrong in this check.
pub fn are_explored(k: &impl Host) -> bool {
    k.setup().faults.are_explored()
}

fn is_left(k: &impl Host, fault: Fault) -> bool {
    k.state().spent.get()[fault as usize] < k.setup().faults.of(fault)
}

/// Counts a fault that happens.
pub(crate) fn happens(k: &impl Host, fault: Fault) {
    let mut spent = k.state().spent.get();
    spent[fault as usize] += 1;
    k.state().spent.set(spent);
}

/// Lets the search choose whether something goes wrong here; says whether it does.
pub(crate) fn strikes(k: &impl Host, fault: Fault, object: abi::Object) -> bool {
    if k.setup().faults.of(fault) == 0 {
        return false;
    }
    let struck = k.step(Operation::Fault(fault), object) == 1;
    if struck {
        happens(k, fault);
    }
    struck
}

/// Lets the search choose whether a call that may wait is interrupted.
pub(crate) fn interrupt(k: &impl Host, waits: bool) -> Result<(), i32> {
    match waits && strikes(k, Fault::Interrupt, abi::Object::NONE) {
        true => Err(errno::EINTR),
        false => Ok(()),
    }
}

/// Lets the search choose whether no descriptor is free for a new socket.
pub(crate) fn no_descriptor(k: &impl Host) -> Result<(), i32> {
    match strikes(k, Fault::NoDescriptor, abi::Object::NONE) {
        true => Err(errno::EMFILE),
        false => Ok(()),
    }
}

/// The outcome of the step that is being taken.
fn outcome(k: &impl Host) -> usize {
    match k.current().outcome() {
        _ if !are_explored(k) => 0,
        TIMEOUT => 0,
        outcome => usize::from(outcome),
    }
}

/// In how many ways the pending step of a thread can go.
pub fn ways(k: &impl Host, thread: &impl Thread) -> u32 {
    match thread.operation() {
        Operation::Fault(fault) => 1 + u32::from(is_left(k, fault)),
        Operation::ConnectPeer(_) => 1 + u32::from(is_left(k, Fault::Refuse)),
        Operation::Send(_) | Operation::Receive(_) => match divisible(k, thread) {
            Some((socket, length)) if thread.kind() == OperationKind::Send => {
                ways_to_send(k, socket, length) as u32
            }
            // What comes of it is for the other program to say.
            Some((socket, _)) if joint::is_joint(k, socket) => 1,
            Some((socket, length)) => {
                let count = length.min(peer::answered(k, socket));
                let (whole, broken) = ways_to_receive(k, socket, count);
                (whole + broken).min(usize::from(TIMEOUT) - 1) as u32
            }
            None => 1,
        },
        _ => 1,
    }
}

/// Whether a connection is refused although somebody listens.
pub(crate) fn refuses(k: &impl Host) -> bool {
    let refuses = outcome(k) == 1;
    if refuses {
        happens(k, Fault::Refuse);
    }
    refuses
}

/// All of it, or any smaller part, but not nothing.
fn ways_to_send(k: &impl Host, socket: &Object, length: usize) -> usize {
    let may_be_short = is_left(k, Fault::ShortWrite) && !peer::is_reset(socket);
    if may_be_short { length.clamp(1, usize::from(TIMEOUT) - 1) } else { 1 }
}

/// How many of so many bytes are written.
pub(crate) fn written(k: &impl Host, length: usize) -> usize {
    match outcome(k) {
        0 => length,
        shorter => {
            happens(k, Fault::ShortWrite);
            shorter.min(length)
        }
    }
}

/// Whether the step that receives may find the connection broken.
pub(crate) fn may_reset(k: &impl Host, socket: &Object) -> bool {
    peer::is_remote(socket) && !peer::is_reset(socket) && is_left(k, Fault::Reset)
}

/// The ways in which so many bytes are received, and then those in which fewer are, because the
/// connection breaks.
fn ways_to_receive(k: &impl Host, socket: &Object, count: usize) -> (usize, usize) {
    let whole = if k.setup().faults.chunks { count.max(1) } else { 1 };
    let broken = if may_reset(k, socket) { count.max(1) } else { 0 };
    (whole, broken)
}

/// How many of so many bytes are received, and whether the connection breaks then.
pub(crate) fn received(k: &impl Host, socket: &Object, count: usize) -> (usize, bool) {
    // Late answers may have been a choice since.
    let outcome = match k.current().task().outcome.get() {
        outcome if are_explored(k) && outcome != TIMEOUT => usize::from(outcome),
        _ => 0,
    };
    let (whole, broken) = ways_to_receive(k, socket, count);
    match outcome {
        0 => (count, false),
        _ if outcome < whole => (outcome, false),
        _ if outcome - whole < broken => {
            happens(k, Fault::Reset);
            (outcome - whole, true)
        }
        _ => (count, false),
    }
}
