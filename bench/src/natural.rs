//! The common model with a state as a user would write it, for tools that take any state.

use crate::model::{Bounds, Event};

/// A data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Packet {
    /// The alternating bit.
    pub bit: bool,
    /// The payload.
    pub payload: u8,
}

impl Packet {
    /// Returns the packet for message `index`.
    fn new(index: u8) -> Packet {
        Packet { bit: index % 2 == 1, payload: index % 4 }
    }
}

/// A state with growable channels; the fields are those of [`Arq`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NaturalState {
    pub next: u8,
    pub waiting: bool,
    pub expected: u8,
    pub retransmissions: u8,
    pub losses: u8,
    pub in_order: bool,
    pub data: Vec<Packet>,
    pub acks: Vec<bool>,
}

impl NaturalState {
    /// Returns the only initial state.
    pub fn initial() -> NaturalState {
        NaturalState {
            next: 0,
            waiting: false,
            expected: 0,
            retransmissions: 0,
            losses: 0,
            in_order: true,
            data: Vec::new(),
            acks: Vec::new(),
        }
    }

    /// Passes the enabled events to `report`.
    pub fn enabled(&self, bounds: &Bounds, mut report: impl FnMut(Event)) {
        let room = |len: usize| len < usize::from(bounds.capacity);
        let may_lose = self.losses < bounds.losses;
        if !self.waiting && self.next < bounds.messages && room(self.data.len()) {
            report(Event::Send);
        }
        if self.waiting && self.retransmissions < bounds.retransmissions && room(self.data.len()) {
            report(Event::TimeOut);
        }
        if !self.acks.is_empty() {
            report(Event::ReceiveAck);
        }
        if !self.data.is_empty() && room(self.acks.len()) {
            report(Event::ReceiveData);
        }
        if may_lose && !self.data.is_empty() {
            report(Event::LoseData);
        }
        if may_lose && !self.acks.is_empty() {
            report(Event::LoseAck);
        }
    }

    /// Performs an enabled event.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Send => {
                self.data.push(Packet::new(self.next));
                self.waiting = true;
            }
            Event::TimeOut => {
                self.data.push(Packet::new(self.next));
                self.retransmissions += 1;
            }
            Event::ReceiveAck => {
                let bit = self.acks.remove(0);
                if self.waiting && bit == Packet::new(self.next).bit {
                    self.next += 1;
                    self.waiting = false;
                }
            }
            Event::ReceiveData => {
                let packet = self.data.remove(0);
                let expected = Packet::new(self.expected);
                if packet.bit == expected.bit {
                    self.in_order &= packet == expected;
                    self.expected += 1;
                }
                self.acks.push(packet.bit);
            }
            Event::LoseData => {
                self.data.remove(0);
                self.losses += 1;
            }
            Event::LoseAck => {
                self.acks.remove(0);
                self.losses += 1;
            }
        }
    }
}
