//! Connections to peers: matched in communication trees; a cache miss is an upcall.
//!
//! What the program repeats is answered from the trees, here. What it never sent before is a
//! question to the checker, which asks the peer and lets the trees grow.

use super::address::{Address, UNIX};
use super::frames::{self, Ends};
use super::in_flight::Head;
use super::message::Pieces;
use super::message_log::{self, Side};
use super::send_queue::Put;
use super::{
    Blocking, End, Kind, Object, Stage, faults, happened, joint, object, stream, udp_clients,
};
use crate::descriptors;
use crate::fail::stop;
use crate::memory::{bytes, copy};
use crate::region::{count, hand_over, region, reply, setup, trees};
use crate::scheduler::complete;
use crate::state::state;
use crate::sys::errno;
use everypath_commtree::{self as commtree, Lookup, Name, Opening, Position, Reader, Sent, Take};
use everypath_shim_abi::{
    Completion, Endpoint, MAX_MESSAGE, Moved, OperationKind, Outcome, PeerRequest, SocketAddress,
    Upcall, UpcallReply,
};

/// Where a connection to a peer stands.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Remote {
    is_connected: bool,
    /// Whether it broke, as a choice of the search.
    is_reset: bool,
    pub(super) position: Position,
    pub(super) reader: Reader,
}

impl Remote {
    /// What the peer did to its end.
    fn end(&self) -> commtree::End {
        if self.is_reset { commtree::End::Reset } else { trees().peer_end(self.position) }
    }

    /// A connection that stands at a position.
    pub(super) fn at(position: Position) -> Self {
        Remote { is_connected: true, position, ..Remote::default() }
    }

    /// A connection to a program that is explored on its own, which the checker knows by a number.
    pub(super) fn joint(handle: u32) -> Self {
        Remote::at(Position::from_word(handle))
    }

    /// That number.
    pub(super) fn handle(self) -> u32 {
        self.position.word()
    }
}

/// Whether the other end of a socket is outside.
pub(super) fn is_remote(socket: &Object) -> bool {
    is_conversation(socket.remote.get())
}

/// Whether it leads to anybody.
pub(super) fn is_conversation(remote: Remote) -> bool {
    remote.is_connected
}

/// Whether a connection broke, as a choice of the search.
pub(super) fn is_reset(socket: &Object) -> bool {
    socket.remote.get().is_reset
}

/// Breaks a connection: nothing more comes, and nothing can be sent.
pub(super) fn reset(socket: &Object) {
    socket.remote.set(Remote { is_reset: true, ..socket.remote.get() });
}

/// Makes an upcall. A refusal ends the execution.
///
/// Never inlined, as nothing that builds an [`Upcall`] may be into a function with a scheduling point:
/// the padding of an enum in its frame would be part of the state's fingerprint.
#[inline(never)]
pub(super) fn upcall(upcall: Upcall) -> UpcallReply {
    let region = region();
    region.upcall.set(upcall);
    reply(|reply| reply.outcome = Outcome::Asking);
    hand_over();
    reply(|reply| reply.outcome = Outcome::None);
    let answer = region.upcall_reply.get();
    if let UpcallReply::Refused { length } = answer {
        match core::str::from_utf8(bytes(region.message.as_ptr() as usize, length as usize)) {
            Ok(why) => stop!("{why}"),
            Err(_) => stop!("the upcall to ask a peer failed"),
        }
    }
    answer
}

/// Asks a peer; the answer is in the trees then.
#[inline(never)]
fn ask(request: PeerRequest) {
    match upcall(Upcall::Peer(request)) {
        UpcallReply::InTrees => {}
        UpcallReply::None
        | UpcallReply::Ways(_)
        | UpcallReply::Granted(_)
        | UpcallReply::Refused { .. } => {
            crate::fail::fatal("the checker's reply to an upcall is not an answer of a peer");
        }
    }
}

/// An address as it is passed to the checker.
pub(super) fn socket_address(address: &Address) -> SocketAddress {
    match SocketAddress::new(address.as_bytes()) {
        Some(address) => address,
        None => crate::fail::fatal("the address of a socket is too long"),
    }
}

