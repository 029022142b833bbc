//! Blocking calls: one step, or several with waits between them.

use super::{Want, object, poll, udp_clients};
use crate::cancel;
use crate::descriptors::{self, Kind, NONBLOCK};
use crate::region::setup;
use crate::scheduler::{LAST, Woken, ask_packed, request, stand_back, wait};
use crate::state::{Thread, state};
use crate::sys::errno;
use everypath_shim_abi::{Object, Operation, OperationKind, PackedOperation, TimeMode, Waiting};

/// A call on an object, as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) operation: PackedOperation,
    /// What it works on, in footprints.
    pub(super) touches: Object,
    pub(super) want: Want,
    /// The descriptor through which the call was made, and what it was open on: another thread may
    /// close it before the call begins.
    pub(super) through: Option<Through>,
    /// When to give up; none for never, and none at all if the call does not wait.
    pub(super) patience: Blocking,
}

impl Call {
    /// When a wait for it ends by itself.
    fn deadline(&self) -> Option<u64> {
        let given_up = match self.patience {
            Blocking::Until(moment) => Some(moment),
            Blocking::Last => Some(LAST),
            Blocking::None | Blocking::Forever => None,
        };
        [given_up, poll::next_expiry(self.want)].into_iter().flatten().min()
    }
}

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocking {
    None,
    Until(u64),
    /// Until nothing else can happen any more.
    Last,
    Forever,
}

impl Blocking {
    /// As an option of a socket says: 0 is for ever.
    pub(super) fn of_option(nanoseconds: u64) -> Blocking {
        match nanoseconds {
            0 => Blocking::Forever,
            some => Blocking::Until(state().clock.get().saturating_add(some)),
        }
    }
}

impl Blocking {
    /// Whether a call waits until it gets what it asks for, if anything else can still happen: who
    /// may give up before must not ask later than he could, as if that made no difference.
    pub(super) fn lasts(self) -> bool {
        match self {
            Blocking::None | Blocking::Last => false,
            Blocking::Until(_) => setup().time == TimeMode::Quiescent,
            Blocking::Forever => true,
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
    /// Whether it waits, or for how long, was changed before it began.
    Changed,
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

/// Whether a call decides which datagrams arrive.
fn is_arrival(call: &Call) -> bool {
    call.operation.kind() == OperationKind::Arrive
}

fn try_until_done<T>(call: Call, mut attempt: impl FnMut() -> Option<T>) -> Result<T, Unfinished> {
    // Who gives up last of all does so whenever it asked.
    let deadline = call.deadline().filter(|&moment| moment != LAST);
    let mut call = udp_clients::widened(call);
    if is_arrival(&call) {
        state().current().want.set(poll::known_to_all(call.want));
    }
    request(call.operation, call.touches, deadline);
    if cancel::is_due() {
        return Err(Unfinished::Interrupted);
    }
    if let Some(through) = call.through {
        through.check()?;
    }
    let (began, mut has_heard) = (state().clock.get(), false);
    loop {
        let thread = state().current();
        udp_clients::begin_look(&call);
        if is_arrival(&call) {
            poll::settle(call.want);
        }
        if let Some(done) = attempt() {
            thread.vain_looks.set(0);
            return Ok(done);
        }
        if crate::signals::deliver_pending(state()) {
            return Err(Unfinished::Interrupted);
        }
        if poll::is_satisfied(call.want) {
            // The datagram was lost, and there is another.
            call = udp_clients::widened(call);
            request(call.operation, call.touches, deadline);
            continue;
        }
        match call.patience {
            Blocking::None => {
                looked_in_vain(thread, call);
                return Err(Unfinished::WouldWait);
            }
            Blocking::Until(moment) if moment <= state().clock.get() => {
                if !has_heard && poll::hear(call.want, moment.saturating_sub(began)) {
                    has_heard = true;
                    continue;
                }
                return Err(Unfinished::TimedOut);
            }
            Blocking::Until(_) | Blocking::Last | Blocking::Forever => {}
        }
        call = udp_clients::widened(call);
        let is_endless = call.patience == Blocking::Forever && call.deadline().is_none();
        let hopes = is_endless && udp_clients::may_speak_up(call.want);
        let deadline = if hopes { Some(LAST) } else { call.deadline() };
        thread.announce_packed(call.operation, call.touches);
        thread.want.set(poll::known_to_all(call.want));
        let woken = wait(Waiting::Network, call.touches, deadline);
        match woken {
            Woken::TimedOut if hopes => udp_clients::await_all(),
            Woken::TimedOut if call.patience == Blocking::Last => {
                return Err(Unfinished::TimedOut);
            }
            // What it waited for may be there, and a timer may have expired before it gives up.
            Woken::Granted | Woken::TimedOut | Woken::Interrupted { restart: true } => {}
            Woken::Interrupted { restart: false } => return Err(Unfinished::Interrupted),
        }
    }
}

/// After so many failed polls a thread counts as spinning.
const PATIENT_LOOKS: u16 = 3;

/// A thread that looks again and again without waiting lets others move first. The first looks are
/// no reason: what it does next may depend on its being first.
fn looked_in_vain(thread: &Thread, call: Call) {
    let looks = thread.vain_looks.get();
    thread.vain_looks.set(looks.saturating_add(1));
    if looks >= PATIENT_LOOKS {
        stand_back(Operation::Yield, call.touches);
    }
}

/// The descriptor that a call is made with, what it is open on, and how long calls wait there. A
/// call begins with its step: what it was prepared for may be different then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Through {
    descriptor: i32,
    description: usize,
    nonblocking: bool,
    timeouts: (u64, u64),
}

/// How a descriptor is now; none if it is closed.
pub(super) fn through(descriptor: i32) -> Option<Through> {
    let description = descriptors::description(descriptor)?;
    let open = descriptors::opened(description).get();
    let timeouts = match open.kind {
        Kind::Object => object(usize::from(open.index)).options.get().timeouts(),
        _ => (0, 0),
    };
    let nonblocking = open.flags & NONBLOCK != 0;
    Some(Through { descriptor, description, nonblocking, timeouts })
}

impl Through {
    /// Whether it is as it was.
    fn check(self) -> Result<(), Unfinished> {
        match through(self.descriptor) {
            Some(now) if now == self => Ok(()),
            Some(now) if now.description == self.description => Err(Unfinished::Changed),
            _ => Err(Unfinished::Closed),
        }
    }
}

/// The step of a call that never waits; nothing is done if another thread closed the descriptor
/// before.
#[inline(always)]
pub(super) fn step_of_call(
    descriptor: i32,
    operation: Operation,
    touches: Object,
) -> Result<(), i32> {
    step_of_packed_call(descriptor, operation.pack(), touches)
}

fn step_of_packed_call(
    descriptor: i32,
    operation: PackedOperation,
    touches: Object,
) -> Result<(), i32> {
    let before = through(descriptor);
    ask_packed(operation, touches, None);
    before.ok_or(errno::EBADF)?.check().map_err(failed)
}

/// The error of a call that could not be finished.
pub(super) fn failed(unfinished: Unfinished) -> i32 {
    match unfinished {
        Unfinished::WouldWait | Unfinished::TimedOut => errno::EAGAIN,
        Unfinished::Interrupted => errno::EINTR,
        Unfinished::Closed => errno::EBADF,
        Unfinished::Changed => errno::MADE_AGAIN,
    }
}
