//! A call that may have to wait: one step, or several with waits between them.

use super::{Want, caller, ready};
use crate::cancel;
use crate::descriptors;
use crate::region::setup;
use crate::scheduler::{LAST, Woken, point, request, stand_back, wait};
use crate::state::{Thread, state};
use crate::sys::errno;
use everypath_shim_abi::{Operation, TimeMode, Waiting};

/// A call on an object, as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) operation: Operation,
    /// What it works on, in footprints.
    pub(super) touches: usize,
    pub(super) value: u64,
    pub(super) want: Want,
    /// The descriptor through which the call was made, and what it was open on: another thread may
    /// close it before the call begins.
    pub(super) through: Option<(i32, usize)>,
    /// When to give up; none for never, and none at all if the call does not wait.
    pub(super) patience: Patience,
}

impl Call {
    /// When a wait for it ends by itself.
    fn deadline(&self) -> Option<u64> {
        let given_up = match self.patience {
            Patience::Until(moment) => Some(moment),
            Patience::Last => Some(LAST),
            Patience::None | Patience::Forever => None,
        };
        [given_up, ready::next_expiry(self.want)].into_iter().flatten().min()
    }
}

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    None,
    Until(u64),
    /// Until nothing else can happen any more.
    Last,
    Forever,
}

impl Patience {
    /// As an option of a socket says: 0 is for ever.
    pub(super) fn of_option(nanoseconds: u64) -> Patience {
        match nanoseconds {
            0 => Patience::Forever,
            some => Patience::Until(state().clock.get().saturating_add(some)),
        }
    }
}

impl Patience {
    /// Whether a call waits until it gets what it asks for, if anything else can still happen: who
    /// may give up before must not ask later than he could, as if that made no difference.
    pub(super) fn lasts(self) -> bool {
        match self {
            Patience::None | Patience::Last => false,
            Patience::Until(_) => setup().time == TimeMode::Quiescent,
            Patience::Forever => true,
        }
    }
}

/// Why a call could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// It would have to wait.
    WouldWait,
    TimedOut,
    Interrupted,
    /// The descriptor was closed before the call began.
    Closed,
}

/// Tries a call until it need not wait any more: one step, or several with waits between them.
pub(super) fn until_done<T>(
    call: Call,
    attempt: impl FnMut() -> Option<T>,
) -> Result<T, Unfinished> {
    let outcome = try_until_done(call, attempt);
    state().current().want.set(Want::Nothing);
    outcome
}

fn try_until_done<T>(call: Call, mut attempt: impl FnMut() -> Option<T>) -> Result<T, Unfinished> {
    // Who gives up last of all does so whenever it asked.
    let deadline = call.deadline().filter(|&moment| moment != LAST);
    let mut call = caller::widened(call);
    if call.operation == Operation::Arrive {
        state().current().want.set(ready::known_to_all(call.want));
    }
    request(call.operation, call.touches, call.value, deadline);
    if cancel::is_due() {
        return Err(Unfinished::Interrupted);
    }
    if let Some((descriptor, description)) = call.through
        && descriptors::description(descriptor) != Some(description)
    {
        return Err(Unfinished::Closed);
    }
    let (began, mut has_heard) = (state().clock.get(), false);
    loop {
        let thread = state().current();
        caller::begin_look(&call);
        if call.operation == Operation::Arrive {
            ready::settle(call.want);
        }
        if let Some(done) = attempt() {
            thread.vain_looks.set(0);
            return Ok(done);
        }
        if crate::signals::deliver_pending(state()) {
            return Err(Unfinished::Interrupted);
        }
        if ready::is_satisfied(call.want) {
            // What was there was lost on its way, and there is more.
            call = caller::widened(call);
            request(call.operation, call.touches, call.value, deadline);
            continue;
        }
        match call.patience {
            Patience::None => {
                looked_in_vain(thread, call);
                return Err(Unfinished::WouldWait);
            }
            Patience::Until(moment) if moment <= state().clock.get() => {
                if !has_heard && ready::hear(call.want, moment.saturating_sub(began)) {
                    has_heard = true;
                    continue;
                }
                return Err(Unfinished::TimedOut);
            }
            Patience::Until(_) | Patience::Last | Patience::Forever => {}
        }
        call = caller::widened(call);
        let is_endless = call.patience == Patience::Forever && call.deadline().is_none();
        let hopes = is_endless && caller::may_speak_up(call.want);
        let deadline = if hopes { Some(LAST) } else { call.deadline() };
        thread.announce(call.operation, call.touches, call.value);
        thread.want.set(ready::known_to_all(call.want));
        let woken = wait(Waiting::Network, call.touches, deadline);
        match woken {
            Woken::TimedOut if hopes => caller::await_all(),
            Woken::TimedOut if call.patience == Patience::Last => {
                return Err(Unfinished::TimedOut);
            }
            // What it waited for may be there, and a timer may have expired before it gives up.
            Woken::Granted | Woken::TimedOut | Woken::Interrupted { restart: true } => {}
            Woken::Interrupted { restart: false } => return Err(Unfinished::Interrupted),
        }
    }
}

/// A thread that looks again and again without waiting lets others move first. The first look is no
/// reason: what it does next may depend on its being first.
fn looked_in_vain(thread: &Thread, call: Call) {
    let looks = thread.vain_looks.get();
    thread.vain_looks.set(looks.saturating_add(1));
    if looks > 0 {
        stand_back(Operation::Yield, call.touches);
    }
}

/// A descriptor and what it is open on.
pub(super) fn through(descriptor: i32) -> Option<(i32, usize)> {
    descriptors::description(descriptor).map(|description| (descriptor, description))
}

/// The step of a call that never waits; nothing is done if another thread closed the descriptor before.
pub(super) fn step_of_call(
    descriptor: i32,
    operation: Operation,
    touches: usize,
    value: u64,
) -> Result<(), i32> {
    let before = through(descriptor);
    point(operation, touches, value);
    if through(descriptor) == before { Ok(()) } else { Err(errno::EBADF) }
}

/// The error of a call that could not be finished.
pub(super) fn failed(unfinished: Unfinished) -> i32 {
    match unfinished {
        Unfinished::WouldWait | Unfinished::TimedOut => errno::EAGAIN,
        Unfinished::Interrupted => errno::EINTR,
        Unfinished::Closed => errno::EBADF,
    }
}