fn endpoint(name: Name, address: &Address) -> Endpoint {
    Endpoint { name: name.0, address: socket_address(address) }
}

/// What came of opening the connection with a name.
#[inline(never)]
pub(super) fn opening(
    request: impl FnOnce(Endpoint) -> PeerRequest,
    name: Name,
    address: &Address,
) -> Opening {
    match trees().find(name) {
        // A system is closed: nobody is outside.
        _ if crate::multi_process::is_one_of_several() => Opening::Refused,
        Some(known) => known,
        None => {
            let request = request(endpoint(name, address));
            if matches!(request, PeerRequest::Accept { .. } | PeerRequest::AcceptDatagram { .. }) {
                udp_clients::open_doors();
            }
            ask(request);
            trees().find(name).unwrap_or(Opening::Refused)
        }
    }
}

/// Tells the checker once what clients can reach under a name.
#[inline(never)]
pub(super) fn announce(request: fn(Endpoint) -> PeerRequest, name: Name, address: &Address) {
    if trees().find(name).is_none() {
        ask(request(endpoint(name, address)));
    }
}

/// The name of a connection: where it leads to, who made it, and which one of its maker's it is.
pub(super) fn name(direction: u64, address: &Address, maker: u64, which: u64) -> Name {
    let place = xxhash_rust::xxh3::xxh3_64(address.as_bytes());
    Name([direction | u64::from(address.port()) << 16, place, maker, which])
}

const TO_SERVER: u64 = 1;
const FROM_CLIENT: u64 = 2;
const BY_DATAGRAMS: u64 = 3;
pub(super) const FROM_CALLER: u64 = 4;
pub(super) const DOOR: u64 = 5;
pub(super) const DATAGRAM_DOOR: u64 = 6;

/// Connects to a server outside.
pub(super) fn connect(number: usize, to: Address, waits: bool) -> Result<isize, i32> {
    let socket = object(number);
    let thread = state().current();
    if !to.is_local() {
        stop!("connect to another machine is not modelled: peers must run on this one");
    }
    if joint::is_on() {
        return joint::connect(number, to, waits);
    }
    let which = thread.connections.get();
    thread.connections.set(which + 1);
    let name = match setup().one_tree {
        true => name(TO_SERVER, &to, 0, 0),
        false => name(TO_SERVER, &to, thread.path.get(), u64::from(which)),
    };
    match opening(PeerRequest::Connect, name, &to) {
        Opening::Open(position) => {
            stream::name(socket, &to)?;
            socket.foreign.set(to);
            stand(number, position);
            if waits || to.family() == UNIX {
                return Ok(0);
            }
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Opening::Refused => {
            let missing = to.path().is_some_and(|path| !crate::files::is_there(path));
            let error = if missing { errno::ENOENT } else { errno::ECONNREFUSED };
            super::connect::refuse(socket, error, waits)
        }
    }
}

fn stand(number: usize, position: Position) {
    let socket = object(number);
    message_log::heard(number, None, position);
    socket.stage.set(Stage::Connected);
    socket.remote.set(Remote::at(position));
}

/// The connection that a listener accepts next, if a client is there for it.
fn next_client(listener: &Object) -> Option<Position> {
    let local = listener.local.get();
    let ordinal = u32::from(listener.accepted.get());
    let name = name(FROM_CLIENT, &local, 0, ordinal.into());
    match opening(|at| PeerRequest::Accept { at, ordinal }, name, &local) {
        Opening::Open(position) => Some(position),
        Opening::Refused => None,
    }
}

/// Whether a client outside waits to be accepted.
pub(super) fn has_client(listener: usize) -> bool {
    if joint::is_on() {
        return joint::readiness(object(listener)).0;
    }
    next_client(object(listener)).is_some()
}

/// The ports that clients seem to come from.
pub(super) const CLIENT_PORTS: u16 = 61_000;

/// Accepts a client from outside; none if there is none.
pub(super) fn accept(listener: usize, patience: Blocking) -> Result<Option<usize>, i32> {
    if joint::is_on() {
        return joint::accept(listener, patience);
    }
    let queue = object(listener);
    let Some(position) = next_client(queue) else { return Ok(None) };
    let number = descriptors::free_object().ok_or(errno::EMFILE)?;
    let socket = object(number);
    let which = queue.accepted.get();
    queue.accepted.set(which + 1);
    let family = queue.family.get();
    socket.kind.set(Kind::Stream);
    socket.family.set(family);
    let local = queue.local.get();
    socket.local.set(local.concrete());
    let foreign = match family {
        UNIX => Address::any(UNIX),
        _ => Address::loopback(family).with_port(CLIENT_PORTS + which % 4000),
    };
    socket.foreign.set(foreign);
    stand(number, position);
    happened(listener);
    Ok(Some(number))
}

/// The bytes of a message in one piece, in memory that is not the program's.
pub(super) fn gather(pieces: Pieces, skip: usize, length: usize) -> &'static [u8] {
    let place = region().message.as_ptr() as usize;
    let mut at = place;
    pieces.each(skip, length, |address, length| {
        copy(at, address, length);
        at += length;
    });
    bytes(place, length)
}

