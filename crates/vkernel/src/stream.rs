//! Sending and receiving on streams.

use crate::blocking::{Blocking, Call, failed, through, until_done, waits};
use crate::buffer::CAPACITY;
use crate::connect::before_use;
use crate::host::{Host, Thread};
use crate::iovec::Pieces;
use crate::message_log::{self, Load, Side};
use crate::object::{End, Kind, Object, Stage, is_unix, key, partner};
use crate::readiness::IN;
use crate::state::{Transfer, Want};
use crate::wakeup::happened;
use crate::wants::is_satisfied;
use crate::{errno, faults, fd_table, partition, peer, pipe};
use everypath_shim_abi::{Fault, Moved, Operation, Sending};

const PEEK: i32 = 2;
const WAIT_ALL: i32 = 0x100;
const OUT_OF_BAND: i32 = 1;
const SIGPIPE: i32 = 13;

/// How many bytes the other end can hold.
fn capacity(object: &Object) -> usize {
    if object.kind.get() == Kind::Pipe { pipe::capacity(object) } else { CAPACITY }
}

/// Whether one end of a TCP connection answers what is sent to it with a reset, since it neither sends nor
/// receives any more.
fn resets(k: &impl Host, end: &Object) -> bool {
    end.kind.get() == Kind::Stream
        && !is_unix(end)
        && end.shut_sending.get()
        && end.shut_receiving.get()
        && !partition::is_cut(k, end)
}

/// Whether one end can send to the other at once.
pub(crate) fn has_space(from: &Object, to: &Object) -> bool {
    let needed = if from.kind.get() == Kind::Pipe { pipe::ATOMIC } else { 1 };
    to.room(capacity(from)) >= needed
}

/// Notes what the running thread sends or receives next.
pub(crate) fn about_to_move(
    k: &impl Host,
    number: usize,
    length: usize,
    patience: Blocking,
    divisible: bool,
) {
    let waits = patience.lasts(k);
    let (object, length) = (number as u16 + 1, length as u32);
    let transfer = Transfer { object, waits, divisible, length };
    k.current().task().transfer.set(transfer);
}

/// Whether a call that sends can do so at once, or fail.
pub(crate) fn can_send(k: &impl Host, number: usize, length: usize) -> bool {
    let socket = k.object(number);
    let is_connected = matches!(socket.stage.get(), Stage::Connected | Stage::Connecting);
    if socket.stage.get() == Stage::Awaiting {
        return false;
    }
    let fails = !is_connected || socket.shut_sending.get() || socket.error.get() != 0;
    match partner(socket).map(|number| k.object(number)) {
        _ if fails || length == 0 => true,
        None => true,
        Some(far) if is_unix(socket) && far.shut_receiving.get() => true,
        Some(far) if resets(k, far) => true,
        Some(far) => sendable(socket, far, length) > 0,
    }
}

/// Whether a call that receives can do so at once, or fail.
pub(crate) fn can_receive(k: &impl Host, number: usize) -> bool {
    is_satisfied(k, Want::Ready { number: number as u16, events: IN })
}

/// How many of so many bytes one end can send to the other at once.
fn sendable(from: &Object, to: &Object, length: usize) -> usize {
    let room = to.room(capacity(from));
    let is_undivided = from.kind.get() == Kind::Pipe && length <= pipe::ATOMIC;
    if is_undivided && room < length { 0 } else { room.min(length) }
}

/// What sending so many bytes turns out to be now.
pub(crate) fn sending(k: &impl Host, number: usize, length: usize) -> Operation {
    let socket = k.object(number);
    if peer::is_in_turn(k, socket) {
        return Operation::Send(Sending::Client);
    }
    if peer::is_remote(socket) {
        return Operation::SendWhole(Moved::Unknown);
    }
    let Some(far) = partner(socket).map(|number| k.object(number)) else {
        return Operation::Send(Sending::Queue(Moved::Nothing));
    };
    if resets(k, far) {
        return Operation::Send(Sending::Queue(Moved::Nothing));
    }
    let put = far.put.get();
    // It must fit even if nothing had ever been taken out: then who takes out makes no difference.
    let is_whole = put + length as u64 <= capacity(socket) as u64 && length > 0;
    let count = sendable(socket, far, length);
    let moved = Moved::up_to(put + count as u64, count as u64);
    if is_whole { Operation::SendWhole(moved) } else { Operation::Send(Sending::Queue(moved)) }
}

/// What receiving so many bytes turns out to be now.
pub(crate) fn receiving(k: &impl Host, number: usize, length: usize) -> Operation {
    let socket = k.object(number);
    let (waiting, taken) = match peer::is_remote(socket) {
        true => (peer::available_soon(k, socket), peer::taken(socket)),
        false => (socket.waiting(), socket.taken.get()),
    };
    let is_whole = waiting >= length && length > 0;
    let count = waiting.min(length) as u64;
    let moved = Moved::up_to(taken + count, count);
    if is_whole { Operation::ReceiveWhole(moved) } else { Operation::Receive(moved) }
}

