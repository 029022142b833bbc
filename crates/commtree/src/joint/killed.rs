//! Killed processes: a causally closed part of a history, after which everything is closed.

use super::{Act, Answer, EventId, History, HistoryId, Request, Side};
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

/// A thread that stands for the process when it is gone.
pub const PROCESS: u64 = u64::MAX;

impl Side {
    /// Adds to events those with which the process lets go of all that it has, one after the other:
    /// what it has first goes first, since descriptors are closed in their order.
    pub fn let_go(&mut self, mut events: Vec<EventId>) -> Vec<EventId> {
        let mut held: Vec<Request> = Vec::new();
        for &event in &events {
            match &self.get(event).act {
                Act { request: Request::Connect(link), answer: Answer::Done }
                | Act { answer: Answer::Accepted(link), .. } => held.push(Request::Close(*link)),
                Act { request: Request::Listen { port, .. }, .. } => {
                    held.push(Request::Unlisten { port: *port });
                }
                Act { request: Request::Bind { port, .. }, .. } => {
                    let gone = Request::Unbind { port: *port };
                    if !held.contains(&gone) {
                        held.push(gone);
                    }
                }
                Act {
                    request:
                        gone @ (Request::Close(_) | Request::Unlisten { .. } | Request::Unbind { .. }),
                    ..
                } => held.retain(|it| it != gone),
                _ => {}
            }
        }
        for request in held {
            let act = Act { request, answer: Answer::Done };
            events.push(self.event(PROCESS, act, events.clone()));
            events.sort_unstable();
        }
        events
    }

    /// Lets the process be killed at any point of the histories that the last exploration found:
    /// some of their events happen, with all that come before these, and then it is gone. Servers
    /// are taken to be started first: it is not killed before it listens. False if there are more
    /// than so many such points.
    pub fn kill_everywhere(&mut self, end: u64, most: usize) -> bool {
        let mut all: BTreeSet<Vec<EventId>> = BTreeSet::new();
        for &history in self.histories() {
            let Some(points) = self.points(history, most) else { return false };
            all.extend(points);
            if all.len() > most {
                return false;
            }
        }
        for point in all {
            let events = self.let_go(point);
            self.add(History { events, end });
        }
        true
    }

    /// All points of a history at which the process may be killed; none if there are too many.
    fn points(&self, history: HistoryId, most: usize) -> Option<BTreeSet<Vec<EventId>>> {
        let is_step = |&&event: &&EventId| {
            let event = self.get(event);
            event.thread != PROCESS && event.act.answer != Answer::Never
        };
        let opens = |event: EventId| {
            matches!(self.get(event).act.request, Request::Listen { .. } | Request::Bind { .. })
        };
        let listens = |&&event: &&EventId| match self.get(event).act.request {
            Request::Listen { .. } => true,
            // A socket that is bound later is no server.
            Request::Bind { .. } => self.get(event).past.iter().all(|&before| opens(before)),
            _ => false,
        };
        let steps: Vec<EventId> =
            self.history(history).events.iter().filter(is_step).copied().collect();
        let mut points: BTreeSet<Vec<EventId>> = BTreeSet::new();
        let mut waiting = vec![Vec::new()];
        while let Some(point) = waiting.pop() {
            if points.len() > most {
                return None;
            }
            if !points.insert(point.clone()) {
                continue;
            }
            let is_next = |event: &&EventId| {
                let past = &self.get(**event).past;
                point.binary_search(event).is_err()
                    && past.iter().all(|before| point.binary_search(before).is_ok())
            };
            for &event in steps.iter().filter(is_next) {
                let mut next = point.clone();
                next.push(event);
                next.sort_unstable();
                waiting.push(next);
            }
        }
        points.retain(|point| {
            steps.iter().filter(listens).all(|event| point.binary_search(event).is_ok())
        });
        Some(points)
    }
}
