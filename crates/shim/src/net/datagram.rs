//! Datagram sockets: whole messages, each with its sender.

use super::address::Address;
use super::blocking::step_of_call;
use super::groups;
use super::in_flight::{self, Found, HEAD, Head, Later};
use super::message::Pieces;
use super::message_log::{self, Load, Side};
use super::partitioned;
use super::send_queue::{self, Put};
use super::{Blocking, Call, Kind, Object, Transfer, Want, failed, happened, is_unix, key, object};
use super::{joint, partner, peer, stream, touches, until_done, waits};
use crate::descriptors;
use crate::memory::{bytes, load};
use crate::multi_process;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{
    Closing, Connecting, Moved, NoticeKind, Operation, OperationKind, Sending,
};

/// The longest message of the Internet.
const LONGEST: usize = 65_507;
/// So many bytes of messages wait at most; the next ones are lost, as they are in the kernel.
const CAPACITY: usize = 212_992;

/// A message that was received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// What the call returns.
    pub(super) length: usize,
    pub(super) from: Address,
    /// Whether its end was cut off.
    pub(super) is_truncated: bool,
}

/// Does what the system call does.
pub(super) fn connect(descriptor: i32, number: usize, to: Address) -> Result<isize, i32> {
    let socket = object(number);
    // Whose messages arrive here changes; and whether somebody is there matters to some.
    let meets = if is_unix(socket) { to.key() } else { touches(number) };
    step_of_call(descriptor, Operation::Connect(Connecting::Nothing), meets)?;
    if to.family() == 0 {
        socket.foreign.set(Address::default());
        joint::datagrams::bind(number);
        return Ok(0);
    }
    if to.family() != socket.family.get() {
        return Err(errno::EAFNOSUPPORT);
    }
    let to = to.concrete();
    if is_unix(socket) && receivers(socket, &to).next().is_none() {
        joint::datagrams::refuse_name(&to);
        return Err(errno::ECONNREFUSED);
    }
    let local = socket.local.get();
    if !local.is_some() {
        stream::name(socket, &to)?;
    } else if local.is_inet() && local.is_any() {
        socket.local.set(Address::loopback(local.family()).with_port(local.port()));
    }
    socket.foreign.set(to);
    joint::datagrams::bind(number);
    Ok(0)
}

/// The receivers of a datagram to an address.
fn receivers<'a>(sender: &'a Object, to: &'a Address) -> impl Iterator<Item = usize> + use<'a> {
    let from = sender.local.get();
    let to_many = to.is_broadcast() || to.is_multicast();
    let found = descriptors::object_numbers().filter(move |&number| {
        let socket = object(number);
        let local = socket.local.get();
        socket.kind.get() == Kind::Datagram
            && local.is_some()
            && match to_many {
                true if to.is_multicast() => groups::hears(socket, to),
                true => local.port() == to.port() && (local.is_any() || local == *to),
                false => local.receives(to),
            }
            && (!socket.foreign.get().is_some() || socket.foreign.get() == from)
    });
    // One of several gets a message to one: who is connected to the sender, before all others.
    let best = move |number: usize| !object(number).foreign.get().is_some();
    let one = if to_many { None } else { found.clone().min_by_key(|&number| best(number)) };
    found.filter(move |&number| to_many || Some(number) == one)
}

/// Where a message goes: to the address given, or to the one that the socket is connected to.
fn destination(socket: &Object, to: Option<Address>) -> Result<Address, i32> {
    let to = match to {
        Some(to) if to.family() != socket.family.get() => return Err(errno::EAFNOSUPPORT),
        Some(to) => to.concrete(),
        None if socket.foreign.get().is_some() => socket.foreign.get(),
        None if is_unix(socket) => return Err(errno::ENOTCONN),
        None => return Err(errno::EDESTADDRREQ),
    };
    if to.is_broadcast() && !socket.options.get().broadcast {
        return Err(errno::EACCES);
    }
    Ok(to)
}

