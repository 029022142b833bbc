//! The transitions of a running search, recorded to be saved as a graph.

use super::format::{HEADER, Header, UNKNOWN, home, row_seal};
use super::{Baseline, Counterexample, Makeup, Meta, NOWHERE};
use crate::table::{DENSE, Lookup, Table};
use crate::{Canonical, Fingerprint, Step};
use prefetch_index::prefetch_index;
use std::io::{self, Seek, SeekFrom, Write};
use xxhash_rust::xxh3::Xxh3;

/// The safe transitions that a search has executed, for the graph that is written at its end.
///
/// With a baseline, the graph written is that of the baseline, without what was modified since,
/// and with what was executed (Sobeih 2008, section 7.2.2: one structure for input and output).
#[derive(Default)]
pub struct Ledger {
    prints: Vec<u128>,
    by_print: Table<DENSE>,
    steps: Dictionary,
    /// The executed transitions: the lower halves of the numbers of their steps, the upper halves
    /// (empty as long as all are zero), and the numbers of the states they lead to.
    low: Vec<u16>,
    high: Vec<u16>,
    next: Vec<u32>,
    /// Runs of transitions that start in one state: which, how many they are, and how many steps
    /// are enabled there. A state may have several.
    runs: Vec<u32>,
    lengths: Vec<u8>,
    enabled: Vec<u8>,
    /// The state in which transitions start now.
    from: Option<u128>,
    /// States that are written down and have no number yet. Looking one up misses the processor's
    /// caches; several misses at a time take hardly longer than one.
    pending: Vec<Pending>,
}

/// How many states are looked up at a time.
const PENDING: usize = 64;

/// A state that is to be numbered.
#[derive(Clone, Copy)]
struct Pending {
    print: u128,
    /// Where its number goes.
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// To [`Ledger::runs`].
    Run(usize),
    /// To [`Ledger::next`].
    Next(usize),
}

/// Steps, numbered.
#[derive(Default)]
struct Dictionary {
    steps: Vec<Step>,
    numbers: Table,
}

