//! Datagram sockets: whole messages, each with its sender.

use crate::blocking::{Blocking, Call, failed, step_of_call, through, until_done, waits};
use crate::footprint::touches;
use crate::host::{Host, Thread};
use crate::in_flight::{self, Found, HEAD, Head, Later};
use crate::iovec::Pieces;
use crate::lifetime::bound;
use crate::message_log::{self, Load, Side};
use crate::object::{Kind, Object, is_unix, key, partner, receives};
use crate::readiness::{IN, OUT};
use crate::send_queue::{self, Put};
use crate::sockaddr::Address;
use crate::state::{Transfer, Want};
use crate::stream::broken_pipe;
use crate::wakeup::happened;
use crate::wants::is_satisfied;
use crate::{errno, fd_table, joint, multicast, partition, peer, peer_time, tcp};
use everypath_shim_abi::{
    Closing, Connecting, Moved, NoticeKind, Operation, OperationKind, Sending,
};

/// The longest message of the Internet.
const LONGEST: usize = 65_507;
/// So many bytes of messages wait at most; the next ones are lost, as they are in the kernel.
const CAPACITY: usize = 212_992;

/// A message that was received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// What the call returns.
    pub(crate) length: usize,
    pub(crate) from: Address,
    /// Whether its end was cut off.
    pub(crate) is_truncated: bool,
}

/// Does what the system call does.
pub(crate) fn connect(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    to: Address,
) -> Result<isize, i32> {
    let socket = k.object(number);
    // Whose messages arrive here changes; and whether somebody is there matters to some.
    let meets = if is_unix(socket) { to.key() } else { touches(k, number) };
    step_of_call(k, descriptor, Operation::Connect(Connecting::Nothing), meets)?;
    if to.family() == 0 {
        socket.foreign.set(Address::default());
        joint::datagrams::bind(k, number);
        return Ok(0);
    }
    if to.family() != socket.family.get() {
        return Err(errno::EAFNOSUPPORT);
    }
    let to = to.concrete();
    if is_unix(socket) && receivers(k, socket, &to).next().is_none() {
        joint::datagrams::refuse_name(k, &to);
        return Err(errno::ECONNREFUSED);
    }
    let local = socket.local.get();
    if !local.is_some() {
        tcp::name(k, socket, &to)?;
    } else if local.is_inet() && local.is_any() {
        socket.local.set(Address::loopback(local.family()).with_port(local.port()));
    }
    socket.foreign.set(to);
    joint::datagrams::bind(k, number);
    Ok(0)
}

