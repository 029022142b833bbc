//! Expanding states: every enabled step is taken, and its result checked and encoded.

use crate::frontier::Work;
use crate::shuffle::shuffle;
use crate::visited::{Rule, Shard};
use crate::{Canonical, Property, Rank, Search, Step, System, handler};

/// What expanding needs to know, the same for all threads.
pub(crate) struct Rules<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) properties: &'a [Property<S::State>],
    pub(crate) rank: Option<&'a Rank<S::State>>,
    pub(crate) search: &'a Search,
    pub(crate) rule: Rule<'a>,
    /// Take one step of a state at a time, as recursive depth-first search does.
    pub(crate) one_step: bool,
}

impl<S: System> Rules<'_, S> {
    /// Writes the bytes by which a state is stored and recognised.
    ///
    /// If counterexamples must contain an event, a byte in front tells whether it has happened.
    pub(crate) fn encode(&self, state: &S::State, contains: bool, bytes: &mut Vec<u8>) {
        if self.search.must_contain.is_some() {
            bytes.push(u8::from(contains));
        }
        state.write(bytes);
    }

    /// Splits stored bytes into whether the event has happened and the system's own.
    fn split<'b>(&self, bytes: &'b [u8]) -> (bool, &'b [u8]) {
        match self.search.must_contain {
            Some(_) => (bytes[0] == 1, &bytes[1..]),
            None => (true, bytes),
        }
    }

    /// Whether `state` violates no property.
    fn holds(&self, state: &S::State) -> bool {
        self.properties.iter().all(|property| property.check(state).is_ok())
    }

    /// The properties that `state` violates, by number, and why.
    pub(crate) fn violations(&self, state: &S::State) -> Vec<(usize, String)> {
        let check = |(number, property): (usize, &Property<S::State>)| {
            property.check(state).err().map(|message| (number, message))
        };
        self.properties.iter().enumerate().filter_map(check).collect()
    }

    /// Whether a state of this depth is at the bound.
    fn deepest(&self, depth: u32) -> bool {
        self.search.max_depth.is_some_and(|bound| depth >= bound)
    }
}

/// What expanding a number of states produced, in order.
#[derive(Default)]
pub(crate) struct Expansion {
    /// The canonical bytes of the successors that may be stored, end to end.
    pub(crate) bytes: Vec<u8>,
    /// The executed events, in order.
    pub(crate) records: Vec<Record>,
    /// The violations among them.
    pub(crate) breaches: Vec<Breach>,
    /// The ranks of the records, end to end, in best-first search.
    ranks: Vec<i64>,
    /// Where in `ranks` that of each record ends.
    rank_ends: Vec<usize>,
    /// For each state in which nothing was enabled, how many records came before it.
    pub(crate) dead_ends: Vec<usize>,
    /// Whether the state has more steps, when they are taken one at a time.
    pub(crate) more: bool,
    /// How many of the records count. Set when all threads have finished.
    pub(crate) end: usize,
}

/// One executed event.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    /// Which of the batch's states it starts from.
    pub(crate) work: u32,
    /// Which of that state's steps it is.
    pub(crate) choice: u32,
    /// Where the successor's bytes begin and end.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The hash of the successor, if it may be stored.
    pub(crate) hash: u128,
    pub(crate) class: Class,
}

/// What an event led to, as far as the state itself tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A state without violation that may be stored.
    Safe,
    /// A state without violation at the depth bound.
    Deepest,
    /// A violation.
    Unsafe,
}

/// A violation.
pub(crate) struct Breach {
    /// Which record, or which state of the batch if it had not come to a step.
    pub(crate) at: BreachAt,
    /// The numbers of the violated properties and why; a panic has the number after the last.
    pub(crate) violations: Vec<(usize, String)>,
    /// Whether the path contains the event it must contain.
    pub(crate) counts: bool,
}

/// Where a violation happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreachAt {
    /// In the step of this record.
    Record(usize),
    /// While asking which steps are enabled, in this state of the batch, before any record from
    /// the second number on.
    Enabled(u32, usize),
}

impl Expansion {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
        self.breaches.clear();
        self.ranks.clear();
        self.rank_ends.clear();
        self.dead_ends.clear();
        self.more = false;
        self.end = 0;
    }

    /// The rank of a record; empty unless the search is best-first.
    pub(crate) fn rank(&self, record: usize) -> &[i64] {
        let end = self.rank_ends.get(record).copied().unwrap_or(0);
        let start = if record == 0 || end == 0 { 0 } else { self.rank_ends[record - 1] };
        &self.ranks[start..end]
    }

    /// The hashes of the records that count and may be stored.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u128> + Clone {
        let records = self.records[..self.end].iter();
        records.filter(|record| record.class == Class::Safe).map(|record| record.hash)
    }
}

/// A state to expand.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) work: &'a Work,
    /// Its number in the batch.
    pub(crate) index: u32,
    pub(crate) bytes: &'a [u8],
    /// Where its successors will be looked up, if that is known.
    pub(crate) shard: Option<&'a Shard>,
}

