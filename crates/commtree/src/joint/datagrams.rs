//! Datagrams in combined histories.
//!
//! What comes to a port stands in one queue, whoever sent it, in the order of sending. Of two
//! senders neither knows who came first, so causality keeps the order between two ports only: that
//! of the sender. Whoever sends from one port to another is ordered with others who do, and so is
//! whoever receives at a port; the how many-th datagram from one port to another was received is
//! therefore clear from histories alone.

use super::combination::Combination;
use super::set::Set;
use super::{Act, Answer, Request};
use std::collections::BTreeMap;
use std::vec::Vec;

/// A port to which datagrams are sent.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    /// Where it is bound, and from where it takes datagrams since then if not from everywhere.
    binds: Vec<(usize, Option<u16>)>,
    unbind: Option<usize>,
    /// What is sent there, from each port.
    sent: BTreeMap<u16, Vec<usize>>,
    /// What is received there, and from which port.
    received: Vec<(usize, u16)>,
}

/// Whether who takes datagrams from one port only takes those from another.
fn admits(only: Option<u16>, from: u16) -> bool {
    only.is_none_or(|only| only == from)
}

impl Mailbox {
    /// Where it is bound so that datagrams from a port are taken.
    fn taking(&self, from: u16) -> impl Iterator<Item = usize> {
        self.binds.iter().filter(move |(_, only)| admits(*only, from)).map(|(at, _)| *at)
    }

    /// Where it is bound so that they are not, or not bound any more.
    fn losing(&self, from: u16) -> impl Iterator<Item = usize> {
        let binds = self.binds.iter().filter(move |(_, only)| !admits(*only, from));
        binds.map(|(at, _)| *at).chain(self.unbind)
    }
}

impl Combination<'_> {
    fn mailbox(&mut self, port: u16) -> &mut Mailbox {
        self.mailboxes.entry(port).or_default()
    }

    /// Notes an event about datagrams.
    pub(super) fn enter_datagram(&mut self, at: usize, act: &Act) {
        match (&act.request, &act.answer) {
            (Request::Bind { port, only }, _) => self.mailbox(*port).binds.push((at, *only)),
            (Request::Unbind { port }, _) => self.mailbox(*port).unbind = Some(at),
            (Request::SendTo { from, to, .. }, Answer::Done) => {
                self.mailbox(*to).sent.entry(*from).or_default().push(at);
            }
            (Request::ReceiveFrom { port, .. }, Answer::Datagram { from, .. }) => {
                self.mailbox(*port).received.push((at, *from));
            }
            _ => {}
        }
    }

    /// The next datagram from a port that an event can be about, when all before it happened.
    fn next_from(&self, at: usize, mailbox: &Mailbox, from: u16) -> Option<usize> {
        let past = &self.places[at].past;
        let is_before = |(place, of): &&(usize, u16)| *of == from && past.contains(*place);
        let received = mailbox.received.iter().filter(is_before).count();
        mailbox.sent.get(&from)?.get(received).copied()
    }

    /// The datagrams of which one must have been sent for an event to find something at a port.
    pub(super) fn next_datagrams(&self, at: usize, port: u16) -> Vec<usize> {
        let Some(mailbox) = self.mailboxes.get(&port) else { return Vec::new() };
        mailbox.sent.keys().filter_map(|&from| self.next_from(at, mailbox, from)).collect()
    }

    /// What an event about datagrams needs of other sides; none if nothing can give it that.
    pub(super) fn needed_for_datagram(&self, at: usize, act: &Act) -> Option<Vec<Vec<usize>>> {
        let one_of: Vec<usize> = match (&act.request, &act.answer) {
            (Request::SendTo { from, to, .. }, Answer::Done) => {
                self.mailboxes.get(to)?.taking(*from).collect()
            }
            (Request::SendTo { from, to, .. }, _) => {
                self.mailboxes.get(to)?.losing(*from).collect()
            }
            (Request::ReceiveFrom { port, .. }, Answer::Datagram { from, bytes }) => {
                let sent = self.next_from(at, self.mailboxes.get(port)?, *from)?;
                let is_it = matches!(&self.places[sent].event.act.request,
                    Request::SendTo { bytes: said, .. } if said == bytes);
                is_it.then_some(sent).into_iter().collect()
            }
            _ => return Some(Vec::new()),
        };
        (!one_of.is_empty()).then(|| [one_of].into())
    }

    /// What can come of a request about datagrams when so much has happened.
    pub(super) fn answers_about_datagrams(
        &self,
        at: usize,
        request: &Request,
        done: &Set,
    ) -> Vec<Answer> {
        match request {
            Request::SendTo { from, to, .. } => {
                let Some(mailbox) = self.mailboxes.get(to) else { return Vec::new() };
                let taken = mailbox.taking(*from).any(|place| done.contains(place));
                let lost = mailbox.losing(*from).any(|place| done.contains(place));
                let answers = [(taken, Answer::Done), (lost, Answer::Lost)];
                answers.into_iter().filter(|(can, _)| *can).map(|(_, answer)| answer).collect()
            }
            Request::ReceiveFrom { port, .. } => {
                let next = self.next_datagrams(at, *port);
                // Nothing comes before what its sender had sent there before.
                let is_first = |place: &usize| {
                    let past = &self.places[*place].past;
                    done.contains(*place) && !next.iter().any(|other| past.contains(*other))
                };
                let datagram = |place: usize| match &self.places[place].event.act.request {
                    Request::SendTo { from, bytes, .. } => {
                        Some(Answer::Datagram { from: *from, bytes: bytes.clone() })
                    }
                    _ => None,
                };
                next.iter().copied().filter(is_first).filter_map(datagram).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a datagram is unread at the end.
    pub(super) fn has_datagram(&self, port: u16) -> bool {
        self.mailboxes.get(&port).is_some_and(|mailbox| {
            let sent: usize = mailbox.sent.values().map(Vec::len).sum();
            mailbox.unbind.is_none() && sent > mailbox.received.len()
        })
    }

    /// Whether a datagram from one port can be the next that is sent to another, if all these events
    /// happen, and some have: those who receive there say in which order they were sent.
    pub(super) fn is_in_order(&self, (from, to): (u16, u16), all: &Set, done: &Set) -> bool {
        let Some(mailbox) = self.mailboxes.get(&to) else { return true };
        let sent = mailbox.sent.values().flatten().filter(|&&at| done.contains(at)).count();
        let mut received = mailbox.received.iter().filter(|(at, _)| all.contains(*at));
        received.nth(sent).is_none_or(|(_, expected)| *expected == from)
    }
}
