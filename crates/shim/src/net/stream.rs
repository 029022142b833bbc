//! Stream sockets and pipes.

use super::address::{Address, INET6, UNIX, ephemeral_port};
use super::buffer::CAPACITY;
use super::faults;
use super::message::Pieces;
use super::{Call, End, Kind, Object, PIPE_CAPACITY, Patience, Stage, Transfer, Want};
use super::{Unfinished, partner, remote, until_done, waits};
use super::{bound, broken_pipe, failed, free, happened, is_unix, key, make, object, open};
use crate::descriptors;
use crate::fail::stop;
use crate::memory::{load, store};
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use crate::system;
use everypath_shim_abi::{Fault, Operation, moved};

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

/// Connects two ends.
fn join(one: usize, other: usize) {
    object(one).partner.set(other as u16 + 1);
    object(other).partner.set(one as u16 + 1);
    object(one).stage.set(Stage::Connected);
    object(other).stage.set(Stage::Connected);
}

/// Does what the system call does.
pub(super) fn pipe(at: usize, flags: i32) -> Result<isize, i32> {
    const PACKETS: i32 = 0o40_000;
    if flags & PACKETS != 0 {
        stop!("the program makes a pipe that keeps packets apart, which is not modelled");
    }
    super::check_flags(flags)?;
    let (reader, first) = make(Kind::Pipe, flags)?;
    let (writer, second) = make(Kind::Pipe, flags)?;
    join(reader, writer);
    object(reader).shut_sending.set(true);
    object(writer).shut_receiving.set(true);
    set_access(first as i32, 0);
    set_access(second as i32, 1);
    store(at, [first as i32, second as i32]);
    Ok(0)
}

fn set_access(descriptor: i32, mode: i32) {
    if let Some(slot) = descriptors::get(descriptor) {
        let open = slot.get();
        let flags = (open.flags & !descriptors::ACCESS_MODE) | mode;
        slot.set(descriptors::Open { flags, ..open });
    }
}

/// Does what the system call does.
pub(super) fn pair(kind: Kind, flags: i32, at: usize) -> Result<isize, i32> {
    let (one, first) = make(kind, flags)?;
    let (other, second) = make(kind, flags)?;
    for number in [one, other] {
        object(number).family.set(UNIX);
        object(number).local.set(Address::any(UNIX));
        object(number).foreign.set(Address::any(UNIX));
    }
    join(one, other);
    store(at, [first as i32, second as i32]);
    Ok(0)
}

/// Does what the system call does.
pub(super) fn bind(number: usize, wanted: Address) -> Result<isize, i32> {
    let socket = object(number);
    if wanted.family() != socket.family.get() {
        return Err(if wanted.family() == 0 { errno::EINVAL } else { errno::EAFNOSUPPORT });
    }
    if socket.local.get().is_some() && !socket.local.get().is_unnamed() {
        return Err(errno::EINVAL);
    }
    let kind = socket.kind.get();
    let named = if wanted.is_inet() && wanted.port() == 0 {
        with_free_port(kind, wanted)?
    } else if wanted.is_unnamed() {
        Address::abstract_name(|name| bound(kind, |other| other.local.get() == *name).is_some())
            .ok_or(errno::EADDRINUSE)?
    } else {
        point(Operation::Bind, wanted.key(), 0);
        let reuses = socket.options.get().reuse_address;
        let taken = bound(kind, |other| {
            let local = other.local.get();
            (local.receives(&wanted) || wanted.receives(&local))
                && !other.options.get().shares_with(socket)
                && !(reuses && other.options.get().reuse_address && !is_listening(other))
        });
        if taken.is_some() {
            return Err(errno::EADDRINUSE);
        }
        if let Some(path) = wanted.path() {
            crate::files::make_socket(path)?;
        }
        wanted
    };
    socket.local.set(named);
    super::somebody_is_here();
    Ok(0)
}

fn is_listening(object: &Object) -> bool {
    object.stage.get() == Stage::Listening
}

/// The address with a port that nobody has.
pub(super) fn with_free_port(kind: Kind, address: Address) -> Result<Address, i32> {
    let is_taken = |port| bound(kind, |other| other.local.get().port() == port).is_some();
    ephemeral_port(is_taken).map(|port| address.with_port(port)).ok_or(errno::EADDRINUSE)
}

