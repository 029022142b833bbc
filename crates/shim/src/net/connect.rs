//! `connect` of a stream socket: to a listener of this program, to a peer, or to another process.
//!
//! Whether a socket can be connected, and what that comes to, is decided within the step: another
//! thread may connect, name or close it before.

use super::address::Address;
use super::blocking::step_of_call;
use super::transfer::about_to_move;
use super::{Blocking, Call, Kind, Object, Stage, Transfer, Unfinished, Want};
use super::{failed, faults, happened, is_unix, joint, key, object, partitioned, peer, through};
use super::{stream, until_done, waits};
use crate::descriptors;
use crate::multi_process;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{Connecting, NoticeKind, Operation};

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
pub(super) fn connect(descriptor: i32, number: usize, to: Address) -> Result<isize, i32> {
    let socket = object(number);
    let waits = waits(descriptor, 0);
    if socket.stage.get() != Stage::Fresh {
        await_room(descriptor, number, waits)?;
        if let Some(told) = standing(socket) {
            return told;
        }
    }
    if to.family() != socket.family.get() {
        return Err(errno::EAFNOSUPPORT);
    }
    let to = to.concrete();
    let patience = match waits {
        true => Blocking::of_option(socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let mut call = Call {
        operation: Operation::Connect(Connecting::Socket(number as u16)).pack(),
        touches: to.key(),
        want: Want::Nothing,
        through: through(descriptor),
        patience,
    };
    if multi_process::is_one_of_several() {
        return connect_in_system(call, number, to, waits);
    }
    loop {
        if let Some(listener) = stream::listener(&to) {
            joint::refuse_own();
            call.want = Want::Room { listener: listener as u16 };
            return connect_here(call, number, to);
        }
        faults::interrupt(waits)?;
        let touches = call.touches;
        step_of_call(descriptor, Operation::ConnectPeer(key(number)), touches)?;
        if let Some(told) = standing(socket) {
            return told;
        }
        // If somebody began to listen meanwhile, the order of those who connect matters.
        if stream::listener(&to).is_none() {
            return match faults::refuses() {
                true => refuse(socket, errno::ECONNREFUSED, waits),
                false => peer::connect(number, to, waits),
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
pub(super) fn await_room(descriptor: i32, number: usize, waits: bool) -> Result<(), i32> {
    let socket = object(number);
    let is_awaiting = || socket.stage.get() == Stage::Awaiting;
    let patience = match waits && is_awaiting() {
        true => Blocking::of_option(socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let call = Call {
        operation: Operation::Connect(Connecting::Socket(number as u16)).pack(),
        touches: key(number),
        want: Want::Ready { number: number as u16, events: super::poll::OUT },
        through: through(descriptor),
        patience,
    };
    match until_done(call, || (!is_awaiting()).then_some(())) {
        Ok(()) => Ok(()),
        Err(Unfinished::WouldWait | Unfinished::TimedOut) => Err(errno::EALREADY),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Looks at a socket that is to be used: another thread may be about to connect it.
pub(super) fn before_use(descriptor: i32, number: usize, waits: bool) -> Result<(), i32> {
    let socket = object(number);
    match socket.stage.get() {
        Stage::Connecting | Stage::Connected => Ok(()),
        _ if socket.kind.get() != Kind::Stream => Ok(()),
        Stage::Fresh | Stage::Listening | Stage::Awaiting | Stage::Over => {
            match await_room(descriptor, number, waits) {
                Err(errno::EALREADY) => Err(errno::EAGAIN),
                other => other,
            }
        }
    }
}

/// Connects to another process of a system, or to this one. Processes start at the same time, but
/// people start servers first: so a connection waits for somebody to listen, even if the program
/// does not, and is refused only when nothing else can happen any more.
fn connect_in_system(call: Call, number: usize, to: Address, waits: bool) -> Result<isize, i32> {
    let want = Want::Somebody { kind: Kind::Stream, key: call.touches };
    let mut call = Call { want, patience: Blocking::Last, ..call };
    about_to_move(number, 0, Blocking::Forever, false);
    loop {
        let outcome = until_done(call, || {
            if let Some(told) = standing(object(number)) {
                return Some(Attempt::Told(told));
            }
            let listener = stream::listener(&to)?;
            if !stream::has_room(object(listener)) {
                return None;
            }
            let is_cut = partitioned::is_lost(state().current(), object(listener));
            Some(if is_cut { Attempt::Unreachable } else { enter(number, listener, to) })
        });
        match outcome {
            Ok(Attempt::Unreachable) => return connect_across(call, number, to, waits),
            // Somebody is there who never accepts.
            Err(Unfinished::TimedOut) if stream::listener(&to).is_some() => {
                call.patience = Blocking::Forever;
            }
            other => {
                state().current().transfer.set(Transfer::default());
                return match other {
                    Err(Unfinished::TimedOut) => {
                        multi_process::notice(NoticeKind::NobodyListens, to.port());
                        refuse(object(number), errno::ECONNREFUSED, waits)
                    }
                    other => connected(number, other, waits),
                };
            }
        }
    }
}

/// Connects to a process that cannot be reached at the moment: the kernel tries again and again, and
/// gives up in the end.
fn connect_across(call: Call, number: usize, to: Address, waits: bool) -> Result<isize, i32> {
    const NANOSECONDS: u64 = 127_000_000_000;
    state().current().transfer.set(Transfer::default());
    let from = multi_process::process();
    let want = Want::Reachable { from: from as u16, key: to.key() };
    let patience = Blocking::Until(state().clock.get() + NANOSECONDS);
    let outcome = until_done(Call { want, patience, ..call }, || {
        if let Some(told) = standing(object(number)) {
            return Some(Attempt::Told(told));
        }
        let listener =
            stream::listener(&to).filter(|_| partitioned::is_reachable(from, to.key()))?;
        Some(enter(number, listener, to))
    });
    match outcome {
        Err(Unfinished::TimedOut) => refuse(object(number), errno::ETIMEDOUT, waits),
        other => connected(number, other, waits),
    }
}

fn connect_here(call: Call, number: usize, to: Address) -> Result<isize, i32> {
    let waits = call.patience != Blocking::None;
    let goes_on = !is_unix(object(number));
    let outcome = until_done(call, || {
        if let Some(told) = standing(object(number)) {
            return Some(Attempt::Told(told));
        }
        let Some(listener) = stream::listener(&to) else {
            return Some(Attempt::Failed(errno::ECONNREFUSED));
        };
        if stream::has_room(object(listener)) {
            return Some(enter(number, listener, to));
        }
        (goes_on && !waits).then_some(Attempt::GoesOn)
    });
    match outcome {
        Ok(Attempt::GoesOn) => go_on(number, to),
        Err(Unfinished::TimedOut) if goes_on => go_on(number, to),
        other => connected(number, other, waits),
    }
}

fn enter(number: usize, listener: usize, to: Address) -> Attempt {
    match stream::enter_queue(number, listener, to) {
        Ok(()) => Attempt::Entered,
        Err(error) => Attempt::Failed(error),
    }
}

/// What a call is told of what came of connecting.
fn connected(
    number: usize,
    outcome: Result<Attempt, Unfinished>,
    waits: bool,
) -> Result<isize, i32> {
    let socket = object(number);
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
pub(super) fn refuse(socket: &Object, error: i32, waits: bool) -> Result<isize, i32> {
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
fn go_on(number: usize, to: Address) -> Result<isize, i32> {
    let socket = object(number);
    stream::name(socket, &to)?;
    socket.foreign.set(to);
    socket.stage.set(Stage::Awaiting);
    Err(errno::EINPROGRESS)
}

/// Who tries to connect to a listener that has no room. The kernel may let in any of them.
pub(super) fn awaiting(listener: &Object) -> Option<usize> {
    let local = listener.local.get();
    descriptors::object_numbers().find(|&number| {
        let socket = object(number);
        socket.kind.get() == Kind::Stream
            && socket.stage.get() == Stage::Awaiting
            && local.receives(&socket.foreign.get())
    })
}

/// Lets in somebody who tries to connect, now that a connection was accepted.
pub(super) fn admit(listener: usize) {
    let queue = object(listener);
    let Some(number) = awaiting(queue) else { return };
    let connecting = Connecting::Socket(number as u16);
    point(Operation::Connect(connecting), queue.local.get().key());
    // Others may have been faster, and it may be closed by now.
    let is_there = stream::is_listening(queue) && stream::has_room(queue);
    if is_there && awaiting(queue) == Some(number) {
        let socket = object(number);
        match enter(number, listener, socket.foreign.get()) {
            Attempt::Failed(error) => {
                socket.stage.set(Stage::Over);
                socket.error.set(error);
            }
            _ => socket.stage.set(Stage::Connecting),
        }
        happened(number);
    }
}

/// A listener is gone: who tries to connect to it is refused.
pub(super) fn turn_away(listener: &Object) {
    while let Some(number) = awaiting(listener) {
        let socket = object(number);
        socket.stage.set(Stage::Over);
        socket.error.set(errno::ECONNREFUSED);
        happened(number);
    }
}
