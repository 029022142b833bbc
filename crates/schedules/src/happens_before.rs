//! The happens-before order of an execution's steps, by vector clocks, and its races.
//!
//! Leslie Lamport: Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978.
//! Friedemann Mattern: Virtual Time and Global States of Distributed Systems. 1989.
//!
//! A step is one event or two: what it does, and the acquisition of what it asks for, which would be a
//! step of its own if the thread had to block. Two events are ordered if they are of one thread, if the
//! first creates or unblocks the thread of the second, or if they are dependent.
//!
//! An event is compared only with those earlier ones that no later one covers, a handful for each
//! object, so the order of an execution costs time in proportion to its length.

use crate::executor::Taken;
use everypath_dependence::{Part, Relation, Scope};
use std::collections::BTreeMap;

/// Two dependent events that could come in the other order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The one that came first.
    pub earlier: usize,
    /// The one that came second.
    pub later: usize,
}

struct Event {
    /// What it touches: where that begins and ends among the parts of all events.
    parts: (usize, usize),
    /// What it might touch at another moment: the same, or elsewhere among those parts.
    may_touch: (usize, usize),
    step: usize,
    thread: u16,
    /// Which thread, by the order of creation: thread numbers are reused, identities are not.
    identity: usize,
    /// How many events of its thread there are up to this one.
    local: u32,
    /// The vector clock: for each thread, how many of its events happen before this one, this one
    /// included; where that begins and ends among the clocks of all events.
    clock: (usize, usize),
    /// Whether it is an acquisition.
    is_grant: bool,
    /// Whether it is ordered against all others, none of which it races with.
    comes_last: bool,
}

impl Event {
    fn is_within(&self, clock: &[u32]) -> bool {
        clock.get(self.identity).copied().unwrap_or(0) >= self.local
    }
}

/// What an event touches, and its vector clock.
pub type Clocked<'a> = (&'a [Part], &'a [u32]);

/// How an event uses an object.
#[derive(Clone, Copy)]
struct Use {
    event: usize,
    part: Part,
}

/// A change of the uses of an object, to be undone.
enum Change {
    Added(u64),
    /// What was at this place among them.
    Removed(u64, usize, Use),
}

/// An event that a new one may depend on.
struct Related {
    event: usize,
    relation: Relation,
    competes: bool,
}

struct StepRecord {
    identity: usize,
    first: usize,
    end: usize,
    /// The thread, if this was the first that was seen of it, to be undone.
    introduced: Option<u16>,
    /// What the step's creation of a thread replaced, to be undone.
    replaced: Option<(u16, Option<usize>)>,
    /// How many changes of uses there were before.
    changes: usize,
    /// How many races there were before.
    races: usize,
}

/// The events of an execution.
///
/// An execution shares its first steps with the next one, many times a second. So nothing is allocated
/// for a single event, and what a step adds can be undone.
#[derive(Default)]
pub struct HappensBefore {
    events: Vec<Event>,
    parts: Vec<Part>,
    clocks: Vec<u32>,
    steps: Vec<StepRecord>,
    /// The races of each step with earlier ones.
    races: Vec<Race>,
    /// The identity behind each thread's number.
    identities: BTreeMap<u16, usize>,
    /// For each identity, the event that created it and its own, the last one last.
    last: Vec<Vec<usize>>,
    /// For each object, the uses that later ones may depend on directly.
    uses: BTreeMap<u64, Vec<Use>>,
    changes: Vec<Change>,
    /// The events that conflict with everything.
    everything: Vec<usize>,
    /// A buffer for the events that a new one may depend on.
    related: Vec<Related>,
}

impl HappensBefore {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets the steps from `step` on.
    pub fn truncate(&mut self, step: usize) {
        while self.steps.len() > step {
            let record = self.steps.pop().expect("there are more steps");
            if let Some((number, before)) = record.replaced {
                self.last.pop();
                match before {
                    Some(identity) => self.identities.insert(number, identity),
                    None => self.identities.remove(&number),
                };
            }
            for change in self.changes.drain(record.changes..).rev() {
                let (Change::Added(object) | Change::Removed(object, ..)) = change;
                let uses = self.uses.entry(object).or_default();
                match change {
                    Change::Added(_) => drop(uses.pop()),
                    Change::Removed(_, at, used) => uses.insert(at, used),
                }
            }
            let first = &self.events[record.first];
            self.parts.truncate(first.parts.0);
            self.clocks.truncate(first.clock.0);
            self.events.truncate(record.first);
            self.races.truncate(record.races);
            let is_gone = |&event: &usize| event >= record.first;
            let last = &mut self.last[record.identity];
            while last.pop_if(|event| is_gone(event)).is_some() {}
            while self.everything.pop_if(|event| is_gone(event)).is_some() {}
            if let Some(number) = record.introduced {
                self.last.pop();
                self.identities.remove(&number);
            }
        }
    }