impl Dictionary {
    /// The number of a step, which is added if it is new.
    fn number(&mut self, step: Step) -> u32 {
        let Dictionary { steps, numbers } = self;
        numbers.reserve(steps.len() as u32, |number| mixed(steps[number as usize]));
        match numbers.find(mixed(step), |number| steps[number as usize] == step) {
            Lookup::Found(number) => number,
            Lookup::Vacant(slot) => {
                numbers.fill(slot, mixed(step), steps.len() as u32);
                steps.push(step);
                steps.len() as u32 - 1
            }
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Adds to a vector that grows by little, because it may be most of the memory in use.
fn push<T>(vector: &mut Vec<T>, item: T) {
    if vector.len() == vector.capacity() {
        vector.reserve_exact(vector.len() / 32 + 256);
    }
    vector.push(item);
}

fn mixed(step: Step) -> u64 {
    let word = u64::from(step.event) << 48 | u64::from(step.actor) << 32 | u64::from(step.param);
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Ledger {
    /// How many transitions were recorded.
    pub fn transitions(&self) -> u64 {
        self.next.len() as u64
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        let tables = self.by_print.bytes() + self.steps.numbers.bytes();
        let transitions =
            2 * (self.low.capacity() + self.high.capacity()) + 4 * self.next.capacity();
        (16 * self.prints.capacity()
            + tables
            + transitions
            + 4 * self.runs.capacity()
            + self.lengths.capacity()
            + self.enabled.capacity()) as u64
    }

    /// The number of a state.
    fn state(&mut self, print: u128) -> u32 {
        let Ledger { prints, by_print, .. } = self;
        by_print.reserve(prints.len() as u32, |number| prints[number as usize] as u64);
        match by_print.find(print as u64, |number| prints[number as usize] == print) {
            Lookup::Found(number) => number,
            Lookup::Vacant(slot) => {
                let number = prints.len() as u32;
                by_print.fill(slot, print as u64, number);
                push(prints, print);
                number
            }
        }
    }

    /// Puts the number of a state where it belongs, at the latest in [`Ledger::settle`].
    fn await_number(&mut self, print: u128, place: Place) {
        if self.pending.len() == PENDING {
            self.settle();
        }
        self.by_print.prefetch(print as u64);
        self.pending.push(Pending { print, place });
    }

    /// Numbers the states that have no number yet, in the order in which they were written down.
    pub(crate) fn settle(&mut self) {
        for pending in &self.pending {
            if let Some(number) = self.by_print.guess(pending.print as u64) {
                prefetch_index(&self.prints, number as usize);
            }
        }
        let mut pending = std::mem::take(&mut self.pending);
        for Pending { print, place } in pending.drain(..) {
            let number = self.state(print);
            match place {
                Place::Run(run) => self.runs[run] = number,
                Place::Next(transition) => self.next[transition] = number,
            }
        }
        self.pending = pending;
    }

    fn find(&self, print: u128) -> Option<u32> {
        let same = |number: u32| self.prints[number as usize] == print;
        match self.by_print.find(print as u64, same) {
            Lookup::Found(number) => Some(number),
            Lookup::Vacant(_) => None,
        }
    }

    /// Says that the transitions that follow start in this state, and how many steps are enabled
    /// in it if that is known.
    pub(crate) fn start(&mut self, Fingerprint(print): Fingerprint, enabled: Option<usize>) {
        let enabled = enabled.and_then(|count| u8::try_from(count).ok()).unwrap_or(UNKNOWN);
        if self.from != Some(print) {
            self.from = Some(print);
            self.run(print, enabled);
        }
    }

    fn run(&mut self, from: u128, enabled: u8) {
        self.await_number(from, Place::Run(self.runs.len()));
        push(&mut self.runs, NOWHERE);
        push(&mut self.lengths, 0);
        push(&mut self.enabled, enabled);
    }

    /// Writes a transition down.
    pub(crate) fn add(&mut self, step: Step, Fingerprint(print): Fingerprint) {
        let number = self.steps.number(step);
        if number > u32::from(u16::MAX) && self.high.is_empty() {
            self.high = vec![0; self.low.len()];
        }
        if number > u32::from(u16::MAX) || !self.high.is_empty() {
            push(&mut self.high, (number >> 16) as u16);
        }
        push(&mut self.low, number as u16);
        self.await_number(print, Place::Next(self.next.len()));
        push(&mut self.next, NOWHERE);
        if self.lengths.last() == Some(&u8::MAX)
            && let (Some(from), Some(&enabled)) = (self.from, self.enabled.last())
        {
            self.run(from, enabled);
        }
        if let Some(length) = self.lengths.last_mut() {
            *length += 1;
        }
    }

    /// The number of the step of a transition.
    fn step(&self, at: usize) -> u32 {
        self.high.get(at).map_or(0, |high| u32::from(*high) << 16) | u32::from(self.low[at])
    }

    /// Writes the graph.
    ///
    /// `left_out` are the events that could not happen in this search. They are not in the graph,
    /// unless the baseline knows them, and so count as new when it is loaded without that.
    ///
    /// # Errors
    ///
    /// If writing fails, or if there are more transitions than the format has numbers for.
    pub fn write(
        &self,
        out: &mut (impl Write + Seek),
        baseline: Option<&Baseline<'_>>,
        about: About<'_>,
    ) -> io::Result<Written> {
        debug_assert!(self.pending.is_empty(), "a search settles its ledger");
        let left_out = Baseline::left_out(baseline, about.left_out);
        let meta = Meta::new(about.makeup, &left_out, about.counterexamples);
        Assembly::new(self, baseline, &left_out).write(out, about.makeup, &meta)
    }
}

/// What goes into a file besides transitions.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The model.
    pub makeup: &'a Makeup,
    /// The events that were switched off.
    pub left_out: &'a [u16],
    /// The counterexamples that were found.
    pub counterexamples: &'a [Counterexample],
}

/// The ledger and the baseline put together: every state gets the number it has in the file.
struct Assembly<'a> {
    ledger: &'a Ledger,
    /// The runs of the ledger, by the number of their state, and where they begin.
    runs: Vec<(u32, u32)>,
    /// Where those of a state are among them.
    runs_from: Vec<u32>,
    baseline: Option<&'a Baseline<'a>>,
    /// The events that are not in the graph.
    left_out: &'a [u16],
    /// The states with transitions, in the order of the file: their numbers in the baseline and in
    /// the ledger.
    expanded: Vec<(u32, u32)>,
    /// From the numbers of the baseline and of the ledger to those of the file.
    from_old: Vec<u32>,
    from_new: Vec<u32>,
    states: u32,
}

impl<'a> Assembly<'a> {
    fn new(ledger: &'a Ledger, baseline: Option<&'a Baseline<'a>>, left_out: &'a [u16]) -> Self {
        let graph = baseline.map(|baseline| baseline.graph);
        let (old_expanded, old_states) =
            graph.map_or((0, 0), |graph| (graph.expanded() as u32, graph.states() as u32));
        let in_ledger =
            |old: u32| graph.and_then(|graph| ledger.find(graph.print(old))).unwrap_or(NOWHERE);
        let begin = |first: &mut u32, length: &u8| {
            *first += u32::from(*length);
            Some(*first - u32::from(*length))
        };
        let mut runs: Vec<(u32, u32)> = (0..).zip(ledger.lengths.iter().scan(0, begin)).collect();
        runs.sort_by_key(|(run, _)| ledger.runs[*run as usize]);
        let mut runs_from = vec![0; ledger.prints.len() + 1];
        ledger.runs.iter().for_each(|&from| runs_from[from as usize + 1] += 1);
        (1..runs_from.len()).for_each(|state| runs_from[state] += runs_from[state - 1]);
        let mut assembly = Assembly {
            ledger,
            runs,
            runs_from,
            baseline,
            left_out,
            expanded: Vec::new(),
            from_old: vec![NOWHERE; old_states as usize],
            from_new: vec![NOWHERE; ledger.prints.len()],
            states: 0,
        };
        for old in 0..old_expanded {
            assembly.expand(old, in_ledger(old));
        }
        for &from in &ledger.runs {
            assembly.expand(NOWHERE, from);
        }
        for old in old_expanded..old_states {
            assembly.number(old, in_ledger(old));
        }
        for new in 0..ledger.prints.len() as u32 {
            assembly.number(NOWHERE, new);
        }
        assembly
    }

    /// The runs of a state of the ledger.
    fn runs_of(&self, state: u32) -> &[(u32, u32)] {
        match self.runs_from.get(state as usize..).and_then(|from| from.first_chunk()) {
            Some(&[start, end]) => &self.runs[start as usize..end as usize],
            None => &[],
        }
    }

    /// Gives a state with transitions its number.
    fn expand(&mut self, old: u32, new: u32) {
        if self.number(old, new) {
            self.expanded.push((old, new));
        }
    }

    /// Gives a state its number, under which the baseline and the ledger know it; whether it had
    /// none yet.
    fn number(&mut self, old: u32, new: u32) -> bool {
        let known = self.from_new.get(new as usize).copied().unwrap_or(NOWHERE);
        let number = if known == NOWHERE { self.states } else { known };
        if let Some(from_old) = self.from_old.get_mut(old as usize) {
            *from_old = number;
        }
        if let Some(from_new) = self.from_new.get_mut(new as usize) {
            *from_new = number;
        }
        self.states += u32::from(known == NOWHERE);
        known == NOWHERE
    }

    /// The transitions of a state, with the numbers of their steps in the file, in the order of their
    /// steps; what was executed now counts.
    fn transitions(
        &self,
        (old, new): (u32, u32),
        steps: &mut Dictionary,
        out: &mut Vec<(Step, u32, u32)>,
    ) {
        out.clear();
        for &(run, first) in self.runs_of(new) {
            let end = first + u32::from(self.ledger.lengths[run as usize]);
            out.extend((first..end).map(|at| {
                // The steps of the ledger come first in the file.
                let (number, next) = (self.ledger.step(at as usize), self.ledger.next[at as usize]);
                let step = self.ledger.steps.steps[number as usize];
                (step, number, self.from_new[next as usize])
            }));
        }
        if let Some(baseline) = self.baseline.filter(|_| old != NOWHERE) {
            let kept = baseline.kept(old);
            out.extend(
                kept.map(|(step, next)| (step, steps.number(step), self.from_old[next as usize])),
            );
        }
        // The sort is stable, so that the first of equal steps is the one executed now.
        let key = |(step, ..): &(Step, u32, u32)| (step.actor, step.event, step.param);
        if !out.is_sorted_by(|a, b| key(a) < key(b)) {
            out.sort_by_key(key);
            out.dedup_by_key(|(step, ..)| *step);
        }
    }

    /// How many steps are enabled in a state, as far as that is known.
    fn enabled(&self, (old, new): (u32, u32)) -> u8 {
        match (self.runs_of(new).last(), self.baseline) {
            (Some((run, _)), _) => self.ledger.enabled[*run as usize],
            (None, Some(baseline)) if old != NOWHERE => baseline.enabled(old, self.left_out),
            _ => UNKNOWN,
        }
    }

    /// The fingerprints of all states, in the order of the file.
    fn prints(&self) -> impl Iterator<Item = u128> {
        let old_print = |old: u32| self.baseline.map_or(0, |baseline| baseline.graph.print(old));
        let print = move |(old, new): (u32, u32)| match self.ledger.prints.get(new as usize) {
            Some(print) => *print,
            None => old_print(old),
        };
        // The rest was numbered in this order, first those of the baseline.
        let first = self.expanded.len() as u32;
        let olds = (0..).zip(&self.from_old).filter(move |(_, number)| **number >= first);
        let after = first + olds.clone().count() as u32;
        let old_rest = olds.map(move |(old, _)| old_print(old));
        let news = self.from_new.iter().zip(&self.ledger.prints);
        let new_rest = news.filter(move |(number, _)| **number >= after).map(|(_, print)| *print);
        self.expanded.iter().copied().map(print).chain(old_rest).chain(new_rest)
    }

    /// The steps under the numbers they have in the file.
    fn dictionary(&self) -> Dictionary {
        let mut dictionary = Dictionary::default();
        let kept = self.baseline.iter().flat_map(|baseline| baseline.steps());
        for step in self.ledger.steps.steps.iter().copied().chain(kept) {
            dictionary.number(step);
        }
        dictionary
    }

    fn write(
        &self,
        out: &mut (impl Write + Seek),
        makeup: &Makeup,
        meta: &Meta,
    ) -> io::Result<Written> {
        let mut steps = self.dictionary();
        let step_width = if steps.steps.len() <= 1 << 16 { 2 } else { 4 };
        out.write_all(&[0; HEADER])?;
        let mut rows = Vec::with_capacity((self.expanded.len() + 1) * 8);
        let (mut transitions, mut bytes, mut written) = (Vec::new(), Vec::new(), 0u64);
        for (&place, print) in self.expanded.iter().zip(self.prints()) {
            self.transitions(place, &mut steps, &mut transitions);
            bytes.clear();
            for &(_, number, next) in &transitions {
                bytes.extend_from_slice(&number.to_le_bytes()[..step_width]);
                bytes.extend_from_slice(&next.to_le_bytes());
            }
            rows.extend_from_slice(&(written as u32).to_le_bytes());
            let seal = row_seal(&bytes, print, self.enabled(place));
            rows.extend_from_slice(&seal.to_le_bytes());
            written += transitions.len() as u64;
            out.write_all(&bytes)?;
        }
        rows.extend_from_slice(&u64::from(written as u32).to_le_bytes());
        let mut rest = Rest { out, sum: Xxh3::new() };
        bytes.clear();
        meta.write(&mut bytes);
        rest.write(&bytes)?;
        for step in &steps.steps {
            let event = meta.number(makeup, step.event);
            rest.write(&event.to_le_bytes())?;
            rest.write(&step.actor.to_le_bytes())?;
            rest.write(&step.param.to_le_bytes())?;
        }
        rest.write(&rows)?;
        let index_bits = u64::from((self.expanded.len() * 4 / 3 + 1).next_power_of_two().ilog2());
        for slot in self.index(index_bits) {
            rest.write(&slot.to_le_bytes())?;
        }
        for print in self.prints() {
            rest.write(&print.to_le_bytes())?;
        }
        let header = Header {
            step_width: step_width as u64,
            meta: bytes.len() as u64,
            steps: steps.steps.len() as u64,
            expanded: self.expanded.len() as u64,
            states: self.states.into(),
            transitions: written,
            index_bits,
            checksum: rest.sum.digest(),
        };
        let places = header.places().ok_or_else(|| io::Error::other("too many transitions"))?;
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&header.encode(places.end as u64))?;
        let bytes = places.end as u64;
        Ok(Written { states: header.states, transitions: written, bytes })
    }

    /// The slots in which the expanded states are found by their fingerprints.
    fn index(&self, bits: u64) -> Vec<u32> {
        let mut slots = vec![0; 1 << bits];
        for (number, print) in (1..=self.expanded.len() as u32).zip(self.prints()) {
            let mut at = home(print, bits);
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = number;
        }
        slots
    }
}

/// What follows the transitions, with its checksum.
struct Rest<'a, W> {
    out: &'a mut W,
    sum: Xxh3,
}

impl<W: Write> Rest<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }
}
