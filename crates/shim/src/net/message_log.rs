//! The log of messages between sockets, recorded only for a trace.

use super::address::Address;
use super::message::Pieces;
use super::{Kind, Object, object};
use crate::memory::bytes;
use crate::output;
use crate::region::{setup, trees};
use crate::scheduler::STEPS;
use crate::state::state;
use core::sync::atomic::Ordering::Relaxed;
use everypath_commtree::{Position, Reader, Take};
use everypath_shim_abi::{MessageEvent, MessageEventKind};

/// The stream that passages are kept in.
const PASSAGES: usize = 4;

fn is_kept() -> bool {
    setup().chronicle
}

/// One of two sockets, or somebody outside at an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Socket(usize),
    Outside(Address),
}

impl Side {
    fn address(self) -> Address {
        match self {
            Side::Socket(number) => object(number).local.get(),
            Side::Outside(address) => address,
        }
    }
}

/// A message in flight from one side to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) from: Side,
    pub(super) to: Side,
    /// The object in which it waits until it is received.
    pub(super) waits_in: usize,
    /// Which of all that were ever put there it is.
    pub(super) first: u64,
    pub(super) content: Pieces,
}

/// A message is in flight.
pub(super) fn sent(load: Load) {
    note(MessageEventKind::Sent, load);
}

/// Something was sent, and never reaches anybody.
pub(super) fn lost(load: Load) {
    if is_kept() {
        note(MessageEventKind::Sent, load);
        pass(MessageEventKind::Gone, load.waits_in, (load.first, 1));
    }
}

/// A message was sent and received at once: to a peer, or from it.
pub(super) fn handed(from: Side, to: Side, content: Pieces) {
    if content.length() > 0 || is_datagram(from, to) {
        let waits_in = socket_of(from, to);
        note(MessageEventKind::Handed, Load { from, to, waits_in, first: 0, content });
    }
}

/// So many messages, or bytes, from `first` on were received by the owner of the object.
pub(super) fn received(number: usize, first: u64, count: usize) {
    pass(MessageEventKind::Received, number, (first, count));
}

/// A message is not in flight any more.
pub(super) fn gone(number: usize, which: u64) {
    pass(MessageEventKind::Gone, number, (which, 1));
}

/// What a peer has said on a connection since it stood at an earlier position.
pub(super) fn heard(number: usize, earlier: Option<Position>, position: Position) {
    if !is_kept() {
        return;
    }
    let before = earlier.map_or(0, |earlier| trees().received(earlier));
    let length = trees().received(position).saturating_sub(before) as usize;
    if length > 0 {
        let mut first_bytes = [0; MessageEvent::KEPT];
        trees().read(&mut Reader(before), position, &mut first_bytes, Take::Peek);
        let (from, to) = (Side::Outside(object(number).foreign.get()), Side::Socket(number));
        let passage = passage(MessageEventKind::Sent, (from, to), (number, before, length));
        write(passage, (from, to), &first_bytes[..length.min(MessageEvent::KEPT)]);
    }
}

fn socket_of(from: Side, to: Side) -> usize {
    match (from, to) {
        (Side::Socket(number), _) | (_, Side::Socket(number)) => number,
        (Side::Outside(_), Side::Outside(_)) => 0,
    }
}

fn is_datagram(from: Side, to: Side) -> bool {
    keeps_messages(object(socket_of(from, to)))
}

fn keeps_messages(socket: &Object) -> bool {
    matches!(socket.kind.get(), Kind::Datagram | Kind::Outbox)
}

fn note(what: MessageEventKind, load: Load) {
    if !is_kept() {
        return;
    }
    let mut first_bytes = [0; MessageEvent::KEPT];
    let kept = load.content.length().min(MessageEvent::KEPT);
    let mut at = 0;
    load.content.each(0, kept, |address, length| {
        first_bytes[at..at + length].copy_from_slice(bytes(address, length));
        at += length;
    });
    let sides = (load.from, load.to);
    let passage = passage(what, sides, (load.waits_in, load.first, load.content.length()));
    write(passage, sides, &first_bytes[..kept]);
}

fn pass(what: MessageEventKind, number: usize, (first, count): (u64, usize)) {
    if is_kept() {
        let nobody = Side::Outside(Address::default());
        write(passage(what, (nobody, nobody), (number, first, count)), (nobody, nobody), &[]);
    }
}

fn passage(
    what: MessageEventKind,
    (from, to): (Side, Side),
    (number, first, length): (usize, u64, usize),
) -> MessageEvent {
    MessageEvent {
        what,
        is_datagram: keeps_messages(object(number)),
        step: STEPS.load(Relaxed),
        thread: state().current().number.get(),
        sender: match from {
            Side::Socket(number) => number as u16 + 1,
            Side::Outside(_) => 0,
        },
        object: number as u16,
        process: match to {
            Side::Socket(number) => object(number).owner.get(),
            Side::Outside(_) => MessageEvent::OUTSIDE,
        },
        first,
        length: length as u32,
        following: [0; 3],
    }
}

fn write(passage: MessageEvent, (from, to): (Side, Side), first_bytes: &[u8]) {
    let (from, to) = (from.address(), to.address());
    let following = [from.as_bytes(), to.as_bytes(), first_bytes];
    let lengths = following.map(|part| part.len() as u8);
    output::append(PASSAGES, &MessageEvent { following: lengths, ..passage }.to_bytes());
    following.iter().for_each(|part| output::append(PASSAGES, part));
}
