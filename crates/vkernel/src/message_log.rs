//! The log of messages between sockets, recorded only for a trace.

use crate::host::{Host, Thread};
use crate::iovec::Pieces;
use crate::object::{Kind, Object};
use crate::sockaddr::Address;
use crate::trees::Trees;
use everypath_commtree::{Position, Reader, Take};
use everypath_shim_abi::{MessageEvent, MessageEventKind};

fn is_kept(k: &impl Host) -> bool {
    k.setup().chronicle
}

/// One of two sockets, or somebody outside at an address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Socket(usize),
    Outside(Address),
}

impl Side {
    fn address(self, k: &impl Host) -> Address {
        match self {
            Side::Socket(number) => k.object(number).local.get(),
            Side::Outside(address) => address,
        }
    }
}

/// A message in flight from one side to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) from: Side,
    pub(crate) to: Side,
    /// The object in which it waits until it is received.
    pub(crate) waits_in: usize,
    /// Which of all that were ever put there it is.
    pub(crate) first: u64,
    pub(crate) content: Pieces,
}

/// A message is in flight.
pub(crate) fn sent(k: &impl Host, load: Load) {
    note(k, MessageEventKind::Sent, load);
}

/// Something was sent, and never reaches anybody.
pub(crate) fn lost(k: &impl Host, load: Load) {
    if is_kept(k) {
        note(k, MessageEventKind::Sent, load);
        pass(k, MessageEventKind::Gone, load.waits_in, (load.first, 1));
    }
}

/// A message was sent and received at once: to a peer, or from it.
pub(crate) fn handed(k: &impl Host, from: Side, to: Side, content: Pieces) {
    if content.length(k) > 0 || is_datagram(k, from, to) {
        let waits_in = socket_of(from, to);
        note(k, MessageEventKind::Handed, Load { from, to, waits_in, first: 0, content });
    }
}

/// So many messages, or bytes, from `first` on were received by the owner of the object.
pub(crate) fn received(k: &impl Host, number: usize, first: u64, count: usize) {
    pass(k, MessageEventKind::Received, number, (first, count));
}

/// A message is not in flight any more.
pub(crate) fn gone(k: &impl Host, number: usize, which: u64) {
    pass(k, MessageEventKind::Gone, number, (which, 1));
}

/// What a peer has said on a connection since it stood at an earlier position.
pub(crate) fn heard(k: &impl Host, number: usize, earlier: Option<Position>, position: Position) {
    if !is_kept(k) {
        return;
    }
    let before = earlier.map_or(0, |earlier| k.trees().received(earlier));
    let length = k.trees().received(position).saturating_sub(before) as usize;
    if length > 0 {
        let mut first_bytes = [0; MessageEvent::KEPT];
        k.trees().read(&mut Reader(before), position, &mut first_bytes, Take::Peek);
        let (from, to) = (Side::Outside(k.object(number).foreign.get()), Side::Socket(number));
        let passage = passage(k, MessageEventKind::Sent, (from, to), (number, before, length));
        write(k, passage, (from, to), &first_bytes[..length.min(MessageEvent::KEPT)]);
    }
}

fn socket_of(from: Side, to: Side) -> usize {
    match (from, to) {
        (Side::Socket(number), _) | (_, Side::Socket(number)) => number,
        (Side::Outside(_), Side::Outside(_)) => 0,
    }
}

fn is_datagram(k: &impl Host, from: Side, to: Side) -> bool {
    keeps_messages(k.object(socket_of(from, to)))
}

fn keeps_messages(socket: &Object) -> bool {
    matches!(socket.kind.get(), Kind::Datagram | Kind::Outbox)
}

fn note(k: &impl Host, what: MessageEventKind, load: Load) {
    if !is_kept(k) {
        return;
    }
    let mut first_bytes = [0; MessageEvent::KEPT];
    let kept = load.content.length(k).min(MessageEvent::KEPT);
    // Who unmaps it meanwhile is told of zeros.
    let _ = load.content.first(k, &mut first_bytes[..kept]);
    let sides = (load.from, load.to);
    let passage = passage(k, what, sides, (load.waits_in, load.first, load.content.length(k)));
    write(k, passage, sides, &first_bytes[..kept]);
}

fn pass(k: &impl Host, what: MessageEventKind, number: usize, (first, count): (u64, usize)) {
    if is_kept(k) {
        let nobody = Side::Outside(Address::default());
        write(k, passage(k, what, (nobody, nobody), (number, first, count)), (nobody, nobody), &[]);
    }
}

fn passage(
    k: &impl Host,
    what: MessageEventKind,
    (from, to): (Side, Side),
    (number, first, length): (usize, u64, usize),
) -> MessageEvent {
    MessageEvent {
        what,
        is_datagram: keeps_messages(k.object(number)),
        step: k.steps(),
        thread: k.current().number(),
        sender: match from {
            Side::Socket(number) => number as u16 + 1,
            Side::Outside(_) => 0,
        },
        object: number as u16,
        process: match to {
            Side::Socket(number) => k.object(number).owner.get(),
            Side::Outside(_) => MessageEvent::OUTSIDE,
        },
        first,
        length: length as u32,
        following: [0; 3],
    }
}

fn write(k: &impl Host, passage: MessageEvent, (from, to): (Side, Side), first_bytes: &[u8]) {
    let (from, to) = (from.address(k), to.address(k));
    let following = [from.as_bytes(), to.as_bytes(), first_bytes];
    let lengths = following.map(|part| part.len() as u8);
    k.log(&MessageEvent { following: lengths, ..passage }.to_bytes());
    following.iter().for_each(|part| k.log(part));
}
