//! Expanding states for searches that keep them elsewhere: on disk, or in other processes.
//!
//! [`Expand`] knows a system, its properties and a search, and nothing of where states are kept; it is
//! not generic, so that such searches are compiled once.

use crate::confirm::{confirm, confirm_witness};
use crate::expand::{Breach, BreachAt, Class, Expansion, Job, Rules, Worker};
use crate::frontier::Work;
use crate::visited::Rule;
use crate::{Control, Found, PropertyKind, Search, Step, System, Task, VisitedKind, panic_capture};

/// Expands states of a system, on one thread.
pub trait Expand: Send {
    /// The initial state.
    fn start(&mut self) -> Start;
    /// Expands states of one depth; [`Expand::results`] has what comes out. Stops between two states
    /// if it is asked to.
    fn expand(&mut self, depth: u32, states: &mut dyn Iterator<Item = &[u8]>, control: &Control);
    /// What expanding the last states has produced.
    fn results(&mut self) -> &mut Expansion;
    /// The numbers of the properties that some state must satisfy and none has so far.
    fn wanted(&mut self) -> &mut Vec<usize>;
    /// Takes choices that led to a violation of a property again, from the initial state.
    fn confirm(&self, property: usize, choices: &[u32]) -> Result<Found, String>;
    /// The same for choices that led to a state which satisfies a property.
    fn confirm_witness(&self, property: usize, choices: &[u32]) -> Result<Vec<Step>, String>;
    /// The names of the properties, and what they speak of.
    fn properties(&self) -> Vec<(String, PropertyKind)>;
}

/// The initial state of a system.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Its bytes, as they are stored.
    pub bytes: Vec<u8>,
    /// Its fingerprint.
    pub print: u128,
    /// The numbers of the properties that it violates and why; a panic has the number after the last.
    pub violations: Vec<(usize, String)>,
    /// Whether they count.
    pub counts: bool,
    /// The properties that some state must satisfy and that it does.
    pub witnesses: Vec<usize>,
}

/// What an executed event led to.
#[derive(Clone, Copy, Debug)]
pub struct Successor<'a> {
    /// Which of the expanded states it starts from.
    pub from: u32,
    /// Which of the steps of that state it is.
    pub choice: u32,
    /// Which event it is.
    pub event: u16,
    /// What it led to.
    pub kind: SuccessorKind,
    /// The fingerprint of a safe successor.
    pub print: u128,
    /// The bytes of a safe successor.
    pub bytes: &'a [u8],
}

/// What an event led to, as far as the state itself tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuccessorKind {
    /// A state without violation, to be explored unless it is known.
    Safe,
    /// A state without violation at the depth bound.
    Deepest,
    /// A violation.
    Unsafe,
}

/// A violation that counts.
#[derive(Clone, Copy, Debug)]
pub struct Violation<'a> {
    /// Which of the expanded states it was found in.
    pub from: u32,
    /// Which of the steps of that state led to it; none if the state could not be asked for them, or
    /// has none.
    pub choice: Option<u32>,
    /// The numbers of the violated properties and why; a panic has the number after the last.
    pub violated: &'a [(usize, String)],
}

impl Expansion {
    /// The executed events that count, in order.
    pub fn successors(&self) -> impl Iterator<Item = Successor<'_>> {
        self.records[..self.end].iter().map(|record| Successor {
            from: record.work,
            choice: record.choice,
            event: record.event,
            kind: match record.class {
                Class::Safe => SuccessorKind::Safe,
                Class::Deepest => SuccessorKind::Deepest,
                Class::Unsafe => SuccessorKind::Unsafe,
            },
            print: record.hash,
            bytes: &self.bytes[record.start..record.end],
        })
    }

    /// The violations that count, in order.
    pub fn violations(&self) -> impl Iterator<Item = Violation<'_>> {
        let counts = |breach: &&Breach| match breach.at {
            _ if !breach.counts || self.is_void => false,
            BreachAt::Record(record) => record < self.end,
            BreachAt::Enabled(work, _) => work <= self.works_end,
        };
        self.breaches.iter().filter(counts).map(|breach| Violation {
            from: self.work_of(breach.at),
            choice: match breach.at {
                BreachAt::Record(record) => Some(self.records[record].choice),
                BreachAt::Enabled(..) => None,
            },
            violated: &breach.violations,
        })
    }

    /// How many of the expanded states had no steps.
    pub fn dead_ends(&self) -> u64 {
        self.dead_ends.iter().filter(|&&work| work < self.works_end).count() as u64
    }

    /// The properties that some state must satisfy and that a successor does: of each, its number, the
    /// expanded state and the choice.
    pub fn witnesses(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        self.witnesses.iter().filter(|(record, _)| *record < self.end).map(|&(record, property)| {
            (property, self.records[record].work, self.records[record].choice)
        })
    }
}