/// Sends a message.
pub(super) fn send(
    descriptor: i32,
    pieces: Pieces,
    to: Option<Address>,
    flags: i32,
) -> Result<isize, i32> {
    let description = descriptors::found_description(descriptor)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    let length = pieces.length();
    if length > LONGEST {
        return Err(errno::EMSGSIZE);
    }
    if let Some(other) = partner(socket) {
        return send_to_partner(descriptor, number, other, (pieces, flags));
    }
    if socket.shut_sending.get() {
        return Err(super::broken_pipe(flags));
    }
    let to = destination(socket, to)?;
    if !socket.local.get().is_some() {
        let any = Address::any(to.family());
        let own = if is_unix(socket) { any } else { stream::with_free_port(Kind::Datagram, any)? };
        socket.local.set(own);
    }
    if joint::datagrams::hears(socket) {
        return joint::datagrams::send(number, &to, pieces);
    }
    let is_to_many = to.is_broadcast() || to.is_multicast();
    let is_alone = !is_unix(socket) && !multi_process::is_one_of_several();
    if is_alone && !is_to_many && receivers(socket, &to).next().is_none() {
        // Another thread may be about to bind there.
        point(Operation::SendAway, to.key());
        if receivers(socket, &to).next().is_none() {
            return send_queue::send(number, &to, pieces);
        }
    }
    let only = receivers(socket, &to).next().filter(|_| receivers(socket, &to).count() == 1);
    about_to_move(only, false, length);
    point(Operation::Send(Sending::Queue(Moved::Nothing)), to.key());
    about_to_move(None, false, 0);
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    let head = Head { from: source(socket, &to), length: length as u32, put: Put::BySender };
    let mut anybody = false;
    let is_looped = !to.is_multicast() || socket.options.get().hears_itself();
    if !is_to_many && multi_process::is_one_of_several() && receivers(socket, &to).next().is_none()
    {
        await_receiver(descriptor, &to);
    }
    for receiver in receivers(socket, &to) {
        anybody = true;
        if partitioned::is_lost(state().current(), object(receiver)) {
            message_log::lost(on_its_way(Side::Socket(number), receiver, &head, pieces));
        } else if is_looped {
            deliver(Side::Socket(number), receiver, head, pieces);
        }
    }
    if anybody || is_to_many {
        return Ok(length as isize);
    }
    if is_unix(socket) {
        // Somebody may be there who listens to another.
        joint::datagrams::refuse_name(&to);
        let taken = super::bound(Kind::Datagram, |other| other.local.get().receives(&to));
        return Err(if taken.is_some() { errno::EPERM } else { errno::ECONNREFUSED });
    }
    peer::datagram(number, &to, pieces, Put::BySender)?;
    Ok(length as isize)
}

/// Waits until somebody is bound to an address, or nothing else can happen any more: see
/// `connect::connect_in_system`.
fn await_receiver(descriptor: i32, to: &Address) {
    let want = Want::Somebody { kind: Kind::Datagram, key: to.key() };
    let (operation, touches) = (Operation::Connect(Connecting::Nothing), to.key());
    let (through, patience) = (super::through(descriptor), Blocking::Last);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    // Without anybody there the message is lost.
    if until_done(call, || super::poll::is_satisfied(want).then_some(())).is_err() {
        multi_process::notice(NoticeKind::NobodyBound, to.port());
    }
}

/// The address that receivers see: that of this machine, if a socket is bound to all of them.
fn source(socket: &Object, to: &Address) -> Address {
    let local = socket.local.get();
    match local {
        any if any.is_inet() && any.is_any() => {
            Address::loopback(to.family()).with_port(any.port())
        }
        unnamed if unnamed.is_unnamed() => Address::default(),
        named => named,
    }
}

/// A message in flight to a socket, or in a send queue.
fn on_its_way(from: Side, receiver: usize, head: &Head, content: Pieces) -> Load {
    let socket = object(receiver);
    let to = match socket.kind.get() {
        Kind::Outbox => Side::Outside(head.from),
        _ => Side::Socket(receiver),
    };
    Load { from, to, waits_in: receiver, first: u64::from(socket.entered.get()), content }
}

