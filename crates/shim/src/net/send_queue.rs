//! The send queue of datagrams to a peer, an object without a descriptor. Faults are decided when
//! the program polls for an answer.

use super::address::Address;
use super::datagram::{about_to_move, deliver, mark};
use super::in_flight::{self, Found, HEAD, Head, Later};
use super::message::Pieces;
use super::message_log::{self, Side};
use super::udp_clients::{self, Speaker};
use super::{Kind, Object, free, object, peer, touches};
use crate::descriptors;
use crate::memory::load;
use crate::scheduler::{complete, point};
use crate::sys::errno;
use everypath_shim_abi::{Completion, Moved, Operation, OperationKind, Sending};

/// The send queue of a socket, if it has one.
pub(super) fn of(number: usize) -> Option<usize> {
    usize::from(object(number).outbox.get()).checked_sub(1)
}

/// The send queue of a socket, if it is not empty.
pub(super) fn waiting(number: usize) -> Option<usize> {
    of(number).filter(|&outbox| object(outbox).waiting() > 0)
}

/// Whether it goes to a client.
pub(super) fn speaks_to_clients(number: usize) -> bool {
    of(number).is_some_and(|outbox| client(outbox).is_some())
}

/// The client that the oldest message in a send queue goes to, if it goes to one.
fn client(outbox: usize) -> Option<usize> {
    in_flight::oldest(outbox).and_then(|head| udp_clients::at(&head.from))
}

/// The send queues with messages to clients: their sockets may be closed.
pub(super) fn to_clients() -> impl Iterator<Item = usize> {
    let all = udp_clients::are_there().then(descriptors::object_numbers).into_iter().flatten();
    all.filter(|&it| object(it).kind.get() == Kind::Outbox && client(it).is_some())
}

/// The send queue of a socket, which is created if there is none.
fn made(number: usize, to: &Address) -> Result<usize, i32> {
    if let Some(outbox) = of(number) {
        return Ok(outbox);
    }
    let outbox = descriptors::free_object().ok_or(errno::ENOBUFS)?;
    object(outbox).kind.set(Kind::Outbox);
    object(outbox).local.set(object(number).local.get());
    object(outbox).foreign.set(object(number).foreign.get());
    meet(object(outbox), to);
    object(number).outbox.set(outbox as u16 + 1);
    Ok(outbox)
}

/// The socket is closed: what waits never reaches any server, whose answer nobody could look for.
pub(super) fn close(number: usize) {
    if let Some(outbox) = of(number) {
        object(number).outbox.set(0);
        if client(outbox).is_none() {
            free(outbox);
        }
    }
}

/// Notes whom a socket first sends to.
fn meet(socket: &Object, to: &Address) {
    if socket.first_peer.get() == 0 {
        socket.first_peer.set(to.port());
    }
}

/// Sends a message to somebody outside, at once or as soon as somebody looks for an answer.
pub(super) fn send(number: usize, to: &Address, pieces: Pieces) -> Result<isize, i32> {
    let socket = object(number);
    let length = pieces.length();
    let is_reliable = in_flight::crossing(socket, to.port()).1.sent.is_reliable();
    if is_reliable && udp_clients::at(to).is_some() {
        point(Operation::Send(Sending::Client), touches(number));
        if let Some(error) = socket.takes_error() {
            return Err(error);
        }
        message_log::handed(Side::Socket(number), Side::Outside(*to), pieces);
        let _gone = udp_clients::say(socket.local.get(), to, pieces, Speaker::Socket(number));
        return Ok(length as isize);
    }
    if is_reliable {
        point(Operation::SendWhole(Moved::Unknown), touches(number));
        if let Some(error) = socket.takes_error() {
            return Err(error);
        }
        let before = socket.entered.get();
        meet(socket, to);
        message_log::handed(Side::Socket(number), Side::Outside(*to), pieces);
        peer::datagram(number, to, pieces, Put::BySender)?;
        let after = socket.entered.get();
        let moved = Moved::up_to(mark(number, after), u64::from(after - before));
        complete(&[OperationKind::SendWhole], Completion::Moved(moved));
        return Ok(length as isize);
    }
    let outbox = made(number, to)?;
    about_to_move(Some(outbox), false, length);
    point(Operation::Send(Sending::Queue(Moved::Nothing)), touches(number));
    about_to_move(None, false, 0);
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    let head = Head { from: *to, length: length as u32, put: Put::BySender };
    meet(socket, to);
    deliver(Side::Socket(number), outbox, head, pieces);
    Ok(length as isize)
}

/// Who put a message where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Put {
    BySender,
    /// It answers a message that left the send queue because of a poll.
    ByReceiver,
}

/// Lets the next message leave a send queue, or be lost; whether there was one.
fn forward(outbox: usize, speaker: Speaker) -> bool {
    match in_flight::look(outbox) {
        Found::Nothing => false,
        Found::Lost => true,
        Found::Message(at) => {
            let start = object(outbox).contents(outbox).as_ptr() as usize + at;
            let head: Head = load(start);
            let pieces = Pieces::One { address: start + HEAD, length: head.length as usize };
            in_flight::tell_received(outbox);
            let said = udp_clients::say(object(outbox).local.get(), &head.from, pieces, speaker);
            if let (None, Speaker::Socket(number)) = (said, speaker) {
                // The send call has returned success.
                let _ = peer::datagram(number, &head.from, pieces, Put::ByReceiver);
            }
            in_flight::take(outbox);
            true
        }
    }
}

/// Lets the next message leave that was sent from a socket; whether there was one.
fn forward_own(number: usize) -> bool {
    let own = of(number).filter(|&outbox| client(outbox).is_none() || udp_clients::may_speak());
    own.is_some_and(|outbox| forward(outbox, Speaker::Socket(number)))
}

/// Lets everything leave that goes to clients; whether there was anything.
pub(super) fn empty_to_clients() -> bool {
    let mut any = false;
    while let Some(outbox) = to_clients().next() {
        any |= forward(outbox, Speaker::Time);
    }
    any
}

/// Whether a look at a socket lets all of it go out that was sent from there: answers can overtake
/// each other only if several are on their way, and what clients hear may be answered elsewhere.
pub(super) fn empties(number: usize) -> bool {
    let (_, crossing) = in_flight::crossing(object(number), object(number).first_peer.get());
    !crossing.received.keeps_order() || !crossing.sent.keeps_order() && speaks_to_clients(number)
}

/// What a look at a socket has to do with what is sent there, or from there, later.
pub(super) fn later(number: usize) -> Later {
    match (in_flight::oldest(number), waiting(number)) {
        (_, Some(_)) if empties(number) => Later::Seen,
        (Some(_), _) => in_flight::later(number),
        (None, Some(outbox)) => in_flight::later(outbox),
        (None, None) => Later::Unseen,
    }
}

/// The next message that arrives at a socket. What was sent goes out one by one, as soon as nothing
/// else is there, unless a poll [empties] the send queue.
///
/// [empties]: empties
pub(super) fn look(number: usize) -> Found {
    udp_clients::invite(number);
    if empties(number) {
        while forward_own(number) {}
    }
    match in_flight::look(number) {
        Found::Nothing if forward_own(number) => match object(number).waiting() {
            0 => Found::Lost,
            _ => in_flight::look(number),
        },
        found => found,
    }
}

/// Decides the fates of all messages in flight to a socket, up to the first that arrives.
pub(super) fn settle(number: usize) {
    while look(number) == Found::Lost {}
}
