//! Combinations of one history of each program, and whether they are feasible together.

use super::datagrams::Mailbox;
use super::set::Set;
use super::{
    Act, Answer, Event, EventId, HistoryId, Link, Port, Readiness, Request, Side, Watched,
};
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

/// One history of each side, combined.
///
/// Sides agree on nothing but what they sent each other, so an event happens if everything before
/// it in its own history does, and what it needs of others: the bytes it read, the connection it
/// accepted, the end it saw. That alone is causality; it leaves out what must *not yet* have
/// happened, which is for [`Combination::linearise`].
#[derive(Debug)]
pub struct Combination<'a> {
    /// The histories, one of each side.
    pub histories: &'a [HistoryId],
    pub(super) places: Vec<Place<'a>>,
    /// Where the events of each side begin, and where they end.
    pub(super) starts: Vec<usize>,
    links: BTreeMap<Link, Ends>,
    listeners: BTreeMap<Port, Listening>,
    pub(super) mailboxes: BTreeMap<u16, Mailbox>,
    /// What happens if nothing is left out.
    pub(super) happens: Set,
}

/// An event among those of all sides.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) side: usize,
    pub(super) number: EventId,
    pub(super) event: &'a Event,
    /// All places of its side before it.
    pub(super) past: Set,
    /// How many bytes its side had received on the connection before.
    received: usize,
    /// What it needs of other sides: one place of each of these. None at all if nothing can give it
    /// that.
    needs: Option<Vec<Vec<usize>>>,
}

/// What happens at one end of a connection.
#[derive(Debug, Default)]
struct Near {
    /// All that is sent, and where in it the bytes of each place end.
    stream: Vec<u8>,
    sends: Vec<(usize, usize)>,
    received: usize,
    shut: Option<usize>,
    close: Option<usize>,
}

#[derive(Debug, Default)]
struct Ends {
    connect: Option<usize>,
    accept: Option<usize>,
    /// Where the network breaks it.
    broken: Option<usize>,
    /// The end that connected, and the end that accepts.
    near: [Near; 2],
}

#[derive(Debug, Default)]
struct Listening {
    listen: Option<usize>,
    backlog: usize,
    unlisten: Option<usize>,
    connects: Vec<(usize, Link)>,
}

/// Which end of a connection a side has.
fn end_of(side: usize, link: Link) -> usize {
    usize::from(link.side != side)
}

impl<'a> Combination<'a> {
    /// Holds one history of each side against the others.
    pub fn new(sides: &'a [Side], histories: &'a [HistoryId]) -> Self {
        let all =
            || sides.iter().zip(histories).map(|(side, &number)| (side, side.history(number)));
        let total = all().map(|(_, history)| history.events.len()).sum();
        let mut combination = Combination {
            histories,
            places: Vec::with_capacity(total),
            starts: vec![0],
            links: BTreeMap::new(),
            listeners: BTreeMap::new(),
            mailboxes: BTreeMap::new(),
            happens: Set::new(total),
        };
        for (number, (side, history)) in all().enumerate() {
            let first = combination.places.len();
            for &event in &history.events {
                combination.enter(number, event, side.get(event), total);
                let mut past = Set::new(total);
                for before in &combination.places[combination.places.len() - 1].event.past {
                    let place = history.events.binary_search(before).expect("pasts are inside");
                    past.insert(first + place);
                }
                combination.places.last_mut().expect("just entered").past = past;
            }
            combination.starts.push(combination.places.len());
        }
        for at in 0..total {
            combination.places[at].needs = combination.needs(at);
        }
        combination.happens = combination.simulate(None);
        combination
    }