/// The receivers of a datagram to an address.
fn receivers<'a>(
    k: &'a impl Host,
    sender: &'a Object,
    to: &'a Address,
) -> impl Iterator<Item = usize> {
    let from = sender.local.get();
    let to_many = to.is_broadcast() || to.is_multicast();
    let found = fd_table::object_numbers(k).filter(move |&number| {
        let socket = k.object(number);
        let local = socket.local.get();
        socket.kind.get() == Kind::Datagram
            && local.is_some()
            && match to_many {
                true if to.is_multicast() => multicast::hears(k, socket, to),
                true => local.port() == to.port() && (local.is_any() || local == *to),
                false => receives(socket, to),
            }
            && (!socket.foreign.get().is_some() || socket.foreign.get() == from)
    });
    // One of several gets a message to one: who is connected to the sender, before all others.
    let best = move |number: usize| !k.object(number).foreign.get().is_some();
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
pub(crate) fn send(
    k: &impl Host,
    descriptor: i32,
    pieces: Pieces,
    to: Option<Address>,
    flags: i32,
) -> Result<isize, i32> {
    let description = fd_table::found_description(k, descriptor)?;
    let number = usize::from(fd_table::opened(k, description).get().index);
    let socket = k.object(number);
    let length = pieces.length(k);
    if length > LONGEST {
        return Err(errno::EMSGSIZE);
    }
    if let Some(other) = partner(socket) {
        pieces.check(k)?;
        return send_to_partner(k, descriptor, number, other, (pieces, flags));
    }
    if socket.shut_sending.get() {
        return Err(broken_pipe(k, flags));
    }
    let is_named = to.is_some();
    let to = destination(socket, to)?;
    pieces.check(k)?;
    if !socket.local.get().is_some() {
        let any = Address::any(to.family());
        let own = if is_unix(socket) { any } else { tcp::with_free_port(k, Kind::Datagram, any)? };
        socket.local.set(own);
    }
    if joint::datagrams::hears(k, socket) {
        return joint::datagrams::send(k, number, &to, pieces);
    }
    let is_to_many = to.is_broadcast() || to.is_multicast();
    let is_alone = !is_unix(socket) && !k.is_one_of_several();
    if is_alone && !is_to_many && receivers(k, socket, &to).next().is_none() {
        // Another thread may be about to bind there.
        k.point(Operation::SendAway, to.key());
        if receivers(k, socket, &to).next().is_none() {
            return send_queue::send(k, number, &to, pieces);
        }
    }
    let only = receivers(k, socket, &to).next().filter(|_| receivers(k, socket, &to).count() == 1);
    about_to_move(k, only, false, length);
    k.point(Operation::Send(Sending::Queue(Moved::Nothing)), to.key());
    about_to_move(k, None, false, 0);
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    let head = Head {
        from: source(socket, &to),
        length: length as u32,
        put: Put::BySender,
        is_foreign: false,
    };
    let mut anybody = false;
    let is_looped = !to.is_multicast() || socket.options.get().hears_itself();
    if !is_to_many && k.is_one_of_several() && receivers(k, socket, &to).next().is_none() {
        await_receiver(k, descriptor, &to);
    }
    for receiver in receivers(k, socket, &to) {
        anybody = true;
        if partition::is_lost(k, k.current(), k.object(receiver)) {
            message_log::lost(k, on_its_way(k, Side::Socket(number), receiver, &head, pieces));
        } else if is_looped {
            deliver(k, Side::Socket(number), receiver, head, pieces);
        }
    }
    if anybody || is_to_many {
        return Ok(length as isize);
    }
    if is_unix(socket) {
        return Err(refused(k, socket, &to, is_named));
    }
    peer::datagram(k, number, &to, pieces, Put::BySender)?;
    Ok(length as isize)
}

/// The error of a Unix socket whose message nobody gets.
fn refused(k: &impl Host, socket: &Object, to: &Address, is_named: bool) -> i32 {
    joint::datagrams::refuse_name(k, to);
    // Somebody may be there who listens to another.
    if bound(k, Kind::Datagram, |other| receives(other, to)).is_some() {
        return errno::EPERM;
    }
    if !is_named {
        // It is connected to nobody from now on, and has forgotten what it was sent.
        socket.foreign.set(Address::default());
        socket.left.set(socket.entered.get());
        socket.skip(socket.filled());
    }
    errno::ECONNREFUSED
}

/// Waits until somebody is bound to an address, or nothing else can happen any more: see
/// `connect::connect_in_system`.
fn await_receiver(k: &impl Host, descriptor: i32, to: &Address) {
    let want = Want::Somebody { kind: Kind::Datagram, key: to.key() };
    let (operation, touches) = (Operation::Connect(Connecting::Nothing), to.key());
    let (through, patience) = (through(k, descriptor), Blocking::Last);
    let call = Call { operation: operation.pack(), touches, want, through, patience };
    // Without anybody there the message is lost.
    if until_done(k, call, || is_satisfied(k, want).then_some(())).is_err() {
        k.notice(NoticeKind::NobodyBound, to.port());
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
fn on_its_way(k: &impl Host, from: Side, receiver: usize, head: &Head, content: Pieces) -> Load {
    let socket = k.object(receiver);
    let to = match socket.kind.get() {
        Kind::Outbox => Side::Outside(head.from),
        _ => Side::Socket(receiver),
    };
    Load { from, to, waits_in: receiver, first: u64::from(socket.entered.get()), content }
}

/// Puts a message into the buffer of its receiver, or loses it if that is full.
pub(crate) fn deliver(k: &impl Host, from: Side, receiver: usize, head: Head, pieces: Pieces) {
    let socket = k.object(receiver);
    let length = head.length as usize;
    let load = on_its_way(k, from, receiver, &head, pieces);
    if socket.room(CAPACITY) < HEAD + length {
        return message_log::lost(k, load);
    }
    message_log::sent(k, load);
    in_flight::enter(k, receiver);
    socket.entered.set(socket.entered.get() + 1);
    socket.push_own(k, receiver, &head.to_buffer());
    let at = socket.put.get();
    let copied =
        pieces.each(k, (0, length), |address, length| socket.push(k, receiver, (address, length)));
    // It could be read when the call began: who unmaps it meanwhile sends zeros.
    if copied.is_err() {
        let missing = length - (socket.put.get() - at) as usize;
        socket.reserve(k, receiver, missing);
    }
    happened(k, receiver);
}

fn send_to_partner(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    other: usize,
    (pieces, flags): (Pieces, i32),
) -> Result<isize, i32> {
    let patience = if waits(k, descriptor, flags) { Blocking::Forever } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events: OUT };
    let operation = Operation::Send(Sending::Queue(Moved::Nothing));
    let through = through(k, descriptor);
    let call = Call { operation: operation.pack(), touches: key(other), want, through, patience };
    let (from, length) = (Address::default(), pieces.length(k) as u32);
    let head = Head { from, length, put: Put::BySender, is_foreign: false };
    let done = until_done(k, call, || {
        if k.object(number).shut_sending.get() || k.object(other).shut_receiving.get() {
            return Some(Err(broken_pipe(k, flags)));
        }
        let fits = k.object(other).room(CAPACITY) >= HEAD + pieces.length(k);
        fits.then(|| {
            deliver(k, Side::Socket(number), other, head, pieces);
            Ok(())
        })
    });
    done.map_err(failed)??;
    Ok(pieces.length(k) as isize)
}

/// How long the first message is that waits.
pub(crate) fn first_length(k: &impl Host, number: usize) -> usize {
    send_queue::settle(k, number);
    joint::datagrams::refuse_to_measure(k, k.object(number));
    match in_flight::look(k, number) {
        Found::Message(at) => in_flight::size(k, number, at) - HEAD,
        Found::Lost | Found::Nothing => 0,
    }
}

/// Notes which socket the running thread is about to send to, or to receive from.
pub(crate) fn about_to_move(k: &impl Host, number: Option<usize>, waits: bool, length: usize) {
    let object = number.map_or(0, |number| number as u16 + 1);
    k.current().task().transfer.set(Transfer {
        object,
        waits,
        divisible: false,
        length: length as u32,
    });
}

/// What stands for so many messages of a socket, among all that have its address.
pub(crate) fn mark(number: usize, messages: u32) -> u64 {
    (number as u64) << 24 | u64::from(messages)
}

/// What sending to a socket or receiving from it turns out to be now. A thread that waits for a
/// message gets the first one, whatever is sent after it.
pub(crate) fn refined(
    k: &impl Host,
    kind: OperationKind,
    number: usize,
    (waits, length): (bool, usize),
) -> Option<Operation> {
    let socket = k.object(number);
    let one = |number: usize, before: u32| Moved::up_to(mark(number, before + 1), 1);
    let looks = kind == OperationKind::Receive && waits;
    let later = if looks { send_queue::later(k, number) } else { Later::Seen };
    match kind {
        OperationKind::Send => {
            // It must fit even if nothing had ever been taken out.
            let fits = socket.put.get() as usize + HEAD + length <= CAPACITY;
            let moved = one(number, socket.entered.get());
            let divided = Operation::Send(Sending::Queue(moved));
            Some(if fits { Operation::SendWhole(moved) } else { divided })
        }
        OperationKind::Receive if waits => {
            match (in_flight::oldest(k, number), send_queue::of(k, number)) {
                _ if socket.error.get() != 0 || socket.shut_receiving.get() => None,
                _ if later == Later::Seen => None,
                // Which one it gets is written down when that is decided.
                _ if later == Later::Missed => Some(Operation::ReceiveAny),
                // Receivers come one after the other, and one of them put it here.
                (Some(Head { put: Put::ByReceiver, .. }), _) => {
                    Some(Operation::ReceiveWhole(Moved::Nothing))
                }
                (Some(_), _) => Some(Operation::ReceiveWhole(one(number, socket.left.get()))),
                (None, Some(outbox)) if k.object(outbox).waiting() > 0 => {
                    Some(Operation::ReceiveWhole(one(outbox, k.object(outbox).left.get())))
                }
                (None, _) => Some(Operation::AwaitBytes),
            }
        }
        _ => None,
    }
}

/// Receives a message.
pub(crate) fn receive(
    k: &impl Host,
    descriptor: i32,
    pieces: Pieces,
    flags: i32,
) -> Result<Received, i32> {
    const PEEK: i32 = 2;
    const WHOLE_LENGTH: i32 = 0x20;
    let description = fd_table::found_description(k, descriptor)?;
    let number = usize::from(fd_table::opened(k, description).get().index);
    let socket = k.object(number);
    let patience = match waits(k, descriptor, flags) {
        true => Blocking::of_option(k, socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    let want = Want::Ready { number: number as u16, events: IN };
    let is_separate = in_flight::is_separate(k, number);
    let operation = match is_separate {
        true => Operation::Receive(Moved::Nothing),
        false => Operation::Arrive(in_flight::limit_at(k, number)),
    };
    let through = through(k, descriptor);
    let call =
        Call { operation: operation.pack(), touches: touches(k, number), want, through, patience };
    fd_table::hold(k, description);
    if is_separate && partner(socket).is_none() && flags & PEEK == 0 {
        about_to_move(k, Some(number), patience.lasts(k), 0);
    }
    let outcome = until_done(k, call, || {
        if let Some(error) = socket.takes_error() {
            return Some(Err(error));
        }
        let found = match found(k, number, (flags & PEEK != 0, patience))? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let Found::Message(at) = found else {
            let over = socket.shut_receiving.get() && socket.waiting() == 0;
            let nothing = Received { length: 0, from: Address::default(), is_truncated: false };
            // Only who would have to wait is told that nothing comes any more.
            let told = if patience == Blocking::None { Err(errno::EAGAIN) } else { Ok(nothing) };
            return over.then_some(told);
        };
        let start = socket.contents(k, number) + at;
        let head = Head::at(k, start);
        let length = head.length as usize;
        let taken = length.min(pieces.length(k));
        let copied = pieces.fill_from(k, (0, taken), start + HEAD);
        if flags & PEEK == 0 {
            in_flight::tell_received(k, number);
            in_flight::take(k, number);
            peer_time::received(socket);
            if let Some(other) = partner(socket) {
                happened(k, other);
            }
        }
        // What cannot be copied is gone, as in the kernel.
        if let Err(error) = copied {
            return Some(Err(error));
        }
        let told = if flags & WHOLE_LENGTH != 0 { length } else { taken };
        Some(Ok(Received { length: told, from: head.from, is_truncated: taken < length }))
    });
    about_to_move(k, None, false, 0);
    fd_table::release(k, description);
    outcome.map_err(failed)?
}

/// What a look at a socket finds, of what other programs sent if nothing else is there.
fn found(
    k: &impl Host,
    number: usize,
    (peeks, patience): (bool, Blocking),
) -> Option<Result<Found, i32>> {
    let socket = k.object(number);
    loop {
        if joint::datagrams::asks(k, socket) {
            if peeks {
                joint::refuse_to_peek(k);
            }
            if let Err(error) = joint::datagrams::fetch(k, number, patience)? {
                return Some(Err(error));
            }
        }
        // What is lost on its way leaves nothing behind, nor does what never arrives again.
        let found = send_queue::look(k, number);
        if found != Found::Nothing || !joint::datagrams::asks(k, socket) {
            return Some(Ok(found));
        }
    }
}

/// Does what the system call does.
pub(crate) fn shutdown(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    how: i32,
) -> Result<isize, i32> {
    let socket = k.object(number);
    if !matches!(how, 0..=2) {
        return Err(errno::EINVAL);
    }
    step_of_call(k, descriptor, Operation::Shutdown(Closing::Alone), touches(k, number))?;
    joint::datagrams::refuse_to_shut_down(k, socket);
    socket.shut_receiving.set(socket.shut_receiving.get() || how != 1);
    socket.shut_sending.set(socket.shut_sending.get() || how != 0);
    happened(k, number);
    let is_fine = socket.foreign.get().is_some() || is_unix(socket);
    if is_fine { Ok(0) } else { Err(errno::ENOTCONN) }
}

/// The last descriptor of a socket is gone.
pub(crate) fn close(k: &impl Host, number: usize) {
    send_queue::close(k, number);
    joint::datagrams::close(k, k.object(number));
    if let Some(other) = partner(k.object(number)) {
        k.object(other).partner.set(0);
        happened(k, other);
    }
}
