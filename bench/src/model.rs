//! The common model: an alternating-bit protocol over two lossy FIFO channels.
//!
//! Pure logic, free of any checker: a small `Copy` state, six atomic events and a lossless
//! packing into 64 bits. The semantics are spelt out in `bench/README.md`; they must stay equal
//! to those of `arq.pml` and of [`crate::stateright`].

/// The parameters that make the state space finite.
///
/// [`Arq::pack`] has six bits for each counter and five slots for each channel, so no bound may
/// exceed 63 and the capacity may not exceed 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bounds {
    /// Messages that the sender has to deliver.
    pub messages: u8,
    /// Time-outs that may happen in one execution.
    pub retransmissions: u8,
    /// Packets, of either kind, that the network may lose in one execution.
    pub losses: u8,
    /// Packets that each channel holds.
    pub capacity: u8,
}

/// The counts that every tool must reproduce for some [`Bounds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Distinct reachable states.
    pub states: u64,
    /// Pairs of a reachable state and an event enabled in it.
    pub transitions: u64,
    /// Breadth-first levels, that of the initial state included.
    pub levels: u64,
}

/// The model that is measured.
pub const FULL: Bounds = Bounds { messages: 40, retransmissions: 40, losses: 40, capacity: 5 };

/// The size of [`FULL`].
pub const FULL_SIZE: Expected =
    Expected { states: 5_787_337, transitions: 23_312_786, levels: 241 };

/// The model that tests the harness.
pub const QUICK: Bounds = Bounds { messages: 8, retransmissions: 6, losses: 6, capacity: 3 };

/// The size of [`QUICK`].
pub const QUICK_SIZE: Expected = Expected { states: 6_439, transitions: 20_391, levels: 43 };

/// A first-in first-out channel of packets of `WIDTH` bits, as a shift register.
///
/// The oldest packet is in the lowest bits and all bits past the last packet are zero, so equal
/// contents are equal values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel<const WIDTH: u32> {
    packets: u32,
    len: u8,
}

impl<const WIDTH: u32> Channel<WIDTH> {
    /// Tells whether no packet is in transit.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Tells whether the channel has room for one more packet.
    pub fn has_room(self, bounds: &Bounds) -> bool {
        self.len < bounds.capacity
    }

    /// Appends a packet; the caller has checked that there is room.
    fn push(&mut self, packet: u32) {
        self.packets |= packet << (u32::from(self.len) * WIDTH);
        self.len += 1;
    }

    /// Removes the oldest packet; the caller has checked that there is one.
    fn pop(&mut self) -> u32 {
        let packet = self.packets & ((1 << WIDTH) - 1);
        self.packets >>= WIDTH;
        self.len -= 1;
        packet
    }
}

/// Bits of a data packet: the alternating bit, then two bits of payload.
const DATA_WIDTH: u32 = 3;
/// Bits of an acknowledgement: the alternating bit.
const ACK_WIDTH: u32 = 1;

/// One state of sender, receiver and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arq {
    /// The sender's message: in flight if `waiting`, otherwise the one to be sent next.
    pub next: u8,
    /// The message that the receiver waits for.
    pub expected: u8,
    /// Time-outs so far.
    pub retransmissions: u8,
    /// Losses so far.
    pub losses: u8,
    /// Whether the sender waits for an acknowledgement.
    pub waiting: bool,
    /// The assertion: every payload accepted so far was the expected one.
    pub in_order: bool,
    /// Packets on their way to the receiver.
    pub data: Channel<DATA_WIDTH>,
    /// Acknowledgements on their way to the sender.
    pub acks: Channel<ACK_WIDTH>,
}

/// The six atomic events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The sender sends a message for the first time.
    Send,
    /// The sender sends its message again.
    TimeOut,
    /// The sender takes an acknowledgement.
    ReceiveAck,
    /// The receiver takes a data packet and acknowledges it.
    ReceiveData,
    /// The network loses the oldest data packet.
    LoseData,
    /// The network loses the oldest acknowledgement.
    LoseAck,
}

impl Event {
    /// All events, in the order in which every tool tries them.
    pub const ALL: [Event; 6] = [
        Event::Send,
        Event::TimeOut,
        Event::ReceiveAck,
        Event::ReceiveData,
        Event::LoseData,
        Event::LoseAck,
    ];
}

impl Arq {
    /// Returns the only initial state: nothing sent, both channels empty.
    pub fn initial() -> Arq {
        Arq {
            next: 0,
            expected: 0,
            retransmissions: 0,
            losses: 0,
            waiting: false,
            in_order: true,
            data: Channel::default(),
            acks: Channel::default(),
        }
    }

    /// Iterates over the events that are enabled in this state.
    pub fn enabled(self, bounds: &Bounds) -> impl Iterator<Item = Event> {
        let bounds = *bounds;
        Event::ALL.into_iter().filter(move |&event| self.is_enabled(event, &bounds))
    }

    /// Tells whether `event` can happen in this state.
    pub fn is_enabled(&self, event: Event, bounds: &Bounds) -> bool {
        match event {
            Event::Send => {
                !self.waiting && self.next < bounds.messages && self.data.has_room(bounds)
            }
            Event::TimeOut => {
                self.waiting
                    && self.retransmissions < bounds.retransmissions
                    && self.data.has_room(bounds)
            }
            Event::ReceiveAck => !self.acks.is_empty(),
            Event::ReceiveData => !self.data.is_empty() && self.acks.has_room(bounds),
            Event::LoseData => self.losses < bounds.losses && !self.data.is_empty(),
            Event::LoseAck => self.losses < bounds.losses && !self.acks.is_empty(),
        }
    }

