//! Answers of several peers to one socket: no network keeps datagrams of different senders in order.
//!
//! Which of them has sent the message that arrives next is decided when somebody receives. A message that
//! was taken before others stays in the buffer, marked, until those before it are taken, so that messages
//! keep their numbers. Only if the network is reliable: otherwise messages arrive as its rules allow,
//! whoever sent them.

use crate::host::Host;
use crate::in_flight::{HEAD, Head, choose, size};
use crate::object::Object;
use crate::sockaddr::Address;
use crate::{arrival, message_log};
use everypath_shim_abi::{Completion, Delivered, Delivery, OperationKind};

/// Where in its head the mark of a message is that was taken.
const MARK: usize = Address::SIZE + 6;
/// The answers of so many peers may overtake each other at once.
const SENDERS: usize = 16;

const _: () = assert!(MARK < HEAD);

fn is_taken(k: &impl Host, number: usize, at: usize) -> bool {
    let mut mark = [0];
    k.read_own(k.object(number).contents(k, number) + at + MARK, &mut mark);
    mark != [0]
}

/// The message at a place, in the order of sending, which must be there.
fn at_place(k: &impl Host, number: usize, place: u16) -> usize {
    (0..place).fold(0, |at, _| at + size(k, number, at))
}

/// The places of the first message of each peer, and how many there are.
fn firsts(k: &impl Host, number: usize) -> ([u16; SENDERS], usize) {
    let socket = k.object(number);
    let (mut places, mut from) = ([0; SENDERS], [Address::default(); SENDERS]);
    let (mut count, mut at, mut place) = (0, 0, 0);
    while at < socket.waiting() && count < SENDERS {
        let head = Head::at(k, socket.contents(k, number) + at);
        let is_next = !is_taken(k, number, at) && !from[..count].contains(&head.from);
        if is_next && (count == 0 || head.is_foreign) {
            (places[count], from[count]) = (place, head.from);
            count += 1;
        }
        at += HEAD + head.length as usize;
        place += 1;
    }
    (places, count)
}

/// Where in the buffer the message is that arrives next; there must be one.
pub(crate) fn next(k: &impl Host, number: usize) -> usize {
    let socket = k.object(number);
    if !socket.has_several_peers.get() {
        return 0;
    }
    if socket.next_place.get() == 0 {
        let (places, count) = firsts(k, number);
        let chosen = if count > 1 { choose(k, number, count) } else { 0 };
        let place = places[chosen.min(SENDERS - 1)];
        if count > 1 {
            let packet = socket.left.get() + u32::from(place);
            let delivery = match chosen {
                0 => Delivery::InOrder { packet },
                _ => Delivery::Early { packet },
            };
            let delivered = Delivered { delivery, to_peer: false };
            k.complete(&[OperationKind::Deliver], Completion::Delivered(delivered));
        }
        socket.next_place.set(place + 1);
    }
    at_place(k, number, socket.next_place.get() - 1)
}

/// How many messages before it were sent earlier than the one that arrives next, and are there.
pub(crate) fn behind(socket: &Object) -> u32 {
    u32::from(socket.next_place.get().saturating_sub(1))
}

/// Takes the message out that arrives next.
pub(crate) fn take(k: &impl Host, number: usize) {
    let socket = k.object(number);
    let place = socket.next_place.replace(0).saturating_sub(1);
    if place > 0 {
        let at = at_place(k, number, place);
        k.write_own(socket.contents(k, number) + at + MARK, &[1]);
        // What comes next is on its way by itself.
        return arrival::lost(k, number);
    }
    loop {
        let length = size(k, number, 0);
        socket.left.set(socket.left.get() + 1);
        socket.skip(length);
        if !socket.has_several_peers.get() || socket.waiting() == 0 || !is_taken(k, number, 0) {
            return;
        }
        message_log::gone(k, number, u64::from(socket.left.get()));
    }
}
