//! Random walks through the states of a system, with its properties checked on the way.
//!
//! - Uniform: each enabled step is equally likely, or as likely as the weight of its event says.
//! - PCT: each actor has a random priority, and the enabled one with the highest acts; at `depth - 1`
//!   random places the one that acts falls to the bottom. S. Burckhardt, P. Kothari, M. Musuvathi,
//!   S. Nagarakatte: *A randomized scheduler with probabilistic guarantees of finding bugs*, ASPLOS
//!   2010. Where we depart: which step of an actor is taken is drawn evenly, so that the bound of the
//!   paper holds for the order of actors and not for the outcomes of their steps.

use crate::confirm::violated_at_end;
use crate::expand::{deadlocks, violations};
use crate::property::Kind;
use crate::table::KeyTable;
use crate::{
    Canonical, Control, Counts, Ended, Exploration, Found, PANIC, Progress, Property, Search, Step,
    System, fingerprint, panic_capture,
};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// How to walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// How many walks.
    pub walks: u64,
    /// The longest a walk may be.
    pub depth: u32,
    /// The seed of everything random; each walk has a generator of its own. It is `Pcg64Mcg`.
    pub seed: u64,
    /// How a step is chosen.
    pub choice: WalkChoice,
}

/// How a step of a walk is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkChoice {
    /// By the weights of events, by number; an event without a weight has weight 1.
    Weighted(Vec<u32>),
    /// By random priorities of actors, which change so many times, less one.
    Pct(u32),
}

/// What walks have seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    /// What was found and counted; states are those that differ.
    pub exploration: Exploration,
    /// How many walks were taken.
    pub walks: u64,
    /// How many states were met.
    pub met: u64,
    /// How many of the different ones were met only once.
    pub once: u64,
}

impl Walked {
    /// How likely it is, about, that the next state met is one that was not seen: the share of those
    /// that were met once (Good and Turing; I. J. Good, Biometrika 40, 1953).
    pub fn unseen(&self) -> f64 {
        if self.met == 0 { 1.0 } else { self.once as f64 / self.met as f64 }
    }
}

/// Walks through a system.
pub fn walk<S: System>(
    system: &S,
    properties: &[Property<S::State>],
    (search, walk): (&Search, &Walk),
    control: &Control,
) -> Walked {
    let mut walker = Walker::new(system, properties, search, walk);
    for number in 0..walk.walks {
        if control.stopped() {
            walker.explored.ended = Ended::Stopped;
            break;
        }
        walker.walk(number);
        if walker.explored.ended != Ended::Complete {
            break;
        }
        control.publish(Progress {
            states: walker.explored.counts.states,
            events: walker.explored.counts.events,
            depth: walker.explored.counts.depth.into(),
            executions: walker.walks,
            ..Progress::default()
        });
    }
    walker.finish()
}

/// The schedule of one walk, whatever it violates.
pub(crate) fn draw<S: System>(system: &S, search: &Search, walk: &Walk) -> Vec<Step> {
    let mut walker = Walker::new(system, &[], search, walk);
    let mut random = generator(walk.seed, 0);
    let mut scheduler = Scheduler::new(walk, &mut random);
    let mut schedule = Vec::new();
    walker.go(&mut scheduler, &mut random, &mut schedule);
    schedule
}

/// The generator of a walk.
fn generator(seed: u64, number: u64) -> Pcg64Mcg {
    let seed = u128::from(seed.wrapping_add(number.wrapping_mul(SPREAD)));
    // The generator ignores the two lowest bits of its state and takes long to leave small ones.
    Pcg64Mcg::new((seed + 1).wrapping_mul(u128::from(SPREAD) << 64 | 0x5ced))
}

struct Walker<'a, S: System> {
    system: &'a S,
    properties: &'a [Property<S::State>],
    search: &'a Search,
    walk: &'a Walk,
    /// The different states, with how often each was met: once, or more often.
    seen: KeyTable<u128>,
    explored: Exploration,
    walks: u64,
    met: u64,
    once: u64,
    steps: Vec<Step>,
}

