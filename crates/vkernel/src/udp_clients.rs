//! UDP clients among the peers.
//!
//! A client has one history, whichever sockets take part in it: a message from one socket may be
//! answered to another. Answers to the sending socket, and to one that clients know from the
//! beginning, are in the footprint of the step; others make the check inconclusive. If the network
//! is unreliable, messages leave for clients at a poll of the socket from which they were sent, or
//! when a timeout fires: then the fates of all messages in the send queue are decided.
//!
//! Clients exist from the beginning, and are asked for their first message when the program first
//! polls the socket that they know. Before that no step could observe them.

use crate::blocking::Call;
use crate::frames::{self, Ends};
use crate::host::Host;
use crate::in_flight::Head;
use crate::iovec::Pieces;
use crate::message_log::Side;
use crate::object::{Kind, Object, Remote, Stage, is_unix};
use crate::peer;
use crate::send_queue::Put;
use crate::sockaddr::Address;
use crate::state::Want;
use crate::udp::deliver;
use crate::{fd_table, in_flight, joint, send_queue, stop, wants};
use everypath_commtree::Opening;
use everypath_shim_abi::{FaultLimit, Operation, OperationKind, PeerRequest, client_ports};

/// Whether there are any.
pub(crate) fn are_there(k: &impl Host) -> bool {
    k.state().clients.count.get() > 0
}

/// Whether clients may know a socket, and were not asked.
pub(crate) fn may_come(k: &impl Host, socket: &Object) -> bool {
    k.setup().has_peers
        && socket.is_named.get()
        && !socket.has_invited.get()
        && socket.kind.get() == Kind::Datagram
        && !socket.foreign.get().is_some()
        && !joint::is_on(k)
        && !k.is_one_of_several()
        && !is_unix(socket)
}

/// Whether clients may send something to a socket without having heard of it.
pub(crate) fn is_door(socket: &Object) -> bool {
    socket.has_invited.get() && socket.hears_clients.get()
}

/// Lets the clients send what they send first.
pub(crate) fn invite(k: &impl Host, number: usize) {
    let socket = k.object(number);
    if !may_come(k, socket) {
        return;
    }
    socket.has_invited.set(true);
    let home = socket.local.get();
    for ordinal in 0_u32.. {
        let name = peer::name(peer::FROM_CALLER, &home, 0, ordinal.into());
        let request = |at| PeerRequest::AcceptDatagram { at, ordinal };
        let Opening::Open(position) = peer::opening(k, request, name, &home) else { break };
        let mut remote = Remote::at(position);
        let Some(client) = absorb(k, &mut remote, Speaker::Socket(number)) else { continue };
        k.state().clients.known[client].set(remote);
        k.state().clients.count.set(k.state().clients.count.get() + 1);
    }
}

/// Tells the checker about everything that clients can reach: they may need more than one.
pub(crate) fn open_doors(k: &impl Host) {
    for number in fd_table::object_numbers(k) {
        let socket = k.object(number);
        let home = socket.local.get();
        let name = |direction| peer::name(direction, &home, 0, 0);
        match socket.kind.get() {
            Kind::Stream if socket.stage.get() == Stage::Listening => {
                peer::announce(k, PeerRequest::Listening, name(peer::DOOR), &home);
            }
            Kind::Datagram if may_come(k, socket) => {
                peer::announce(k, PeerRequest::Receiving, name(peer::DATAGRAM_DOOR), &home);
            }
            _ => {}
        }
    }
}

/// The client at an address, if one is.
pub(crate) fn at(k: &impl Host, to: &Address) -> Option<usize> {
    let client = client_ports::client(to.port()).filter(|_| to.is_inet() && to.is_local())?;
    peer::is_conversation(k.state().clients.known[client].get()).then_some(client)
}

/// Says something to a client that is at an address; none if nobody is there.
pub(crate) fn say(
    k: &impl Host,
    near: Address,
    to: &Address,
    pieces: Pieces,
    speaker: Speaker,
) -> Option<()> {
    let known = &k.state().clients.known[at(k, to)?];
    let ends = Ends { host: to.host(), far: to.port(), near: near.port() };
    k.note_sent();
    let mut remote = frames::say(k, known.get(), ends, pieces);
    absorb(k, &mut remote, speaker);
    known.set(remote);
    k.state().clients.are_silent.set(false);
    Some(())
}

