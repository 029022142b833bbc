//! Connections to peers: matched in communication trees; a cache miss is an upcall.
//!
//! What the program repeats is answered from the trees, here. What it never sent before is a
//! question to the checker, which asks the peer and lets the trees grow.

use crate::arrival;
use crate::blocking::Blocking;
use crate::connect::refuse;
use crate::frames::{self, Ends};
use crate::host::{Host, Thread};
use crate::in_flight::Head;
use crate::iovec::Pieces;
use crate::message_log::{self, Side};
use crate::object::{Arrivals, End, Kind, Object, Remote, Stage};
use crate::send_queue::Put;
use crate::sockaddr::{Address, UNIX};
use crate::trees::Trees;
use crate::udp::deliver;
use crate::wakeup::happened;
use crate::{errno, faults, fd_table, joint, peer_time, stop, tcp, udp_clients};
use everypath_commtree::{self as commtree, Lookup, Name, Opening, Position, Sent};
use everypath_shim_abi::{
    Completion, Endpoint, MAX_MESSAGE, Moved, OperationKind, PeerRequest, SocketAddress, Upcall,
    UpcallReply,
};

impl Remote {
    /// What the peer did to its end.
    fn end(&self, k: &impl Host) -> commtree::End {
        if self.is_reset { commtree::End::Reset } else { k.trees().peer_end(self.position) }
    }

    /// A connection that stands at a position.
    pub(crate) fn at(position: Position) -> Self {
        Remote { is_connected: true, position, ..Remote::default() }
    }

    /// The connection at a later position.
    pub(crate) fn moved_to(self, position: Position) -> Self {
        Remote { position, ..self }
    }

    /// A connection to a program that is explored on its own, which the checker knows by a number.
    pub(crate) fn joint(handle: u32) -> Self {
        Remote::at(Position::from_word(handle))
    }

    /// That number.
    pub(crate) fn handle(self) -> u32 {
        self.position.word()
    }
}

/// Whether the other end of a socket is outside.
pub(crate) fn is_remote(socket: &Object) -> bool {
    is_conversation(socket.remote.get())
}

/// Whether it leads to anybody.
pub(crate) fn is_conversation(remote: Remote) -> bool {
    remote.is_connected
}

/// Whether a connection broke, as a choice of the search.
pub(crate) fn is_reset(socket: &Object) -> bool {
    socket.remote.get().is_reset
}

/// Whether the order of what is sent on a connection and on others to servers makes a difference.
pub(crate) fn is_in_turn(k: &impl Host, socket: &Object) -> bool {
    k.setup().peers_in_turn && socket.remote.get().is_to_server
}

/// Asks for what servers say on other connections because of what happened on this one.
fn hear_others(k: &impl Host, number: usize) {
    if !is_in_turn(k, k.object(number)) {
        return;
    }
    for other in fd_table::object_numbers(k).filter(|&other| other != number) {
        let socket = k.object(other);
        let is_open = socket.kind.get() == Kind::Stream && socket.stage.get() == Stage::Connected;
        if is_open && is_in_turn(k, socket) && socket.remote.get().end(k) == commtree::End::Open {
            peer_time::hear(k, other);
        }
    }
}

/// Breaks a connection: nothing more comes, and nothing can be sent.
pub(crate) fn reset(socket: &Object) {
    socket.remote.set(Remote { is_reset: true, ..socket.remote.get() });
}

/// Makes an upcall. A refusal ends the execution.
///
/// Never inlined, as nothing that builds an [`Upcall`] may be into a function with a scheduling
/// point: the padding of an enum in its frame would be part of the state's fingerprint.
#[inline(never)]
pub(crate) fn upcall(k: &impl Host, upcall: Upcall) -> UpcallReply {
    let answer = k.upcall(upcall);
    let text = |length: u32| {
        let bytes = k.message_bytes(length as usize);
        core::str::from_utf8(bytes).unwrap_or("the upcall to ask a peer failed")
    };
    match answer {
        UpcallReply::Refused { length } => stop!(k, "{}", text(length)),
        UpcallReply::PeerFailed { length } => k.peer_failed(text(length)),
        _ => answer,
    }
}

/// Asks a peer; the answer is in the trees then.
#[inline(never)]
fn ask(k: &impl Host, request: PeerRequest) {
    match upcall(k, Upcall::Peer(request)) {
        UpcallReply::InTrees => {}
        UpcallReply::None
        | UpcallReply::Ways(_)
        | UpcallReply::Granted(_)
        | UpcallReply::PeerFailed { .. }
        | UpcallReply::Refused { .. } => {
            k.fail("the checker's reply to an upcall is not an answer of a peer");
        }
    }
}

