//! Sending and receiving on streams.

use super::buffer::CAPACITY;
use super::faults;
use super::message::Pieces;
use super::message_log::{self, Load, Side};
use super::partitioned;
use super::{Blocking, Call, End, Kind, Object, PIPE_CAPACITY, Stage, Transfer, Want};
use super::{broken_pipe, failed, happened, is_unix, key, object, partner, peer};
use super::{until_done, waits};
use crate::descriptors;
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{Fault, Moved, Operation, Sending};

const PEEK: i32 = 2;
const WAIT_ALL: i32 = 0x100;
const OUT_OF_BAND: i32 = 1;
/// Writes of at most so many bytes to a pipe are not divided.
const PIPE_ATOMIC: usize = 4096;

/// How many bytes the other end can hold.
fn capacity(object: &Object) -> usize {
    if object.kind.get() == Kind::Pipe { PIPE_CAPACITY } else { CAPACITY }
}

/// Whether one end can send to the other at once.
pub(super) fn has_space(from: &Object, to: &Object) -> bool {
    let needed = if from.kind.get() == Kind::Pipe { PIPE_ATOMIC } else { 1 };
    to.room(capacity(from)) >= needed
}

/// Notes what the running thread sends or receives next.
pub(super) fn about_to_move(number: usize, length: usize, patience: Blocking, divisible: bool) {
    let waits = patience.lasts();
    let (object, length) = (number as u16 + 1, length as u32);
    let transfer = Transfer { object, waits, divisible, length };
    state().current().transfer.set(transfer);
}

/// Whether a call that sends can do so at once, or fail.
pub(super) fn can_send(number: usize, length: usize) -> bool {
    let socket = object(number);
    let is_connected = matches!(socket.stage.get(), Stage::Connected | Stage::Connecting);
    if socket.stage.get() == Stage::Awaiting {
        return false;
    }
    let fails = !is_connected || socket.shut_sending.get() || socket.error.get() != 0;
    match partner(socket).map(object) {
        _ if fails || length == 0 => true,
        None => true,
        Some(far) if is_unix(socket) && far.shut_receiving.get() => true,
        Some(far) => sendable(socket, far, length) > 0,
    }
}

/// Whether a call that receives can do so at once, or fail.
pub(super) fn can_receive(number: usize) -> bool {
    super::poll::is_satisfied(Want::Ready { number: number as u16, events: super::poll::IN })
}

/// How many of so many bytes one end can send to the other at once.
fn sendable(from: &Object, to: &Object, length: usize) -> usize {
    let room = to.room(capacity(from));
    let is_undivided = from.kind.get() == Kind::Pipe && length <= PIPE_ATOMIC;
    if is_undivided && room < length { 0 } else { room.min(length) }
}

/// What sending so many bytes turns out to be now.
pub(super) fn sending(number: usize, length: usize) -> Operation {
    let socket = object(number);
    if peer::is_remote(socket) {
        return Operation::SendWhole(Moved::Unknown);
    }
    let Some(far) = partner(socket).map(object) else {
        return Operation::Send(Sending::Queue(Moved::Nothing));
    };
    let put = far.put.get();
    // It must fit even if nothing had ever been taken out: then who takes out makes no difference.
    let is_whole = put + length as u64 <= capacity(socket) as u64 && length > 0;
    let count = sendable(socket, far, length);
    let moved = Moved::up_to(put + count as u64, count as u64);
    if is_whole { Operation::SendWhole(moved) } else { Operation::Send(Sending::Queue(moved)) }
}

/// What receiving so many bytes turns out to be now.
pub(super) fn receiving(number: usize, length: usize) -> Operation {
    let socket = object(number);
    let (waiting, taken) = match peer::is_remote(socket) {
        true => (peer::available(socket), peer::taken(socket)),
        false => (socket.waiting(), socket.taken.get()),
    };
    let is_whole = waiting >= length && length > 0;
    let count = waiting.min(length) as u64;
    let moved = Moved::up_to(taken + count, count);
    if is_whole { Operation::ReceiveWhole(moved) } else { Operation::Receive(moved) }
}