    /// Notes an event: those of a side come in an order that they could have happened in.
    fn enter(&mut self, side: usize, number: EventId, event: &'a Event, total: usize) {
        let at = self.places.len();
        let mut received = 0;
        match (&event.act.request, &event.act.answer) {
            (Request::Listen { port, backlog }, _) => {
                let port = self.listeners.entry(*port).or_default();
                port.listen.get_or_insert(at);
                port.backlog = *backlog;
            }
            (Request::Unlisten { port }, _) => {
                self.listeners.entry(*port).or_default().unlisten.get_or_insert(at);
            }
            (Request::Connect(link), Answer::Done) => {
                self.links.entry(*link).or_default().connect = Some(at);
                self.listeners.entry(link.port).or_default().connects.push((at, *link));
            }
            (Request::Accept { .. }, Answer::Accepted(link)) => {
                self.links.entry(*link).or_default().accept = Some(at);
            }
            (Request::Send { link, bytes }, Answer::Done) => {
                let near = self.near(side, *link);
                near.stream.extend(bytes);
                near.sends.push((near.stream.len(), at));
            }
            (Request::Receive { link, .. }, answer) => {
                let near = self.near(side, *link);
                received = near.received;
                if let Answer::Bytes(bytes) = answer {
                    near.received += bytes.len();
                }
            }
            (Request::Shut(link), _) => self.near(side, *link).shut = Some(at),
            (Request::Close(link), _) => self.near(side, *link).close = Some(at),
            (Request::Break(link), _) => self.links.entry(*link).or_default().broken = Some(at),
            _ => self.enter_datagram(at, &event.act),
        }
        let needs = None;
        self.places.push(Place { side, number, event, past: Set::new(total), received, needs });
    }

    fn near(&mut self, side: usize, link: Link) -> &mut Near {
        &mut self.links.entry(link).or_default().near[end_of(side, link)]
    }

    /// Whether a side says at some time that it will send no more on a connection.
    pub(super) fn is_shut(&self, side: usize, link: Link) -> bool {
        self.links.get(&link).is_some_and(|ends| ends.near[end_of(side, link)].shut.is_some())
    }

    /// Where the end that a side talks to on a connection is closed, if it is.
    fn closing(&self, side: usize, link: Link) -> Option<usize> {
        let ends = self.links.get(&link)?;
        match end_of(side, link) {
            0 if ends.accept.is_none() => self.listeners.get(&link.port)?.unlisten,
            near => ends.near[1 - near].close,
        }
    }

    /// Whether the end that a side talks to may have left bytes behind when it was closed, which
    /// breaks the connection: it did not read all that was sent, as far as that is not sent after an
    /// event. Which thread of the side is told of it is another question.
    fn may_break(&self, at: usize, link: Link) -> bool {
        let Some(ends) = self.links.get(&link) else { return false };
        let near = end_of(self.places[at].side, link);
        let sent = ends.near[near].sends.iter().rev().find(|(_, sent)| !self.is_after(*sent, at));
        sent.is_some_and(|&(end, _)| end > ends.near[1 - near].received)
    }

    /// Where the network breaks a connection, if it does.
    fn broken(&self, link: Link) -> Option<usize> {
        self.links.get(&link)?.broken
    }

    /// Whether the side of an event knows from what it did before that the network broke a
    /// connection, or was told so.
    fn knows_broken(&self, at: usize, link: Link) -> bool {
        let Place { side, past, .. } = &self.places[at];
        self.broken(link).is_some_and(|broken| {
            let is_told = |place: usize| {
                let Act { request, answer } = &self.places[place].event.act;
                *answer == Answer::Reset && request.links().any(|on| on == link)
            };
            let mut own = self.starts[*side]..self.starts[side + 1];
            past.contains(broken) || own.any(|place| past.contains(place) && is_told(place))
        })
    }

    /// Whether an event comes after another one of its side.
    fn is_after(&self, at: usize, other: usize) -> bool {
        at == other || self.places[at].past.contains(other)
    }

    /// What an event needs of other sides; none if nothing can give it that.
    fn needs(&self, at: usize) -> Option<Vec<Vec<usize>>> {
        let Place { side, event, .. } = self.places[at];
        let needed = match (&event.act.request, &event.act.answer) {
            (_, Answer::Never | Answer::Nothing) => return Some(Vec::new()),
            (Request::Connect(link), Answer::Done) => self.listeners.get(&link.port)?.listen,
            (Request::Connect(link), _) => self.listeners.get(&link.port)?.unlisten,
            (Request::Accept { port, .. }, Answer::Accepted(link)) => {
                self.links.get(link)?.connect.filter(|_| link.port == *port)
            }
            (Request::Send { link, .. } | Request::Receive { link, .. }, answer)
                if *answer != Answer::Done && self.knows_broken(at, *link) =>
            {
                return Some(Vec::new());
            }
            (Request::Send { link, .. }, Answer::Lost | Answer::Reset) => {
                let closing = self.closing(side, *link);
                let closing = closing
                    .filter(|_| event.act.answer == Answer::Lost || self.may_break(at, *link));
                self.broken(*link).or(closing)
            }
            (Request::Receive { link, most, .. }, answer) => {
                self.needed_to_receive(at, *link, *most, answer)
            }
            (Request::Look { at: watched, .. }, Answer::Ready(found)) => {
                let seen = watched.iter().zip(found).filter(|(_, it)| **it != Readiness::Waits);
                return seen.map(|(watched, found)| self.bringing(at, *watched, *found)).collect();
            }
            _ => return self.needed_for_datagram(at, &event.act),
        };
        needed.map(|place| vec![vec![place]])
    }

