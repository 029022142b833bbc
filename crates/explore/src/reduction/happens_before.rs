//! The order that an execution's steps have among themselves (Lamport 1978; Mattern 1989).
//!
//! A step is one event or two: what it does, and getting what it asks for, which would be a step of
//! its own if it had to wait. Events have vector clocks over actors. Two events are ordered if they
//! are of one actor, if the first creates the actor of the second or lets it go on, or if they
//! depend on each other.
//!
//! An event looks only at those earlier ones that no later one stands for, a handful for each
//! object, so the order of an execution costs no more than its length.

use super::{Footprint, Relation, Scope, Taken};
use std::collections::BTreeMap;

/// Two events that could come in the other order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The one that came first.
    pub earlier: usize,
    /// The one that came second.
    pub later: usize,
}

struct Event<P> {
    parts: Vec<P>,
    /// What it might touch elsewhere, if that is not the same.
    elsewhere: Option<Vec<P>>,
    step: usize,
    actor: u16,
    /// Which actor, by the order of creation: numbers are used again, identities are not.
    identity: usize,
    /// How many events of its actor there are up to this one.
    local: u32,
    /// For each actor, how many of its events come before this one, this one included.
    clock: Vec<u32>,
    is_grant: bool,
}

impl<P> Event<P> {
    fn is_within(&self, clock: &[u32]) -> bool {
        clock.get(self.identity).copied().unwrap_or(0) >= self.local
    }
}

/// What an event touches, and its clock.
pub type Clocked<'a, P> = (&'a [P], &'a [u32]);

/// How an event uses an object.
#[derive(Clone, Copy)]
struct Use<P> {
    event: usize,
    part: P,
}

/// An event that a new one may depend on.
struct Related {
    event: usize,
    relation: Relation,
    competes: bool,
}

struct StepRecord<P> {
    identity: usize,
    first: usize,
    end: usize,
    /// The actor, if this was the first that was seen of it, to be undone.
    introduced: Option<u16>,
    /// What the step's creation of an actor replaced, to be undone.
    replaced: Option<(u16, Option<usize>)>,
    /// The uses of objects as they were before, to be undone.
    uses: Vec<(u64, Vec<Use<P>>)>,
    /// Its races with earlier steps.
    races: Vec<Race>,
}

/// The events of an execution.
pub struct HappensBefore<F: Footprint> {
    events: Vec<Event<F::Part>>,
    steps: Vec<StepRecord<F::Part>>,
    /// The identity behind each actor's number.
    identities: BTreeMap<u16, usize>,
    /// For each identity, the event that created it and its own, the last one last.
    last: Vec<Vec<usize>>,
    /// For each object, the uses that others may depend on directly.
    uses: BTreeMap<u64, Vec<Use<F::Part>>>,
    /// The events that depend on everything.
    everything: Vec<usize>,
}

impl<F: Footprint> Default for HappensBefore<F> {
    fn default() -> Self {
        HappensBefore {
            events: Vec::new(),
            steps: Vec::new(),
            identities: BTreeMap::new(),
            last: Vec::new(),
            uses: BTreeMap::new(),
            everything: Vec::new(),
        }
    }
}

impl<F: Footprint> HappensBefore<F> {
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
            self.uses.extend(record.uses.into_iter().rev());
            self.events.truncate(record.first);
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

