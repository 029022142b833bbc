//! Externally visible failures: conversations of a program that a known-good one does not have.
//!
//! Of a program's history, others see conversations, one on each connection. Whether a conversation
//! is right is told from those of the right program in which as much was received.

use super::{Act, Answer, Event, Link, Port, Request, Script, Watched};
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// In which way a conversation is not right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Other bytes are sent, or more.
    WrongData,
    /// The connection ends where more should be sent, or received.
    EarlyClose,
    /// Silence: nothing more is sent, and the connection is not closed.
    Silence,
}

/// What is shown to others that is not right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The port of the connection.
    pub port: Port,
    /// In which way it is not right.
    pub kind: Kind,
    /// What had been received by then.
    pub after: Vec<u8>,
    /// What should be sent from there on.
    pub expected: Vec<u8>,
    /// What is.
    pub shown: Vec<u8>,
}

/// One end's view of a connection.
#[derive(Clone, Debug, Default)]
struct Conversation {
    received: Vec<u8>,
    /// What was sent, and how many bytes had been received before.
    sent: Vec<(usize, Vec<u8>)>,
    /// How many bytes had been received when it was closed, or nothing more was sent.
    closed: Option<usize>,
}

impl Conversation {
    /// What was sent when no more than so many bytes had been received.
    fn sent_after(&self, received: usize) -> Vec<u8> {
        let sent = self.sent.iter().filter(|(after, _)| *after <= received);
        sent.flat_map(|(_, bytes)| bytes.iter().copied()).collect()
    }

    /// How many bytes had been received when this byte was sent.
    fn received_at(&self, place: usize) -> usize {
        let mut end = 0;
        let at = self.sent.iter().find(|(_, bytes)| {
            end += bytes.len();
            end > place
        });
        at.map_or(self.received.len(), |&(after, _)| after)
    }

    /// What is not right about this, if the other one is, and how much was right before; none if
    /// what they received cannot be compared.
    fn differs(&self, right: &Conversation, port: Port) -> Option<(usize, Option<Failure>)> {
        let both = self.received.len().min(right.received.len());
        if self.received[..both] != right.received[..both] {
            return None;
        }
        let (shown, expected) = (self.sent_after(both), right.sent_after(both));
        let same = shown.iter().zip(&expected).take_while(|(one, other)| one == other).count();
        let is_closed = self.closed.is_some_and(|after| after <= both);
        let should_be = right.closed.is_some_and(|after| after <= both);
        let kind = match (same < shown.len(), same < expected.len()) {
            (true, _) => Some(Kind::WrongData),
            (false, true) if is_closed => Some(Kind::EarlyClose),
            (false, true) => Some(Kind::Silence),
            (false, false) if is_closed && self.closed < right.closed.or(Some(usize::MAX)) => {
                Some(Kind::EarlyClose)
            }
            (false, false) if should_be && !is_closed => Some(Kind::Silence),
            (false, false) => None,
        };
        let failure = kind.map(|kind| {
            let after = match kind {
                Kind::WrongData => self.received_at(same),
                Kind::EarlyClose | Kind::Silence => self.received.len(),
            };
            Failure {
                port,
                kind,
                after: self.received[..after].to_vec(),
                expected: expected[same..].to_vec(),
                shown: shown[same..].to_vec(),
            }
        });
        Some((same, failure))
    }
}

/// All conversations of a history.
fn conversations(script: &Script) -> BTreeMap<Link, Conversation> {
    let mut found: BTreeMap<Link, Conversation> = BTreeMap::new();
    for Event { act: Act { request, answer }, past, .. } in &script.events {
        let received_before = |link: Link| {
            let before = past.iter().map(|&place| &script.events[place as usize].act);
            before.map(|act| received(act, link).len()).sum()
        };
        match (request, answer) {
            (Request::Connect(link), Answer::Done) | (_, Answer::Accepted(link)) => {
                found.entry(*link).or_default();
            }
            (Request::Send { link, bytes }, Answer::Done) => {
                let sent = (received_before(*link), bytes.clone());
                found.entry(*link).or_default().sent.push(sent);
            }
            (Request::Receive { link, .. }, Answer::Bytes(bytes)) => {
                found.entry(*link).or_default().received.extend(bytes);
            }
            (Request::Shut(link) | Request::Close(link) | Request::Break(link), _) => {
                let after = received_before(*link);
                found.entry(*link).or_default().closed.get_or_insert(after);
            }
            _ => {}
        }
    }
    found
}

/// What an act received on a connection.
fn received(act: &Act, on: Link) -> &[u8] {
    match (&act.request, &act.answer) {
        (Request::Receive { link, .. }, Answer::Bytes(bytes)) if *link == on => bytes,
        _ => &[],
    }
}

/// A connection that a history should have and has not: it is never taken, or given up.
fn missing(script: &Script, link: Link) -> Option<Failure> {
    let acts = || script.events.iter().map(|event| &event.act);
    let waits = |act: &Act| {
        act.answer == Answer::Never
            && match &act.request {
                Request::Accept { port, .. } => *port == link.port,
                Request::Connect(other) => *other == link,
                Request::Look { at, .. } => at.contains(&Watched::Connections { port: link.port }),
                _ => false,
            }
    };
    let gives_up = |act: &Act| act.request == Request::Unlisten { port: link.port };
    // A blocked reader is not to blame, nor is a refused client.
    let is_refused =
        |act: &Act| act.request == Request::Connect(link) && act.answer == Answer::Refused;
    if acts().any(|act| waits(act) || is_refused(act)) {
        return None;
    }
    let kind = if acts().any(gives_up) { Kind::EarlyClose } else { Kind::Silence };
    let (after, expected, shown) = Default::default();
    Some(Failure { port: link.port, kind, after, expected, shown })
}

/// All that histories show that is not right, if these others are; with the histories that do.
pub fn failures(shown: &[Script], right: &[Script]) -> BTreeMap<Failure, BTreeSet<usize>> {
    let right: Vec<BTreeMap<Link, Conversation>> = right.iter().map(conversations).collect();
    let always = |link: &&Link| right.iter().all(|history| history.contains_key(link));
    let always: Vec<Link> =
        right.iter().take(1).flat_map(BTreeMap::keys).filter(always).copied().collect();
    let mut found: BTreeMap<Failure, BTreeSet<usize>> = BTreeMap::new();
    for (number, script) in shown.iter().enumerate() {
        let held = conversations(script);
        let absent = always.iter().filter(|link| !held.contains_key(link));
        let absent = absent.filter_map(|&link| missing(script, link));
        let wrong = held.iter().filter_map(|(link, one)| {
            let known = right.iter().filter_map(|history| history.get(link));
            let nothing = Conversation::default();
            let known: Vec<&Conversation> = known.collect();
            let nobody = [&nothing];
            let known = if known.is_empty() { &nobody[..] } else { &known[..] };
            let compared: Vec<_> =
                known.iter().filter_map(|right| one.differs(right, link.port)).collect();
            if compared.iter().any(|(_, failure)| failure.is_none()) {
                return None;
            }
            // Of what is not right, the part before which most was.
            let most = compared.iter().map(|(same, _)| *same).max()?;
            compared.into_iter().find(|(same, _)| *same == most)?.1
        });
        for failure in absent.chain(wrong) {
            found.entry(failure).or_default().insert(number);
        }
    }
    found
}
