//! The alternatives at a scheduling point: the runnable threads, and the outcomes of their steps.

use super::{LAST, PEERS, SPURIOUS, TIME, futex_waiters, waiters_on_condition};
use super::{quiet, spinning};
use crate::above::Above;
use crate::region::setup;
use crate::state::{State, Status, Thread};
use crate::symmetry;
use crate::worker::KERNEL;
use everypath_shim_abi::{Object, ObjectKind, Operation, OperationKind, Phase, TimeMode, Waiting};
use everypath_vkernel::combination;

/// How many ways the pending step of a thread can go.
pub(super) fn outcomes(state: &State, thread: &Thread) -> u32 {
    match thread.operation() {
        Operation::CondSignal if thread.phase.get() == Phase::Request => {
            combination::ways(waiters_on_condition(state, thread.object.get()), 1)
        }
        Operation::FutexWake(most) if thread.phase.get() == Phase::Request => {
            let waiters = futex_waiters(state, thread.object.get(), thread.mask.get()).count();
            combination::ways(waiters as u32, most)
        }
        Operation::Choose(ways) | Operation::Deliver(ways) => ways,
        Operation::Spin => spinning::outcomes(state),
        Operation::Kill
        | Operation::Partition
        | Operation::Fault(_)
        | Operation::ConnectPeer(_)
        | Operation::Send(_)
        | Operation::Receive(_) => KERNEL.outcomes(state, thread),
        _ => 1,
    }
}

/// Whether the time-out of a blocked thread may fire now. Those of equal deadlines fire in any order:
/// the clock does not advance while threads run, so they need not be equal on a real machine.
fn may_time_out(state: &State, thread: &Thread, mode: TimeMode) -> bool {
    let deadline = thread.deadline.get();
    let waits = |other: &Thread| {
        other.status() == Status::Blocked && other.deadline.get() != 0 && !other.is_unheard.get()
    };
    let earlier = |other: &Thread| waits(other) && other.deadline.get() < deadline;
    // No moments, so nothing is lost if these are ordered. Who looks for somebody who never comes, such as
    // nscd, may be the one that others wait for: it must not be kept from going on.
    let sooner = |other: &Thread| {
        let rank = |thread: &Thread| {
            let object = thread.object.get();
            (thread.deadline.get(), is_served(object), !is_name(object), thread.number.get())
        };
        waits(other) && rank(other) < rank(thread)
    };
    let awaits_peer = |other: &Thread| waits(other) && other.deadline.get() == PEERS;
    waits(thread)
        && match mode {
            // What a peer says by itself comes when nothing else happens, to one thread after the other.
            _ if deadline == PEERS => {
                let before = |other: &Thread| other.number.get() < thread.number.get();
                can_run(state) == 0
                    && !state.threads().any(|other| awaits_peer(other) && before(other))
            }
            _ if deadline == LAST => {
                can_run(state) == 0 && (setup().scouts || !state.threads().any(sooner))
            }
            _ if !quiet::may_be_early(state, thread) => false,
            TimeMode::Any => true,
            TimeMode::Ordered => !state.threads().any(earlier),
            TimeMode::Quiescent => {
                let sooner = |other: &Thread| earlier(other) || awaits_peer(other);
                !state.threads().any(sooner) && is_quiescent(state)
            }
        }
}

/// Whether the time-out of a blocked thread fires only because no thread can go on, not even one that
/// yields: nothing else can happen then but other time-outs, whatever came before.
pub(super) fn comes_last(state: &State, thread: &Thread) -> bool {
    let deadline = thread.deadline.get();
    let is_awaited = deadline == LAST || TIME.get() == TimeMode::Quiescent;
    state.ready.bits() == 0
        && thread.status() == Status::Blocked
        && deadline != 0
        && is_awaited
        && SPURIOUS.get() == 0
        && !setup().joint
        && !setup().scouts
}

/// Whether an object is an address at which somebody listens sooner or later.
fn is_served(object: Object) -> bool {
    matches!(object.kind(), ObjectKind::Address(number) if setup().served.contains(&number))
}

/// Whether an object is the address of a Unix socket: they come after all ports.
fn is_name(object: Object) -> bool {
    matches!(object.kind(), ObjectKind::Address(number) if number > u64::from(u16::MAX))
}

/// Whether no thread can take a step, whatever may still befall them.
fn is_quiescent(state: &State) -> bool {
    let can_run = can_run(state);
    let moves = |thread: &Thread| can_run >> thread.number.get() & 1 != 0 && !thread.is_injector();
    can_run == 0 || !state.threads().any(moves)
}

/// Whether the budget of spurious wakeups is not used up.
pub(super) fn spurious_wakeups_are_left(state: &State) -> bool {
    SPURIOUS.get() > state.spurious.get()
}

/// Whether a thread that waits for a condition variable, without a deadline, may wake up by itself. If
/// nothing else can happen it may not: that is a deadlock, of which no spurious wakeup may be a part.
fn may_wake_spuriously(state: &State, thread: &Thread) -> bool {
    spurious_wakeups_are_left(state)
        && thread.waiting.get() == Waiting::Cond
        && (can_run(state) != 0 || state.deadlines.get() != 0)
}

/// How many choices a thread offers.
pub(super) fn offers(state: &State, thread: &Thread, mode: TimeMode) -> u32 {
    match thread.status() {
        _ if !state.may_move(thread.number.get()) || symmetry::holds_back(state, thread) => 0,
        Status::Ready if !state.standing.contains(thread.number.get()) => outcomes(state, thread),
        Status::Blocked if thread.deadline.get() != 0 => {
            u32::from(may_time_out(state, thread, mode))
        }
        Status::Blocked => u32::from(may_wake_spuriously(state, thread)),
        _ => 0,
    }
}

/// Whether a thread waits for others to go first, but need not: all that it would do is to yield,
/// and not because it has looked at something in vain.
pub(super) fn yields(state: &State, thread: &Thread) -> bool {
    thread.status() == Status::Ready
        && state.standing.contains(thread.number.get())
        && (thread.kind.get(), thread.object.get()) == (OperationKind::Yield, Object::NONE)
        && state.may_move(thread.number.get())
        && !symmetry::holds_back(state, thread)
}

/// The threads that are runnable and have not yielded, a bit each.
pub(super) fn can_run(state: &State) -> u128 {
    let ready = state.ready.bits() & !state.standing.bits();
    match state.exclusive.get() {
        0 => ready,
        thread => ready & 1 << (thread - 1),
    }
}