/// Puts a message into the buffer of its receiver, or loses it if that is full.
pub(super) fn deliver(from: Side, receiver: usize, head: Head, pieces: Pieces) {
    let socket = object(receiver);
    let length = head.length as usize;
    let load = on_its_way(from, receiver, &head, pieces);
    if socket.room(CAPACITY) < HEAD + length {
        return message_log::lost(load);
    }
    message_log::sent(load);
    in_flight::enter(receiver);
    socket.entered.set(socket.entered.get() + 1);
    socket.push(receiver, (&raw const head) as usize, HEAD);
    pieces.each(0, length, |address, length| socket.push(receiver, address, length));
    happened(receiver);
}

fn send_to_partner(
    descriptor: i32,
    number: usize,
    other: usize,
    (pieces, flags): (Pieces, i32),
) -> Result<isize, i32> {
    let patience = if waits(descriptor, flags) { Blocking::Forever } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events: super::poll::OUT };
    let operation = Operation::Send(Sending::Queue(Moved::Nothing));
    let through = super::through(descriptor);
    let call = Call { operation: operation.pack(), touches: key(other), want, through, patience };
    let (from, length) = (Address::default(), pieces.length() as u32);
    let head = Head { from, length, put: Put::BySender };
    let done = until_done(call, || {
        let fits = object(other).room(CAPACITY) >= HEAD + pieces.length();
        fits.then(|| deliver(Side::Socket(number), other, head, pieces))
    });
    done.map_err(failed)?;
    Ok(pieces.length() as isize)
}

/// How long the first message is that waits.
pub(super) fn first_length(number: usize) -> usize {
    send_queue::settle(number);
    joint::datagrams::refuse_to_measure(object(number));
    match in_flight::look(number) {
        Found::Message(at) => in_flight::size(number, at) - HEAD,
        Found::Lost | Found::Nothing => 0,
    }
}

/// Notes which socket the running thread is about to send to, or to receive from.
pub(super) fn about_to_move(number: Option<usize>, waits: bool, length: usize) {
    let object = number.map_or(0, |number| number as u16 + 1);
    state().current().transfer.set(Transfer {
        object,
        waits,
        divisible: false,
        length: length as u32,
    });
}

/// What stands for so many messages of a socket, among all that have its address.
pub(super) fn mark(number: usize, messages: u32) -> u64 {
    (number as u64) << 24 | u64::from(messages)
}

/// What sending to a socket or receiving from it turns out to be now. A thread that waits for a
/// message gets the first one, whatever is sent after it.
pub(super) fn refined(
    kind: OperationKind,
    number: usize,
    (waits, length): (bool, usize),
) -> Option<Operation> {
    let socket = object(number);
    let one = |number: usize, before: u32| Moved::up_to(mark(number, before + 1), 1);
    let looks = kind == OperationKind::Receive && waits;
    let later = if looks { send_queue::later(number) } else { Later::Seen };
    match kind {
        OperationKind::Send => {
            // It must fit even if nothing had ever been taken out.
            let fits = socket.put.get() as usize + HEAD + length <= CAPACITY;
            let moved = one(number, socket.entered.get());
            let divided = Operation::Send(Sending::Queue(moved));
            Some(if fits { Operation::SendWhole(moved) } else { divided })
        }
        OperationKind::Receive if waits => {
            match (in_flight::oldest(number), send_queue::of(number)) {
                _ if socket.error.get() != 0 || socket.shut_receiving.get() => None,
                _ if later == Later::Seen => None,
                // Which one it gets is written down when that is decided.
                _ if later == Later::Missed => Some(Operation::ReceiveAny),
                // Receivers come one after the other, and one of them put it here.
                (Some(Head { put: Put::ByReceiver, .. }), _) => {
                    Some(Operation::ReceiveWhole(Moved::Nothing))
                }
                (Some(_), _) => Some(Operation::ReceiveWhole(one(number, socket.left.get()))),
                (None, Some(outbox)) if object(outbox).waiting() > 0 => {
                    Some(Operation::ReceiveWhole(one(outbox, object(outbox).left.get())))
                }
                (None, _) => Some(Operation::AwaitBytes),
            }
        }
        _ => None,
    }
}

