//! Incremental exploration (Sobeih 2008, figure 7.3): transitions of an old graph are not executed
//! again.
//!
//! The states that are explored, their order, the violations and the counterexample are those of
//! a search without a graph. Where we depart from the paper:
//!
//! - A hit is looked up by the number that the graph gives the next state, in a memo of the states
//!   that were shown to the visited set. For fingerprints this comes to the paper's look-up; it
//!   serves exact states and simulation relations as well, because what was shown before would be
//!   rejected again.
//! - The states behind events to the depth bound are not in the graph, only that they are safe:
//!   neither search hashes them. An event that led to the bound and does not any more is a miss.
//! - A hit tree event is hashed all the same where the visited set does not keep fingerprints, and
//!   one in 64 is compared with the graph, so that a graph that lies is found out.
//! - If hardly anything is found in the graph, it is not asked any more. In a search that goes level by
//!   level that is decided between levels, so that it does not depend on the number of threads.
//! - Several threads may execute a hit that one thread would not; it is not counted.

use crate::costs::{Clock, Costs, Stopwatch};
use crate::expand::Class;
use crate::graph::{BEYOND, Baseline, Ledger, NOWHERE, Origin};
use crate::{Exploration, Fingerprint, Search, Step};

/// The old graph, and what is to be known beyond the outcome of the search.
#[derive(Clone, Copy, Default)]
pub struct Incremental<'a> {
    /// The graph to use (the paper's *read*).
    pub baseline: Option<&'a Baseline<'a>>,
    /// Whether to write transitions down for a graph (the paper's *write*).
    pub record: bool,
    /// A clock, to measure what operations cost.
    pub clock: Option<Clock<'a>>,
    /// Whether to sum up the fingerprints of the visited states.
    pub digest: bool,
    /// Whether to ask the graph to the end, even if hardly anything is found in it.
    pub stubborn: bool,
}

/// What there is to say about an incremental search beyond its outcome.
#[derive(Default)]
pub struct Increment {
    /// What the graph was good for.
    pub reuse: Reuse,
    /// What operations cost, if there was a clock.
    pub costs: Costs,
    /// The transitions, if they are recorded.
    pub ledger: Option<Ledger>,
    /// The sum of the fingerprints of the visited states, if it was wanted. Equal sums of equally
    /// many states mean equal sets, as surely as equal fingerprints mean equal states.
    pub digest: u128,
    /// The memory that the search itself took at its end: states, visited set, frontier.
    pub search_bytes: u64,
    /// The memory that using a graph and writing one took besides.
    pub extra_bytes: u64,
}

/// What a graph was good for. Events are those that were explored, as [`Counts`](crate::Counts)
/// has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    /// Events that are not modified and were found in the graph.
    pub hits: u64,
    /// Events that are not modified and were not found.
    pub misses: u64,
    /// Events that are modified or new.
    pub modified: u64,
    /// Events that were executed.
    pub executed: u64,
    /// States whose transitions are damaged in the file; they count as misses.
    pub damaged: u64,
    /// Whether the graph was not asked any more because hardly anything was found in it. If no
    /// graph is written either, what comes after is executed and counts as nothing else.
    pub abandoned: bool,
    /// For each event, by number, what became of its modification.
    pub changes: Vec<Change>,
    /// An event of which the graph was wrong although its handler is said to be the same.
    pub stale: Option<u16>,
}

/// What became of an event whose handler was modified, in the states in which the graph knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// In how many states it led where it had led before.
    pub same: u64,
    /// In how many it led elsewhere, to a safe state.
    pub different: u64,
    /// In how many it led to a violation where it had been safe.
    pub worse: u64,
    /// In how many it happened without having been safe, or known, before.
    pub new: u64,
}

impl Reuse {
    /// The paper's p: the share of unmodified events that were found in the graph.
    pub fn p(&self) -> f64 {
        share(self.hits, self.hits + self.misses)
    }

    /// The paper's q: the share of explored events that are modified.
    pub fn q(&self) -> f64 {
        share(self.modified, self.hits + self.misses + self.modified)
    }
}

