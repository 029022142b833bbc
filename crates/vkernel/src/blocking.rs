//! Blocking calls: one step, or several with waits between them.

use crate::fd_table::{self, Kind, NONBLOCK};
use crate::host::{Host, LAST, Thread, Woken};
use crate::state::Want;
use crate::{arrival, errno, peer_time, udp_clients, wants};
use everypath_shim_abi::{
    MAX_LOOKS, Object, Operation, OperationKind, PackedOperation, TimeMode, Waiting,
};

/// A call on an object, as the scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) operation: PackedOperation,
    /// What it works on, in footprints.
    pub(crate) touches: Object,
    pub(crate) want: Want,
    /// The descriptor through which the call was made, and what it was open on: another thread may
    /// close it before the call begins.
    pub(crate) through: Option<Through>,
    /// When to give up; none for never, and none at all if the call does not wait.
    pub(crate) patience: Blocking,
}

impl Call {
    /// When a wait for it ends by itself.
    pub(crate) fn deadline(&self, k: &impl Host) -> Option<u64> {
        let given_up = match self.patience {
            Blocking::Until(moment) => Some(moment),
            Blocking::Last => Some(LAST),
            Blocking::None | Blocking::Forever => None,
        };
        [given_up, wants::next_expiry(k, self.want)].into_iter().flatten().min()
    }
}

/// How long a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocking {
    None,
    Until(u64),
    /// Until nothing else can happen any more.
    Last,
    Forever,
}

impl Blocking {
    /// As an option of a socket says: 0 is for ever.
    pub(crate) fn of_option(k: &impl Host, nanoseconds: u64) -> Blocking {
        match nanoseconds {
            0 => Blocking::Forever,
            some => Blocking::Until(k.clock().saturating_add(some)),
        }
    }

    /// Whether a call waits until it gets what it asks for, if anything else can still happen: who
    /// may give up before must not ask later than he could, as if that made no difference.
    pub(crate) fn lasts(self, k: &impl Host) -> bool {
        match self {
            Blocking::None | Blocking::Last => false,
            Blocking::Until(_) => k.setup().time == TimeMode::Quiescent,
            Blocking::Forever => !arrival::may_be_interrupted(k),
        }
    }
}

/// Why a call could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
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
pub(crate) fn until_done<T>(
    k: &impl Host,
    call: Call,
    attempt: impl FnMut() -> Option<T>,
) -> Result<T, Unfinished> {
    let outcome = try_until_done(k, call, attempt);
    k.current().task().want.set(Want::Nothing);
    outcome
}

/// Whether a call looks at descriptors, of which more may turn out to be ready.
fn is_look(call: &Call) -> bool {
    matches!(call.operation.kind(), OperationKind::Arrive | OperationKind::Poll)
}

/// Whether a call decides which datagrams arrive.
fn is_arrival(call: &Call) -> bool {
    call.operation.kind() == OperationKind::Arrive
}

fn try_until_done<T>(
    k: &impl Host,
    call: Call,
    mut attempt: impl FnMut() -> Option<T>,
) -> Result<T, Unfinished> {
    // Who gives up last of all does so whenever it asked.
    let deadline = call.deadline(k).filter(|&moment| moment != LAST);
    let mut call = udp_clients::widened(k, call);
    if is_look(&call) {
        k.current().task().want.set(wants::known_to_all(k, call.want));
    }
    k.request(call.operation, call.touches, deadline);
    if k.is_cancelled() {
        return Err(Unfinished::Interrupted);
    }
    if let Some(through) = call.through {
        through.check(k)?;
    }
    // A call whose time is over does not look for late answers once more.
    let (began, mut has_heard, mut looks, mut is_last) = (k.clock(), false, true, false);
    loop {
        let thread = k.current();
        udp_clients::begin_look(k, &call);
        if looks {
            peer_time::pass(k, call.want, peer_time::until_look(k, call.patience));
            arrival::look(k, &call, is_last);
        }
        if is_arrival(&call) {
            wants::settle(k, call.want);
        }
        if let Some(done) = attempt() {
            thread.task().vain_looks.set(0);
            return Ok(done);
        }
        if k.deliver_signals() {
            return Err(Unfinished::Interrupted);
        }
        if wants::is_satisfied(k, call.want) {
            // The datagram was lost, and there is another; or something has come meanwhile.
            looks = true;
            call = udp_clients::widened(k, call);
            k.request(call.operation, call.touches, deadline);
            continue;
        }
        match call.patience {
            Blocking::None => {
                looked_in_vain(k, thread, call);
                return Err(Unfinished::WouldWait);
            }
            Blocking::Until(moment) if moment <= k.clock() => {
                let is_late = arrival::is_refused(k, call.want);
                if !has_heard && !is_late && wants::hear(k, call.want, moment.saturating_sub(began))
                {
                    (has_heard, looks) = (true, true);
                    continue;
                }
                return Err(Unfinished::TimedOut);
            }
            Blocking::Until(_) | Blocking::Last | Blocking::Forever => {}
        }
        call = udp_clients::widened(k, call);
        let next = wait_once(k, &call)?;
        looks = next.looks;
        is_last |= next.is_last;
    }
}

/// What a call does after it was woken.
struct Next {
    /// Whether it looks for late answers.
    looks: bool,
    /// Whether it must find them.
    is_last: bool,
}