/// Does what the system call does.
pub(super) fn listen(number: usize, backlog: i32) -> Result<isize, i32> {
    let socket = object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    if !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening | Stage::Over) {
        return Err(errno::EINVAL);
    }
    if !socket.local.get().is_some() {
        if is_unix(socket) {
            return Err(errno::EINVAL);
        }
        let any = Address::any(socket.family.get());
        socket.local.set(with_free_port(Kind::Stream, any)?);
    }
    let local = socket.local.get();
    point(Operation::Listen, local.key(), 0);
    let other = bound(Kind::Stream, |other| {
        is_listening(other)
            && other.local.get() == local
            && !core::ptr::eq(other, socket)
            && !other.options.get().shares_with(socket)
    });
    if other.is_some() {
        return Err(errno::EADDRINUSE);
    }
    // The kernel takes one more than it was asked for.
    socket.backlog.set(backlog.clamp(0, 4096) as u16 + 1);
    socket.stage.set(Stage::Listening);
    super::somebody_is_here();
    Ok(0)
}

/// Does what the system call does.
pub(super) fn connect(descriptor: i32, number: usize, to: Address) -> Result<isize, i32> {
    let socket = object(number);
    match socket.stage.get() {
        Stage::Listening | Stage::Connected => return Err(errno::EISCONN),
        Stage::Connecting => {
            socket.stage.set(Stage::Connected);
            return Ok(0);
        }
        Stage::Over => {
            if let Some(error) = socket.takes_error() {
                return Err(error);
            }
        }
        Stage::Fresh => {}
    }
    if to.family() != socket.family.get() {
        return Err(errno::EAFNOSUPPORT);
    }
    let waits = waits(descriptor, 0);
    let to = to.concrete();
    if system::is_one_of_several() {
        return connect_in_system(descriptor, number, to, waits);
    }
    loop {
        let listener = listener(&to);
        let here = listener.is_some();
        let operation = if here { Operation::Connect } else { Operation::ConnectPeer };
        if !here {
            if waits && faults::strikes(Fault::Interrupt, 0) {
                return Err(errno::EINTR);
            }
            point(operation, to.key(), descriptor as u64);
            if self::listener(&to).is_some() {
                // Somebody began to listen meanwhile: then the order of those who connect matters.
                continue;
            }
            if faults::refuses() {
                return refuse(socket, errno::ECONNREFUSED, waits);
            }
            return remote::connect(number, to, waits);
        }
        let through = super::through(descriptor);
        let want = Want::Room { listener: listener.unwrap_or(0) as u16 };
        let patience = if waits { Patience::Forever } else { Patience::None };
        let touches = to.key();
        let call = Call { operation, touches, value: descriptor as u64, want, through, patience };
        return connect_here(call, number, to);
    }
}

/// Connects to another process of a system, or to this one. Processes start at the same time, but
/// people start servers first: so a connection waits for somebody to listen, even if the program
/// does not, and is refused only when nothing else can happen any more.
fn connect_in_system(
    descriptor: i32,
    number: usize,
    to: Address,
    waits: bool,
) -> Result<isize, i32> {
    let touches = to.key();
    let mut call = Call {
        operation: Operation::Connect,
        touches,
        value: descriptor as u64,
        want: Want::Somebody { kind: Kind::Stream, key: touches },
        through: super::through(descriptor),
        patience: Patience::Last,
    };
    loop {
        let outcome = until_done(call, || {
            let listener = listener(&to)?;
            has_room(object(listener)).then(|| enter_queue(number, listener, to))
        });
        match outcome {
            // Somebody is there who never accepts.
            Err(Unfinished::TimedOut) if listener(&to).is_some() => {
                call.patience = Patience::Forever;
            }
            Err(Unfinished::TimedOut) => {
                return refuse(object(number), errno::ECONNREFUSED, waits);
            }
            other => return connected(number, other, waits),
        }
    }
}

/// Who listens at an address.
fn listener(to: &Address) -> Option<usize> {
    bound(Kind::Stream, |other| is_listening(other) && other.local.get().receives(to))
}

/// Whether one more connection can wait to be accepted, or nobody would accept it.
pub(super) fn has_room(queue: &Object) -> bool {
    !is_listening(queue) || queue.waiting() / 2 < usize::from(queue.backlog.get())
}