/// A bit-mixing constant: the golden ratio in 64 bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl<'a, S: System> Walker<'a, S> {
    fn new(
        system: &'a S,
        properties: &'a [Property<S::State>],
        search: &'a Search,
        walk: &'a Walk,
    ) -> Self {
        let wanted =
            properties.iter().filter(|property| matches!(property.kind, Kind::Sometimes(_)));
        let witnesses = wanted.map(|property| (property.name.clone(), None)).collect();
        let counts = Counts { by_property: vec![0; properties.len() + 1], ..Counts::default() };
        Walker {
            system,
            properties,
            search,
            walk,
            seen: KeyTable::new(true),
            explored: Exploration {
                counts,
                found: Vec::new(),
                checked_depth: 0,
                ended: Ended::Complete,
                by_event: Vec::new(),
                witnesses,
            },
            walks: 0,
            met: 0,
            once: 0,
            steps: Vec::new(),
        }
    }

    /// Takes one walk.
    fn walk(&mut self, number: u64) {
        self.walks += 1;
        let mut random = generator(self.walk.seed, number);
        let mut scheduler = Scheduler::new(self.walk, &mut random);
        let mut schedule = Vec::new();
        let outcome = panic_capture::run(|| self.go(&mut scheduler, &mut random, &mut schedule));
        let violated = match outcome {
            Ok(violated) => violated,
            Err(_) => vec![self.properties.len()],
        };
        if !violated.is_empty() {
            self.explored.counts.unsafe_events += 1;
            self.explored.counts.violations += 1;
            violated.iter().for_each(|&property| self.explored.counts.by_property[property] += 1);
            self.report(violated[0], schedule);
        }
    }

    /// Walks to the end; the numbers of the properties that it violates.
    fn go(
        &mut self,
        scheduler: &mut Scheduler,
        random: &mut Pcg64Mcg,
        schedule: &mut Vec<Step>,
    ) -> Vec<usize> {
        let (mut state, mut before) = (self.system.initial(), self.system.initial());
        let mut bytes = Vec::new();
        let mut contains = self.search.must_contain.is_none();
        loop {
            let from = (!schedule.is_empty()).then_some(&before);
            let violated = violations(self.properties, from, &state);
            bytes.clear();
            state.write(&mut bytes);
            self.meet(fingerprint(&bytes).0);
            self.witness(&state, schedule);
            if !violated.is_empty() {
                return if contains { numbers(violated) } else { Vec::new() };
            }
            if schedule.len() as u32 >= self.walk.depth {
                self.explored.counts.deepest += 1;
                return Vec::new();
            }
            self.steps.clear();
            self.system.enabled(&state, &mut self.steps);
            self.steps.retain(|step| !self.search.disabled.contains(&step.event));
            if self.steps.is_empty() {
                self.explored.counts.dead_ends += 1;
                let stuck = deadlocks(self.properties, &state);
                return if contains { numbers(stuck) } else { Vec::new() };
            }
            let step = scheduler.choose(&self.steps, schedule.len() as u32, random);
            contains |= self.search.must_contain == Some(step.event);
            schedule.push(step);
            self.count(step, schedule.len() as u32);
            before.read(&mut &bytes[..]);
            self.system.take(&mut state, step);
        }
    }

    fn count(&mut self, step: Step, depth: u32) {
        let Exploration { counts, by_event, .. } = &mut self.explored;
        counts.events += 1;
        counts.depth = counts.depth.max(depth);
        let event = usize::from(step.event);
        if by_event.len() <= event {
            by_event.resize(event + 1, 0);
        }
        by_event[event] += 1;
    }

    /// Notes that a state is met: once, or again.
    fn meet(&mut self, print: u128) {
        self.met += 1;
        self.seen.reserve();
        match self.seen.find(print) {
            Err(slot) => {
                self.seen.fill(slot, print, 1);
                self.once += 1;
                self.explored.counts.states += 1;
            }
            Ok(1) => {
                self.seen.lower(print, 0);
                self.once -= 1;
            }
            Ok(_) => {}
        }
    }

    fn witness(&mut self, state: &S::State, schedule: &[Step]) {
        for property in self.properties {
            if let Kind::Sometimes(is) = &property.kind
                && let Some((_, steps @ None)) =
                    self.explored.witnesses.iter_mut().find(|(name, _)| *name == property.name)
                && is(state)
            {
                *steps = Some(schedule.to_vec());
            }
        }
    }

    /// Keeps a violation if it is the first or the shortest of its property, once it was repeated.
    fn report(&mut self, property: usize, schedule: Vec<Step>) {
        let name = self.properties.get(property).map_or(PANIC, |property| &property.name);
        let known = self.explored.found.iter().position(|found| found.property == name);
        if known.is_none_or(|at| self.explored.found[at].schedule.len() > schedule.len()) {
            let disabled = &self.search.disabled;
            let again = violated_at_end(self.system, self.properties, disabled, &schedule);
            let same =
                again.ok().and_then(|found| found.into_iter().find(|(at, _)| *at == property));
            let Some((_, message)) = same else {
                let reason = format!("a violation of \"{name}\" could not be repeated");
                self.explored.ended = Ended::Unconfirmed(reason);
                return;
            };
            let found = Found { property: name.into(), message, schedule, loop_start: None };
            match known {
                Some(at) => self.explored.found[at] = found,
                None => self.explored.found.push(found),
            }
        }
        if !self.search.keep_going {
            self.explored.ended = Ended::Violation;
        }
    }

    fn finish(mut self) -> Walked {
        let counts = &mut self.explored.counts;
        (counts.stored, counts.safe) = (counts.states, counts.events - counts.unsafe_events);
        Walked { exploration: self.explored, walks: self.walks, met: self.met, once: self.once }
    }
}