    /// Performs `event` if it is enabled, and tells whether it was.
    pub fn apply(&mut self, event: Event, bounds: &Bounds) -> bool {
        let enabled = self.is_enabled(event, bounds);
        if enabled {
            self.perform(event);
        }
        enabled
    }

    /// Performs `event`, which is enabled.
    pub fn perform(&mut self, event: Event) {
        match event {
            Event::Send => {
                self.data.push(data_packet(self.next));
                self.waiting = true;
            }
            Event::TimeOut => {
                self.data.push(data_packet(self.next));
                self.retransmissions += 1;
            }
            Event::ReceiveAck => self.receive_ack(),
            Event::ReceiveData => self.receive_data(),
            Event::LoseData => {
                self.data.pop();
                self.losses += 1;
            }
            Event::LoseAck => {
                self.acks.pop();
                self.losses += 1;
            }
        }
    }

    /// Takes an acknowledgement; one with the wrong bit has no effect.
    fn receive_ack(&mut self) {
        let bit = self.acks.pop();
        if self.waiting && bit == u32::from(self.next & 1) {
            self.next += 1;
            self.waiting = false;
        }
    }

    /// Takes a data packet and acknowledges its bit.
    ///
    /// A packet with the expected bit is accepted, and must carry the expected payload.
    fn receive_data(&mut self) {
        let packet = self.data.pop();
        let bit = packet & 1;
        if bit == u32::from(self.expected & 1) {
            self.in_order &= packet == data_packet(self.expected);
            self.expected += 1;
        }
        self.acks.push(bit);
    }

    /// Packs the state into 52 bits, without loss.
    ///
    /// No state in which the assertion holds packs to zero.
    pub fn pack(self) -> u64 {
        u64::from(self.next)
            | u64::from(self.expected) << 6
            | u64::from(self.retransmissions) << 12
            | u64::from(self.losses) << 18
            | u64::from(self.waiting) << 24
            | u64::from(self.in_order) << 25
            | u64::from(self.data.len) << 26
            | u64::from(self.acks.len) << 29
            | u64::from(self.data.packets) << 32
            | u64::from(self.acks.packets) << 47
    }

    /// Restores a state from the result of [`Arq::pack`].
    pub fn unpack(word: u64) -> Arq {
        Arq {
            next: (word & 63) as u8,
            expected: (word >> 6 & 63) as u8,
            retransmissions: (word >> 12 & 63) as u8,
            losses: (word >> 18 & 63) as u8,
            waiting: word >> 24 & 1 == 1,
            in_order: word >> 25 & 1 == 1,
            data: Channel { packets: (word >> 32 & 0x7fff) as u32, len: (word >> 26 & 7) as u8 },
            acks: Channel { packets: (word >> 47) as u32, len: (word >> 29 & 7) as u8 },
        }
    }
}

/// Returns the packet for message `index`: its alternating bit and its payload, `index` modulo 4.
fn data_packet(index: u8) -> u32 {
    u32::from(index & 1) | u32::from(index & 3) << 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Explores `bounds` breadth first with nothing but the standard library.
    fn explore(bounds: &Bounds, mut visit: impl FnMut(Arq)) -> Expected {
        let mut seen = BTreeSet::from([Arq::initial().pack()]);
        let mut level = vec![Arq::initial()];
        let (mut transitions, mut levels) = (0, 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for state in level {
                visit(state);
                for event in state.enabled(bounds) {
                    let mut successor = state;
                    assert!(successor.apply(event, bounds));
                    transitions += 1;
                    if seen.insert(successor.pack()) {
                        next.push(successor);
                    }
                }
            }
            level = next;
            levels += 1;
        }
        Expected { states: seen.len() as u64, transitions, levels }
    }

    #[test]
    fn quick_model_has_the_published_size() {
        let size = explore(&QUICK, |state| assert!(state.in_order));
        assert_eq!(size, QUICK_SIZE);
    }

    #[test]
    fn packing_loses_nothing() {
        let wide = Bounds { capacity: 5, ..QUICK };
        explore(&wide, |state| assert_eq!(Arq::unpack(state.pack()), state));
    }

    #[test]
    fn packing_keeps_the_largest_values() {
        let mut state = Arq {
            next: 63,
            expected: 63,
            retransmissions: 63,
            losses: 63,
            waiting: true,
            ..Arq::initial()
        };
        for _ in 0..5 {
            state.data.push(7);
            state.acks.push(1);
        }
        assert_eq!(Arq::unpack(state.pack()), state);
        state.in_order = false;
        assert_eq!(Arq::unpack(state.pack()), state);
    }

    #[test]
    fn events_that_are_not_enabled_change_nothing() {
        explore(&QUICK, |state| {
            for event in Event::ALL {
                let mut successor = state;
                let applied = successor.apply(event, &QUICK);
                assert_eq!(applied, state.is_enabled(event, &QUICK));
                assert_eq!(applied, successor != state);
            }
        });
    }

    #[test]
    fn a_wrong_payload_breaks_the_assertion() {
        let mut state = Arq::initial();
        state.data.push(data_packet(2));
        state.receive_data();
        assert!(!state.in_order);
    }
}
