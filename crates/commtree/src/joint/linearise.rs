//! Linearising combined histories: an order of all events in which each answer is the recorded one.

use super::combination::{Combination, Place};
use super::set::Set;
use super::{Act, Answer, EventId, Network, Request, Watched};
use std::collections::BTreeSet;
use std::vec::Vec;

/// An event in one order of all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The side.
    pub side: usize,
    /// Which of its events.
    pub event: EventId,
}

/// What came of performing histories together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linearised {
    /// They happen together, in this order.
    Possible(Vec<Performed>),
    /// They cannot.
    Impossible,
    /// There are too many orders to try, or no time to.
    Unsettled,
}

/// How many moments are tried at most.
const PATIENCE: usize = 50_000;

/// Performs events one after the other, in every order that makes a difference.
struct Search<'c, 'a> {
    combination: &'c Combination<'a>,
    /// Whether there is no more time.
    is_stopped: &'c dyn Fn() -> bool,
    /// Whether not everything was tried.
    gave_up: bool,
    /// What has to happen.
    wanted: Set,
    /// What may happen, and whether all of it has to.
    allowed: Set,
    is_strict: bool,
    /// Whether nothing that waits for ever may be able to go on in the end.
    to_the_end: bool,
    /// Moments from which there is no way.
    hopeless: BTreeSet<(Set, Network)>,
    order: Vec<usize>,
}

impl Combination<'_> {
    /// An order in which all events of some sides happen, and of the others as many as it takes;
    /// if `to_the_end`, all of all sides, so that whatever waits for ever really has nothing to go
    /// on with. Nothing is settled once `is_stopped`.
    pub fn linearise(
        &self,
        sides: impl Fn(usize) -> bool,
        to_the_end: bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> Linearised {
        let chosen = |at: &usize| to_the_end || sides(self.places[*at].side);
        let chosen: Vec<usize> = (0..self.places.len()).filter(chosen).collect();
        if !chosen.iter().all(|&at| self.happens.contains(at)) || to_the_end && self.could_go_on() {
            return Linearised::Impossible;
        }
        // What happens besides can hardly help, so it is tried only if nothing else does.
        let needed = self.ancestors(&chosen);
        let mut wanted = Set::new(self.places.len());
        chosen.iter().for_each(|&at| wanted.insert(at));
        let search = |allowed: Set, is_strict| Search {
            combination: self,
            is_stopped,
            gave_up: false,
            wanted: wanted.clone(),
            allowed,
            is_strict,
            to_the_end,
            hopeless: BTreeSet::new(),
            order: Vec::new(),
        };
        match search(needed.clone(), true).run() {
            Linearised::Impossible if needed != self.happens => {
                search(self.happens.clone(), false).run()
            }
            settled => settled,
        }
    }
}

/// Whether a request is a successful poll of readiness.
fn looks(request: &Request, answer: &Answer, what: Watched) -> bool {
    matches!(answer, Answer::Nothing | Answer::Ready(_)) && request.sees(what)
}

impl Search<'_, '_> {
    fn run(mut self) -> Linearised {
        let places = &self.combination.places;
        let (done, network) = (Set::new(places.len()), Network::default());
        let is_possible = self.goes_on(done, network);
        let performed = |&at: &usize| {
            let Place { side, number: event, .. } = places[at];
            Performed { side, event }
        };
        match is_possible {
            true => Linearised::Possible(self.order.iter().map(performed).collect()),
            false if self.gave_up => Linearised::Unsettled,
            false => Linearised::Impossible,
        }
    }

    /// Goes on until everything wanted has happened; false if there is no way from here.
    fn goes_on(&mut self, mut done: Set, mut network: Network) -> bool {
        let length = self.order.len();
        let next = loop {
            let enabled = self.enabled(&done, &network);
            let safe = enabled.iter().copied().find(|&at| self.is_safe(at, &done));
            let Some(at) = safe else { break enabled };
            self.perform(at, &mut done, &mut network);
        };
        if self.wanted.is_subset(&done) && (!self.to_the_end || self.is_over(&network)) {
            return true;
        }
        let key = (done, network);
        self.gave_up |= self.hopeless.len() >= PATIENCE || (self.is_stopped)();
        if !self.gave_up && !self.hopeless.contains(&key) {
            for at in next {
                let (mut done, mut network) = key.clone();
                self.perform(at, &mut done, &mut network);
                if self.goes_on(done, network) {
                    return true;
                }
                self.order.pop();
            }
            self.hopeless.insert(key);
        }
        self.order.truncate(length);
        false
    }

    fn perform(&mut self, at: usize, done: &mut Set, network: &mut Network) {
        let Place { side, event, .. } = self.combination.places[at];
        network.perform(side, &event.act.request, &event.act.answer);
        done.insert(at);
        self.order.push(at);
    }