    /// Adds a step.
    pub fn push(&mut self, step: &Taken<F>) {
        let actor = step.choice.actor;
        let introduced = (!self.identities.contains_key(&actor)).then_some(actor);
        let identity = self.identity(actor);
        let first = self.events.len();
        let last_event = |step: Option<usize>| Some(self.steps.get(step?)?.end - 1);
        let (after, provided_by) = (last_event(step.after), last_event(step.provided_by));
        let (uses, races) = (Vec::new(), Vec::new());
        let (end, replaced) = (0, None);
        self.steps.push(StepRecord { identity, first, end, introduced, replaced, uses, races });
        let parts: Vec<F::Part> = step.footprint.parts().collect();
        let does = parts.iter().take_while(|&&part| !F::is_separable(part)).count();
        // Who goes on may do nothing but get what it has asked for.
        let does = if does == 0 { parts.len() } else { does };
        let is_whole = does == parts.len();
        self.add_event(actor, &parts[..does], after, provided_by.filter(|_| is_whole));
        self.events[first].is_grant = step.resumes;
        self.events[first].elsewhere = step.footprint.elsewhere();
        if !is_whole {
            self.add_event(actor, &parts[does..], provided_by, None);
            self.events[first + 1].is_grant = true;
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

    fn identity(&mut self, actor: u16) -> usize {
        if let Some(&identity) = self.identities.get(&actor) {
            return identity;
        }
        // An actor whose creation was not seen: it was there from the start.
        let fresh = self.last.len();
        self.last.push(Vec::new());
        self.identities.insert(actor, fresh);
        fresh
    }

    /// Adds an event that was possible only after another, and got what it asked for from a third:
    /// others may have taken away what it could have got before that one came, and it races with them.
    fn add_event(
        &mut self,
        actor: u16,
        parts: &[F::Part],
        after: Option<usize>,
        provider: Option<usize>,
    ) {
        let identity = self.identities[&actor];
        let mut clock =
            self.last[identity].last().map_or_else(Vec::new, |&at| self.events[at].clock.clone());
        if let Some(event) = after {
            join(&mut clock, &self.events[event].clock);
        }
        let later = self.events.len();
        let mut races = Vec::new();
        let provided = provider.map(|event| self.events[event].clock.clone()).unwrap_or_default();
        for Related { event: earlier, relation, competes } in self.related(parts) {
            if relation == Relation::Independent || self.events[earlier].is_within(&clock) {
                continue;
            }
            if self.events[earlier].is_within(&provided) && !competes {
                continue;
            }
            // A step moves as a whole, so nothing races with only what it got at once.
            let whole = self.steps[self.events[earlier].step].first;
            let races_with_it = matches!(relation, Relation::Racing | Relation::Missed);
            if races_with_it && !self.events[whole].is_within(&clock) {
                races.push(Race { earlier: whole, later });
            }
            // What was missed does not come after whoever missed it.
            if relation != Relation::Missed {
                join(&mut clock, &self.events[earlier].clock);
            }
        }
        join(&mut clock, &provided);
        let own =
            self.last[identity].iter().rev().find(|&&at| self.events[at].identity == identity);
        let local = own.map_or(0, |&at| self.events[at].local) + 1;
        if clock.len() <= identity {
            clock.resize(identity + 1, 0);
        }
        clock[identity] = local;
        let step = self.steps.len() - 1;
        let parts = parts.to_vec();
        let (elsewhere, is_grant) = (None, false);
        let event = Event { parts, elsewhere, step, actor, identity, local, clock, is_grant };
        self.events.push(event);
        self.last[identity].push(later);
        self.remember_uses(later);
        self.steps[step].races.append(&mut races);
    }

    /// The events that parts of a new one may depend on, the latest first.
    fn related(&self, parts: &[F::Part]) -> Vec<Related> {
        let mut found: Vec<Related> = Vec::new();
        let racing =
            |&event: &usize| Related { event, relation: Relation::Racing, competes: false };
        for &part in parts {
            found.extend(self.everything.last().map(racing));
            match F::scope(part) {
                Scope::Nothing => {}
                Scope::Object(object) => {
                    let uses = self.uses.get(&object).into_iter().flatten();
                    found.extend(uses.map(|used| Related {
                        event: used.event,
                        relation: F::relation(used.part, part),
                        competes: F::competes(used.part, part),
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
        let record = self.steps.last_mut().expect("events belong to steps");
        let Event { parts, clock, .. } = &self.events[event];
        for &part in parts {
            match F::scope(part) {
                Scope::Nothing => {}
                Scope::Everything => self.everything.push(event),
                Scope::Object(object) => {
                    let uses = self.uses.entry(object).or_default();
                    record.uses.push((object, uses.clone()));
                    uses.retain(|used| {
                        !self.events[used.event].is_within(clock) || !F::covers(part, used.part)
                    });
                    uses.push(Use { event, part });
                }
            }
        }
    }

    /// The races of the steps from `step` on with others before them.
    pub fn races_from(&self, step: usize) -> impl Iterator<Item = Race> {
        self.steps[step..].iter().flat_map(|record| record.races.iter().copied())
    }

    /// What does not depend on how independent steps were mixed: for each actor, by identity, its
    /// events with their clocks. Executions with equal classes are equivalent.
    pub fn class(&self) -> Vec<Vec<Clocked<'_, F::Part>>> {
        let mut class = vec![Vec::new(); self.last.len()];
        for event in &self.events {
            class[event.identity].push((event.parts.as_slice(), event.clock.as_slice()));
        }
        class
    }

    /// The step that an event is part of.
    pub fn step_of(&self, event: usize) -> usize {
        self.events[event].step
    }

    /// The actor of an event.
    pub fn actor_of(&self, event: usize) -> u16 {
        self.events[event].actor
    }

    /// What an event touches.
    pub fn parts_of(&self, event: usize) -> &[F::Part] {
        &self.events[event].parts
    }

    /// What an event might touch if it came at another moment.
    pub fn parts_elsewhere(&self, event: usize) -> &[F::Part] {
        let Event { parts, elsewhere, .. } = &self.events[event];
        elsewhere.as_ref().unwrap_or(parts)
    }

    /// Whether an event is that its actor gets what the event before asked for: it happens in one
    /// step with that if it can.
    pub fn is_grant(&self, event: usize) -> bool {
        self.events[event].is_grant
    }

    /// The first event of a step: what it does.
    pub fn first_event(&self, step: usize) -> usize {
        self.steps[step].first
    }

    /// The events of the steps after a step.
    pub fn events_after(&self, step: usize) -> std::ops::Range<usize> {
        self.steps[step].end..self.events.len()
    }

    /// Whether an event comes before a later one in every equivalent execution.
    pub fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.events[earlier].is_within(&self.events[later].clock)
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
