//! Datagrams in flight: loss, duplication and reordering are decided when a receiver polls.
//!
//! The buffer of a socket holds whole messages in the order of sending. If the network may do
//! something to them, a [`Transit`] precedes them: which of them arrives next is a choice, as
//! `perturb` allows it. What was decided stays decided until it is read: a packet that `poll` has
//! seen is in the queue of its socket, and nothing overtakes it there.
//!
//! If packets keep their order, their fates are decided one by one, independently of later sends.
//! Otherwise all sent packets are candidates; in a send queue, all that were sent when the first of
//! them leaves, which is a batch: later sends leave after it.

use crate::footprint::touches;
use crate::host::{Host, Thread};
use crate::object::{Kind, Object, PACKETS, Packets, Transit, is_unix};
use crate::send_queue::Put;
use crate::sockaddr::Address;
use crate::udp::mark;
use crate::{message_log, peer, senders, stop, udp_clients};
use everypath_perturb::{Account, Channel, Next, Rules};
use everypath_shim_abi::{
    Completion, Crossing, Delivered, Delivery, FaultLimit, Moved, Operation, OperationKind,
};

/// What precedes a message in the buffer of its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) from: Address,
    pub(crate) length: u32,
    pub(crate) put: Put,
    /// Whether a peer has sent it.
    pub(crate) is_foreign: bool,
}

/// How many bytes it takes there.
pub(crate) const HEAD: usize = Address::SIZE + 8;

impl Head {
    /// The head as it lies in a buffer.
    pub(crate) fn to_buffer(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..Address::SIZE].copy_from_slice(&self.from.to_buffer());
        bytes[Address::SIZE..][..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[Address::SIZE + 4] = (self.put == Put::ByReceiver).into();
        bytes[Address::SIZE + 5] = self.is_foreign.into();
        bytes
    }

    /// The head of the message at a place in the kernel's own memory.
    pub(crate) fn at(k: &impl Host, place: usize) -> Self {
        let (mut from, mut rest) = ([0; Address::SIZE], [0; 8]);
        k.read_own(place, &mut from);
        k.read_own(place + Address::SIZE, &mut rest);
        let [a, b, c, d, by_receiver, is_foreign, ..] = rest;
        Head {
            from: Address::from_buffer(&from),
            length: u32::from_le_bytes([a, b, c, d]),
            put: if by_receiver != 0 { Put::ByReceiver } else { Put::BySender },
            is_foreign: is_foreign != 0,
        }
    }
}
const TRANSIT: usize = size_of::<Transit>();

impl Transit {
    /// Begins anew.
    fn begin(&self, k: &impl Host, (account, rules): (usize, Rules)) {
        self.rules.set(rules);
        self.account.set(account as u32);
        self.first.set(0);
        self.arrived.set(0);
        self.with_packets(k, |channel| *channel = Channel::EMPTY);
    }

    /// Of a socket with unreliable messages in its buffer, at the beginning of which it is.
    fn of(k: &impl Host, number: usize) -> &Self {
        k.transit(number, k.object(number).start.get() as usize)
    }

    /// Works on the packets where they are: a copy of all of them would be large.
    fn with_packets<R>(&self, k: &impl Host, work: impl FnOnce(&mut Packets) -> R) -> R {
        k.change(&self.channel, work)
    }

    /// Whether all that was let in has met its fate.
    fn is_between_batches(&self, k: &impl Host) -> bool {
        self.with_packets(k, |channel| channel.oldest() == channel.sent())
    }
}

/// What a look at a socket finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A message, so many bytes from the start of the buffer.
    Message(usize),
    /// What was to arrive next is lost; there is more.
    Lost,
    Nothing,
}

/// What may happen to what a socket exchanges with a port, and the number of its account: what is
/// said of its own port, or else of that of its partner, or else of the other one.
pub(crate) fn crossing(k: &impl Host, socket: &Object, port: u16) -> (usize, Crossing) {
    let ports = [socket.local.get().port(), socket.foreign.get().port(), port];
    k.setup().datagrams.at(ports)
}