    /// Replaces the steps from `step` on.
    pub fn replace(&mut self, step: usize, by: &[Taken]) {
        self.truncate(step);
        by.iter().for_each(|taken| self.push(taken));
    }

    /// Adds a step.
    pub fn push(&mut self, step: &Taken) {
        let thread = step.choice.thread;
        let introduced = (!self.identities.contains_key(&thread)).then_some(thread);
        let identity = self.identity(thread);
        let first = self.events.len();
        let last_event = |step: Option<usize>| Some(self.steps.get(step?)?.end - 1);
        let (after, provided_by) = (last_event(step.after), last_event(step.provided_by));
        let (changes, races) = (self.changes.len(), self.races.len());
        let (end, replaced) = (0, None);
        self.steps.push(StepRecord { identity, first, end, introduced, replaced, changes, races });
        let begin = self.parts.len();
        self.parts.extend(step.footprint.parts());
        let (parts, end) = (&self.parts[begin..], self.parts.len());
        let does = parts.iter().take_while(|&&part| !part.is_acquisition()).count();
        // A thread that resumes may do nothing but acquire what it asked for.
        let middle = if does == 0 { end } else { begin + does };
        let is_whole = middle == end;
        if step.comes_last {
            self.add_last_event(thread, (begin, middle));
        } else {
            self.add_event(thread, (begin, middle), after, provided_by.filter(|_| is_whole));
        }
        self.events[first].is_grant = step.resumes;
        if !is_whole {
            self.add_event(thread, (middle, end), provided_by, None);
            self.events[first + 1].is_grant = true;
        }
        if let Some(may_touch) = &step.may_touch {
            self.parts.extend(may_touch.parts());
            self.events[first].may_touch = (end, self.parts.len());
        }
        let replaced = step.creates.map(|number| {
            let fresh = self.last.len();
            self.last.push(self.last[identity].last().copied().into_iter().collect());
            (number, self.identities.insert(number, fresh))
        });
        let end = self.events.len();
        let record = self.steps.last_mut().expect("it was just added");
        (record.end, record.replaced) = (end, replaced);
    }

    fn identity(&mut self, thread: u16) -> usize {
        if let Some(&identity) = self.identities.get(&thread) {
            return identity;
        }
        // A thread whose creation was not seen: it was there from the start.
        let fresh = self.last.len();
        self.last.push(Vec::new());
        self.identities.insert(thread, fresh);
        fresh
    }

    fn clock(&self, event: usize) -> &[u32] {
        let (begin, end) = self.events[event].clock;
        &self.clocks[begin..end]
    }

    /// Adds an event that was enabled because nothing else was: all others happen before it.
    fn add_last_event(&mut self, thread: u16, parts: (usize, usize)) {
        let begin = self.clocks.len();
        self.clocks.resize(begin + self.last.len(), 0);
        for events in 0..self.last.len() {
            if let Some(&event) = self.last[events].last() {
                self.join(begin, event);
            }
        }
        self.push_event(thread, parts, begin);
        if let Some(event) = self.events.last_mut() {
            event.comes_last = true;
        }
    }

    /// Adds an event that was enabled by one and got what it asked for from another, the provider: it
    /// races with events that took what it could have got before the provider came.
    fn add_event(
        &mut self,
        thread: u16,
        parts: (usize, usize),
        after: Option<usize>,
        provider: Option<usize>,
    ) {
        let later = self.events.len();
        let begin = self.clocks.len();
        let identity = self.identities[&thread];
        if let Some(&before) = self.last[identity].last() {
            let (from, to) = self.events[before].clock;
            self.clocks.extend_from_within(from..to);
        }
        self.clocks.resize(begin + self.last.len(), 0);
        if let Some(event) = after {
            self.join(begin, event);
        }
        let related = self.related(parts);
        for &Related { event: earlier, relation, competes } in &related {
            let event = &self.events[earlier];
            if relation == Relation::Independent || event.is_within(&self.clocks[begin..]) {
                continue;
            }
            let is_provided = provider.is_some_and(|from| event.is_within(self.clock(from)));
            if is_provided && !competes {
                continue;
            }
            // A step moves as a whole, so nothing races with an acquisition alone.
            let whole = self.steps[event.step].first;
            let races_with_it = matches!(relation, Relation::Racing | Relation::Missed);
            if races_with_it && !self.events[whole].is_within(&self.clocks[begin..]) {
                self.races.push(Race { earlier: whole, later });
            }
            // A message that was missed does not happen after the receive that missed it.
            if relation != Relation::Missed {
                self.join(begin, earlier);
            }
        }
        self.related = related;
        if let Some(event) = provider {
            self.join(begin, event);
        }
        self.push_event(thread, parts, begin);
    }