/// An address as it is passed to the checker.
pub(crate) fn socket_address(k: &impl Host, address: &Address) -> SocketAddress {
    match SocketAddress::new(address.as_bytes()) {
        Some(address) => address,
        None => k.fail("the address of a socket is too long"),
    }
}

fn endpoint(k: &impl Host, name: Name, address: &Address) -> Endpoint {
    Endpoint { name: name.0, address: socket_address(k, address) }
}

/// What came of opening the connection with a name.
#[inline(never)]
pub(crate) fn opening(
    k: &impl Host,
    request: impl FnOnce(Endpoint) -> PeerRequest,
    name: Name,
    address: &Address,
) -> Opening {
    match k.trees().find(name) {
        // A system is closed: nobody is outside.
        _ if k.is_one_of_several() => Opening::Refused,
        Some(known) => known,
        None => {
            let request = request(endpoint(k, name, address));
            if matches!(request, PeerRequest::Accept { .. } | PeerRequest::AcceptDatagram { .. }) {
                udp_clients::open_doors(k);
            }
            ask(k, request);
            k.trees().find(name).unwrap_or(Opening::Refused)
        }
    }
}

/// Tells the checker once what clients can reach under a name.
#[inline(never)]
pub(crate) fn announce(
    k: &impl Host,
    request: fn(Endpoint) -> PeerRequest,
    name: Name,
    address: &Address,
) {
    if k.trees().find(name).is_none() {
        ask(k, request(endpoint(k, name, address)));
    }
}

/// The name of a connection: where it leads to, who made it, and which one of its maker's it is.
pub(crate) fn name(direction: u64, address: &Address, maker: u64, which: u64) -> Name {
    let place = xxhash_rust::xxh3::xxh3_64(address.as_bytes());
    Name([direction | u64::from(address.port()) << 16, place, maker, which])
}

const TO_SERVER: u64 = 1;
const FROM_CLIENT: u64 = 2;
const BY_DATAGRAMS: u64 = 3;
pub(crate) const FROM_CALLER: u64 = 4;
pub(crate) const DOOR: u64 = 5;
pub(crate) const DATAGRAM_DOOR: u64 = 6;