/// What the network may do to the messages in flight to a socket.
fn rules(k: &impl Host, socket: &Object) -> (usize, Rules) {
    let (account, crossing) = crossing(k, socket, socket.first_peer.get());
    // What a program sends to itself crosses one network.
    let is_outside = peer::is_remote(socket) || socket.hears_clients.get();
    let is_inside = crossing.received.is_reliable() && !is_outside;
    let rules = match socket.kind.get() {
        Kind::Datagram if is_unix(socket) => Rules::RELIABLE,
        Kind::Datagram if !is_inside => crossing.received,
        Kind::Datagram | Kind::Outbox => crossing.sent,
        _ => Rules::RELIABLE,
    };
    (account, rules)
}

/// Whether a look at a socket decides anything.
pub(crate) fn decides(k: &impl Host, number: usize) -> bool {
    let socket = k.object(number);
    let crosses_network = socket.kind.get() == Kind::Datagram && !is_unix(socket);
    // Whom it will be connected to is not known.
    crosses_network && !k.setup().datagrams.all().all(Rules::is_reliable)
}

/// Whether what becomes of a message does not depend on those of other sockets.
pub(crate) fn is_separate(k: &impl Host, number: usize) -> bool {
    let is_door =
        udp_clients::is_door(k.object(number)) || udp_clients::may_come(k, k.object(number));
    !is_door && (!decides(k, number) || limit(k) == FaultLimit::None)
}

/// What a look at messages that are there has to do with those that are sent later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Later {
    /// They make no difference.
    Unseen,
    /// One of those that are there arrives, whatever is sent later; which could have been another.
    Missed,
    /// Whatever is sent may change what it finds.
    Seen,
}

/// The same for a blocking receive.
pub(crate) fn later(k: &impl Host, number: usize) -> Later {
    let socket = k.object(number);
    if socket.waiting() == 0 || !socket.unreliable.get() {
        return Later::Unseen;
    }
    let (transit, rules) = (Transit::of(k, number), Transit::of(k, number).rules.get());
    if transit.arrived.get() != 0 || rules.keeps_order() {
        return Later::Unseen;
    }
    let is_certain = || {
        let there = transit.first.get() + (socket.entered.get() - socket.left.get());
        transit.with_packets(k, |channel| channel.is_certain(there - channel.sent(), &rules))
    };
    match socket.kind.get() {
        Kind::Outbox if transit.is_between_batches(k) => Later::Seen,
        Kind::Outbox => Later::Unseen,
        _ if is_certain() => Later::Missed,
        _ => Later::Seen,
    }
}

/// Whether the faults of this execution are limited, or what arrives at a server makes a difference for
/// others.
pub(crate) fn limit(k: &impl Host) -> FaultLimit {
    match k.setup().peers_in_turn || k.setup().datagrams.all().any(Rules::is_budgeted) {
        true => FaultLimit::Shared,
        false => FaultLimit::None,
    }
}

/// The same for a look at a socket: what clients send there depends on what they heard.
pub(crate) fn limit_at(k: &impl Host, number: usize) -> FaultLimit {
    if udp_clients::is_door(k.object(number)) { FaultLimit::Shared } else { limit(k) }
}

/// To be called before a message is put into a buffer.
pub(crate) fn enter(k: &impl Host, number: usize) {
    let socket = k.object(number);
    if socket.waiting() == 0 {
        let rules = rules(k, socket);
        socket.unreliable.set(!rules.1.is_reliable());
        if socket.unreliable.get() {
            socket.reserve(k, number, TRANSIT);
            Transit::of(k, number).begin(k, rules);
        }
    }
}

/// How long a message is in the buffer, its head included.
pub(crate) fn size(k: &impl Host, number: usize, at: usize) -> usize {
    let start = k.object(number).contents(k, number);
    HEAD + Head::at(k, start + at).length as usize
}