/// Waits until a call may go on; for peers, too, that may say something by themselves.
fn wait_once(k: &impl Host, call: &Call) -> Result<Next, Unfinished> {
    let thread = k.current();
    let is_endless = call.patience == Blocking::Forever && call.deadline(k).is_none();
    let hopes = is_endless && udp_clients::may_speak_up(k, call.want);
    let is_late = is_endless && arrival::is_refused(k, call.want);
    let peers = is_endless.then(|| peer_time::deadline(k, call.want)).flatten();
    let deadline = match peers {
        _ if hopes || is_late => Some(LAST),
        Some(moment) => Some(moment),
        None => call.deadline(k),
    };
    thread.announce(call.operation, call.touches);
    thread.task().want.set(wants::known_to_all(k, call.want));
    let woken = k.wait(Waiting::Network, call.touches, deadline);
    let mut next = Next { looks: woken != Woken::TimedOut || is_late, is_last: false };
    match (woken, peers) {
        (Woken::TimedOut, _) if is_late => next.is_last = true,
        (Woken::TimedOut, _) if hopes => udp_clients::await_all(k),
        (Woken::TimedOut, Some(moment)) => {
            next.looks = peer_time::pass(k, call.want, peer_time::horizon(k, moment));
        }
        (Woken::TimedOut, None) if call.patience == Blocking::Last => {
            return Err(Unfinished::TimedOut);
        }
        // What it waited for may be there, and a timer may have expired before it gives up.
        (Woken::Granted | Woken::TimedOut | Woken::Interrupted { restart: true }, _) => {}
        (Woken::Interrupted { restart: false }, _) => return Err(Unfinished::Interrupted),
    }
    Ok(next)
}

/// After so many failed polls a thread counts as spinning.
pub(crate) const PATIENT_LOOKS: u16 = 3;

/// A thread that looks again and again without waiting lets others move first. The first looks are
/// no reason: what it does next may depend on its being first.
fn looked_in_vain(k: &impl Host, thread: &impl Thread, call: Call) {
    const WAITS: u16 = PATIENT_LOOKS + 1;
    const GOES_ON: u16 = WAITS + 1;
    const LAST_LOOK: u16 = GOES_ON + MAX_LOOKS;
    let looks = &thread.task().vain_looks;
    let before = looks.get();
    match before {
        PATIENT_LOOKS => match k.insists() {
            Some(true) => looks.set(GOES_ON),
            Some(false) => looks.set(WAITS),
            None => {}
        },
        LAST_LOOK => {
            k.leave_out_unfair();
            looks.set(WAITS);
        }
        WAITS => {}
        fewer => looks.set(fewer + 1),
    }
    if matches!(looks.get(), PATIENT_LOOKS | WAITS) && before >= PATIENT_LOOKS {
        k.stand_back(Operation::Yield, call.touches);
    }
}

/// The descriptor that a call is made with, what it is open on, and how long calls wait there. A
/// call begins with its step: what it was prepared for may be different then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Through {
    descriptor: i32,
    description: usize,
    nonblocking: bool,
    timeouts: (u64, u64),
}

/// How a descriptor is now; none if it is closed.
pub(crate) fn through(k: &impl Host, descriptor: i32) -> Option<Through> {
    let description = fd_table::description(k, descriptor)?;
    let open = fd_table::opened(k, description).get();
    let timeouts = match open.kind {
        Kind::Object => k.object(usize::from(open.index)).options.get().timeouts(),
        _ => (0, 0),
    };
    let nonblocking = open.flags & NONBLOCK != 0;
    Some(Through { descriptor, description, nonblocking, timeouts })
}

impl Through {
    /// Whether it is as it was.
    fn check(self, k: &impl Host) -> Result<(), Unfinished> {
        match through(k, self.descriptor) {
            Some(now) if now == self => Ok(()),
            Some(now) if now.description == self.description => Err(Unfinished::Changed),
            _ => Err(Unfinished::Closed),
        }
    }
}

/// The step of a call that never waits; nothing is done if another thread closed the descriptor
/// before.
#[inline(always)]
pub(crate) fn step_of_call(
    k: &impl Host,
    descriptor: i32,
    operation: Operation,
    touches: Object,
) -> Result<(), i32> {
    step_of_packed_call(k, descriptor, operation.pack(), touches)
}

fn step_of_packed_call(
    k: &impl Host,
    descriptor: i32,
    operation: PackedOperation,
    touches: Object,
) -> Result<(), i32> {
    let before = through(k, descriptor);
    k.ask(operation, touches, None);
    before.ok_or(errno::EBADF)?.check(k).map_err(failed)
}

/// The error of a call that could not be finished.
pub(crate) fn failed(unfinished: Unfinished) -> i32 {
    match unfinished {
        Unfinished::WouldWait | Unfinished::TimedOut => errno::EAGAIN,
        Unfinished::Interrupted => errno::EINTR,
        Unfinished::Closed => errno::EBADF,
        Unfinished::Changed => errno::MADE_AGAIN,
    }
}

/// Whether a call on a descriptor waits.
pub(crate) fn waits(k: &impl Host, descriptor: i32, flags: i32) -> bool {
    const DONT_WAIT: i32 = 0x40;
    let nonblocking = fd_table::get(k, descriptor).is_some_and(|o| o.get().flags & NONBLOCK != 0);
    !nonblocking && flags & DONT_WAIT == 0
}
