//! `connect` of a stream socket: to a listener of this program, to a peer, or to another process.
//!
//! Whether a socket can be connected, and what that comes to, is decided within the step: another
//! thread may connect, name or close it before.

use crate::blocking::{
    Blocking, Call, Unfinished, failed, step_of_call, through, until_done, waits,
};
use crate::host::{Host, Thread};
use crate::object::{Kind, Object, Stage, is_unix, key, receives};
use crate::sockaddr::Address;
use crate::state::{Transfer, Want};
use crate::stream::about_to_move;
use crate::wakeup::happened;
use crate::{errno, faults, fd_table, joint, partition, peer, tcp};
use everypath_shim_abi::{Connecting, NoticeKind, Operation, PeerConnection};

/// What came of an attempt.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    /// It had been connected before, or tried to be.
    Told(Result<isize, i32>),
    /// It waits to be accepted.
    Entered,
    Failed(i32),
    /// There is no room: it tries again by itself, when the program does not wait any more.
    GoesOn,
    /// The network is cut.
    Unreachable,
}

/// Does what the system call does.
pub(crate) fn connect(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    to: Address,
) -> Result<isize, i32> {
    let socket = k.object(number);
    let waits = waits(k, descriptor, 0);
    if socket.stage.get() != Stage::Fresh {
        await_room(k, descriptor, number, waits)?;
        if let Some(told) = standing(socket) {
            return told;
        }
    }
    if to.family() != socket.family.get() {
        return Err(errno::EAFNOSUPPORT);
    }
    let to = to.concrete();
    let patience = match waits {
        true => Blocking::of_option(k, socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let mut call = Call {
        operation: Operation::Connect(Connecting::Socket(number as u16)).pack(),
        touches: to.key(),
        want: Want::Nothing,
        through: through(k, descriptor),
        patience,
    };
    if k.is_one_of_several() {
        return connect_in_system(k, call, number, to, waits);
    }
    loop {
        if let Some(listener) = tcp::listener(k, &to) {
            joint::refuse_own(k);
            call.want = Want::Room { listener: listener as u16 };
            return connect_here(k, call, number, to);
        }
        faults::interrupt(k, waits)?;
        let touches = call.touches;
        let in_turn = k.setup().peers_in_turn;
        let connection = PeerConnection { socket: key(number), in_turn };
        step_of_call(k, descriptor, Operation::ConnectPeer(connection), touches)?;
        if let Some(told) = standing(socket) {
            return told;
        }
        // If somebody began to listen meanwhile, the order of those who connect matters.
        if tcp::listener(k, &to).is_none() {
            return match faults::refuses(k) {
                true => refuse(socket, errno::ECONNREFUSED, waits),
                false => peer::connect(k, number, to, waits),
            };
        }
    }
}

/// What is said of a socket that was connected before, or tried to be; none if it can be now.
fn standing(socket: &Object) -> Option<Result<isize, i32>> {
    match socket.stage.get() {
        Stage::Listening | Stage::Connected => Some(Err(errno::EISCONN)),
        Stage::Awaiting => Some(Err(errno::EALREADY)),
        Stage::Connecting => {
            socket.stage.set(Stage::Connected);
            Some(Ok(0))
        }
        Stage::Over => socket.takes_error().map(Err),
        Stage::Fresh => None,
    }
}

/// Looks at a socket again that was to be connected: if the program waits, until there was room.
pub(crate) fn await_room(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    waits: bool,
) -> Result<(), i32> {
    let socket = k.object(number);
    let is_awaiting = || socket.stage.get() == Stage::Awaiting;
    let patience = match waits && is_awaiting() {
        true => Blocking::of_option(k, socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let call = Call {
        operation: Operation::Connect(Connecting::Socket(number as u16)).pack(),
        touches: key(number),
        want: Want::Ready { number: number as u16, events: crate::readiness::OUT },
        through: through(k, descriptor),
        patience,
    };
    match until_done(k, call, || (!is_awaiting()).then_some(())) {
        Ok(()) => Ok(()),
        Err(Unfinished::WouldWait | Unfinished::TimedOut) => Err(errno::EALREADY),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Looks at a socket that is to be used: another thread may be about to connect it.
pub(crate) fn before_use(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    waits: bool,
) -> Result<(), i32> {
    let socket = k.object(number);
    match socket.stage.get() {
        Stage::Connecting | Stage::Connected => Ok(()),
        _ if socket.kind.get() != Kind::Stream => Ok(()),
        Stage::Fresh | Stage::Listening | Stage::Awaiting | Stage::Over => {
            match await_room(k, descriptor, number, waits) {
                Err(errno::EALREADY) => Err(errno::EAGAIN),
                other => other,
            }
        }
    }
}

/// Connects to another process of a system, or to this one. Processes start at the same time, but
/// people start servers first: so a connection waits for somebody to listen, even if the program
/// does not, and is refused only when nothing else can happen any more.
fn connect_in_system(
    k: &impl Host,
    call: Call,
    number: usize,
    to: Address,
    waits: bool,
) -> Result<isize, i32> {
    let want = Want::Somebody { kind: Kind::Stream, key: call.touches };
    let mut call = Call { want, patience: Blocking::Last, ..call };
    about_to_move(k, number, 0, Blocking::Forever, false);
    loop {
        let outcome = until_done(k, call, || {
            if let Some(told) = standing(k.object(number)) {
                return Some(Attempt::Told(told));
            }
            let listener = tcp::listener(k, &to)?;
            if !tcp::has_room(k.object(listener)) {
                return None;
            }
            let is_cut = partition::is_lost(k, k.current(), k.object(listener));
            Some(if is_cut { Attempt::Unreachable } else { enter(k, number, listener, to) })
        });
        match outcome {
            Ok(Attempt::Unreachable) => return connect_across(k, call, number, to, waits),
            // Somebody is there who never accepts.
            Err(Unfinished::TimedOut) if tcp::listener(k, &to).is_some() => {
                call.patience = Blocking::Forever;
            }
            other => {
                k.current().task().transfer.set(Transfer::default());
                return match other {
                    Err(Unfinished::TimedOut) => {
                        k.notice(NoticeKind::NobodyListens, to.port());
                        refuse(k.object(number), errno::ECONNREFUSED, waits)
                    }
                    other => connected(k, number, other, waits),
                };
            }
        }
    }
}

/// Connects to a process that cannot be reached at the moment: the kernel tries again and again, and
/// gives up in the end.
fn connect_across(
    k: &impl Host,
    call: Call,
    number: usize,
    to: Address,
    waits: bool,
) -> Result<isize, i32> {
    const NANOSECONDS: u64 = 127_000_000_000;
    k.current().task().transfer.set(Transfer::default());
    let from = k.process();
    let want = Want::Reachable { from: from as u16, key: to.key() };
    let patience = Blocking::Until(k.clock() + NANOSECONDS);
    let outcome = until_done(k, Call { want, patience, ..call }, || {
        if let Some(told) = standing(k.object(number)) {
            return Some(Attempt::Told(told));
        }
        let listener =
            tcp::listener(k, &to).filter(|_| partition::is_reachable(k, from, to.key()))?;
        Some(enter(k, number, listener, to))
    });
    match outcome {
        Err(Unfinished::TimedOut) => refuse(k.object(number), errno::ETIMEDOUT, waits),
        other => connected(k, number, other, waits),
    }
}

fn connect_here(k: &impl Host, call: Call, number: usize, to: Address) -> Result<isize, i32> {
    let waits = call.patience != Blocking::None;
    let goes_on = !is_unix(k.object(number));
    let outcome = until_done(k, call, || {
        if let Some(told) = standing(k.object(number)) {
            return Some(Attempt::Told(told));
        }
        let Some(listener) = tcp::listener(k, &to) else {
            return Some(Attempt::Failed(errno::ECONNREFUSED));
        };
        if tcp::has_room(k.object(listener)) {
            return Some(enter(k, number, listener, to));
        }
        (goes_on && !waits).then_some(Attempt::GoesOn)
    });
    match outcome {
        Ok(Attempt::GoesOn) => go_on(k, number, to),
        Err(Unfinished::TimedOut) if goes_on => go_on(k, number, to),
        other => connected(k, number, other, waits),
    }
}

fn enter(k: &impl Host, number: usize, listener: usize, to: Address) -> Attempt {
    match tcp::enter_queue(k, number, listener, to) {
        Ok(()) => Attempt::Entered,
        Err(error) => Attempt::Failed(error),
    }
}

/// What a call is told of what came of connecting.
fn connected(
    k: &impl Host,
    number: usize,
    outcome: Result<Attempt, Unfinished>,
    waits: bool,
) -> Result<isize, i32> {
    let socket = k.object(number);
    match outcome {
        Ok(Attempt::Told(told)) => told,
        Ok(Attempt::Failed(error)) => refuse(socket, error, waits),
        Ok(Attempt::Entered) if !waits && !is_unix(socket) => {
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Ok(Attempt::Entered | Attempt::GoesOn | Attempt::Unreachable) => Ok(0),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Notes that nobody took a connection, and says so at once or later.
pub(crate) fn refuse(socket: &Object, error: i32, waits: bool) -> Result<isize, i32> {
    if is_unix(socket) {
        return Err(error);
    }
    socket.stage.set(Stage::Over);
    if waits {
        return Err(error);
    }
    socket.error.set(error);
    Err(errno::EINPROGRESS)
}

/// The kernel tries to connect again and again, while the program goes on.
fn go_on(k: &impl Host, number: usize, to: Address) -> Result<isize, i32> {
    let socket = k.object(number);
    tcp::name(k, socket, &to)?;
    socket.foreign.set(to);
    socket.stage.set(Stage::Awaiting);
    Err(errno::EINPROGRESS)
}

/// Who tries to connect to a listener that has no room. The kernel may let in any of them.
pub(crate) fn awaiting(k: &impl Host, listener: &Object) -> Option<usize> {
    fd_table::object_numbers(k).find(|&number| {
        let socket = k.object(number);
        socket.kind.get() == Kind::Stream
            && socket.stage.get() == Stage::Awaiting
            && receives(listener, &socket.foreign.get())
    })
}

/// Lets in somebody who tries to connect, now that a connection was accepted.
pub(crate) fn admit(k: &impl Host, listener: usize) {
    let queue = k.object(listener);
    let Some(number) = awaiting(k, queue) else { return };
    let connecting = Connecting::Socket(number as u16);
    k.point(Operation::Connect(connecting), queue.local.get().key());
    // Others may have been faster, and it may be closed by now.
    let is_there = tcp::is_listening(queue) && tcp::has_room(queue);
    if is_there && awaiting(k, queue) == Some(number) {
        let socket = k.object(number);
        match enter(k, number, listener, socket.foreign.get()) {
            Attempt::Failed(error) => {
                socket.stage.set(Stage::Over);
                socket.error.set(error);
            }
            _ => socket.stage.set(Stage::Connecting),
        }
        happened(k, number);
    }
}

/// A listener is gone: who tries to connect to it is refused.
pub(crate) fn turn_away(k: &impl Host, listener: &Object) {
    while let Some(number) = awaiting(k, listener) {
        let socket = k.object(number);
        socket.stage.set(Stage::Over);
        socket.error.set(errno::ECONNREFUSED);
        happened(k, number);
    }
}