/// Where a message is in the buffer: the how many-th.
fn place(k: &impl Host, number: usize, index: u32) -> usize {
    (0..index).fold(TRANSIT, |at, _| at + size(k, number, at))
}

/// The first message that is there, whatever becomes of it.
pub(crate) fn oldest(k: &impl Host, number: usize) -> Option<Head> {
    let socket = k.object(number);
    let start = if socket.unreliable.get() { TRANSIT } else { 0 };
    let place = || socket.contents(k, number) + start;
    (socket.waiting() > start).then(|| Head::at(k, place()))
}

/// Whether it was decided what arrives next, and nobody has read it.
pub(crate) fn is_decided(k: &impl Host, number: usize) -> bool {
    let socket = k.object(number);
    socket.waiting() > 0 && socket.unreliable.get() && Transit::of(k, number).arrived.get() != 0
}

/// The next message that arrives. The fates of those in flight are decided now.
pub(crate) fn look(k: &impl Host, number: usize) -> Found {
    let socket = k.object(number);
    if socket.waiting() == 0 {
        return Found::Nothing;
    }
    if !socket.unreliable.get() {
        return Found::Message(senders::next(k, number));
    }
    if Transit::of(k, number).arrived.get() == 0 {
        decide(k, number);
    }
    if socket.waiting() == 0 {
        return Found::Nothing;
    }
    let transit = Transit::of(k, number);
    match transit.arrived.get().checked_sub(1) {
        Some(packet) => Found::Message(place(k, number, packet - transit.first.get())),
        None => Found::Lost,
    }
}

/// Notes that the message that a look has found reaches who looked.
pub(crate) fn tell_received(k: &impl Host, number: usize) {
    let socket = k.object(number);
    let behind = match socket.unreliable.get() {
        true => {
            let transit = Transit::of(k, number);
            transit.arrived.get().wrapping_sub(transit.first.get() + 1)
        }
        false => senders::behind(socket),
    };
    message_log::received(k, number, u64::from(socket.left.get() + behind), 1);
}

/// Takes the message out that a look has found.
pub(crate) fn take(k: &impl Host, number: usize) {
    let socket = k.object(number);
    if !socket.unreliable.get() {
        return senders::take(k, number);
    }
    let transit = Transit::of(k, number);
    transit.arrived.set(0);
    forget(k, number, transit.with_packets(k, |channel| channel.oldest()));
}

/// Takes the messages out whose packets are over.
fn forget(k: &impl Host, number: usize, up_to: u32) {
    let socket = k.object(number);
    let first = &Transit::of(k, number).first;
    while first.get() < up_to {
        let length = size(k, number, TRANSIT);
        socket.cut(k, number, (TRANSIT, length));
        message_log::gone(k, number, u64::from(socket.left.get()));
        socket.left.set(socket.left.get() + 1);
        first.set(first.get() + 1);
    }
    if socket.waiting() == TRANSIT {
        // Nothing is owed any more.
        socket.start.set(0);
        socket.end.set(0);
    }
}

/// Lets packets enter the channel: one after the other if they keep their order; otherwise all of
/// them, into an outbox's batch by batch.
fn admit(k: &impl Host, number: usize, transit: &Transit, rules: &Rules) {
    let mut at = TRANSIT;
    let mut known = transit.first.get();
    let is_outbox = k.object(number).kind.get() == Kind::Outbox;
    let admits_all = !rules.keeps_order() && (!is_outbox || transit.is_between_batches(k));
    while at < k.object(number).waiting() {
        let is_new = known == transit.with_packets(k, |channel| channel.sent());
        let is_alone = rules.keeps_order() && transit.is_between_batches(k);
        let is_let_in = is_new && (is_alone || admits_all);
        if is_let_in && transit.with_packets(k, Channel::send).is_none() {
            stop!(k, "more than {PACKETS} datagrams are in flight to one socket");
        }
        known += 1;
        at += size(k, number, at);
    }
}

