//! The send queue of datagrams to a peer, an object without a descriptor. Faults are decided when
//! the program polls for an answer.

use crate::footprint::touches;
use crate::host::Host;
use crate::in_flight::{self, Found, HEAD, Head, Later};
use crate::iovec::Pieces;
use crate::lifetime::free;
use crate::message_log::{self, Side};
use crate::object::{Kind, Object};
use crate::sockaddr::Address;
use crate::udp::{about_to_move, deliver, mark};
use crate::udp_clients::{self, Speaker};
use crate::{arrival, errno, fd_table, peer};
use everypath_shim_abi::{Completion, Moved, Operation, OperationKind, Sending};

/// The send queue of a socket, if it has one.
pub(crate) fn of(k: &impl Host, number: usize) -> Option<usize> {
    usize::from(k.object(number).outbox.get()).checked_sub(1)
}

/// The send queue of a socket, if it is not empty.
pub(crate) fn waiting(k: &impl Host, number: usize) -> Option<usize> {
    of(k, number).filter(|&outbox| k.object(outbox).waiting() > 0)
}

/// Whether it goes to a client.
pub(crate) fn speaks_to_clients(k: &impl Host, number: usize) -> bool {
    of(k, number).is_some_and(|outbox| client(k, outbox).is_some())
}

/// The client that the oldest message in a send queue goes to, if it goes to one.
fn client(k: &impl Host, outbox: usize) -> Option<usize> {
    in_flight::oldest(k, outbox).and_then(|head| udp_clients::at(k, &head.from))
}

/// The send queues with messages to clients: their sockets may be closed.
pub(crate) fn to_clients(k: &impl Host) -> impl Iterator<Item = usize> {
    let all = udp_clients::are_there(k).then(|| fd_table::object_numbers(k)).into_iter().flatten();
    all.filter(move |&it| k.object(it).kind.get() == Kind::Outbox && client(k, it).is_some())
}

/// The send queue of a socket, which is created if there is none.
fn made(k: &impl Host, number: usize, to: &Address) -> Result<usize, i32> {
    if let Some(outbox) = of(k, number) {
        return Ok(outbox);
    }
    let outbox = fd_table::free_object(k).ok_or(errno::ENOBUFS)?;
    k.object(outbox).kind.set(Kind::Outbox);
    k.object(outbox).local.set(k.object(number).local.get());
    k.object(outbox).foreign.set(k.object(number).foreign.get());
    meet(k.object(outbox), to);
    k.object(number).outbox.set(outbox as u16 + 1);
    Ok(outbox)
}