/// A part of a whole; nothing of nothing is nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The graph is given up when fewer than one in so many events of a stretch were found in it.
const WORTHWHILE: u64 = 8;
/// How many unmodified events make a stretch.
const STRETCH: u64 = 4096;
/// One in so many hits that are executed is compared with the graph.
const SAMPLED: u32 = 64;

/// The states of the graph that were shown to the visited set, each with and without the event
/// that a path must contain.
pub(crate) struct Memo {
    /// How many entries a state has.
    sides: usize,
    shown: Shown,
}

enum Shown {
    Bits(Vec<u64>),
    /// The smallest depth at which it was shown, where that matters.
    Depths(Vec<u32>),
}

impl Memo {
    fn new(states: usize, search: &Search) -> Self {
        let sides = if search.must_contain.is_some() { 2 } else { 1 };
        let shown = if search.depth_matters() {
            Shown::Depths(vec![u32::MAX; states * sides])
        } else {
            Shown::Bits(vec![0; (states * sides).div_ceil(64)])
        };
        Memo { sides, shown }
    }

    fn at(&self, state: u32, contains: bool) -> usize {
        match self.sides {
            1 => state as usize,
            _ => 2 * state as usize + usize::from(contains),
        }
    }

    /// Whether a state was shown at this depth or a smaller one.
    #[inline]
    pub(crate) fn shown(&self, state: u32, contains: bool, depth: u32) -> bool {
        let at = self.at(state, contains);
        match &self.shown {
            Shown::Bits(bits) => bits[at / 64] >> (at % 64) & 1 == 1,
            Shown::Depths(depths) => depths[at] <= depth,
        }
    }

    /// Notes that a state is shown; whether it was not yet.
    fn show(&mut self, state: u32, contains: bool, depth: u32) -> bool {
        let new = !self.shown(state, contains, depth);
        let at = self.at(state, contains);
        match &mut self.shown {
            Shown::Bits(bits) => bits[at / 64] |= 1 << (at % 64),
            Shown::Depths(depths) => depths[at] = depths[at].min(depth),
        }
        new
    }

    fn bytes(&self) -> usize {
        match &self.shown {
            Shown::Bits(bits) => bits.capacity() * 8,
            Shown::Depths(depths) => depths.capacity() * 4,
        }
    }
}

/// What a thread will show to the visited set when its batch is absorbed.
#[derive(Default)]
pub(crate) struct Claims {
    bits: Vec<u64>,
    claimed: Vec<usize>,
}

impl Claims {
    /// Claims a state of the graph; whether it was unclaimed.
    #[inline]
    pub(crate) fn claim(&mut self, state: u32, contains: bool) -> bool {
        let at = 2 * state as usize + usize::from(contains);
        if self.bits.len() <= at / 64 {
            self.bits.resize(at / 64 + 1, 0);
        }
        let new = self.bits[at / 64] >> (at % 64) & 1 == 0;
        if new {
            self.bits[at / 64] |= 1 << (at % 64);
            self.claimed.push(at / 64);
        }
        new
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * (self.bits.capacity() + self.claimed.capacity())
    }

    pub(crate) fn clear(&mut self) {
        for at in self.claimed.drain(..) {
            self.bits[at] = 0;
        }
    }
}

/// What is recorded of an executed event besides its record.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    pub(crate) step: Step,
    pub(crate) origin: Origin,
    /// Where the graph says it leads, or has led.
    pub(crate) next: u32,
    pub(crate) contains: bool,
    /// The fingerprint of the state after it, as far as it is needed.
    pub(crate) after: u128,
}

impl Note {
    /// A note of an event of which the graph knows nothing.
    pub(crate) fn plain(step: Step, contains: bool) -> Self {
        let (origin, next) = (Origin::Miss, NOWHERE);
        Note { step, origin, next, contains, after: 0 }
    }
}

/// A state whose transitions are recorded.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) print: u128,
    /// How many records came before those of its own.
    pub(crate) records: usize,
    /// How many steps are enabled in it, if none is switched off and their order can be told.
    pub(crate) enabled: Option<usize>,
}

/// Hits that were not executed: how many, in which state of the batch.
#[derive(Clone, Copy)]
pub(crate) struct Skip {
    pub(crate) work: u32,
    /// How many records came before them.
    pub(crate) records: usize,
    pub(crate) count: u32,
}