fn decide(k: &impl Host, number: usize) {
    let transit = Transit::of(k, number);
    let rules = transit.rules.get();
    let spent = &k.state().accounts[transit.account.get() as usize];
    admit(k, number, transit, &rules);
    let before = spent.get();
    let mut options = [Next::Nothing; PACKETS + 1];
    let mut count = 0;
    let (normal, is_certain) = transit.with_packets(k, |channel| {
        for option in channel.options(&rules, &before) {
            options[count] = option;
            count += 1;
        }
        (channel.undisturbed(), channel.is_certain(0, &rules))
    });
    let is_possible = options[..count].contains(&normal);
    let is_disturbed = !k.current().task().undisturbed.get() || !is_possible;
    // What happens anyway is a step as well if it is out of the ordinary; and if more could happen
    // after others have sent something, so that it is the same step then.
    let is_odd = |next| next != normal && next != Next::Nothing;
    let may_vary = is_certain
        && !rules.keeps_order()
        && limit(k) == FaultLimit::None
        && k.object(number).kind.get() == Kind::Datagram;
    let is_step = is_disturbed && (count > 1 || may_vary || is_odd(options[0]));
    let next = match is_step {
        true => options[choose(k, number, count)],
        false if is_disturbed => options[0],
        false => normal,
    };
    let mut account = before;
    let advance = |channel: &mut Packets| {
        channel.advance(next, &rules, &mut account).map(|()| channel.oldest())
    };
    let Some(oldest) = transit.with_packets(k, advance) else {
        stop!(k, "everypath_unreliable was called while datagrams were in flight");
    };
    spent.set(account);
    if let Next::Packet(packet) = next {
        tell_which(k, number, packet - transit.first.get(), is_step);
    }
    if is_step {
        let to_peer = k.object(number).kind.get() == Kind::Outbox;
        tell(k, next, normal, (&before, &account), to_peer);
    }
    let keep_from = match next {
        Next::Packet(packet) => {
            transit.arrived.set(packet + 1);
            packet.min(oldest)
        }
        Next::Nothing => oldest,
    };
    forget(k, number, keep_from);
}

/// Writes down which message it is that arrives, for the step that looks: the how many-th of those
/// that are there. If there was a choice, that was the step after it.
fn tell_which(k: &impl Host, number: usize, index: u32, was_chosen: bool) {
    let message =
        |index: u32| Moved::up_to(mark(number, k.object(number).left.get() + index + 1), 1);
    let start = k.object(number).contents(k, number);
    let which = match Head::at(k, start + place(k, number, index)).put {
        Put::BySender => message(index),
        Put::ByReceiver => Moved::Nothing,
    };
    let looks = &[OperationKind::ReceiveAny];
    k.complete_earlier(u32::from(was_chosen), looks, Completion::Moved(which).pack());
}

/// A choice of the network's. It belongs to the step before it: nobody moves in between.
pub(crate) fn choose(k: &impl Host, number: usize, ways: usize) -> usize {
    usize::from(k.choose(Operation::Deliver(ways as u32), touches(k, number)))
}

/// Records what was chosen, for the trace.
fn tell(
    k: &impl Host,
    next: Next,
    normal: Next,
    (before, after): (&Account, &Account),
    to_peer: bool,
) {
    let lost = after.lost - before.lost;
    let delivery = match next {
        Next::Nothing => Delivery::Nothing { lost },
        Next::Packet(packet) if after.duplicated > before.duplicated => Delivery::Again { packet },
        Next::Packet(packet) if after.reordered > before.reordered => Delivery::Late { packet },
        Next::Packet(packet) if next != normal => Delivery::Early { packet },
        Next::Packet(packet) => Delivery::InOrder { packet },
    };
    let delivered = Delivered { delivery, to_peer };
    k.complete(&[OperationKind::Deliver], Completion::Delivered(delivered));
}