/// The socket is closed: what waits never reaches any server, whose answer nobody could look for.
pub(crate) fn close(k: &impl Host, number: usize) {
    if let Some(outbox) = of(k, number) {
        k.object(number).outbox.set(0);
        if client(k, outbox).is_none() {
            free(k, outbox);
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
pub(crate) fn send(
    k: &impl Host,
    number: usize,
    to: &Address,
    pieces: Pieces,
) -> Result<isize, i32> {
    let socket = k.object(number);
    let length = pieces.length(k);
    let is_reliable = in_flight::crossing(k, socket, to.port()).1.sent.is_reliable();
    if is_reliable && udp_clients::at(k, to).is_some() {
        k.point(Operation::Send(Sending::Client), touches(k, number));
        if let Some(error) = socket.takes_error() {
            return Err(error);
        }
        message_log::handed(k, Side::Socket(number), Side::Outside(*to), pieces);
        let _gone = udp_clients::say(k, socket.local.get(), to, pieces, Speaker::Socket(number));
        return Ok(length as isize);
    }
    if is_reliable {
        let operation = match k.setup().peers_in_turn {
            true => Operation::Send(Sending::Client),
            false => Operation::SendWhole(Moved::Unknown),
        };
        k.point(operation, touches(k, number));
        if let Some(error) = socket.takes_error() {
            return Err(error);
        }
        let before = socket.entered.get();
        meet(socket, to);
        message_log::handed(k, Side::Socket(number), Side::Outside(*to), pieces);
        peer::datagram(k, number, to, pieces, Put::BySender)?;
        let after = socket.entered.get();
        let moved = Moved::up_to(mark(number, after), u64::from(after - before));
        k.complete(&[OperationKind::SendWhole], Completion::Moved(moved));
        return Ok(length as isize);
    }
    let outbox = made(k, number, to)?;
    about_to_move(k, Some(outbox), false, length);
    k.point(Operation::Send(Sending::Queue(Moved::Nothing)), touches(k, number));
    about_to_move(k, None, false, 0);
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    let head = Head { from: *to, length: length as u32, put: Put::BySender, is_foreign: false };
    meet(socket, to);
    deliver(k, Side::Socket(number), outbox, head, pieces);
    Ok(length as isize)
}

/// Who put a message where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    BySender,
    /// It answers a message that left the send queue because of a poll.
    ByReceiver,
}

/// Lets the next message leave a send queue, or be lost; whether there was one.
fn forward(k: &impl Host, outbox: usize, speaker: Speaker) -> bool {
    match in_flight::look(k, outbox) {
        Found::Nothing => false,
        Found::Lost => true,
        Found::Message(at) => {
            let start = k.object(outbox).contents(k, outbox) + at;
            let head = Head::at(k, start);
            let pieces = Pieces::One { address: start + HEAD, length: head.length as usize };
            in_flight::tell_received(k, outbox);
            let said =
                udp_clients::say(k, k.object(outbox).local.get(), &head.from, pieces, speaker);
            if let (None, Speaker::Socket(number)) = (said, speaker) {
                // The send call has returned success.
                let _ = peer::datagram(k, number, &head.from, pieces, Put::ByReceiver);
            }
            in_flight::take(k, outbox);
            true
        }
    }
}

/// Lets the next message leave that was sent from a socket; whether there was one.
fn forward_own(k: &impl Host, number: usize) -> bool {
    let own =
        of(k, number).filter(|&outbox| client(k, outbox).is_none() || udp_clients::may_speak(k));
    own.is_some_and(|outbox| forward(k, outbox, Speaker::Socket(number)))
}

/// Lets everything leave that goes to clients; whether there was anything.
pub(crate) fn empty_to_clients(k: &impl Host) -> bool {
    let mut any = false;
    while let Some(outbox) = to_clients(k).next() {
        any |= forward(k, outbox, Speaker::Time);
    }
    any
}

/// Whether a look at a socket lets all of it go out that was sent from there: answers can overtake
/// each other only if several are on their way, and what clients hear may be answered elsewhere.
pub(crate) fn empties(k: &impl Host, number: usize) -> bool {
    let (_, crossing) = in_flight::crossing(k, k.object(number), k.object(number).first_peer.get());
    !crossing.received.keeps_order() || !crossing.sent.keeps_order() && speaks_to_clients(k, number)
}

/// What a look at a socket has to do with what is sent there, or from there, later.
pub(crate) fn later(k: &impl Host, number: usize) -> Later {
    match (in_flight::oldest(k, number), waiting(k, number)) {
        _ if k.object(number).has_several_peers.get() => Later::Seen,
        (_, Some(_)) if empties(k, number) => Later::Seen,
        (Some(_), _) => in_flight::later(k, number),
        (None, Some(outbox)) => in_flight::later(k, outbox),
        (None, None) => Later::Unseen,
    }
}

/// The next message that arrives at a socket. What was sent goes out one by one, as soon as nothing
/// else is there, unless a poll [empties] the send queue.
///
/// [empties]: empties
pub(crate) fn look(k: &impl Host, number: usize) -> Found {
    udp_clients::invite(k, number);
    if arrival::is_hidden(k, number) {
        return Found::Nothing;
    }
    if empties(k, number) {
        while forward_own(k, number) {}
    }
    let found = match in_flight::look(k, number) {
        Found::Nothing if forward_own(k, number) => match k.object(number).waiting() {
            0 => Found::Lost,
            _ => in_flight::look(k, number),
        },
        found => found,
    };
    if found == Found::Lost {
        arrival::lost(k, number);
    }
    found
}

/// Decides the fates of all messages in flight to a socket, up to the first that arrives.
pub(crate) fn settle(k: &impl Host, number: usize) {
    while look(k, number) == Found::Lost {}
}
