//! The messages of an execution of a model: which packet was sent when, and what became of it.
//!
//! Packets with the same text between the same nodes cannot be told apart; the oldest is the one that
//! arrives or is lost.

use crate::{Packet, Transit};
use everypath_trace::{Message, Moment, Party};

/// The messages so far.
pub(crate) struct Messages<F> {
    name: F,
    messages: Vec<Message>,
    /// What is in flight: the packet, and the number of its message. A duplicated one is there twice.
    flying: Vec<(Packet, usize)>,
    /// How many steps were taken, and how many things were sent and received.
    step: usize,
    order: usize,
}

impl<F: Fn(u16) -> String> Messages<F> {
    /// None yet; `name` names actors.
    pub(crate) fn new(name: F) -> Self {
        Messages { name, messages: Vec::new(), flying: Vec::new(), step: 0, order: 0 }
    }

    /// What is in flight in the initial state.
    pub(crate) fn start(&mut self, packets: Vec<Packet>) {
        packets.into_iter().for_each(|packet| self.send(packet));
    }

    /// What the next step does.
    pub(crate) fn step(&mut self, transit: Transit) {
        self.step += 1;
        if let Some(number) = transit.arrived.and_then(|packet| self.take(&packet)) {
            let moment = self.moment();
            self.messages[number].arrivals.push(moment);
        }
        for packet in transit.lost {
            if let Some(number) = self.take(&packet) {
                self.messages[number].lost = true;
            }
        }
        if let Some(packet) = transit.duplicated {
            let known = self.flying.iter().find(|(flying, _)| *flying == packet);
            if let Some(&(_, number)) = known {
                self.flying.push((packet, number));
            }
        }
        transit.sent.into_iter().for_each(|packet| self.send(packet));
    }

    /// The messages, in the order of sending.
    pub(crate) fn finish(self) -> Vec<Message> {
        self.messages
    }

    fn moment(&mut self) -> Moment {
        self.order += 1;
        Moment { order: self.order, step: self.step }
    }

    fn take(&mut self, packet: &Packet) -> Option<usize> {
        let at = self.flying.iter().position(|(flying, _)| flying == packet)?;
        Some(self.flying.remove(at).1)
    }

    fn send(&mut self, packet: Packet) {
        let sent = self.moment();
        let party = |actor| Party { process: (self.name)(actor), ..Party::default() };
        let length = packet.text.len() as u64;
        self.messages.push(Message {
            from: party(packet.from),
            to: party(packet.to),
            content: packet.text.clone(),
            length,
            kept: length,
            datagram: true,
            sent,
            arrivals: Vec::new(),
            lost: false,
        });
        self.flying.push((packet, self.messages.len() - 1));
    }
}