    fn needed_to_receive(
        &self,
        at: usize,
        link: Link,
        most: usize,
        answer: &Answer,
    ) -> Option<usize> {
        let Place { side, received, .. } = self.places[at];
        let near = &self.links.get(&link)?.near;
        let far = &near[1 - end_of(side, link)];
        let is_over = far.stream.len() == received;
        let closing = self.closing(side, link);
        match answer {
            Answer::Bytes(bytes) => {
                let end = received + bytes.len();
                let run = far.sends.partition_point(|&(run_end, _)| run_end < end);
                let &(run_end, place) = far.sends.get(run)?;
                // A short read gets all that is there.
                let is_whole = bytes.len() == most || run_end == end;
                (is_whole && far.stream[received..end] == bytes[..]).then_some(place)
            }
            Answer::End => far.shut.or(closing).filter(|_| is_over),
            Answer::Reset => {
                let broken =
                    self.broken(link).filter(|&at| is_over || self.places[at].side == side);
                let resets = is_over && far.shut.is_none_or(|_| link.port.is_unix());
                broken.or(closing.filter(|_| resets && self.may_break(at, link)))
            }
            _ => None,
        }
    }

    /// The places of which one must have happened for an event to find something so far; none if
    /// there are none.
    fn bringing(&self, at: usize, watched: Watched, found: Readiness) -> Option<Vec<usize>> {
        let places: Vec<usize> = match watched {
            Watched::Datagrams { port } => self.next_datagrams(at, port),
            Watched::Connections { port } => self.waiting(at, port).map(|(at, _)| at).collect(),
            Watched::Bytes { link, .. } => {
                let side = self.places[at].side;
                let closing = self.closing(side, link);
                let far = &self.links.get(&link)?.near[1 - end_of(side, link)];
                let broken = self.broken(link);
                let over = far.shut.into_iter().chain(closing).chain(broken);
                let received = self.received_before(at, link);
                let mut sends = far.sends.iter().filter(|(end, _)| *end > received);
                match found {
                    Readiness::Broken => {
                        let closing = closing.filter(|_| self.may_break(at, link));
                        broken.into_iter().chain(closing).collect()
                    }
                    Readiness::Gone => closing.into_iter().collect(),
                    Readiness::End => over.collect(),
                    _ => sends.next().map(|(_, at)| *at).into_iter().chain(over).collect(),
                }
            }
        };
        (!places.is_empty()).then_some(places)
    }

    /// How many bytes a side had received on a connection before an event.
    fn received_before(&self, at: usize, link: Link) -> usize {
        let Place { side, past, .. } = &self.places[at];
        let own = self.starts[*side]..self.starts[side + 1];
        let before = own.filter(|&place| past.contains(place));
        let received = before.map(|place| match &self.places[place].event.act {
            Act { request: Request::Receive { link: on, .. }, answer: Answer::Bytes(bytes) }
                if *on == link =>
            {
                bytes.len()
            }
            _ => 0,
        });
        received.sum()
    }

    /// Connections to a port that were not accepted before an event.
    fn waiting(&self, at: usize, port: Port) -> impl Iterator<Item = (usize, Link)> {
        let past = &self.places[at].past;
        let connects = self.listeners.get(&port).map_or(&[][..], |port| &port.connects);
        connects.iter().copied().filter(|(_, link)| {
            let accept = self.links.get(link).and_then(|ends| ends.accept);
            !accept.is_some_and(|accept| past.contains(accept))
        })
    }