/// The incremental side of a running search.
pub(crate) struct Past<'a> {
    given: Incremental<'a>,
    /// The graph, as long as it is of use.
    reading: Option<&'a Baseline<'a>>,
    pub(crate) watch: Option<Stopwatch<'a>>,
    pub(crate) memo: Memo,
    /// Whether the graph can tell which steps are enabled.
    pub(crate) lists: bool,
    /// The events that the graph to be written does not have.
    left_out: Vec<u16>,
    /// The number in the graph of each state, by its own number; [`NOWHERE`] if it has none.
    numbers: Vec<u32>,
    result: Increment,
    /// Unmodified events and hits when the stretch began.
    stretch: (u64, u64),
}

impl<'a> Past<'a> {
    pub(crate) fn new(given: Incremental<'a>, search: &Search) -> Self {
        let reading = given.baseline.filter(|baseline| !baseline.all_modified());
        let states = reading.map_or(0, |baseline| baseline.graph.states() as usize);
        let events = reading.map_or(0, Baseline::events);
        let reuse = Reuse { changes: vec![Change::default(); events], ..Reuse::default() };
        let ledger = given.record.then(Ledger::default);
        Past {
            given,
            reading,
            watch: given.clock.map(Stopwatch::new),
            memo: Memo::new(states, search),
            lists: reading.is_some_and(|baseline| baseline.covers(&search.disabled)),
            left_out: Baseline::left_out(given.baseline, &search.disabled),
            numbers: Vec::new(),
            result: Increment { reuse, ledger, ..Increment::default() },
            stretch: (0, 0),
        }
    }

    /// The graph, if it is to be asked.
    pub(crate) fn reading(&self) -> Option<&'a Baseline<'a>> {
        self.reading
    }

    /// Whether there is anything to be noted about events.
    pub(crate) fn active(&self) -> bool {
        self.reading.is_some() || self.given.record || self.given.digest
    }

    /// Whether transitions are recorded.
    pub(crate) fn recording(&self) -> bool {
        self.given.record
    }

    /// How many of the enabled steps are in the graph that is written if all are safe; `None` if
    /// they are not in the order in which they are written.
    pub(crate) fn enabled(&self, steps: &[Step]) -> Option<usize> {
        let sorted = steps.is_sorted_by_key(|step| (step.actor, step.event, step.param));
        let listed = || steps.iter().filter(|step| !self.left_out.contains(&step.event)).count();
        sorted.then(|| if self.left_out.is_empty() { steps.len() } else { listed() })
    }

    /// How an event stands to a graph that is not asked about it.
    pub(crate) fn unasked(&self, event: u16) -> Origin {
        match self.given.baseline {
            Some(baseline) if baseline.is_modified(event) => Origin::Modified,
            _ => Origin::Miss,
        }
    }

    /// Whether a hit that is executed is to be compared with the graph.
    pub(crate) fn sampled(next: u32) -> bool {
        next.is_multiple_of(SAMPLED)
    }

    /// The number in the graph of a state that is being explored.
    pub(crate) fn number(&self, node: u32) -> u32 {
        self.numbers.get(node as usize).copied().unwrap_or(NOWHERE)
    }

    /// The number of the state that an executed event led to, as far as the graph tells.
    pub(crate) fn leads_to(&self, note: &Note) -> u32 {
        match (note.origin, self.reading) {
            (Origin::Hit, _) => note.next,
            (Origin::Modified, Some(baseline))
                if note.next < BEYOND && baseline.graph.print(note.next) == note.after =>
            {
                note.next
            }
            _ => NOWHERE,
        }
    }

    /// Notes that a new state is visited. `hint` is its number in the graph, if that is known;
    /// otherwise its fingerprint tells.
    pub(crate) fn visit(&mut self, node: u32, visit: Visit) {
        if self.given.digest && visit.fresh {
            let side = u128::from(visit.contains) << 127;
            self.result.digest = self.result.digest.wrapping_add((visit.print)().0 ^ side);
        }
        let Some(baseline) = self.reading else { return };
        let number = match visit.hint {
            NOWHERE => baseline.graph.find((visit.print)()).unwrap_or(NOWHERE),
            hint => hint,
        };
        if self.numbers.len() <= node as usize {
            self.numbers.resize(node as usize + 1, NOWHERE);
        }
        self.numbers[node as usize] = number;
        if number != NOWHERE {
            self.memo.show(number, visit.contains, visit.depth);
        }
    }

