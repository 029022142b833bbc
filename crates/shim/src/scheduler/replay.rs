//! Replaying choices that the checker gives.

use super::STEPS;
use super::alternatives::{offers, yields};
use crate::region::region;
use crate::run_state::{Common, RunState};
use crate::state::{Ending, State, Status};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::{Choice, Command, GOES_ON, Outcome, Phase, TIMEOUT, TimeMode};

/// How many choices are given.
static COUNT: Common<AtomicU32> = Common::at(offset_of!(RunState, given));
/// Whether a choice that is not there is left out, instead of ending the execution.
static LENIENT: Common<AtomicBool> = Common::at(offset_of!(RunState, lenient));
/// How many were taken or left out in a lenient execution.
static USED: Common<AtomicU32> = Common::at(offset_of!(RunState, used));

/// Takes over what a command asks for.
pub(super) fn obey(command: &Command) {
    COUNT.store(command.prefix, Relaxed);
    LENIENT.store(command.lenient, Relaxed);
    USED.store(0, Relaxed);
}

/// Takes over how many choices an order has.
pub(super) fn follow(prefix: u32) {
    COUNT.store(prefix, Relaxed);
    USED.store(0, Relaxed);
}

/// Whether choices are left.
pub(super) fn are_left() -> bool {
    used() < COUNT.load(Relaxed)
}

/// How many choices were used: never less than there are steps, so writing down a step overwrites no
/// choice that is still to come.
fn used() -> u32 {
    USED.load(Relaxed).max(STEPS.load(Relaxed))
}

fn use_one() {
    // Without leniency, the steps are the choices.
    if LENIENT.load(Relaxed) {
        USED.store(used() + 1, Relaxed);
    }
}

/// The next given choice; `None` if there is none left.
#[inline(never)]
pub(super) fn next(state: &State, mode: TimeMode) -> Result<Option<Choice>, Ending> {
    while are_left() {
        let mut wanted = region().schedule[used() as usize].get();
        use_one();
        if wanted.outcome == GOES_ON {
            if state.thread(wanted.thread).phase.get() != Phase::Resume {
                continue;
            }
            wanted.outcome = 0;
        }
        if is_possible(state, wanted, mode) {
            return Ok(Some(wanted));
        }
        if !LENIENT.load(Relaxed) {
            return Err(Ending { outcome: Outcome::Diverged, detail: STEPS.load(Relaxed) as i32 });
        }
    }
    Ok(None)
}

/// A thread takes a step without being chosen: if the next choice says so, it is used up.
pub(super) fn pass(thread: u16) {
    if are_left() && region().schedule[used() as usize].get().thread == thread {
        use_one();
    }
}

fn is_possible(state: &State, wanted: Choice, mode: TimeMode) -> bool {
    let thread = state.thread(wanted.thread);
    let offered = offers(state, thread, mode).max(u32::from(yields(state, thread)));
    if thread.status() == Status::Blocked {
        offered > 0 && wanted.outcome == TIMEOUT
    } else {
        u32::from(wanted.outcome) < offered
    }
}
