//! Trace validation: whether a log is a path of a model.
//!
//! A log names events, and perhaps who acts; it does not name the outcome of an event, nor events that
//! a program does not log. So the states in which the model may be are followed together, all at once:
//! after each entry those that some matching step leads to. H. Cirstea, M. A. Kuppe, B. Loillier,
//! S. Merz: *Validating traces of distributed programs against TLA+ specifications*, SEFM 2024.

use crate::{Canonical, Step, System};
use std::collections::BTreeSet;

/// An entry of a log: which event, and who acts, if that was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The number of the event.
    pub event: u16,
    /// The number of the actor.
    pub actor: Option<u16>,
}

/// What became of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validated {
    /// It is a path of the model; the model may be in so many states at its end.
    Path(usize),
    /// No path of the model allows the entry of this number, counted from 0, after those before it.
    /// The steps that were possible there, each once.
    Refused(usize, Vec<Step>),
    /// There were more states to follow than allowed, at the entry of this number.
    TooMany(usize),
}

/// Follows a log through a system. Events that are hidden may happen at any time without being logged;
/// at most `limit` states are followed at a time.
pub fn validate<S: System>(
    system: &S,
    log: &[LogEntry],
    hidden: &[u16],
    limit: usize,
) -> Validated {
    let mut follower = Follower { system, hidden, limit, steps: Vec::new() };
    let mut first = Vec::new();
    system.initial().write(&mut first);
    let mut states = BTreeSet::from([first]);
    for (number, entry) in log.iter().enumerate() {
        if !follower.close(&mut states) {
            return Validated::TooMany(number);
        }
        let matches = |step: Step| {
            step.event == entry.event && entry.actor.is_none_or(|actor| actor == step.actor)
        };
        let next = follower.after(&states, &matches);
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

struct Follower<'a, S> {
    system: &'a S,
    hidden: &'a [u16],
    limit: usize,
    steps: Vec<Step>,
}

impl<S: System> Follower<'_, S> {
    /// Adds all states that hidden events lead to; whether they are not too many.
    fn close(&mut self, states: &mut BTreeSet<Vec<u8>>) -> bool {
        if self.hidden.is_empty() {
            return true;
        }
        let hidden = self.hidden;
        let mut new = states.clone();
        while !new.is_empty() {
            let reached = self.after(&new, &|step| hidden.contains(&step.event));
            new = reached.into_iter().filter(|state| states.insert(state.clone())).collect();
            if states.len() > self.limit {
                return false;
            }
        }
        true
    }

    /// The states that those steps lead to that `is` accepts.
    fn after(
        &mut self,
        states: &BTreeSet<Vec<u8>>,
        is: &dyn Fn(Step) -> bool,
    ) -> BTreeSet<Vec<u8>> {
        let mut state = self.system.initial();
        let mut reached = BTreeSet::new();
        for bytes in states {
            for step in self.enabled(bytes) {
                if is(step) {
                    state.read(&mut &bytes[..]);
                    self.system.take(&mut state, step);
                    let mut after = Vec::new();
                    state.write(&mut after);
                    reached.insert(after);
                }
            }
        }
        reached
    }

    fn enabled(&mut self, bytes: &[u8]) -> Vec<Step> {
        let mut state = self.system.initial();
        state.read(&mut &bytes[..]);
        self.steps.clear();
        self.system.enabled(&state, &mut self.steps);
        self.steps.clone()
    }

    /// The events that are possible in some of these states, each once for each actor.
    fn possible(&mut self, states: &BTreeSet<Vec<u8>>) -> Vec<Step> {
        let all = states.iter().flat_map(|bytes| self.enabled(bytes));
        let kinds: BTreeSet<(u16, u16)> = all.map(|step| (step.actor, step.event)).collect();
        kinds.into_iter().map(|(actor, event)| Step { actor, event, param: 0 }).collect()
    }
}
