//! How executions end.

use crate::accesses;
use crate::backend;
use crate::fail::{EarlyEnd, Message, Stop, die};
use crate::log::log;
use crate::region::reply;
use crate::state::{Ending, state};
use crate::worker::Worker;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use everypath_shim_abi::{LogKind, Outcome};

static RUNNING: AtomicBool = AtomicBool::new(false);

/// Whether the program is under control: it is not while libraries are initialised.
pub(crate) fn is_running() -> bool {
    RUNNING.load(Relaxed)
}

/// From now on it is.
pub(crate) fn take_control() {
    RUNNING.store(true, Relaxed);
}

/// Says how the execution ended.
pub(crate) fn note_end(ending: Ending) {
    accesses::end_step(state());
    log(LogKind::Ended, [ending.outcome as u64, ending.detail as u64, 0]);
    reply(|reply| {
        reply.outcome = ending.outcome;
        reply.detail = ending.detail;
        reply.thread = state().current.get();
    });
}

/// Ends the execution, seen from a thread of the program.
pub(crate) fn ended(outcome: Outcome, detail: i32) -> ! {
    note_end(Ending { outcome, detail });
    if !is_running() {
        die(outcome, format_args!("{}", EarlyEnd(outcome, detail)));
    }
    loop {
        backend::leave(state().current());
    }
}

/// Says why the execution is about to end.
pub(crate) fn say(arguments: fmt::Arguments<'_>) {
    let text = Message::new(arguments).bytes();
    reply(|reply| reply.text = text);
}

/// Ends the execution with a text that says why.
pub(crate) fn ended_with(outcome: Outcome, detail: i32, arguments: fmt::Arguments<'_>) -> ! {
    say(arguments);
    ended(outcome, detail)
}

impl Stop for Worker {
    fn uncontrolled(&self, why: fmt::Arguments<'_>) -> ! {
        if !is_running() {
            die(Outcome::Uncontrolled, why);
        }
        ended_with(Outcome::Uncontrolled, 0, why)
    }
}
