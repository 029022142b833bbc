//! Trace validation: whether a log is a path of a model.
//!
//! A log names events, and perhaps who acts and which packets are received and sent; it does not name
//! the outcome of an event, nor events that a program does not log. So the states in which the model may
//! be are followed together, all at once: after each entry those that some matching step leads to.
//! H. Cirstea, M. A. Kuppe, B. Loillier, S. Merz: *Validating traces of distributed programs against
//! TLA+ specifications*, SEFM 2024.

use crate::{Canonical, Model, Packet, Step};
use std::collections::{BTreeMap, BTreeSet};

/// An entry of a log: which event, and as much else as was logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogEntry {
    /// The number of the event.
    pub event: u16,
    /// The number of the actor.
    pub actor: Option<u16>,
    /// The packet that is received.
    pub received: Option<String>,
    /// The packets that are sent, in any order.
    pub sent: Option<Vec<String>>,
}

/// A step that a model allows, with its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// The step.
    pub step: Step,
    /// The packet that is received.
    pub received: Option<String>,
    /// The packets that are sent.
    pub sent: Vec<String>,
}

/// What became of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validated {
    /// It is a path of the model; the model may be in so many states at its end.
    Path(usize),
    /// No path of the model allows the entry of this number, counted from 0, after those before it.
    /// The steps that were possible there, each once.
    Refused(usize, Vec<Possible>),
    /// There were more states to follow than allowed, at the entry of this number.
    TooMany(usize),
}

/// Follows a log through a model. Events that are hidden may happen at any time without being logged;
/// at most `limit` states are followed at a time.
pub fn validate<M: Model>(model: &M, log: &[LogEntry], hidden: &[u16], limit: usize) -> Validated {
    let follower = Follower { model, hidden, limit };
    let mut first = Vec::new();
    model.initial().write(&mut first);
    let mut states = States::from([first]);
    for (number, entry) in log.iter().enumerate() {
        if !follower.close(&mut states) {
            return Validated::TooMany(number);
        }
        let next = follower.after(&states, |taken| taken.is(entry));
        if next.is_empty() {
            return Validated::Refused(number, follower.possible(&states));
        }
        if next.len() > limit {
            return Validated::TooMany(number);
        }
        states = next;
    }
    Validated::Path(states.len())
}

/// States by their canonical bytes.
type States = BTreeSet<Vec<u8>>;

/// A step that was taken.
struct Taken<'a, M: Model> {
    model: &'a M,
    before: &'a M::State,
    step: Step,
    after: &'a M::State,
}

impl<M: Model> Taken<'_, M> {
    /// Whether an entry may be about this step.
    fn is(&self, entry: &LogEntry) -> bool {
        let LogEntry { event, actor, received, sent } = entry;
        if self.step.event != *event || actor.is_some_and(|actor| actor != self.step.actor) {
            return false;
        }
        if received.is_none() && sent.is_none() {
            return true;
        }
        let (now_received, now_sent) = self.packets();
        received.as_ref().is_none_or(|packet| now_received.as_ref() == Some(packet))
            && sent.as_ref().is_none_or(|packets| sorted(packets.clone()) == now_sent)
    }

    /// The packet that is received, and those that are sent, sorted.
    fn packets(&self) -> (Option<String>, Vec<String>) {
        let transit = self.model.transit(self.before, self.step, self.after);
        let text = |packet: Packet| packet.text;
        (transit.arrived.map(text), sorted(transit.sent.into_iter().map(text).collect()))
    }
}

fn sorted(mut packets: Vec<String>) -> Vec<String> {
    packets.sort_unstable();
    packets
}

struct Follower<'a, M> {
    model: &'a M,
    hidden: &'a [u16],
    limit: usize,
}

impl<M: Model> Follower<'_, M> {
    /// Adds all states that hidden events lead to; whether they are not too many.
    fn close(&self, states: &mut States) -> bool {
        if self.hidden.is_empty() {
            return true;
        }
        let mut new = states.clone();
        while !new.is_empty() {
            let reached = self.after(&new, |taken| self.hidden.contains(&taken.step.event));
            new = reached.into_iter().filter(|state| states.insert(state.clone())).collect();
            if states.len() > self.limit {
                return false;
            }
        }
        true
    }

    /// The states that those steps lead to that `is` accepts.
    fn after(&self, states: &States, mut is: impl FnMut(&Taken<'_, M>) -> bool) -> States {
        let mut reached = States::new();
        self.steps(states, |taken| {
            if is(&taken) {
                let mut after = Vec::new();
                taken.after.write(&mut after);
                reached.insert(after);
            }
        });
        reached
    }

    /// Takes every step that is enabled in one of these states.
    fn steps(&self, states: &States, mut look: impl FnMut(Taken<'_, M>)) {
        let (mut before, mut after) = (self.model.initial(), self.model.initial());
        let mut steps = Vec::new();
        for bytes in states {
            before.read(&mut &bytes[..]);
            steps.clear();
            self.model.enabled(&before, &mut steps);
            for &step in &steps {
                after.read(&mut &bytes[..]);
                self.model.take(&mut after, step);
                look(Taken { model: self.model, before: &before, step, after: &after });
            }
        }
    }

    /// The events that are possible in some of these states, each once for each actor and its packets.
    fn possible(&self, states: &States) -> Vec<Possible> {
        let mut kinds = BTreeMap::new();
        self.steps(states, |taken| {
            let step = Step { param: 0, ..taken.step };
            let (received, sent) = taken.packets();
            let key = (step.actor, step.event, received.clone(), sent.clone());
            kinds.entry(key).or_insert(Possible { step, received, sent });
        });
        kinds.into_values().collect()
    }
}