/// A thread's working states.
pub(crate) struct Worker<S: System> {
    current: S::State,
    next: S::State,
    steps: Vec<Step>,
    /// The node that `current` and `steps` belong to, if they still do.
    loaded: Option<u32>,
    /// The step being taken, so that a panic can be laid at its door.
    taking: Option<usize>,
    pub(crate) expansion: Expansion,
}

impl<S: System> Worker<S> {
    pub(crate) fn new(system: &S) -> Self {
        Worker {
            current: system.initial(),
            next: system.initial(),
            steps: Vec::new(),
            loaded: None,
            taking: None,
            expansion: Expansion::default(),
        }
    }

    /// Expands a state.
    pub(crate) fn expand(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        let mut from = job.work.from as usize;
        loop {
            self.taking = None;
            let Err(message) = handler::run(|| self.expand_from(rules, job, from)) else {
                return;
            };
            self.record_panic(rules, job, message);
            // The working states may have been left in disorder by the panic.
            self.current = rules.system.initial();
            self.next = rules.system.initial();
            self.loaded = None;
            match self.taking {
                Some(choice) if !self.expansion.more => from = choice + 1,
                _ => return,
            }
        }
    }

    /// The steps enabled in `state`, in the order in which they are explored.
    pub(crate) fn enumerate(&mut self, rules: &Rules<'_, S>, bytes: &[u8]) -> &[Step] {
        let (_, own) = rules.split(bytes);
        self.loaded = None;
        self.current.read(&mut &own[..]);
        self.steps.clear();
        rules.system.enabled(&self.current, &mut self.steps);
        if !rules.search.disabled.is_empty() {
            self.steps.retain(|step| !rules.search.disabled.contains(&step.event));
        }
        if let Some(seed) = rules.search.shuffle {
            shuffle(&mut self.steps, seed, own);
        }
        &self.steps
    }

    fn expand_from(&mut self, rules: &Rules<'_, S>, job: Job<'_>, from: usize) {
        // A state whose steps are taken one at a time often comes back at once.
        if from == 0 || self.loaded != Some(job.work.node) {
            self.enumerate(rules, job.bytes);
        }
        let (contained, own) = rules.split(job.bytes);
        let class = if rules.deepest(job.work.depth + 1) { Class::Deepest } else { Class::Safe };
        let Worker { current, next, steps, loaded, taking, expansion } = self;
        // Successors at the bound are not explored, so nothing comes between them.
        let one_step = rules.one_step && class == Class::Safe;
        let end = if one_step { steps.len().min(from + 1) } else { steps.len() };
        *loaded = (end < steps.len()).then_some(job.work.node);
        expansion.more = end < steps.len();
        if steps.is_empty() {
            expansion.dead_ends.push(expansion.records.len());
        }
        for (choice, &step) in steps[..end].iter().enumerate().skip(from) {
            *taking = Some(choice);
            // The last step may use up the state itself.
            let state = if choice + 1 == steps.len() {
                &mut *current
            } else {
                rules.system.restore(current, own, next);
                &mut *next
            };
            rules.system.take(state, step);
            let contains = contained || rules.search.must_contain == Some(step.event);
            let start = expansion.bytes.len();
            let choice = choice as u32;
            let record = Record { work: job.index, choice, start, end: start, hash: 0, class };
            expansion.record(rules, state, contains, record);
            if let (Some(shard), Some(record)) = (job.shard, expansion.records.last()) {
                shard.prefetch(record.hash);
            }
        }
    }

    /// Turns a panic into a violation of the step that was being taken.
    fn record_panic(&mut self, rules: &Rules<'_, S>, job: Job<'_>, message: String) {
        let out = &mut self.expansion;
        let end = out.records.last().map_or(0, |record| record.end);
        out.bytes.truncate(end);
        let (mut counts, _) = rules.split(job.bytes);
        let at = match self.taking {
            Some(choice) => {
                counts |= rules.search.must_contain == Some(self.steps[choice].event);
                out.records.push(Record {
                    work: job.index,
                    choice: choice as u32,
                    start: end,
                    end,
                    hash: 0,
                    class: Class::Unsafe,
                });
                out.rank_ends.resize(out.records.len(), out.ranks.len());
                BreachAt::Record(out.records.len() - 1)
            }
            None => BreachAt::Enabled(job.index, out.records.len()),
        };
        out.breaches.push(Breach {
            at,
            violations: vec![(rules.properties.len(), message)],
            counts,
        });
    }
}

impl Expansion {
    /// Checks and encodes the state that a step led to.
    #[inline]
    fn record<S: System>(
        &mut self,
        rules: &Rules<'_, S>,
        state: &S::State,
        contains: bool,
        mut record: Record,
    ) {
        if !rules.holds(state) {
            record.class = Class::Unsafe;
            let at = BreachAt::Record(self.records.len());
            let violations = rules.violations(state);
            self.breaches.push(Breach { at, violations, counts: contains });
        }
        if record.class == Class::Safe {
            rules.encode(state, contains, &mut self.bytes);
            record.end = self.bytes.len();
            record.hash = rules.rule.hash(&self.bytes[record.start..]);
        }
        if let Some(rank) = rules.rank {
            if record.class == Class::Safe {
                rank.append(state, &mut self.ranks);
            }
            self.rank_ends.push(self.ranks.len());
        }
        self.records.push(record);
    }
}