/// Sends to a peer; returns how many bytes were sent.
pub(super) fn send(number: usize, pieces: Pieces, _flags: i32) -> Result<usize, i32> {
    if joint::is_on() {
        return joint::send(number, pieces);
    }
    let socket = object(number);
    let total = faults::written(pieces.length());
    let before = trees().received(socket.remote.get().position);
    let mut sent = 0;
    while sent < total {
        let remote = socket.remote.get();
        if remote.end() == commtree::End::Reset {
            socket.shut_sending.set(true);
            return if sent > 0 { Ok(sent) } else { Err(errno::ECONNRESET) };
        }
        let message = gather(pieces, sent, (total - sent).min(MAX_MESSAGE));
        let content = Pieces::One { address: message.as_ptr() as usize, length: message.len() };
        let there = Side::Outside(socket.foreign.get());
        message_log::handed(Side::Socket(number), there, content);
        let position = reach(remote.position, Sent::Bytes(message));
        message_log::heard(number, Some(remote.position), position);
        socket.remote.set(Remote { position, ..remote });
        sent += message.len();
    }
    let after = trees().received(socket.remote.get().position);
    let moved = Moved::up_to(after, after - before);
    complete(&[OperationKind::SendWhole], Completion::Moved(moved));
    happened(number);
    Ok(sent)
}

/// Where sending something leads to; the checker is asked if that is not known.
#[inline(never)]
pub(super) fn reach(from: Position, sent: Sent<'_>) -> Position {
    if let Lookup::Hit(position) = trees().write(from, sent) {
        count(|counters| counters.cache_hits += 1);
        return position;
    }
    let position = from.word();
    ask(match sent {
        Sent::Bytes(message) => PeerRequest::Write { position, length: message.len() as u32 },
        Sent::End => PeerRequest::Finish { position },
    });
    match trees().write(from, sent) {
        Lookup::Hit(position) => position,
        Lookup::Miss => crate::fail::fatal("the checker's answer is not in the tree"),
    }
}

/// Tells a peer that nothing more will be sent.
pub(super) fn shut(number: usize) -> Result<(), i32> {
    let socket = object(number);
    if joint::is_on() {
        joint::shut(socket);
        return Ok(());
    }
    let remote = socket.remote.get();
    if remote.end() != commtree::End::Reset {
        let position = reach(remote.position, Sent::End);
        message_log::heard(number, Some(remote.position), position);
        socket.remote.set(Remote { position, ..remote });
    }
    Ok(())
}