    /// Counts events about which nothing was noted.
    pub(crate) fn unnoted(&mut self, count: u64) {
        self.result.reuse.executed += count;
    }

    /// Counts hits that were not executed.
    pub(crate) fn skipped(&mut self, count: u64) {
        self.result.reuse.hits += count;
    }

    /// Counts states whose transitions are damaged, and an event of which the graph was wrong.
    pub(crate) fn found_wanting(&mut self, damaged: u64, stale: Option<u16>) {
        self.result.reuse.damaged += damaged;
        let reuse = &mut self.result.reuse;
        reuse.stale = reuse.stale.or(stale);
    }

    /// Sets the source state of the transitions recorded from now on.
    pub(crate) fn start(&mut self, source: &Source) {
        if let Some(ledger) = &mut self.result.ledger {
            ledger.start(Fingerprint(source.print), source.enabled);
        }
    }

    /// Counts an executed event and writes it down, if it led to no violation.
    pub(crate) fn executed(&mut self, note: &Note, depth: u32, class: Class) {
        let safe = class != Class::Unsafe;
        let reuse = &mut self.result.reuse;
        match note.origin {
            Origin::Hit => {
                reuse.hits += 1;
                // Another thread may have shown it meanwhile; one thread would not execute it.
                let first = self.memo.show(note.next, note.contains, depth);
                reuse.executed += u64::from(first);
                return;
            }
            Origin::Miss => reuse.misses += 1,
            Origin::Modified => {
                reuse.modified += 1;
                self.compare(note, safe);
            }
        }
        self.result.reuse.executed += 1;
        if let Some(ledger) = self.result.ledger.as_mut().filter(|_| safe) {
            ledger.add(note.step, (class == Class::Safe).then_some(Fingerprint(note.after)));
        }
    }

    /// Compares what a modified event led to with what it had led to.
    fn compare(&mut self, note: &Note, safe: bool) {
        let (Some(baseline), Some(change)) =
            (self.reading, self.result.reuse.changes.get_mut(usize::from(note.step.event)))
        else {
            return;
        };
        match note.next {
            NOWHERE => change.new += 1,
            _ if !safe => change.worse += 1,
            // At the depth bound states are not hashed, so nothing is known of where it leads, or led.
            BEYOND => {}
            _ if note.after == 0 => {}
            next if baseline.graph.print(next) == note.after => change.same += 1,
            _ => change.different += 1,
        }
    }

    /// Gives the graph up if too little was found in it lately.
    pub(crate) fn review(&mut self) {
        let Reuse { hits, misses, .. } = self.result.reuse;
        let (events, before) = self.stretch;
        let done = self.reading.is_none() || self.given.stubborn;
        if done || hits + misses < events + STRETCH {
            return;
        }
        if (hits - before) * WORTHWHILE < hits + misses - events {
            self.reading = None;
            self.result.reuse.abandoned = true;
        }
        self.stretch = (hits + misses, hits);
    }

    pub(crate) fn costs(&mut self) -> &mut Costs {
        &mut self.result.costs
    }

    /// What there is to say in the end, about a search that took so many bytes.
    pub(crate) fn finish(mut self, search_bytes: u64, claims: usize) -> Increment {
        self.result.ledger.iter_mut().for_each(Ledger::settle);
        let memory = self.memo.bytes() + self.numbers.capacity() * 4 + claims;
        let ledger = self.result.ledger.as_ref().map_or(0, Ledger::bytes);
        self.result.search_bytes = search_bytes;
        self.result.extra_bytes = memory as u64 + ledger;
        self.result
    }
}

/// A state that is visited from now on.
pub(crate) struct Visit<'a> {
    /// Its number in the graph, if that is known.
    pub(crate) hint: u32,
    pub(crate) contains: bool,
    pub(crate) depth: u32,
    /// Whether it was never visited, rather than now on a shorter way.
    pub(crate) fresh: bool,
    pub(crate) print: &'a dyn Fn() -> Fingerprint,
}

/// The result of an incremental search.
pub type Incremented = (Exploration, Increment);
