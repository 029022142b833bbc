//! Connections that the network resets, within a budget for each history of a side. Unix sockets do
//! not use the network.

use super::{Act, Answer, EventId, Link, Readiness, Request, Side, Watched};
use std::vec;
use std::vec::Vec;

/// A thread that stands for the network.
pub const NETWORK: u64 = u64::MAX - 1;

impl Side {
    /// Lets the network break so many connections of this side in one history.
    pub fn allow_breaks(&mut self, most: usize) {
        self.breaks = most;
    }

    /// Whether more connections break in these events than are allowed to.
    pub fn breaks_too_often(&self, events: &[EventId]) -> bool {
        self.count_breaks(events) > self.breaks
    }

    fn count_breaks(&self, events: &[EventId]) -> usize {
        let is_break =
            |event: &&EventId| matches!(self.get(**event).act.request, Request::Break(_));
        events.iter().filter(is_break).count()
    }

    /// The events with which connections break that a request is about, just before it, if just
    /// these events were before. It does not matter how long before: such an event comes after
    /// nothing but what its connection was used for.
    pub fn breaks_before(&mut self, past: &[EventId], request: &Request) -> Vec<EventId> {
        if self.count_breaks(past) >= self.breaks || matches!(request, Request::Shut(_)) {
            return Vec::new();
        }
        let is_open = |link: &Link| {
            !link.port.is_unix() && !self.is_broken(past, *link) && !self.is_told(past, *link)
        };
        let links: Vec<Link> = request.links().filter(is_open).collect();
        links.into_iter().map(|link| self.break_after(past, link)).collect()
    }

    /// Histories like this one, with resets at the end of connections that are not used any more.
    pub fn broken_in_the_end(&mut self, events: &[EventId]) -> Vec<Vec<EventId>> {
        let act = |event: &EventId| &self.get(*event).act;
        let is_used = |link: Link| {
            events.iter().map(act).any(|Act { request, answer }| {
                let is_over = *answer == Answer::Never || *request == Request::Close(link);
                is_over && request.links().any(|on| on == link)
            })
        };
        let links = events.iter().filter_map(|event| made(act(event)));
        let is_open = |link: &Link| {
            !link.port.is_unix()
                && !is_used(*link)
                && !self.is_broken(events, *link)
                && !self.is_told(events, *link)
        };
        let links: Vec<Link> = links.filter(is_open).collect();
        let mut found = vec![events.to_vec()];
        for link in links {
            for at in 0..found.len() {
                if self.count_breaks(&found[at]) < self.breaks {
                    let broken = self.break_after(events, link);
                    let mut with = found[at].clone();
                    with.push(broken);
                    with.sort_unstable();
                    found.push(with);
                }
            }
        }
        found.split_off(1)
    }

    /// The event with which a connection breaks after it was used as in these events.
    fn break_after(&mut self, events: &[EventId], link: Link) -> EventId {
        let mut past: Vec<EventId> = Vec::new();
        for &event in events {
            let of = self.get(event);
            if made(&of.act) == Some(link) || of.act.request.links().any(|on| on == link) {
                past.extend(&of.past);
                past.push(event);
            }
        }
        past.sort_unstable();
        past.dedup();
        let act = Act { request: Request::Break(link), answer: Answer::Done };
        self.event(NETWORK, act, past)
    }

    fn is_broken(&self, past: &[EventId], link: Link) -> bool {
        past.iter().any(|&event| self.get(event).act.request == Request::Break(link))
    }

    /// Whether the side knows that a connection is broken.
    fn is_told(&self, past: &[EventId], link: Link) -> bool {
        past.iter()
            .map(|&event| &self.get(event).act)
            .any(|act| act.answer == Answer::Reset && act.request.links().any(|on| on == link))
    }

    /// What comes of a request about a connection that the network broke before; none if it is
    /// about others.
    pub(super) fn after_break(&self, past: &[EventId], request: &Request) -> Option<Vec<Answer>> {
        let is_broken = |link: Link| self.is_broken(past, link);
        match request {
            Request::Receive { link, .. } | Request::Send { link, .. } if !is_broken(*link) => None,
            Request::Receive { link, .. } if self.is_told(past, *link) => Some(vec![Answer::End]),
            Request::Receive { .. } => Some(vec![Answer::Reset]),
            Request::Send { link, .. } if self.is_told(past, *link) => Some(vec![Answer::Lost]),
            // The program may get the error later.
            Request::Send { .. } => Some(vec![Answer::Lost, Answer::Reset]),
            Request::Look { at, .. } => {
                let seen = |watched: &Watched| match *watched {
                    Watched::Bytes { link, sees_end } if is_broken(link) => {
                        match self.is_told(past, link) {
                            false => Readiness::Broken,
                            true if sees_end => Readiness::End,
                            true => Readiness::Input,
                        }
                    }
                    _ => Readiness::Waits,
                };
                let seen: Vec<Readiness> = at.iter().map(seen).collect();
                if seen.iter().all(|it| *it == Readiness::Waits) {
                    return None;
                }
                // Something else may be there, too.
                let mut answers = vec![Answer::Ready(seen.clone())];
                let known = self.answers.get(&(past.to_vec(), request.essence()));
                answers.extend(
                    known
                        .into_iter()
                        .flatten()
                        .filter(|answer| {
                            let Answer::Ready(found) = answer else { return false };
                            let mut pairs = seen.iter().zip(found);
                            **answer != answers[0]
                                && pairs
                                    .all(|(seen, found)| *seen == Readiness::Waits || seen == found)
                        })
                        .cloned()
                        .collect::<Vec<_>>(),
                );
                Some(answers)
            }
            _ => None,
        }
    }
}

/// The connection that comes of an act, if one does.
fn made(act: &Act) -> Option<Link> {
    match (&act.request, &act.answer) {
        (Request::Connect(link), Answer::Done) | (_, Answer::Accepted(link)) => Some(*link),
        _ => None,
    }
}