/// Sends bytes.
pub(super) fn send(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let description = descriptors::found_description(descriptor)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EOPNOTSUPP);
    }
    super::connect::before_use(descriptor, number, waits(descriptor, flags))?;
    if !matches!(socket.stage.get(), Stage::Connecting | Stage::Connected) {
        return match socket.takes_error() {
            Some(error) => Err(error),
            None if is_unix(socket) => Err(errno::ENOTCONN),
            None => Err(broken_pipe(flags)),
        };
    }
    let patience = match waits(descriptor, flags) {
        true => Blocking::of_option(socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let total = pieces.length();
    let want = Want::Space { number: number as u16, length: total as u32 };
    let touches = partner(socket).map_or(key(number), key);
    let operation = Operation::Send(Sending::Queue(Moved::Nothing));
    let through = super::through(descriptor);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    descriptors::hold(description);
    let mut sent = 0;
    if peer::is_remote(socket) {
        may_fail(number, patience).inspect_err(|_| descriptors::release(description))?;
    }
    about_to_move(number, total, patience, true);
    let outcome = until_done(call, || {
        let result = send_now(number, pieces, &mut sent, flags);
        about_to_move(number, total - sent, patience, true);
        // What waits sends everything, part by part; what peers are sent arrives as they are.
        let is_partial = sent < total && !peer::is_remote(socket);
        match result {
            Some(Ok(_)) if is_partial && call.patience != Blocking::None => None,
            other => other,
        }
    });
    state().current().transfer.set(Transfer::default());
    descriptors::release(description);
    match outcome {
        Ok(Ok(())) => Ok(sent as isize),
        Ok(Err(_)) | Err(_) if sent > 0 => Ok(sent as isize),
        Ok(Err(errno::EPIPE)) => Err(broken_pipe(flags)),
        Ok(Err(error)) => Err(error),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Lets the search choose what goes wrong before something is sent to a peer.
fn may_fail(number: usize, patience: Blocking) -> Result<(), i32> {
    faults::interrupt(patience != Blocking::None)?;
    let socket = object(number);
    if !peer::is_reset(socket) && faults::strikes(Fault::Reset, key(number)) {
        peer::reset(socket);
    }
    Ok(())
}

/// Sends what can be sent at once; none if nothing can.
fn send_now(
    number: usize,
    pieces: Pieces,
    sent: &mut usize,
    flags: i32,
) -> Option<Result<(), i32>> {
    let socket = object(number);
    if let Some(error) = socket.takes_error() {
        return Some(Err(error));
    }
    if socket.stage.get() == Stage::Awaiting {
        return None;
    }
    let connected = matches!(socket.stage.get(), Stage::Connected | Stage::Connecting);
    if socket.shut_sending.get() {
        return Some(Err(errno::EPIPE));
    }
    if !connected {
        return Some(Err(if is_unix(socket) { errno::ENOTCONN } else { errno::EPIPE }));
    }
    if peer::is_remote(socket) {
        return Some(peer::send(number, pieces, flags).map(|count| *sent = count));
    }
    let total = pieces.length();
    let Some(other) = partner(socket) else {
        if is_unix(socket) || socket.kind.get() == Kind::Pipe {
            return Some(Err(errno::EPIPE));
        }
        // The other machine takes it and answers that nobody is there.
        *sent = total;
        if partitioned::is_cut(socket) {
            partitioned::end(number, End::Gone);
            return Some(Ok(()));
        }
        socket.error.set(errno::EPIPE);
        socket.shut_sending.set(true);
        return Some(Ok(()));
    };
    if is_unix(socket) && object(other).shut_receiving.get() {
        return Some(Err(errno::EPIPE));
    }
    let left = total - *sent;
    let count = sendable(socket, object(other), left);
    if left > 0 && count == 0 {
        return None;
    }
    pieces.each(*sent, count, |address, length| {
        tell_sent(number, other, Pieces::One { address, length });
        object(other).push(other, address, length);
    });
    *sent += count;
    if count > 0 {
        partitioned::arrived(other, count);
    }
    Some(Ok(()))
}

/// Notes what one end sends to the other, unless they are ends of a pipe.
fn tell_sent(number: usize, other: usize, content: Pieces) {
    if object(number).kind.get() == Kind::Stream {
        let (from, to) = (Side::Socket(number), Side::Socket(other));
        let first = object(other).put.get();
        message_log::sent(Load { from, to, waits_in: other, first, content });
    }
}

/// Receives bytes.
pub(super) fn receive(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let description = descriptors::found_description(descriptor)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EINVAL);
    }
    super::connect::before_use(descriptor, number, waits(descriptor, flags))?;
    let patience = match waits(descriptor, flags) {
        true => Blocking::of_option(socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    // What cannot wait is answered at once.
    let is_connected = !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening);
    let patience = if is_connected && pieces.length() > 0 { patience } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events: super::poll::IN };
    let (operation, touches) = (Operation::Receive(Moved::Nothing), key(number));
    let through = super::through(descriptor);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    descriptors::hold(description);
    let all = flags & WAIT_ALL != 0 && flags & PEEK == 0;
    let mut received = 0;
    let may_wait = peer::is_remote(socket) && patience != Blocking::None;
    faults::interrupt(may_wait).inspect_err(|_| descriptors::release(description))?;
    if flags & PEEK == 0 {
        about_to_move(number, pieces.length(), patience, !all);
    }
    let outcome = until_done(call, || {
        loop {
            let before = received;
            let result = receive_now(number, pieces, &mut received, (flags, patience));
            if flags & PEEK == 0 {
                about_to_move(number, pieces.length() - received, patience, !all);
            }
            match result? {
                // More may be there, or come.
                Ok(()) if all && received > before && received < pieces.length() => {}
                result => return Some(result),
            }
        }
    });
    state().current().transfer.set(Transfer::default());
    descriptors::release(description);
    match outcome {
        Ok(Ok(())) => Ok(received as isize),
        _ if received > 0 => Ok(received as isize),
        Ok(Err(error)) => Err(error),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Receives what is there; none if nothing is, but something may come.
fn receive_now(
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    (flags, patience): (i32, Blocking),
) -> Option<Result<(), i32>> {
    let socket = object(number);
    if matches!(socket.stage.get(), Stage::Fresh | Stage::Listening) {
        let unix = is_unix(socket);
        return Some(Err(if unix { errno::EINVAL } else { errno::ENOTCONN }));
    }
    let left = pieces.length() - *received;
    if left == 0 {
        return Some(Ok(()));
    }
    if peer::is_remote(socket) {
        return peer::receive(number, pieces, received, (flags & PEEK != 0, patience));
    }
    let waiting = socket.waiting();
    if waiting > 0 {
        let count = left.min(waiting);
        let from = socket.contents(number).as_ptr() as usize;
        let mut taken = 0;
        pieces.each(*received, count, |address, length| {
            crate::memory::copy(address, from + taken, length);
            taken += length;
        });
        *received += count;
        if flags & PEEK == 0 {
            if socket.kind.get() == Kind::Stream {
                message_log::received(number, socket.taken.get(), count);
            }
            socket.skip(count);
            if let Some(other) = partner(socket) {
                happened(other);
            }
        }
        return Some(Ok(()));
    }
    let finished = socket.partner_end.get() == End::Finished;
    if finished || socket.shut_receiving.get() {
        return Some(Ok(()));
    }
    if let Some(error) = socket.takes_error() {
        return Some(Err(error));
    }
    match socket.partner_end.get() {
        End::Open if socket.stage.get() != Stage::Over => None,
        _ => Some(Ok(())),
    }
}