/// Who speaks to clients, by a step that says that it touches this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    Socket(usize),
    /// A step that depends on every other.
    Time,
}

/// Lets the clients hear nothing for so many nanoseconds, after which some may say something by
/// themselves; says whether any has.
pub(crate) fn keep_silent(k: &impl Host, nanoseconds: u64) -> bool {
    let mut heard = send_queue::empty_to_clients(k);
    for known in &k.state().clients.known {
        if peer::is_conversation(known.get()) {
            let mut remote = frames::keep_silent(k, known.get(), nanoseconds);
            heard |= absorb(k, &mut remote, Speaker::Time).is_some();
            known.set(remote);
        }
    }
    heard
}

/// Whether a call that waits for ever should wait for clients that may lose their patience, once
/// nothing else can happen.
pub(crate) fn may_speak_up(k: &impl Host, want: Want) -> bool {
    let may_hear =
        || !k.state().clients.are_silent.get() || send_queue::to_clients(k).next().is_some();
    are_there(k) && may_hear() && wants::is_about_datagrams(k, want)
}

/// Lets them hear what was said, and waits for them.
pub(crate) fn await_all(k: &impl Host) {
    k.state().clients.are_silent.set(!keep_silent(k, u64::MAX));
}

/// Takes what a client has sent to where it belongs; says which client it is, if it has sent
/// anything.
fn absorb(k: &impl Host, remote: &mut Remote, speaker: Speaker) -> Option<usize> {
    let mut client = None;
    while let Some((ends, pieces)) = frames::next(k, remote) {
        client = client_ports::client(ends.far);
        if let Some((number, from)) = receiver(k, &ends) {
            let is_expected = speaker == Speaker::Time || speaker == Speaker::Socket(number);
            if !is_expected && !is_door(k.object(number)) {
                stop!(
                    k,
                    "a UDP client that sends to another socket than the one that sent to it is not \
                     modelled"
                );
            }
            k.object(number).hears_clients.set(true);
            let (length, put) = (pieces.length(k) as u32, Put::ByReceiver);
            let head = Head { from, length, put, is_foreign: true };
            deliver(k, Side::Outside(from), number, head, pieces);
        }
    }
    client
}

/// The socket that a client sends to, and the address that it sees; none if nobody has the port.
fn receiver(k: &impl Host, ends: &Ends) -> Option<(usize, Address)> {
    let from = |number: usize| {
        let family = k.object(number).family.get();
        Address::of_host(family, &ends.host, &ends.far.to_be_bytes())
    };
    let bound = fd_table::object_numbers(k).filter(|&number| {
        let socket = k.object(number);
        let (local, foreign) = (socket.local.get(), socket.foreign.get());
        socket.kind.get() == Kind::Datagram
            && local.is_inet()
            && local.port() == ends.near
            && (!foreign.is_some() || foreign == from(number))
    });
    // Who is connected to the client comes before all others.
    let number = bound.min_by_key(|&number| !k.object(number).foreign.get().is_some())?;
    Some((number, from(number)))
}

/// What a look at datagrams really is: if something is on its way from there to clients, their
/// answers may come to any socket.
pub(crate) fn widened(k: &impl Host, call: Call) -> Call {
    let decides = match (call.operation.kind(), call.want) {
        (OperationKind::Arrive, _) => true,
        (OperationKind::Receive, Want::Ready { number, .. }) => {
            in_flight::decides(k, number.into())
        }
        _ => false,
    };
    match decides && are_there(k) && wants::speaks_to_clients(k, call.want) {
        true => Call { operation: Operation::Arrive(FaultLimit::Shared).pack(), ..call },
        false => call,
    }
}

/// To be called when a step begins to look.
pub(crate) fn begin_look(k: &impl Host, call: &Call) {
    let may_speak = call.operation == Operation::Arrive(FaultLimit::Shared).pack();
    k.state().clients.may_speak.set(may_speak);
}

/// Whether the running step may decide what becomes of what is on its way to clients.
pub(crate) fn may_speak(k: &impl Host) -> bool {
    k.state().clients.may_speak.get()
}