    /// What can happen next.
    fn enabled(&self, done: &Set, network: &Network) -> Vec<usize> {
        let can = |&at: &usize| {
            let Place { side, event, past, .. } = &self.combination.places[at];
            let act = &event.act;
            !done.contains(at)
                && self.allowed.contains(at)
                && past.is_subset(done)
                && self.is_in_order(act, done)
                && (act.answer == Answer::Never || network.allows(*side, &act.request, &act.answer))
        };
        (0..self.combination.places.len()).filter(can).collect()
    }

    /// Whether a datagram that is sent now is received in the order that its receivers recorded.
    fn is_in_order(&self, act: &Act, done: &Set) -> bool {
        match (&act.request, &act.answer) {
            (Request::SendTo { from, to, .. }, Answer::Done) if self.is_strict => {
                self.combination.is_in_order((*from, *to), &self.allowed, done)
            }
            _ => true,
        }
    }

    /// Whether an event that can happen now may as well happen now, since of what is still to come
    /// nothing needs to be before it.
    fn is_safe(&self, at: usize, done: &Set) -> bool {
        let Place { side, event, .. } = &self.combination.places[at];
        let to_come = |matters: &dyn Fn(usize, &Request, &Answer) -> bool| {
            let places = self.combination.places.iter().enumerate();
            places.filter(|(other, _)| *other != at && !done.contains(*other)).any(
                |(other, place)| {
                    let act = &place.event.act;
                    self.allowed.contains(other) && matters(place.side, &act.request, &act.answer)
                },
            )
        };
        match (&event.act.request, &event.act.answer) {
            (_, Answer::Never) => true,
            // One call gets the error of a reset connection; polls see it until then.
            (Request::Receive { link, .. } | Request::Send { link, .. }, Answer::Reset) => {
                !to_come(&|other, request, answer| {
                    other == *side && looks(request, answer, Watched::bytes(*link))
                })
            }
            (Request::Receive { .. } | Request::Accept { .. } | Request::Listen { .. }, _) => true,
            (Request::Look { .. } | Request::ReceiveFrom { .. }, _) => true,
            (Request::Send { .. } | Request::SendTo { .. }, answer) if *answer != Answer::Done => {
                true
            }
            _ if !self.is_strict => false,
            (Request::Send { link, .. }, _) => {
                // A short read must come before the next write, and so must a poll that found less.
                !to_come(&|other, request, answer| match (request, answer) {
                    (Request::Receive { link: on, most, .. }, Answer::Bytes(bytes)) => {
                        on == link && other != *side && bytes.len() < *most
                    }
                    _ => other != *side && looks(request, answer, Watched::bytes(*link)),
                })
            }
            (Request::Connect(link), Answer::Done) => !to_come(&|_, request, answer| {
                let connects =
                    matches!(request, Request::Connect(other) if other.port == link.port);
                let port = Watched::Connections { port: link.port };
                connects && *answer == Answer::Done || looks(request, answer, port)
            }),
            // What is sent must come before, and so must whoever finds that nothing more is sent on
            // a connection that this might break.
            (Request::Close(link), _) => !to_come(&|other, request, answer| {
                let is_shut = || self.combination.is_shut(*side, *link);
                let matters = match request {
                    Request::Send { .. } => *answer == Answer::Done,
                    Request::Receive { .. } if *answer == Answer::End => is_shut(),
                    _ => looks(request, answer, Watched::bytes(*link)),
                };
                matters && other != *side && request.links().any(|on| on == *link)
            }),
            (Request::Shut(link), _) => !to_come(&|other, request, answer| {
                other != *side && looks(request, answer, Watched::bytes(*link))
            }),
            (Request::Break(link), _) => {
                !to_come(&|_, request, _| request.links().any(|on| on == *link))
            }
            // In which order datagrams are sent follows from how they are received.
            (Request::SendTo { to, .. }, _) => !to_come(&|_, request, answer| {
                looks(request, answer, Watched::Datagrams { port: *to })
            }),
            (Request::Bind { port, only }, _) => !to_come(&|_, request, answer| match request {
                Request::SendTo { from, to, .. } if to == port => {
                    let is_taken = only.is_none_or(|only| only == *from);
                    is_taken == (*answer == Answer::Lost)
                }
                _ => false,
            }),
            (Request::Unbind { port }, _) => !to_come(&|_, request, answer| {
                matches!(request, Request::SendTo { to, .. } if to == port)
                    && *answer == Answer::Done
            }),
            (Request::Connect(_) | Request::Unlisten { .. }, _) => false,
        }
    }

    /// Whether nothing that waits for ever could go on.
    fn is_over(&self, network: &Network) -> bool {
        self.combination.places.iter().all(|place| {
            let act = &place.event.act;
            act.answer != Answer::Never || network.answer(place.side, &act.request).is_none()
        })
    }
}
