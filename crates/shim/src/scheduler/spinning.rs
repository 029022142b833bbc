//! Threads that spin: looks in vain, and what follows from them.
//!
//! A thread *looks in vain* if it yields, pauses, or finds again what it found before at a place that
//! nobody has changed. It may wait for others, or give up after a number of looks: nobody knows which.
//! So the first time that it would stand back, there is a step with two outcomes: it stands back until
//! others have moved, or it goes on at once. If it goes on, its looks are no steps any more, since
//! nobody moves between them, until it does something else. A thread that looks in vain
//! [`MAX_LOOKS`] times in a row never gives up: such an execution is unfair, and left out.
//!
//! The step touches nothing. What the thread reads after it, it has read before; a change that comes
//! in between is one that comes before those looks, or after all of them.

use super::{POLICY, glance, or_end, reschedule, stand_back, strategy};
use crate::above::Above;
use crate::ending;
use crate::region::setup;
use crate::state::{Ending, State, Thread, state};
use crate::worker::KERNEL;
use everypath_shim_abi::{MAX_LOOKS, Object, Operation, Outcome};

/// The thread has not looked in vain since it last did something that others could see.
const UNDECIDED: u16 = 0;
/// It has decided to wait for others.
const WAITS: u16 = 1;
/// It has decided to go on; larger numbers count its looks since then.
const GOES_ON: u16 = 2;

/// Several pauses may belong to one look, so more of them are allowed in a row. Locks of Rust's
/// standard library pause a hundred times and then wait for a futex: where they are not known, that
/// is not explored, since it makes them no other locks.
const MAX_PAUSES: u16 = 90;

/// So often a thread lets others go first before it counts as spinning.
const PATIENT_YIELDS: u16 = 3;

/// The outcome of a step with which a thread goes on spinning.
pub(super) const INSISTS: u16 = 1;

/// A point at which the thread lets others go first. Only who does nothing else that others could
/// see, again and again, has to wait for them: the first few times it may go first itself, and what
/// it does then may make a difference.
pub(crate) fn give_way() {
    let thread = state().current();
    note_yield(thread);
    let yields = thread.yields.get();
    if thread.spin.get() < GOES_ON && yields < PATIENT_YIELDS {
        thread.yields.set(yields + 1);
        glance(Operation::Yield, Object::NONE);
        KERNEL.step_begins();
    } else {
        spin(Operation::Yield, Object::NONE);
    }
}

/// A point at which the thread looks in vain once more, or is about to: it stands back until others
/// have moved, and then its step is `operation`; or it goes on.
pub(crate) fn spin(operation: Operation, object: Object) {
    let thread = state().current();
    if !is_skipped(thread, operation == Operation::Pause) && !decides_to_go_on(thread) {
        stand_back(operation, object);
    }
}

/// Whether a thread goes on, so that its look in vain, or its pause, is no step.
fn is_skipped(thread: &Thread, is_pause: bool) -> bool {
    if thread.spin.get() < GOES_ON {
        return false;
    }
    let (times, most) = match is_pause {
        true => (&thread.pauses, MAX_PAUSES),
        false => (&thread.spin, GOES_ON + MAX_LOOKS),
    };
    if times.get() < most {
        times.set(times.get() + 1);
        return true;
    }
    // It spins for ever. As a state it is that of a thread that waits.
    leave_out_unfair();
    thread.spin.set(WAITS);
    false
}

/// How many outcomes the step of a thread that spins has. In whatever order the budget is spent, an
/// execution has spent the same of it: so such steps are independent. When it is spent the step is
/// still there, so that an execution has the same steps in every order.
pub(super) fn outcomes(state: &State) -> u32 {
    1 + u32::from(state.insisted.get() < setup().spins)
}

/// Decides, once, whether a thread goes on or waits for others; it can wait only if there are any.
fn decides_to_go_on(thread: &'static Thread) -> bool {
    if thread.spin.get() != UNDECIDED || !is_free(state()) {
        return false;
    }
    let goes_on = chooses_to_go_on(thread);
    thread.spin.set(if goes_on { GOES_ON } else { WAITS });
    goes_on
}

/// Whether there are others that a thread could wait for, and whether it may go on all the same.
fn is_free(state: &State) -> bool {
    let is_free = !state.is_lonely() && state.exclusive.get() == 0 && ending::is_running();
    is_free && setup().spins > 0
}

fn chooses_to_go_on(thread: &'static Thread) -> bool {
    let state = state();
    thread.announce(Operation::Spin, Object::NONE);
    thread.idle_step.set(true);
    state.selectable.set(state.selectable.get() + 1);
    reschedule(state);
    state.selectable.set(state.selectable.get() - 1);
    let goes_on = thread.outcome.get() == INSISTS;
    state.insisted.set(state.insisted.get() + u16::from(goes_on));
    goes_on
}

/// Whether a thread whose calls find nothing goes on at once, rather than let others move first: a
/// choice, if there are others. Its calls are steps all the same.
pub(crate) fn insists() -> Option<bool> {
    is_free(state()).then(|| chooses_to_go_on(state().current()))
}

/// A thread has looked in vain as often as it may: in a search, the execution is unfair and left out.
pub(crate) fn leave_out_unfair() {
    if strategy::of(POLICY.get()).leaves_out_unfair() && !setup().canonical {
        or_end(Err(Ending { outcome: Outcome::SleepSetBlocked, detail: 0 }));
    }
}

/// Whether a look at a place is left out because the thread goes on and has found the same there
/// before.
pub(crate) fn skips(thread: &Thread, operand: usize, found: u64) -> bool {
    thread.spin.get() >= GOES_ON
        && thread.looks.get().contains(&[operand as u64, found])
        && is_skipped(thread, false)
}

/// Notes what a thread found that changed nothing.
pub(crate) fn note_look(thread: &Thread, operand: usize, found: u64) {
    let look = [operand as u64, found];
    let [first, second, third, _] = thread.looks.get();
    if ![first, second, third].contains(&look) {
        thread.looks.set([look, first, second, third]);
    }
}

/// Forgets what a thread has looked at: it does something that others could see.
#[inline(always)]
pub(super) fn forget(thread: &Thread) {
    if thread.spin.get() != UNDECIDED || thread.looks.get()[0] != [0; 2] {
        thread.spin.set(UNDECIDED);
        thread.pauses.set(0);
        thread.looks.set([[0; 2]; 4]);
    }
}

/// A thread that so often finds the same at the same instruction, and changes nothing, spins.
pub(crate) const LOOKS: u64 = 3;

/// A thread that yields after a failed load spins if it loads again.
fn note_yield(thread: &Thread) {
    let [site, operand, found, times] = thread.in_vain.get();
    let [looked_at, looked, looks] = thread.looked.get();
    thread.in_vain.set([site, operand, found, if times > 0 { LOOKS } else { 0 }]);
    thread.looked.set([looked_at, looked, if looks > 0 { LOOKS } else { 0 }]);
}

/// How often in a row an instruction, or a function, has found the same, and changed nothing.
pub(crate) fn times_in_vain(site: u64, operand: usize, found: u64) -> u64 {
    let [last_site, last_operand, last_found, times] = state().current().in_vain.get();
    let is_again = [last_site, last_operand, last_found] == [site, operand as u64, found];
    if is_again { times } else { 0 }
}

/// Notes what an instruction, or a function, found that changes nothing.
pub(crate) fn note_in_vain(site: u64, operand: usize, found: u64) {
    let times = (times_in_vain(site, operand, found) + 1).min(LOOKS);
    state().current().in_vain.set([site, operand as u64, found, times]);
    note_look(state().current(), operand, found);
}