/// Receives what a peer has sent; none if nothing is there, but something may come.
pub(super) fn receive(
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    (peeks, patience): (bool, Blocking),
) -> Option<Result<(), i32>> {
    if joint::is_on() {
        if peeks {
            joint::refuse_to_peek();
        }
        return joint::receive(number, pieces, received, patience);
    }
    let socket = object(number);
    let mut remote = socket.remote.get();
    let left = pieces.length() - *received;
    let (count_now, breaks) = faults::received(socket, left.min(available(socket)));
    if breaks {
        reset(socket);
        remote.is_reset = true;
    }
    if count_now > 0 && !socket.shut_receiving.get() {
        let mut reader = remote.reader;
        pieces.each(*received, count_now, |address, length| {
            let out = crate::memory::bytes_mut(address, length);
            trees().read(&mut reader, remote.position, out, Take::Read);
        });
        *received += count_now;
        if !peeks {
            message_log::received(number, remote.reader.0, count_now);
            remote.reader = reader;
            socket.remote.set(remote);
        }
        return Some(Ok(()));
    }
    let end = match remote.is_reset {
        true => commtree::End::Reset,
        false => trees().end(remote.reader, remote.position),
    };
    match end {
        commtree::End::Open if !socket.shut_receiving.get() => None,
        commtree::End::Open | commtree::End::Closed => Some(Ok(())),
        // The first call is told, the next ones find the end.
        commtree::End::Reset if socket.partner_end.replace(End::Gone) == End::Open => {
            Some(Err(errno::ECONNRESET))
        }
        commtree::End::Reset => Some(Ok(())),
    }
}

/// How many bytes can be read.
pub(super) fn available(socket: &Object) -> usize {
    joint::refuse_to_count();
    let remote = socket.remote.get();
    if remote.is_reset { 0 } else { trees().readable(remote.reader, remote.position) as usize }
}

/// How many bytes were read.
pub(super) fn taken(socket: &Object) -> u64 {
    socket.remote.get().reader.0
}

/// Whether bytes can be read, and what the peer did to its end.
pub(super) fn readiness(socket: &Object) -> (bool, End) {
    if joint::is_on() {
        return joint::readiness(socket);
    }
    let remote = socket.remote.get();
    let end = match remote.end() {
        commtree::End::Open => End::Open,
        commtree::End::Closed => End::Finished,
        commtree::End::Reset => End::Gone,
    };
    (available(socket) > 0, end)
}

/// Sends a datagram to somebody outside, and puts the answers into the buffer of the socket.
pub(super) fn datagram(number: usize, to: &Address, pieces: Pieces, put: Put) -> Result<(), i32> {
    let socket = object(number);
    if !to.is_local() {
        stop!("sendto another machine is not modelled: peers must run on this one");
    }
    if !is_remote(socket) {
        let name = name(BY_DATAGRAMS, to, number as u64, 0);
        match opening(PeerRequest::ConnectDatagram, name, to) {
            Opening::Open(position) => {
                socket.remote.set(Remote::at(position));
            }
            Opening::Refused => {
                let is_told = socket.foreign.get().is_some();
                socket.error.set(if is_told { errno::ECONNREFUSED } else { 0 });
                happened(number);
                return Ok(());
            }
        }
    }
    let ends = Ends { host: to.host(), far: to.port(), near: 0 };
    socket.remote.set(frames::say(socket.remote.get(), ends, pieces));
    absorb(number, put);
    Ok(())
}

/// Lets a server hear nothing from a socket for so many nanoseconds, after which it may say
/// something by itself; says whether it has.
pub(super) fn silence(number: usize, nanoseconds: u64) -> bool {
    let socket = object(number);
    if socket.kind.get() != Kind::Datagram || !is_remote(socket) {
        return false;
    }
    let before = socket.entered.get();
    socket.remote.set(frames::keep_silent(socket.remote.get(), nanoseconds));
    absorb(number, Put::ByReceiver);
    socket.entered.get() != before
}

/// Puts what a server has answered into the buffer of a socket.
fn absorb(number: usize, put: Put) {
    let socket = object(number);
    let mut remote = socket.remote.get();
    while let Some((ends, pieces)) = frames::next(&mut remote) {
        let from = Address::of_host(socket.family.get(), &ends.host, &ends.far.to_be_bytes());
        let foreign = socket.foreign.get();
        if !foreign.is_some() || foreign == from {
            let length = pieces.length() as u32;
            super::datagram::deliver(
                Side::Outside(from),
                number,
                Head { from, length, put },
                pieces,
            );
        }
    }
    socket.remote.set(remote);
}