/// Sends bytes.
pub(crate) fn send(
    k: &impl Host,
    descriptor: i32,
    pieces: Pieces,
    flags: i32,
) -> Result<isize, i32> {
    let description = fd_table::found_description(k, descriptor)?;
    let number = usize::from(fd_table::opened(k, description).get().index);
    let socket = k.object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EOPNOTSUPP);
    }
    before_use(k, descriptor, number, waits(k, descriptor, flags))?;
    if !matches!(socket.stage.get(), Stage::Connecting | Stage::Connected) {
        return match socket.takes_error() {
            Some(error) => Err(error),
            None if is_unix(socket) => Err(errno::ENOTCONN),
            None => Err(broken_pipe(k, flags)),
        };
    }
    let patience = match waits(k, descriptor, flags) {
        true => Blocking::of_option(k, socket.options.get().send_timeout),
        false => Blocking::None,
    };
    let total = pieces.length(k);
    let want = Want::Space { number: number as u16, length: total as u32 };
    let touches = partner(socket).map_or(key(number), key);
    let operation = Operation::Send(Sending::Queue(Moved::Nothing));
    let through = through(k, descriptor);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    fd_table::hold(k, description);
    let mut sent = 0;
    if peer::is_remote(socket) {
        may_fail(k, number, patience).inspect_err(|_| fd_table::release(k, description))?;
    }
    about_to_move(k, number, total, patience, true);
    let outcome = until_done(k, call, || {
        let result = send_now(k, number, pieces, &mut sent, flags);
        about_to_move(k, number, total - sent, patience, true);
        // What waits sends everything, part by part; what peers are sent arrives as they are.
        let is_partial = sent < total && !peer::is_remote(socket);
        match result {
            Some(Ok(_)) if is_partial && call.patience != Blocking::None => None,
            other => other,
        }
    });
    k.current().task().transfer.set(Transfer::default());
    fd_table::release(k, description);
    match outcome {
        Ok(Ok(())) => Ok(sent as isize),
        Ok(Err(_)) | Err(_) if sent > 0 => Ok(sent as isize),
        Ok(Err(errno::EPIPE)) => Err(broken_pipe(k, flags)),
        Ok(Err(error)) => Err(error),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Lets the search choose what goes wrong before something is sent to a peer.
fn may_fail(k: &impl Host, number: usize, patience: Blocking) -> Result<(), i32> {
    faults::interrupt(k, patience != Blocking::None)?;
    let socket = k.object(number);
    if !peer::is_reset(socket) && faults::strikes(k, Fault::Reset, key(number)) {
        peer::reset(socket);
    }
    Ok(())
}

/// Sends what can be sent at once; none if nothing can.
fn send_now(
    k: &impl Host,
    number: usize,
    pieces: Pieces,
    sent: &mut usize,
    flags: i32,
) -> Option<Result<(), i32>> {
    let socket = k.object(number);
    // Who sends to a Unix socket is not told what became of what it sent before.
    if let Some(error) = Some(socket).filter(|it| !is_unix(it)).and_then(Object::takes_error) {
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
        return Some(peer::send(k, number, pieces, flags).map(|count| *sent = count));
    }
    let total = pieces.length(k);
    let Some(other) = partner(socket) else {
        if is_unix(socket) || socket.kind.get() == Kind::Pipe {
            return Some(Err(errno::EPIPE));
        }
        if total == 0 {
            return Some(Ok(()));
        }
        // The other machine takes it and answers that nobody is there.
        *sent = total;
        if partition::is_cut(k, socket) {
            partition::end(k, number, End::Gone);
            return Some(Ok(()));
        }
        socket.error.set(errno::EPIPE);
        socket.shut_sending.set(true);
        socket.stage.set(Stage::Over);
        return Some(Ok(()));
    };
    if is_unix(socket) && k.object(other).shut_receiving.get() {
        return Some(Err(errno::EPIPE));
    }
    let left = total - *sent;
    if left > 0 && resets(k, k.object(other)) {
        *sent = total;
        for (number, end) in [(number, socket), (other, k.object(other))] {
            end.partner.set(0);
            partition::end(k, number, End::Gone);
        }
        return Some(Ok(()));
    }
    let count = sendable(socket, k.object(other), left);
    if left > 0 && count == 0 {
        return None;
    }
    let before = *sent;
    let copied = pieces.each(k, (before, count), |address, length| {
        let first = k.object(other).put.get();
        k.object(other).push(k, other, (address, length))?;
        tell_sent(k, number, (other, first), Pieces::One { address, length });
        *sent += length;
        Ok(())
    });
    let count = *sent - before;
    if let (Err(error), 0) = (copied, count) {
        return Some(Err(error));
    }
    if count > 0 {
        partition::arrived(k, other, count);
    }
    Some(Ok(()))
}

/// Notes what one end sends to the other, unless they are ends of a pipe.
fn tell_sent(k: &impl Host, number: usize, (other, first): (usize, u64), content: Pieces) {
    if k.object(number).kind.get() == Kind::Stream {
        let (from, to) = (Side::Socket(number), Side::Socket(other));
        message_log::sent(k, Load { from, to, waits_in: other, first, content });
    }
}

/// Receives bytes.
pub(crate) fn receive(
    k: &impl Host,
    descriptor: i32,
    pieces: Pieces,
    flags: i32,
) -> Result<isize, i32> {
    let description = fd_table::found_description(k, descriptor)?;
    let number = usize::from(fd_table::opened(k, description).get().index);
    let socket = k.object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EINVAL);
    }
    before_use(k, descriptor, number, waits(k, descriptor, flags))?;
    let patience = match waits(k, descriptor, flags) {
        true => Blocking::of_option(k, socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    // What cannot wait is answered at once.
    let is_connected = !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening);
    let patience = if is_connected && pieces.length(k) > 0 { patience } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events: IN };
    let (operation, touches) = (Operation::Receive(Moved::Nothing), key(number));
    let through = through(k, descriptor);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    fd_table::hold(k, description);
    let all = flags & WAIT_ALL != 0 && flags & PEEK == 0;
    let mut received = 0;
    let may_wait = peer::is_remote(socket) && patience != Blocking::None;
    faults::interrupt(k, may_wait).inspect_err(|_| fd_table::release(k, description))?;
    if flags & PEEK == 0 {
        about_to_move(k, number, pieces.length(k), patience, !all);
    }
    let outcome = until_done(k, call, || {
        loop {
            let before = received;
            let result = receive_now(k, number, pieces, &mut received, (flags, patience));
            if flags & PEEK == 0 {
                about_to_move(k, number, pieces.length(k) - received, patience, !all);
            }
            match result? {
                // More may be there, or come.
                Ok(()) if all && received > before && received < pieces.length(k) => {}
                result => return Some(result),
            }
        }
    });
    if received > 1 && flags & PEEK == 0 && !all && may_come_in_parts(k, socket) {
        k.count_whole();
    }
    k.current().task().transfer.set(Transfer::default());
    fd_table::release(k, description);
    match outcome {
        Ok(Ok(())) => Ok(received as isize),
        _ if received > 0 => Ok(received as isize),
        Ok(Err(error)) => Err(error),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// Whether a network can divide what arrives on a connection, and no such division is explored.
fn may_come_in_parts(k: &impl Host, socket: &Object) -> bool {
    match peer::is_remote(socket) {
        true => !k.setup().faults.chunks,
        false => k.is_one_of_several() && socket.kind.get() == Kind::Stream && !is_unix(socket),
    }
}

/// Receives what is there; none if nothing is, but something may come.
fn receive_now(
    k: &impl Host,
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    (flags, patience): (i32, Blocking),
) -> Option<Result<(), i32>> {
    let socket = k.object(number);
    if matches!(socket.stage.get(), Stage::Fresh | Stage::Listening) {
        let unix = is_unix(socket);
        return Some(Err(if unix { errno::EINVAL } else { errno::ENOTCONN }));
    }
    let left = pieces.length(k) - *received;
    if left == 0 {
        return Some(Ok(()));
    }
    if peer::is_remote(socket) {
        return peer::receive(k, number, pieces, received, (flags & PEEK != 0, patience));
    }
    let waiting = socket.waiting();
    if waiting > 0 {
        let count = left.min(waiting);
        let from = socket.contents(k, number);
        if let Err(error) = pieces.fill_from(k, (*received, count), from) {
            return Some(Err(error));
        }
        *received += count;
        if flags & PEEK == 0 {
            if socket.kind.get() == Kind::Stream {
                message_log::received(k, number, socket.taken.get(), count);
            }
            socket.skip(count);
            if let Some(other) = partner(socket) {
                happened(k, other);
            }
        }
        return Some(Ok(()));
    }
    let finished = socket.partner_end.get() == End::Finished;
    if finished && !is_unix(socket) {
        return Some(Ok(()));
    }
    if let Some(error) = socket.takes_error() {
        return Some(Err(error));
    }
    if finished || socket.shut_receiving.get() {
        return Some(Ok(()));
    }
    match socket.partner_end.get() {
        End::Open if socket.stage.get() != Stage::Over => None,
        _ => Some(Ok(())),
    }
}

/// Sends the signal of a broken pipe to the running thread, unless the call asked not to.
pub(crate) fn broken_pipe(k: &impl Host, flags: i32) -> i32 {
    const NO_SIGNAL: i32 = 0x4000;
    if flags & NO_SIGNAL == 0 {
        k.raise(SIGPIPE);
    }
    errno::EPIPE
}