/// Receives a message.
pub(super) fn receive(descriptor: i32, pieces: Pieces, flags: i32) -> Result<Received, i32> {
    const PEEK: i32 = 2;
    const WHOLE_LENGTH: i32 = 0x20;
    let description = descriptors::found_description(descriptor)?;
    let number = usize::from(descriptors::opened(description).get().index);
    let socket = object(number);
    let patience = match waits(descriptor, flags) {
        true => Blocking::of_option(socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    let want = Want::Ready { number: number as u16, events: super::poll::IN };
    let is_separate = in_flight::is_separate(number);
    let operation = match is_separate {
        true => Operation::Receive(Moved::Nothing),
        false => Operation::Arrive(in_flight::limit_at(number)),
    };
    let through = super::through(descriptor);
    let call =
        Call { operation: operation.pack(), touches: touches(number), want, through, patience };
    descriptors::hold(description);
    if is_separate && partner(socket).is_none() && flags & PEEK == 0 {
        about_to_move(Some(number), patience.lasts(), 0);
    }
    let outcome = until_done(call, || {
        if let Some(error) = socket.takes_error() {
            return Some(Err(error));
        }
        let found = match found(number, (flags & PEEK != 0, patience))? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let Found::Message(at) = found else {
            let over = socket.shut_receiving.get() && socket.waiting() == 0;
            let nothing = Received { length: 0, from: Address::default(), is_truncated: false };
            return over.then_some(Ok(nothing));
        };
        let start = socket.contents(number).as_ptr() as usize + at;
        let head: Head = load(start);
        let length = head.length as usize;
        let taken = length.min(pieces.length());
        pieces.fill(bytes(start + HEAD, taken));
        if flags & PEEK == 0 {
            in_flight::tell_received(number);
            in_flight::take(number);
            if let Some(other) = partner(socket) {
                happened(other);
            }
        }
        let told = if flags & WHOLE_LENGTH != 0 { length } else { taken };
        Some(Ok(Received { length: told, from: head.from, is_truncated: taken < length }))
    });
    about_to_move(None, false, 0);
    descriptors::release(description);
    outcome.map_err(failed)?
}

/// What a look at a socket finds, of what other programs sent if nothing else is there.
fn found(number: usize, (peeks, patience): (bool, Blocking)) -> Option<Result<Found, i32>> {
    let socket = object(number);
    loop {
        if joint::datagrams::asks(socket) {
            if peeks {
                joint::refuse_to_peek();
            }
            if let Err(error) = joint::datagrams::fetch(number, patience)? {
                return Some(Err(error));
            }
        }
        // What is lost on its way leaves nothing behind, nor does what never arrives again.
        let found = send_queue::look(number);
        if found != Found::Nothing || !joint::datagrams::asks(socket) {
            return Some(Ok(found));
        }
    }
}

/// Does what the system call does.
pub(super) fn shutdown(descriptor: i32, number: usize, how: i32) -> Result<isize, i32> {
    let socket = object(number);
    if !matches!(how, 0..=2) {
        return Err(errno::EINVAL);
    }
    step_of_call(descriptor, Operation::Shutdown(Closing::Alone), touches(number))?;
    joint::datagrams::refuse_to_shut_down(socket);
    socket.shut_receiving.set(socket.shut_receiving.get() || how != 1);
    socket.shut_sending.set(socket.shut_sending.get() || how != 0);
    happened(number);
    if socket.foreign.get().is_some() { Ok(0) } else { Err(errno::ENOTCONN) }
}

/// The last descriptor of a socket is gone.
pub(super) fn close(number: usize) {
    send_queue::close(number);
    joint::datagrams::close(object(number));
    if let Some(other) = partner(object(number)) {
        object(other).partner.set(0);
        happened(other);
    }
}