fn connect_here(call: Call, number: usize, to: Address) -> Result<isize, i32> {
    let waits = call.patience != Patience::None;
    let outcome = until_done(call, || {
        let Some(listener) = listener(&to) else { return Some(Err(errno::ECONNREFUSED)) };
        let queue = object(listener);
        has_room(queue).then(|| enter_queue(number, listener, to))
    });
    connected(number, outcome, waits)
}

/// What a call is told of what came of connecting.
fn connected(
    number: usize,
    outcome: Result<Result<(), i32>, Unfinished>,
    waits: bool,
) -> Result<isize, i32> {
    let socket = object(number);
    match outcome {
        Ok(Ok(())) if !waits && !is_unix(socket) => {
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Ok(Ok(())) => Ok(0),
        Ok(Err(error)) => refuse(socket, error, waits),
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

/// Gives a socket an address of its own, if it has none.
pub(super) fn name(socket: &Object, to: &Address) -> Result<(), i32> {
    if !socket.local.get().is_some() {
        let address = match to.family() {
            UNIX => Address::any(UNIX),
            _ => with_free_port(socket.kind.get(), Address::loopback(to.family()))?,
        };
        socket.local.set(address);
    }
    Ok(())
}

/// Puts a new connection into the queue of a listener.
fn enter_queue(number: usize, listener: usize, to: Address) -> Result<(), i32> {
    let socket = object(number);
    name(socket, &to)?;
    let far = descriptors::free_object().ok_or(errno::EMFILE)?;
    let other = object(far);
    let queue = object(listener);
    other.kind.set(Kind::Stream);
    other.family.set(queue.family.get());
    other.options.set(queue.options.get());
    let mapped = |address: Address| match (queue.family.get(), address.family()) {
        (INET6, super::address::INET) => address.mapped(),
        _ => address,
    };
    other.local.set(if is_unix(socket) { queue.local.get() } else { mapped(to) });
    other.foreign.set(mapped(socket.local.get()));
    socket.foreign.set(to);
    join(number, far);
    let entry = (far as u16).to_le_bytes();
    queue.push(listener, entry.as_ptr() as usize, entry.len());
    happened(listener);
    Ok(())
}

/// Does what the system call does.
pub(super) fn accept(
    descriptor: i32,
    (at, length_at): (usize, usize),
    flags: i32,
) -> Result<isize, i32> {
    let number = super::calls::socket(descriptor)?;
    let socket = object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    if !is_listening(socket) {
        return Err(errno::EINVAL);
    }
    let waits = waits(descriptor, 0);
    let patience = match waits {
        true => Patience::of_option(socket.options.get().receive_timeout),
        false => Patience::None,
    };
    let want = Want::Ready { number: number as u16, events: super::ready::IN };
    let touches = socket.local.get().key();
    let through = super::through(descriptor);
    let call = Call {
        operation: Operation::Accept,
        touches,
        value: descriptor as u64,
        want,
        through,
        patience,
    };
    if waits && faults::strikes(Fault::Interrupt, 0) {
        return Err(errno::EINTR);
    }
    let accepted = until_done(call, || {
        if !is_listening(socket) {
            return Some(Err(errno::EINVAL));
        }
        if socket.waiting() >= 2 {
            let entry: [u8; 2] = socket.contents(number)[..2].try_into().unwrap_or([0; 2]);
            socket.skip(2);
            happened(number);
            return Some(Ok(usize::from(u16::from_le_bytes(entry))));
        }
        remote::accept(number).transpose()
    });
    let far = match accepted {
        Ok(far) => far?,
        Err(unfinished) => return Err(failed(unfinished)),
    };
    const SOCKET_FLAGS: i32 = descriptors::NONBLOCK | descriptors::CLOSE_ON_EXEC;
    let got = open(far, flags & SOCKET_FLAGS)?;
    object(far).foreign.get().tell(at, length_at);
    Ok(got)
}

/// Notes what the running thread sends or receives next.
fn about_to_move(number: usize, length: usize, patience: Patience, divisible: bool) {
    let waits = patience != Patience::None;
    let (object, length) = (number as u16 + 1, length as u32);
    let transfer = Transfer { object, waits, divisible, length };
    state().current().transfer.set(transfer);
}

/// Whether a call that sends can do so at once, or fail.
pub(super) fn can_send(number: usize, length: usize) -> bool {
    let socket = object(number);
    let is_connected = matches!(socket.stage.get(), Stage::Connected | Stage::Connecting);
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
    super::ready::is_satisfied(Want::Ready { number: number as u16, events: super::ready::IN })
}

/// How many of so many bytes one end can send to the other at once.
fn sendable(from: &Object, to: &Object, length: usize) -> usize {
    let room = to.room(capacity(from));
    let is_undivided = from.kind.get() == Kind::Pipe && length <= PIPE_ATOMIC;
    if is_undivided && room < length { 0 } else { room.min(length) }
}

/// What sending so many bytes turns out to be now.
pub(super) fn sending(number: usize, length: usize) -> (Operation, u64) {
    let socket = object(number);
    if remote::is_remote(socket) {
        return (Operation::SendWhole, remote::UNKNOWN);
    }
    let Some(far) = partner(socket).map(object) else { return (Operation::Send, 0) };
    let put = far.put.get();
    // It must fit even if nothing had ever been taken out: then who takes out makes no difference.
    let is_whole = put + length as u64 <= capacity(socket) as u64 && length > 0;
    let count = sendable(socket, far, length);
    let operation = if is_whole { Operation::SendWhole } else { Operation::Send };
    (operation, moved(put + count as u64, count as u64))
}

/// What receiving so many bytes turns out to be now.
pub(super) fn receiving(number: usize, length: usize) -> (Operation, u64) {
    let socket = object(number);
    let (waiting, taken) = match remote::is_remote(socket) {
        true => (remote::available(socket), remote::taken(socket)),
        false => (socket.waiting(), socket.taken.get()),
    };
    let is_whole = waiting >= length && length > 0;
    let count = waiting.min(length) as u64;
    let operation = if is_whole { Operation::ReceiveWhole } else { Operation::Receive };
    (operation, moved(taken + count, count))
}

/// Sends bytes.
pub(super) fn send(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let description = descriptors::description(descriptor).ok_or(errno::EBADF)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EOPNOTSUPP);
    }
    let patience = match waits(descriptor, flags) {
        true => Patience::of_option(socket.options.get().send_timeout),
        false => Patience::None,
    };
    let total = pieces.length();
    let want = Want::Space { number: number as u16, length: total as u32 };
    let touches = partner(socket).map_or(key(number), key);
    let (value, through) = (descriptor as u64, Some((descriptor, description)));
    let call = Call { operation: Operation::Send, touches, value, want, through, patience };
    descriptors::hold(description);
    let mut sent = 0;
    if remote::is_remote(socket) && may_fail(number, patience) {
        descriptors::release(description);
        return Err(errno::EINTR);
    }
    about_to_move(number, total, patience, true);
    let outcome = until_done(call, || {
        let result = send_now(number, pieces, &mut sent, flags);
        about_to_move(number, total - sent, patience, true);
        // What waits sends everything, part by part; what peers are sent arrives as they are.
        let is_partial = sent < total && !remote::is_remote(socket);
        match result {
            Some(Ok(_)) if is_partial && call.patience != Patience::None => None,
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

/// Lets the search choose what goes wrong before something is sent to a peer; says whether the call
/// is interrupted.
fn may_fail(number: usize, patience: Patience) -> bool {
    if patience != Patience::None && faults::strikes(Fault::Interrupt, 0) {
        return true;
    }
    let socket = object(number);
    if !remote::is_reset(socket) && faults::strikes(Fault::Reset, key(number)) {
        remote::reset(socket);
    }
    false
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
    let connected = matches!(socket.stage.get(), Stage::Connected | Stage::Connecting);
    if socket.shut_sending.get() {
        return Some(Err(errno::EPIPE));
    }
    if !connected {
        return Some(Err(if is_unix(socket) { errno::ENOTCONN } else { errno::EPIPE }));
    }
    if remote::is_remote(socket) {
        return Some(remote::send(number, pieces, flags).map(|count| *sent = count));
    }
    let total = pieces.length();
    let Some(other) = partner(socket) else {
        if is_unix(socket) || socket.kind.get() == Kind::Pipe {
            return Some(Err(errno::EPIPE));
        }
        // The other machine takes it and answers that nobody is there.
        *sent = total;
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
    pieces.each(*sent, count, |address, length| object(other).push(other, address, length));
    *sent += count;
    if count > 0 {
        happened(other);
    }
    Some(Ok(()))
}

/// Receives bytes.
pub(super) fn receive(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let description = descriptors::description(descriptor).ok_or(errno::EBADF)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    if flags & OUT_OF_BAND != 0 {
        return Err(errno::EINVAL);
    }
    let patience = match waits(descriptor, flags) {
        true => Patience::of_option(socket.options.get().receive_timeout),
        false => Patience::None,
    };
    // What cannot wait is answered at once.
    let is_connected = !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening);
    let patience = if is_connected && pieces.length() > 0 { patience } else { Patience::None };
    let want = Want::Ready { number: number as u16, events: super::ready::IN };
    let (touches, value) = (key(number), descriptor as u64);
    let through = Some((descriptor, description));
    let call = Call { operation: Operation::Receive, touches, value, want, through, patience };
    descriptors::hold(description);
    let all = flags & WAIT_ALL != 0 && flags & PEEK == 0;
    let mut received = 0;
    let is_interrupted = remote::is_remote(socket)
        && patience != Patience::None
        && faults::strikes(Fault::Interrupt, 0);
    if is_interrupted {
        descriptors::release(description);
        return Err(errno::EINTR);
    }
    if flags & PEEK == 0 {
        about_to_move(number, pieces.length(), patience, !all);
    }
    let outcome = until_done(call, || {
        loop {
            let before = received;
            let result = receive_now(number, pieces, &mut received, flags);
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
    flags: i32,
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
    if remote::is_remote(socket) {
        return remote::receive(number, pieces, received, flags & PEEK != 0);
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

/// Does what the system call does.
pub(super) fn shutdown(number: usize, how: i32) -> Result<isize, i32> {
    let socket = object(number);
    if !matches!(how, 0..=2) {
        return Err(errno::EINVAL);
    }
    point(Operation::Shutdown, super::touches(number), super::touched(socket));
    if socket.kind.get() == Kind::Stream && socket.stage.get() == Stage::Listening {
        // Who waits to accept is told.
        socket.stage.set(Stage::Over);
        while socket.waiting() >= 2 {
            drop_first_in_queue(number);
        }
        happened(number);
        return Ok(0);
    }
    if !matches!(socket.stage.get(), Stage::Connected | Stage::Connecting) {
        return Err(errno::ENOTCONN);
    }
    if how != 0 && !socket.shut_sending.replace(true) {
        if remote::is_remote(socket) {
            remote::shut(number)?;
        } else if let Some(other) = partner(socket) {
            let far = object(other);
            if far.partner_end.get() == End::Open {
                far.partner_end.set(End::Finished);
            }
            happened(other);
        }
    }
    if how != 1 {
        socket.shut_receiving.set(true);
        if let Some(other) = partner(socket) {
            happened(other);
        }
    }
    happened(number);
    Ok(0)
}

fn drop_first_in_queue(listener: usize) {
    let queue = object(listener);
    let far = load::<u16>(queue.contents(listener).as_ptr() as usize);
    queue.skip(2);
    close(usize::from(far));
    free(usize::from(far));
}

/// The last descriptor of one end is gone.
pub(super) fn close(number: usize) {
    let socket = object(number);
    if socket.stage.get() == Stage::Listening {
        while socket.waiting() >= 2 {
            drop_first_in_queue(number);
        }
        return;
    }
    let Some(other) = partner(socket) else { return };
    let far = object(other);
    let lingers = socket.options.get().linger() == Some(0);
    // Whoever leaves bytes behind breaks the connection, and so does who asked for it.
    let breaks = socket.kind.get() == Kind::Stream && (socket.waiting() > 0 || lingers);
    far.partner.set(0);
    if breaks {
        far.partner_end.set(End::Gone);
        far.error.set(errno::ECONNRESET);
        if !is_unix(far) {
            far.shut_sending.set(true);
        }
    } else if far.partner_end.get() != End::Gone {
        far.partner_end.set(End::Finished);
    }
    happened(other);
}