fn numbers(violated: Vec<(usize, String)>) -> Vec<usize> {
    violated.into_iter().map(|(number, _)| number).collect()
}

/// Chooses steps.
enum Scheduler<'a> {
    Weighted(&'a [u32]),
    Pct {
        /// The priorities of actors, as far as they have acted; the highest acts.
        priorities: Vec<(u16, u64)>,
        /// Where the one that acts falls to the bottom, in descending order.
        changes: Vec<u32>,
        /// The next priority at the bottom.
        bottom: u64,
    },
}

impl<'a> Scheduler<'a> {
    fn new(walk: &'a Walk, random: &mut Pcg64Mcg) -> Self {
        match &walk.choice {
            WalkChoice::Weighted(weights) => Scheduler::Weighted(weights),
            WalkChoice::Pct(depth) => {
                let place = |_| below(random, u64::from(walk.depth.max(1))) as u32;
                let mut changes: Vec<u32> = (1..*depth).map(place).collect();
                changes.sort_unstable_by(|a, b| b.cmp(a));
                Scheduler::Pct { priorities: Vec::new(), changes, bottom: u64::from(*depth) }
            }
        }
    }

    fn choose(&mut self, steps: &[Step], number: u32, random: &mut Pcg64Mcg) -> Step {
        match self {
            Scheduler::Weighted(weights) => {
                let weight = |step: &Step| {
                    u64::from(weights.get(usize::from(step.event)).copied().unwrap_or(1))
                };
                let all: u64 = steps.iter().map(weight).sum();
                if all == 0 {
                    return steps[below(random, steps.len() as u64) as usize];
                }
                let mut left = below(random, all);
                let chosen = steps.iter().find(|step| {
                    let own = weight(step);
                    let is = left < own;
                    left = left.saturating_sub(own);
                    is
                });
                *chosen.expect("the weights add up")
            }
            Scheduler::Pct { priorities, changes, bottom } => {
                for step in steps {
                    if priorities.iter().all(|(actor, _)| *actor != step.actor) {
                        let priority = u64::from(u32::MAX) + below(random, 1 << 40);
                        priorities.push((step.actor, priority));
                    }
                }
                let able = |actor: u16| steps.iter().any(|step| step.actor == actor);
                let enabled = priorities.iter_mut().filter(|(actor, _)| able(*actor));
                let first = enabled.max_by_key(|(_, priority)| *priority);
                let (actor, priority) = first.expect("a step is enabled");
                while changes.last().is_some_and(|change| *change <= number) {
                    changes.pop();
                    *bottom = bottom.saturating_sub(1);
                    *priority = *bottom;
                }
                let own: Vec<Step> =
                    steps.iter().copied().filter(|step| step.actor == *actor).collect();
                own[below(random, own.len() as u64) as usize]
            }
        }
    }
}

/// A number below `bound`, all equally likely up to 2⁻⁶⁴.
fn below(random: &mut Pcg64Mcg, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}