    /// Everything that can happen if an event, and whatever comes after it, does not.
    fn simulate(&self, without: Option<usize>) -> Set {
        let mut done = Set::new(self.places.len());
        let is_out = |place: usize| without.is_some_and(|of| self.is_after(place, of));
        let mut waiting: Vec<usize> =
            (0..self.places.len()).filter(|&place| !is_out(place)).collect();
        loop {
            let before = waiting.len();
            waiting.retain(|&at| {
                let Place { past, needs, .. } = &self.places[at];
                let is_done = |of: &Vec<usize>| of.iter().any(|place| done.contains(*place));
                let has_all = needs.as_ref().is_some_and(|needs| needs.iter().all(is_done));
                let happens = has_all && past.is_subset(&done);
                if happens {
                    done.insert(at);
                }
                !happens
            });
            if waiting.len() == before {
                return done;
            }
        }
    }

    /// Some events, and all that have to happen for them.
    pub(super) fn ancestors(&self, of: &[usize]) -> Set {
        let mut found = Set::new(self.places.len());
        let mut waiting = of.to_vec();
        while let Some(at) = waiting.pop() {
            if found.contains(at) {
                continue;
            }
            found.insert(at);
            let Place { past, needs, side, .. } = &self.places[at];
            let own = self.starts[*side]..self.starts[side + 1];
            waiting.extend(own.filter(|&place| past.contains(place)));
            let needs = needs.iter().flatten().filter_map(|one_of| one_of.first());
            waiting.extend(needs.copied());
        }
        found
    }

    /// Whether all events of a side can happen, as far as causality is concerned.
    pub fn is_whole(&self, side: usize) -> bool {
        (self.starts[side]..self.starts[side + 1]).all(|place| self.happens.contains(place))
    }

    /// What else could have come of requests: the side, the event and the answer.
    pub(super) fn other_answers(&self) -> Vec<(usize, EventId, Answer)> {
        let mut found = self.waits_in_vain();
        for (at, place) in self.places.iter().enumerate() {
            if !place.event.act.request.asks_others() {
                continue;
            }
            let done = self.simulate(Some(at));
            if place.past.is_subset(&done) {
                let answers = self.answers_for(at, &done);
                found.extend(answers.into_iter().map(|answer| (place.side, place.number, answer)));
            }
        }
        found
    }

    /// What can come of a request when so much has happened.
    fn answers_for(&self, at: usize, done: &Set) -> Vec<Answer> {
        let Place { side, event, received, .. } = &self.places[at];
        let has_happened = |place: Option<usize>| place.is_some_and(|place| done.contains(place));
        let mut answers = Vec::new();
        match &event.act.request {
            Request::Connect(link) => {
                let listening = self.listeners.get(&link.port);
                if has_happened(listening.and_then(|port| port.listen)) {
                    answers.push(Answer::Done);
                }
                if has_happened(listening.and_then(|port| port.unlisten)) {
                    answers.push(Answer::Refused);
                }
                // More than can wait to be accepted may never be.
                if listening.is_some_and(|port| port.connects.len() > port.backlog + 1) {
                    answers.push(Answer::Never);
                }
            }
            Request::Accept { port, .. } => {
                // Connections are accepted in the order of connecting.
                let is_first = |connect: usize| {
                    let before = &self.places[connect].past;
                    !self.waiting(at, *port).any(|(other, _)| before.contains(other))
                };
                let first = self.waiting(at, *port);
                let first = first.filter(|(at, _)| done.contains(*at) && is_first(*at));
                answers.extend(first.map(|(_, link)| Answer::Accepted(link)));
            }
            Request::Look { at: watched, .. } => {
                answers.extend(self.seen(at, watched, done).into_iter().map(Answer::Ready));
            }
            // What comes of these is known without others.
            Request::Send { link, .. } | Request::Receive { link, .. }
                if self.broken(*link).is_some_and(|broken| self.is_after(at, broken)) => {}
            Request::Send { link, .. } => {
                let is_closed = has_happened(self.closing(*side, *link));
                let is_broken = has_happened(self.broken(*link));
                answers.extend((is_closed || is_broken).then_some(Answer::Lost));
                let is_told = is_broken || is_closed && self.may_break(at, *link);
                answers.extend(is_told.then_some(Answer::Reset));
            }
            Request::Receive { link, .. } => {
                let Some(ends) = self.links.get(link) else { return answers };
                let far = &ends.near[1 - end_of(*side, *link)];
                let is_over = far.stream.len() == *received;
                let is_closed = has_happened(self.closing(*side, *link));
                let knows_broken = self.knows_broken(at, *link);
                if is_over && (is_closed || has_happened(far.shut)) || knows_broken {
                    answers.push(Answer::End);
                }
                let is_own = ends.broken.is_some_and(|place| self.places[place].side == *side);
                let is_broken = has_happened(ends.broken) && (is_over || is_own);
                // Whoever has heard that nothing more comes is not told of a reset.
                let is_told = !link.port.is_unix() && has_happened(far.shut);
                if is_broken || is_over && is_closed && !is_told && self.may_break(at, *link) {
                    answers.push(Answer::Reset);
                }
                let new =
                    far.sends.iter().filter(|(end, place)| end > received && done.contains(*place));
                let bytes = new.map(|&(end, _)| Answer::Bytes(far.stream[*received..end].to_vec()));
                answers.extend(bytes);
            }
            request => answers.extend(self.answers_about_datagrams(at, request, done)),
        }
        answers
    }

