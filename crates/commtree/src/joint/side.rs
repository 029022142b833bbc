use super::{Act, Answer, Request};
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

/// An event of a side. Whatever is before an event has a smaller number.
pub type EventId = u32;

/// A history of a side.
pub type HistoryId = u32;

/// What happened at one point of a side's execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread, by a name that is the same in every execution.
    pub thread: u64,
    /// What it did.
    pub act: Act,
    /// All events of the side that happened before, ascending.
    pub past: Vec<EventId>,
}

/// What one execution of a side showed to the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct History {
    /// Its events, ascending.
    pub events: Vec<EventId>,
    /// How the execution ended, in whatever way its owner tells ends apart.
    pub end: u64,
}

/// A program, as far as it has been explored.
#[derive(Debug, Default)]
pub struct Side {
    events: Vec<Event>,
    numbers: BTreeMap<(Vec<EventId>, u64, Act), EventId>,
    histories: Vec<History>,
    history_numbers: BTreeMap<History, HistoryId>,
    /// The histories that the last exploration found.
    current: Vec<HistoryId>,
    /// What can come of a request after just these events.
    answers: BTreeMap<(Vec<EventId>, Request), Vec<Answer>>,
    /// Whether answers were found since the last exploration.
    grown: bool,
    /// Whether it does only what it was told, and is never explored.
    pub(super) is_scripted: bool,
}

impl Side {
    /// What can come of a request if just these events were before it: at least one answer, in an
    /// order that only ever gets longer at its end.
    pub fn offers(&self, past: &[EventId], request: &Request) -> Vec<Answer> {
        let known = self.answers.get(&(past.to_vec(), request.essence()));
        let mut offers: Vec<Answer> = Vec::new();
        if !request.waits() {
            offers.push(Answer::Done);
        }
        for answer in known.into_iter().flatten() {
            let answer = request.fitted(answer);
            if !offers.contains(&answer) {
                offers.push(answer);
            }
        }
        if offers.is_empty() { vec![Answer::Never] } else { offers }
    }

    /// Notes that an answer is possible; whether that is new.
    pub(super) fn learn(&mut self, past: &[EventId], request: &Request, answer: Answer) -> bool {
        if answer == Answer::Done && !request.waits() {
            return false;
        }
        let known = self.answers.entry((past.to_vec(), request.essence())).or_default();
        let is_new = !known.contains(&answer);
        if is_new {
            known.push(answer);
            self.grown = true;
        }
        is_new
    }

    /// The number of an event.
    pub fn event(&mut self, thread: u64, act: Act, past: Vec<EventId>) -> EventId {
        let key = (past, thread, act);
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let number = self.events.len() as EventId;
        let (past, thread, act) = key.clone();
        self.events.push(Event { thread, act, past });
        self.numbers.insert(key, number);
        number
    }

    /// The event with a number.
    pub fn get(&self, event: EventId) -> &Event {
        &self.events[event as usize]
    }

    /// Whether the side must be explored, because it can be answered what it never was.
    pub fn is_to_be_explored(&self) -> bool {
        !self.is_scripted && (self.grown || self.histories.is_empty())
    }

    /// Begins an exploration.
    pub fn begin(&mut self) {
        self.grown = false;
        self.current.clear();
    }

    /// Adds a history that the exploration found; its number, and whether nobody has met it before.
    pub fn add(&mut self, history: History) -> (HistoryId, bool) {
        let next = self.histories.len() as HistoryId;
        let number = *self.history_numbers.entry(history.clone()).or_insert(next);
        let is_new = number == next;
        if is_new {
            self.histories.push(history);
        }
        if let Err(place) = self.current.binary_search(&number) {
            self.current.insert(place, number);
        }
        (number, is_new)
    }

    /// Adds a history that nobody explored.
    pub(super) fn add_scripted(&mut self, history: History) -> HistoryId {
        self.is_scripted = true;
        self.add(history).0
    }

    /// Whether some history has this answer in place of that of an event.
    pub(super) fn has_instead(&self, event: EventId, answer: &Answer) -> bool {
        let Event { thread, act, past } = self.get(event);
        let act = Act { request: act.request.clone(), answer: act.request.fitted(answer) };
        self.numbers.contains_key(&(past.clone(), *thread, act))
    }

    /// The histories that the last exploration found.
    pub fn histories(&self) -> &[HistoryId] {
        &self.current
    }

    /// The history with a number.
    pub fn history(&self, number: HistoryId) -> &History {
        &self.histories[number as usize]
    }
}