/// Connects to a server outside.
pub(crate) fn connect(
    k: &impl Host,
    number: usize,
    to: Address,
    waits: bool,
) -> Result<isize, i32> {
    let socket = k.object(number);
    let thread = k.current();
    if !to.is_local() {
        stop!(k, "connect to another machine is not modelled: peers must run on this one");
    }
    if joint::is_on(k) {
        return joint::connect(k, number, to, waits);
    }
    let which = thread.task().connections.get();
    thread.task().connections.set(which + 1);
    let name = match k.setup().one_tree {
        true => name(TO_SERVER, &to, 0, 0),
        false => name(TO_SERVER, &to, thread.path(), u64::from(which)),
    };
    match opening(k, PeerRequest::Connect, name, &to) {
        Opening::Open(position) => {
            tcp::name(k, socket, &to)?;
            socket.foreign.set(to);
            stand(k, number, position);
            socket.remote.set(Remote { is_to_server: true, ..socket.remote.get() });
            hear_others(k, number);
            if waits || to.family() == UNIX {
                return Ok(0);
            }
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Opening::Refused => {
            let missing = to.path().is_some_and(|path| !k.is_there(path));
            let error = if missing { errno::ENOENT } else { errno::ECONNREFUSED };
            refuse(socket, error, waits)
        }
    }
}

fn stand(k: &impl Host, number: usize, position: Position) {
    let socket = k.object(number);
    message_log::heard(k, number, None, position);
    socket.stage.set(Stage::Connected);
    socket.remote.set(Remote::at(position));
    socket.arrivals.set(Arrivals::default());
    answered_now(k, socket);
}

/// To be called after every exchange on a connection.
pub(crate) fn answered_now(k: &impl Host, socket: &Object) {
    arrival::answered(k, socket);
    peer_time::begin(k, socket);
}

/// The connection that a listener accepts next, if a client is there for it.
fn next_client(k: &impl Host, listener: &Object) -> Option<Position> {
    let local = listener.local.get();
    let ordinal = u32::from(listener.accepted.get());
    let name = name(FROM_CLIENT, &local, 0, ordinal.into());
    match opening(k, |at| PeerRequest::Accept { at, ordinal }, name, &local) {
        Opening::Open(position) => Some(position),
        Opening::Refused => None,
    }
}

/// Whether a client outside waits to be accepted.
pub(crate) fn has_client(k: &impl Host, listener: usize) -> bool {
    if joint::is_on(k) {
        return joint::readiness(k.object(listener)).0;
    }
    next_client(k, k.object(listener)).is_some()
}

/// The ports that clients seem to come from.
pub(crate) const CLIENT_PORTS: u16 = 61_000;

/// Accepts a client from outside; none if there is none.
pub(crate) fn accept(
    k: &impl Host,
    listener: usize,
    patience: Blocking,
) -> Result<Option<usize>, i32> {
    if joint::is_on(k) {
        return joint::accept(k, listener, patience);
    }
    let queue = k.object(listener);
    if arrival::is_hidden(k, listener) {
        return Ok(None);
    }
    let Some(position) = next_client(k, queue) else { return Ok(None) };
    let number = fd_table::free_object(k).ok_or(errno::EMFILE)?;
    let socket = k.object(number);
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
    stand(k, number, position);
    happened(k, listener);
    Ok(Some(number))
}

/// The bytes of a message in one piece, in memory that is not the program's.
pub(crate) fn gather(
    k: &impl Host,
    pieces: Pieces,
    (skip, length): (usize, usize),
) -> Result<&[u8], i32> {
    pieces.gather(k, (skip, length), k.message())?;
    Ok(k.message_bytes(length))
}

/// Sends to a peer; returns how many bytes were sent.
pub(crate) fn send(
    k: &impl Host,
    number: usize,
    pieces: Pieces,
    _flags: i32,
) -> Result<usize, i32> {
    if joint::is_on(k) {
        return joint::send(k, number, pieces);
    }
    let socket = k.object(number);
    k.note_sent();
    let total = faults::written(k, pieces.length(k));
    let before = k.trees().received(socket.remote.get().position);
    let mut sent = 0;
    while sent < total {
        let remote = socket.remote.get();
        if remote.end(k) == commtree::End::Reset {
            socket.shut_sending.set(true);
            return if sent > 0 { Ok(sent) } else { Err(errno::ECONNRESET) };
        }
        let message = match gather(k, pieces, (sent, (total - sent).min(MAX_MESSAGE))) {
            Ok(message) => message,
            Err(error) => return if sent > 0 { Ok(sent) } else { Err(error) },
        };
        let content = Pieces::One { address: k.message(), length: message.len() };
        let there = Side::Outside(socket.foreign.get());
        message_log::handed(k, Side::Socket(number), there, content);
        let position = reach(k, remote.position, Sent::Bytes(message));
        message_log::heard(k, number, Some(remote.position), position);
        socket.remote.set(Remote { position, ..remote });
        sent += message.len();
    }
    answered_now(k, socket);
    let after = k.trees().received(socket.remote.get().position);
    let moved = Moved::up_to(after, after - before);
    k.complete(&[OperationKind::SendWhole], Completion::Moved(moved));
    happened(k, number);
    hear_others(k, number);
    Ok(sent)
}

/// Where sending something leads to; the checker is asked if that is not known.
#[inline(never)]
pub(crate) fn reach(k: &impl Host, from: Position, sent: Sent<'_>) -> Position {
    if let Lookup::Hit(position) = k.trees().write(from, sent) {
        k.count_cache_hit();
        return position;
    }
    let position = from.word();
    let request = match sent {
        Sent::Bytes(message) => PeerRequest::Write { position, length: message.len() as u32 },
        Sent::End => PeerRequest::Finish { position },
        Sent::Silence(milliseconds) => PeerRequest::Silence { position, milliseconds },
    };
    ask(k, request);
    match k.trees().write(from, sent) {
        Lookup::Hit(position) => position,
        Lookup::Miss => k.fail("the checker's answer is not in the tree"),
    }
}

/// Tells a peer that nothing more will be sent.
pub(crate) fn shut(k: &impl Host, number: usize) -> Result<(), i32> {
    let socket = k.object(number);
    if joint::is_on(k) {
        joint::shut(k, socket);
        return Ok(());
    }
    let remote = socket.remote.get();
    if remote.end(k) != commtree::End::Reset {
        let position = reach(k, remote.position, Sent::End);
        message_log::heard(k, number, Some(remote.position), position);
        socket.remote.set(Remote { position, ..remote });
        answered_now(k, socket);
        hear_others(k, number);
    }
    Ok(())
}

/// Receives what a peer has sent; none if nothing is there, but something may come.
pub(crate) fn receive(
    k: &impl Host,
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    (peeks, patience): (bool, Blocking),
) -> Option<Result<(), i32>> {
    if joint::is_on(k) {
        if peeks {
            joint::refuse_to_peek(k);
        }
        return joint::receive(k, number, pieces, received, patience);
    }
    let socket = k.object(number);
    let mut remote = socket.remote.get();
    let left = pieces.length(k) - *received;
    let (count_now, breaks) = faults::received(k, socket, left.min(available(k, socket)));
    if breaks {
        reset(socket);
        remote.is_reset = true;
        k.complete(&[OperationKind::Receive, OperationKind::ReceiveWhole], Completion::Reset);
    }
    if count_now > 0 && !socket.shut_receiving.get() {
        let mut reader = remote.reader;
        let copied = pieces.each(k, (*received, count_now), |address, length| {
            frames::read(k, (&mut reader, remote.position), address, length)
        });
        if let Err(error) = copied {
            return Some(Err(error));
        }
        *received += count_now;
        if !peeks {
            message_log::received(k, number, remote.reader.0, count_now);
            remote.reader = reader;
            socket.remote.set(remote);
            peer_time::received(socket);
        }
        return Some(Ok(()));
    }
    let end = match remote.is_reset {
        true => commtree::End::Reset,
        false if arrival::is_end_hidden(k, socket) => commtree::End::Open,
        false => k.trees().end(remote.reader, remote.position),
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
pub(crate) fn available(k: &impl Host, socket: &Object) -> usize {
    answered(k, socket).min((arrival::shown(k, socket) - taken(socket)) as usize)
}

/// How many can be read by a call that waits for them.
pub(crate) fn available_soon(k: &impl Host, socket: &Object) -> usize {
    answered(k, socket).min((arrival::shown_soon(k, socket) - taken(socket)) as usize)
}

/// How many can be read sooner or later.
pub(crate) fn answered(k: &impl Host, socket: &Object) -> usize {
    joint::refuse_to_count(k);
    let remote = socket.remote.get();
    if remote.is_reset { 0 } else { k.trees().readable(remote.reader, remote.position) as usize }
}

/// How many bytes were read.
pub(crate) fn taken(socket: &Object) -> u64 {
    socket.remote.get().reader.0
}

/// Whether bytes can be read, and what the peer did to its end.
pub(crate) fn readiness(k: &impl Host, socket: &Object) -> (bool, End) {
    if joint::is_on(k) {
        return joint::readiness(socket);
    }
    let remote = socket.remote.get();
    let end = match remote.end(k) {
        _ if !remote.is_reset && arrival::is_end_hidden(k, socket) => End::Open,
        commtree::End::Open => End::Open,
        commtree::End::Closed => End::Finished,
        commtree::End::Reset => End::Gone,
    };
    (available(k, socket) > 0, end)
}

/// Sends a datagram to somebody outside, and puts the answers into the buffer of the socket.
pub(crate) fn datagram(
    k: &impl Host,
    number: usize,
    to: &Address,
    pieces: Pieces,
    put: Put,
) -> Result<(), i32> {
    let socket = k.object(number);
    if !to.is_local() {
        stop!(k, "sendto another machine is not modelled: peers must run on this one");
    }
    if !is_remote(socket) {
        let name = name(BY_DATAGRAMS, to, number as u64, 0);
        match opening(k, PeerRequest::ConnectDatagram, name, to) {
            Opening::Open(position) => {
                socket.remote.set(Remote::at(position));
            }
            Opening::Refused => {
                let is_told = socket.foreign.get().is_some();
                socket.error.set(if is_told { errno::ECONNREFUSED } else { 0 });
                happened(k, number);
                return Ok(());
            }
        }
    }
    if socket.first_peer.get() != to.port() {
        socket.has_several_peers.set(true);
    }
    let ends = Ends { host: to.host(), far: to.port(), near: 0 };
    k.note_sent();
    socket.remote.set(frames::say(k, socket.remote.get(), ends, pieces));
    absorb(k, number, put);
    peer_time::begin(k, socket);
    Ok(())
}

/// Puts what a server has answered into the buffer of a socket.
pub(crate) fn absorb(k: &impl Host, number: usize, put: Put) {
    let socket = k.object(number);
    let mut remote = socket.remote.get();
    while let Some((ends, pieces)) = frames::next(k, &mut remote) {
        let from = Address::of_host(socket.family.get(), &ends.host, &ends.far.to_be_bytes());
        let foreign = socket.foreign.get();
        if !foreign.is_some() || foreign == from {
            let length = pieces.length(k) as u32;
            let head = Head { from, length, put, is_foreign: true };
            deliver(k, Side::Outside(from), number, head, pieces);
        }
    }
    socket.remote.set(remote);
}
