//! One program: its events, its histories and the answers it has learnt.

use super::{Act, Answer, Readiness, Request, Watched};
use std::collections::BTreeMap;
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
    pub(super) answers: BTreeMap<(Vec<EventId>, Request), Vec<Answer>>,
    /// Whether answers were found since the last exploration.
    grown: bool,
    /// Whether it is recorded (a failure file), and never explored.
    pub(super) is_scripted: bool,
    /// How many connections the network may break in one history.
    pub(super) breaks: usize,
}

impl Side {
    /// What can come of a request if just these events were before it: at least one answer, in an
    /// order that only ever gets longer at its end.
    pub fn offers(&self, past: &[EventId], request: &Request) -> Vec<Answer> {
        if let Some(answers) = self.after_break(past, request) {
            return answers;
        }
        let known = self.answers.get(&(past.to_vec(), request.essence()));
        let mut offers: Vec<Answer> = Vec::new();
        for answer in self.assumed(past, request).iter().chain(known.into_iter().flatten()) {
            let answer = request.fitted(answer);
            if !offers.contains(&answer) && !self.is_belied(past, request, &answer) {
                offers.push(answer);
            }
        }
        if offers.is_empty() {
            // What it will find is not known yet: it has to go on for others to go on.
            offers.push(request.unaided().unwrap_or(Answer::Never));
        }
        offers
    }

    /// What can come of a request whatever is learnt: what needs nothing of others, and for a
    /// datagram what came of one before it on the same way.
    fn assumed(&self, past: &[EventId], request: &Request) -> Option<Answer> {
        let Request::SendTo { from, to, .. } = request else { return request.unaided() };
        let was_taken = past.iter().map(|&event| &self.get(event).act).any(|act| {
            let is_same = matches!(&act.request,
                Request::SendTo { from: by, to: at, .. } if (by, at) == (from, to));
            is_same && act.answer == Answer::Done
        });
        was_taken.then_some(Answer::Done)
    }

    /// Whether the side has seen before that more is there than an answer says: something that
    /// nobody took away, or the end. Whoever takes something away is ordered with those who look.
    fn is_belied(&self, past: &[EventId], request: &Request, answer: &Answer) -> bool {
        let is_over = |what: Watched| {
            past.iter().map(|&event| &self.get(event).act).any(|Act { request, answer }| {
                let tells = matches!(answer, Answer::End | Answer::Reset | Answer::Lost);
                tells && request.links().any(|link| Watched::bytes(link).is_same(what))
            })
        };
        let seen = |what: Watched| {
            past.iter().fold(Readiness::Waits, |seen, &event| {
                let Act { request, answer } = &self.get(event).act;
                match (request, answer) {
                    (Request::Look { at, .. }, Answer::Ready(found)) => {
                        let is_it = |(at, _): &(&Watched, _)| at.is_same(what);
                        at.iter().zip(found).find(is_it).map_or(seen, |(_, found)| seen.max(*found))
                    }
                    (
                        Request::Receive { .. }
                        | Request::ReceiveFrom { .. }
                        | Request::Accept { .. },
                        _,
                    ) if request.sees(what) => Readiness::Waits,
                    _ => seen,
                }
            })
        };
        let is_there = |what: Watched| is_over(what) || seen(what) > Readiness::Waits;
        match (request, answer) {
            (Request::Accept { port, .. }, Answer::Nothing) => {
                is_there(Watched::Connections { port: *port })
            }
            (Request::Receive { link, .. }, Answer::Nothing) => is_there(Watched::bytes(*link)),
            (Request::ReceiveFrom { port, .. }, Answer::Nothing) => {
                is_there(Watched::Datagrams { port: *port })
            }
            (Request::Look { at, .. }, Answer::Nothing) => at.iter().copied().any(is_there),
            (Request::Look { at, .. }, Answer::Ready(found)) => {
                let is_less = |(at, found): (&Watched, &Readiness)| {
                    is_there(*at) && *found == Readiness::Waits
                };
                at.iter().zip(found).any(is_less)
            }
            _ => false,
        }
    }

    /// Notes that an answer is possible; whether that is new.
    pub(super) fn learn(&mut self, past: &[EventId], request: &Request, answer: Answer) -> bool {
        if self.assumed(past, request).as_ref() == Some(&answer) {
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

    /// Adds a history that the exploration found; its number, and whether it is new.
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

    /// Adds a history that was not explored.
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