    /// What can be seen when so much has happened: everything that is there, or any part of it, since
    /// it may have come later; but something.
    fn seen(&self, at: usize, watched: &[Watched], done: &Set) -> Vec<Vec<Readiness>> {
        const SOMETHING: [Readiness; 4] =
            [Readiness::Input, Readiness::End, Readiness::Gone, Readiness::Broken];
        let mut all = vec![Vec::new()];
        for &watched in watched {
            let can_be = |found: &Readiness| {
                let is_seen = match watched {
                    Watched::Bytes { sees_end, .. } if *found == Readiness::End => sees_end,
                    Watched::Bytes { link, .. } => *found != Readiness::Gone || link.port.is_unix(),
                    Watched::Connections { .. } | Watched::Datagrams { .. } => {
                        *found == Readiness::Input
                    }
                };
                let brought = self.bringing(at, watched, *found).filter(|_| is_seen);
                brought.is_some_and(|one_of| one_of.iter().any(|place| done.contains(*place)))
            };
            let found = SOMETHING.into_iter().filter(can_be);
            let found: Vec<_> = [Readiness::Waits].into_iter().chain(found).collect();
            let with = |seen: &Vec<Readiness>, it: Readiness| {
                seen.iter().copied().chain([it]).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(|seen| found.iter().map(move |&it| with(seen, it))).collect();
        }
        all.retain(|seen| seen.iter().any(|it| *it != Readiness::Waits));
        all
    }

    /// Whether, when everything has happened, a request blocked for ever could go on, in whatever
    /// order it happened. How long the queue of a listener is depends on that.
    pub(super) fn could_go_on(&self) -> bool {
        let mut waiting =
            self.places.iter().filter(|place| place.event.act.answer == Answer::Never);
        waiting.any(|place| match &place.event.act.request {
            Request::Receive { link, .. } => self.has_input(place.side, *link),
            Request::Accept { port, .. } => self.has_connection(*port),
            Request::ReceiveFrom { port, .. } => self.has_datagram(*port),
            Request::Look { at, .. } => at.iter().any(|watched| match *watched {
                Watched::Bytes { link, .. } => self.has_input(place.side, link),
                Watched::Connections { port } => self.has_connection(port),
                Watched::Datagrams { port } => self.has_datagram(port),
            }),
            _ => false,
        })
    }

    /// Whether something is there for a side on a connection in the end.
    fn has_input(&self, side: usize, link: Link) -> bool {
        self.links.get(&link).is_some_and(|ends| {
            let near = end_of(side, link);
            let far = &ends.near[1 - near];
            far.stream.len() > ends.near[near].received
                || far.shut.is_some()
                || self.closing(side, link).is_some()
                || ends.broken.is_some()
        })
    }

    /// Whether a connection waits to be accepted in the end.
    fn has_connection(&self, port: Port) -> bool {
        self.listeners.get(&port).is_some_and(|listening| {
            let is_free = |link| self.links.get(link).is_none_or(|ends| ends.accept.is_none());
            let mut connects = listening.connects.iter();
            listening.unlisten.is_none() && connects.any(|(_, link)| is_free(link))
        })
    }

    /// If nothing more can happen although there are events left, because all that come next would
    /// wait: these, with the answer that they do.
    fn waits_in_vain(&self) -> Vec<(usize, EventId, Answer)> {
        let mut found = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let is_next = !self.happens.contains(at) && place.past.is_subset(&self.happens);
            if !is_next {
                continue;
            }
            let waits =
                place.event.act.request.waits() && self.answers_for(at, &self.happens).is_empty();
            if !waits {
                return Vec::new();
            }
            found.push((place.side, place.number, Answer::Never));
        }
        found
    }
}
