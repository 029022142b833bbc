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

use super::address::Address;
use super::datagram::deliver;
use super::frames::{self, Ends};
use super::in_flight::Head;
use super::message::Pieces;
use super::message_log::Side;
use super::peer::{self, Remote};
use super::send_queue::Put;
use super::{Call, Kind, Object, Stage, Want, in_flight, is_unix, joint, object, poll, send_queue};
use crate::descriptors;
use crate::fail::stop;
use crate::multi_process;
use crate::region::setup;
use crate::state::state;
use core::cell::Cell;
use everypath_commtree::Opening;
use everypath_shim_abi::{FaultLimit, Operation, OperationKind, PeerRequest, client_ports};

/// All clients that send datagrams.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Callers {
    count: Cell<u16>,
    /// Whether all of them were waited for since something was said to any, and none spoke.
    are_silent: Cell<bool>,
    /// Whether the running step is said to speak to clients.
    may_speak: Cell<bool>,
    /// Where the conversations stand, in the order of the clients' ports.
    known: [Cell<Remote>; client_ports::MOST],
}

/// Whether there are any.
pub(super) fn are_there() -> bool {
    state().callers.count.get() > 0
}

/// Whether clients may know a socket, and were not asked.
pub(super) fn may_come(socket: &Object) -> bool {
    setup().has_peers
        && socket.is_named.get()
        && !socket.has_invited.get()
        && socket.kind.get() == Kind::Datagram
        && !socket.foreign.get().is_some()
        && !joint::is_on()
        && !multi_process::is_one_of_several()
        && !is_unix(socket)
}

/// Whether clients may send something to a socket without having heard of it.
pub(super) fn is_door(socket: &Object) -> bool {
    socket.has_invited.get() && socket.hears_clients.get()
}

/// Lets the clients send what they send first.
pub(super) fn invite(number: usize) {
    let socket = object(number);
    if !may_come(socket) {
        return;
    }
    socket.has_invited.set(true);
    let home = socket.local.get();
    for ordinal in 0_u32.. {
        let name = peer::name(peer::FROM_CALLER, &home, 0, ordinal.into());
        let request = |at| PeerRequest::AcceptDatagram { at, ordinal };
        let Opening::Open(position) = peer::opening(request, name, &home) else { break };
        let mut remote = Remote::at(position);
        let Some(client) = absorb(&mut remote, Speaker::Socket(number)) else { continue };
        state().callers.known[client].set(remote);
        state().callers.count.set(state().callers.count.get() + 1);
    }
}

/// Tells the checker about everything that clients can reach: they may need more than one.
pub(super) fn open_doors() {
    for number in descriptors::object_numbers() {
        let socket = object(number);
        let home = socket.local.get();
        let name = |direction| peer::name(direction, &home, 0, 0);
        match socket.kind.get() {
            Kind::Stream if socket.stage.get() == Stage::Listening => {
                peer::announce(PeerRequest::Listening, name(peer::DOOR), &home);
            }
            Kind::Datagram if may_come(socket) => {
                peer::announce(PeerRequest::Receiving, name(peer::DATAGRAM_DOOR), &home);
            }
            _ => {}
        }
    }
}

/// The client at an address, if one is.
pub(super) fn at(to: &Address) -> Option<usize> {
    let client = client_ports::client(to.port()).filter(|_| to.is_inet() && to.is_local())?;
    peer::is_conversation(state().callers.known[client].get()).then_some(client)
}

/// Says something to a client that is at an address; none if nobody is there.
pub(super) fn say(near: Address, to: &Address, pieces: Pieces, speaker: Speaker) -> Option<()> {
    let known = &state().callers.known[at(to)?];
    let ends = Ends { host: to.host(), far: to.port(), near: near.port() };
    let mut remote = frames::say(known.get(), ends, pieces);
    absorb(&mut remote, speaker);
    known.set(remote);
    state().callers.are_silent.set(false);
    Some(())
}

/// Who speaks to clients, by a step that says that it touches this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    Socket(usize),
    /// A step that depends on every other.
    Time,
}

/// Lets the clients hear nothing for so many nanoseconds, after which some may say something by
/// themselves; says whether any has.
pub(super) fn keep_silent(nanoseconds: u64) -> bool {
    let mut heard = send_queue::empty_to_clients();
    for known in &state().callers.known {
        if peer::is_conversation(known.get()) {
            let mut remote = frames::keep_silent(known.get(), nanoseconds);
            heard |= absorb(&mut remote, Speaker::Time).is_some();
            known.set(remote);
        }
    }
    heard
}

/// Whether a call that waits for ever should wait for clients that may lose their patience, once
/// nothing else can happen.
pub(super) fn may_speak_up(want: Want) -> bool {
    let may_hear =
        || !state().callers.are_silent.get() || send_queue::to_clients().next().is_some();
    are_there() && may_hear() && poll::is_about_datagrams(want)
}

/// Lets them hear what was said, and waits for them.
pub(super) fn await_all() {
    state().callers.are_silent.set(!keep_silent(u64::MAX));
}

/// Takes what a client has sent to where it belongs; says which client it is, if it has sent
/// anything.
fn absorb(remote: &mut Remote, speaker: Speaker) -> Option<usize> {
    let mut client = None;
    while let Some((ends, pieces)) = frames::next(remote) {
        client = client_ports::client(ends.far);
        if let Some((number, from)) = receiver(&ends) {
            let is_expected = speaker == Speaker::Time || speaker == Speaker::Socket(number);
            if !is_expected && !is_door(object(number)) {
                stop!(
                    "a UDP client that sends to another socket than the one that sent to it is not \
                     modelled"
                );
            }
            object(number).hears_clients.set(true);
            let (length, put) = (pieces.length() as u32, Put::ByReceiver);
            deliver(Side::Outside(from), number, Head { from, length, put }, pieces);
        }
    }
    client
}

/// The socket that a client sends to, and the address that it sees; none if nobody has the port.
fn receiver(ends: &Ends) -> Option<(usize, Address)> {
    let from = |number: usize| {
        let family = object(number).family.get();
        Address::of_host(family, &ends.host, &ends.far.to_be_bytes())
    };
    let bound = descriptors::object_numbers().filter(|&number| {
        let socket = object(number);
        let (local, foreign) = (socket.local.get(), socket.foreign.get());
        socket.kind.get() == Kind::Datagram
            && local.is_inet()
            && local.port() == ends.near
            && (!foreign.is_some() || foreign == from(number))
    });
    // Who is connected to the client comes before all others.
    let number = bound.min_by_key(|&number| !object(number).foreign.get().is_some())?;
    Some((number, from(number)))
}

/// What a look at datagrams really is: if something is on its way from there to clients, their
/// answers may come to any socket.
pub(super) fn widened(call: Call) -> Call {
    let decides = match (call.operation.kind(), call.want) {
        (OperationKind::Arrive, _) => true,
        (OperationKind::Receive, Want::Ready { number, .. }) => in_flight::decides(number.into()),
        _ => false,
    };
    match decides && are_there() && poll::speaks_to_clients(call.want) {
        true => Call { operation: Operation::Arrive(FaultLimit::Shared).pack(), ..call },
        false => call,
    }
}

/// To be called when a step begins to look.
pub(super) fn begin_look(call: &Call) {
    let may_speak = call.operation == Operation::Arrive(FaultLimit::Shared).pack();
    state().callers.may_speak.set(may_speak);
}

/// Whether the running step may decide what becomes of what is on its way to clients.
pub(super) fn may_speak() -> bool {
    state().callers.may_speak.get()
}