    /// Adds an event whose clock begins there, but for its own count.
    fn push_event(&mut self, thread: u16, parts: (usize, usize), begin: usize) {
        let identity = self.identities[&thread];
        let own =
            self.last[identity].iter().rev().find(|&&at| self.events[at].identity == identity);
        let local = own.map_or(0, |&at| self.events[at].local) + 1;
        self.clocks[begin + identity] = local;
        let clock = (begin, self.clocks.len());
        let step = self.steps.len() - 1;
        let event = Event {
            parts,
            may_touch: parts,
            step,
            thread,
            identity,
            local,
            clock,
            is_grant: false,
            comes_last: false,
        };
        let number = self.events.len();
        self.events.push(event);
        self.last[identity].push(number);
        self.remember_uses(number);
    }

    /// Joins the clock of an event into the last one, which begins there.
    fn join(&mut self, begin: usize, event: usize) {
        let (from, to) = self.events[event].clock;
        let (others, last) = self.clocks.split_at_mut(begin);
        for (mine, theirs) in last.iter_mut().zip(&others[from..to]) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The events that parts of a new one may depend on, the latest first.
    fn related(&mut self, (begin, end): (usize, usize)) -> Vec<Related> {
        let mut found = std::mem::take(&mut self.related);
        found.clear();
        let racing = |&event: &usize| Related {
            event,
            relation: match self.events[event].comes_last {
                true => Relation::Ordered,
                false => Relation::Racing,
            },
            competes: false,
        };
        for &part in &self.parts[begin..end] {
            found.extend(self.everything.last().map(racing));
            match part.scope() {
                Scope::Nothing => {}
                Scope::Object(object) => {
                    let uses = self.uses.get(&object).into_iter().flatten();
                    found.extend(uses.map(|used| Related {
                        event: used.event,
                        relation: used.part.relation(part),
                        competes: used.part.competes(part),
                    }));
                }
                Scope::Everything => {
                    found.extend(self.last.iter().filter_map(|events| events.last()).map(racing));
                }
            }
        }
        found.sort_by_key(|related| std::cmp::Reverse(related.event));
        found
    }

    fn remember_uses(&mut self, event: usize) {
        let Event { parts: (begin, end), clock: (from, to), .. } = self.events[event];
        let clock = &self.clocks[from..to];
        for &part in &self.parts[begin..end] {
            match part.scope() {
                Scope::Nothing => {}
                Scope::Everything => self.everything.push(event),
                Scope::Object(object) => {
                    let uses = self.uses.entry(object).or_default();
                    let mut at = 0;
                    while let Some(used) = uses.get(at) {
                        let is_before = self.events[used.event].is_within(clock);
                        if is_before && part.covers(used.part) {
                            self.changes.push(Change::Removed(object, at, uses.remove(at)));
                        } else {
                            at += 1;
                        }
                    }
                    uses.push(Use { event, part });
                    self.changes.push(Change::Added(object));
                }
            }
        }
    }

    /// The races of the steps from `step` on with others before them.
    pub fn races_from(&self, step: usize) -> impl Iterator<Item = Race> {
        let from = self.steps.get(step).map_or(self.races.len(), |record| record.races);
        self.races[from..].iter().copied()
    }

    /// What equivalent executions have in common: for each thread, by identity, its events with their
    /// clocks. Executions with equal classes are equivalent.
    pub fn class(&self) -> Vec<Vec<Clocked<'_>>> {
        let mut class = vec![Vec::new(); self.last.len()];
        for (number, event) in self.events.iter().enumerate() {
            // How many threads there were makes no difference.
            let clock = self.clock(number);
            let known = clock.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
            class[event.identity].push((self.parts_of(number), &clock[..known]));
        }
        class
    }

    /// The step that an event is part of.
    pub fn step_of(&self, event: usize) -> usize {
        self.events[event].step
    }

    /// The thread of an event.
    pub fn thread_of(&self, event: usize) -> u16 {
        self.events[event].thread
    }

    /// What an event touches.
    pub fn parts_of(&self, event: usize) -> &[Part] {
        let (begin, end) = self.events[event].parts;
        &self.parts[begin..end]
    }

    /// What an event might touch if it came at another moment.
    pub fn parts_it_may_touch(&self, event: usize) -> &[Part] {
        let (begin, end) = self.events[event].may_touch;
        &self.parts[begin..end]
    }

    /// Whether an event acquires what the event before of its thread asked for: both are one step if
    /// the thread need not block.
    pub fn is_grant(&self, event: usize) -> bool {
        self.events[event].is_grant
    }

    /// The first event of a step: what it does.
    pub fn first_event(&self, step: usize) -> usize {
        self.steps[step].first
    }

    /// The last event of a step.
    pub fn last_event(&self, step: usize) -> usize {
        self.steps[step].end - 1
    }

    /// The events of the steps after a step.
    pub fn events_after(&self, step: usize) -> std::ops::Range<usize> {
        self.steps[step].end..self.events.len()
    }

    /// Whether an event happens before a later one: it comes first in every equivalent execution.
    pub fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.events[earlier].is_within(self.clock(later))
    }
}