/// Decides how many results of several threads count: all, or those up to the first violation if the
/// search stops there. What other threads executed beyond it is forgotten.
pub fn set_ends<'e>(results: impl Iterator<Item = &'e mut Expansion>, keep_going: bool) {
    let mut over = false;
    for expansion in results {
        expansion.is_void = over;
        let first = expansion.breaches.iter().find(|breach| breach.counts && !keep_going);
        let (end, skips_end, works_end) = match first {
            _ if over => (0, 0, 0),
            None => (expansion.records.len(), expansion.skips.len(), u32::MAX),
            Some(breach) => {
                let works = expansion.work_of(breach.at);
                match breach.at {
                    BreachAt::Record(record) => (record + 1, breach.skips, works),
                    BreachAt::Enabled(_, before) => (before, breach.skips, works),
                }
            }
        };
        over |= first.is_some();
        (expansion.end, expansion.skips_end, expansion.works_end) = (end, skips_end, works_end);
    }
}

/// Expands states of a system whose type is known.
struct Expander<'a, S: System> {
    rules: Rules<'a, S>,
    worker: Worker<S>,
}

/// What expands states of a task that recognises them by their fingerprints.
///
/// # Panics
///
/// If they are recognised by anything else.
pub fn expander<'a, S: System>(task: &Task<'a, S>) -> Box<dyn Expand + 'a> {
    assert!(task.search.visited == VisitedKind::Hash, "states are recognised by fingerprints");
    Box::new(Expander { rules: rules(task), worker: Worker::new(task.system) })
}

fn rules<'a, S: System>(task: &Task<'a, S>) -> Rules<'a, S> {
    let Task { system, properties, search, .. } = *task;
    let is = |kind: PropertyKind| move |property: &crate::Property<_>| property.kind() == kind;
    let wanted = properties.iter().enumerate();
    let wanted = wanted.filter(|(_, property)| is(PropertyKind::Sometimes)(property));
    Rules {
        system,
        properties,
        rank: None,
        search,
        rule: Rule::new(search, system, properties),
        one_step: false,
        wanted: wanted.map(|(number, _)| number).collect(),
        checks_steps: properties.iter().any(is(PropertyKind::Step)),
    }
}

impl<S: System> Expand for Expander<'_, S> {
    fn start(&mut self) -> Start {
        let rules = &self.rules;
        let counts = rules.search.must_contain.is_none();
        let mut start = Start { counts, ..Start::default() };
        let checked = panic_capture::run(|| {
            let state = rules.system.initial();
            rules.encode(&state, counts, &mut start.bytes);
            start.print = rules.rule.hash(&start.bytes);
            start.witnesses = rules.witnessed(&state);
            rules.violations(None, &state)
        });
        start.violations =
            checked.unwrap_or_else(|message| vec![(rules.properties.len(), message)]);
        start
    }

    fn expand(&mut self, depth: u32, states: &mut dyn Iterator<Item = &[u8]>, control: &Control) {
        let Expander { rules, worker } = self;
        worker.clear();
        let work = Work { node: 0, depth, choice: 0, from: 0 };
        for (index, bytes) in (0..).zip(states) {
            if control.stopped() {
                break;
            }
            let (shards, past, watch) = (&[][..], None, None);
            worker.expand(rules, Job { work: &work, index, bytes, shards, past, watch });
        }
    }

    fn results(&mut self) -> &mut Expansion {
        &mut self.worker.expansion
    }

    fn wanted(&mut self) -> &mut Vec<usize> {
        &mut self.rules.wanted
    }

    fn confirm(&self, property: usize, choices: &[u32]) -> Result<Found, String> {
        confirm(&self.rules, property, choices)
    }

    fn confirm_witness(&self, property: usize, choices: &[u32]) -> Result<Vec<Step>, String> {
        confirm_witness(&self.rules, property, choices)
    }

    fn properties(&self) -> Vec<(String, PropertyKind)> {
        let name = |property: &crate::Property<_>| (property.name.clone(), property.kind());
        self.rules.properties.iter().map(name).collect()
    }
}

/// Whether a search can be made by those that keep their states elsewhere.
pub fn fits(search: &Search) -> bool {
    let Search { order, add, visited, .. } = search;
    *visited == VisitedKind::Hash && *order == crate::SearchOrder::Bfs && *add == crate::Add::Next
}
