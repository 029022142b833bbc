//! The transitions of a running search, recorded to be saved as a graph.

use super::assembly::Assembly;
use super::format::UNKNOWN;
use super::lists::{Dictionary, Lists};
use super::{Baseline, Counterexample, Makeup, Meta, NOWHERE};
use crate::table::{DENSE, Lookup, Table};
use crate::{Fingerprint, Step};
use prefetch_index::prefetch_index;
use std::io::{self, Seek, Write};

/// The safe transitions that a search has executed, for the graph that is written at its end.
///
/// With a baseline, the graph written is that of the baseline, without what was modified since,
/// and with what was executed (Sobeih 2008, section 7.2.2: one structure for input and output).
///
/// Where the paper's graph has the state behind every transition, ours has none behind those to
/// the depth bound, only that they are safe: a search does not hash such states, and another with
/// the same bound does not ask for them.
#[derive(Default)]
pub struct Ledger {
    pub(super) prints: Vec<u128>,
    by_print: Table<DENSE>,
    pub(super) steps: Dictionary,
    pub(super) lists: Lists,
    /// Runs of transitions that start in one state: which, the list of their steps (with
    /// [`TO_BOUND`], or [`OPEN`]), and how many steps are enabled there. A state may have several.
    pub(super) runs: Vec<u32>,
    pub(super) listed: Vec<u32>,
    pub(super) enabled: Vec<u8>,
    /// The states to which the transitions lead, but for those to the depth bound.
    pub(super) next: Vec<u32>,
    transitions: u64,
    /// The state in which transitions start now, the numbers of their steps, and whether they lead
    /// to the bound.
    from: Option<u128>,
    current: Vec<u32>,
    to_bound: bool,
    /// The same numbers of the state before, and that of their list: most states are like it.
    before: Vec<u32>,
    list_before: Option<u32>,
    /// States that are written down and have no number yet. Looking one up misses the processor's
    /// caches; several misses at a time take hardly longer than one.
    pending: Vec<Pending>,
}

/// In the number of a list: the transitions lead to the depth bound.
pub(super) const TO_BOUND: u32 = 1 << 31;
/// The list of a run that is not known yet.
const OPEN: u32 = u32::MAX;

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

impl Ledger {
    /// How many transitions were recorded.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        let tables = self.by_print.bytes() + self.steps.bytes() + self.lists.bytes();
        let runs = 4 * (self.runs.capacity() + self.listed.capacity()) + self.enabled.capacity();
        (16 * self.prints.capacity() + tables + runs + 4 * self.next.capacity()) as u64
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
            self.number_pending();
        }
        self.by_print.prefetch(print as u64);
        self.pending.push(Pending { print, place });
    }

    /// Numbers the states that have no number yet, in the order in which they were written down.
    fn number_pending(&mut self) {
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

    /// Ends the last run, and numbers the states that have no number yet.
    pub(crate) fn settle(&mut self) {
        self.close();
        self.from = None;
        self.number_pending();
    }

    pub(super) fn find(&self, print: u128) -> Option<u32> {
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
            self.close();
            self.from = Some(print);
            self.run(print, enabled);
        }
    }

    fn run(&mut self, from: u128, enabled: u8) {
        self.await_number(from, Place::Run(self.runs.len()));
        push(&mut self.runs, NOWHERE);
        push(&mut self.listed, OPEN);
        push(&mut self.enabled, enabled);
    }

    /// Gives the last run its list.
    fn close(&mut self) {
        if let Some(listed) = self.listed.last_mut().filter(|listed| **listed == OPEN) {
            let list = match self.list_before {
                Some(list) if self.before == self.current => list,
                _ => self.lists.number(&self.current),
            };
            *listed = list | if self.to_bound { TO_BOUND } else { 0 };
            self.list_before = Some(list);
            std::mem::swap(&mut self.before, &mut self.current);
        }
        self.current.clear();
        self.to_bound = false;
    }

    /// Writes a transition down; `next` is `None` if it leads to the depth bound.
    pub(crate) fn add(&mut self, step: Step, next: Option<Fingerprint>) {
        let to_bound = next.is_none();
        if to_bound != self.to_bound && !self.current.is_empty() {
            self.close();
            if let (Some(from), Some(&enabled)) = (self.from, self.enabled.last()) {
                self.run(from, enabled);
            }
        }
        self.to_bound = to_bound;
        let likely = self.before.get(self.current.len());
        let number = match likely.filter(|likely| self.steps.steps[**likely as usize] == step) {
            Some(likely) => *likely,
            None => self.steps.number(step),
        };
        self.current.push(number);
        self.transitions += 1;
        if let Some(Fingerprint(print)) = next {
            self.await_number(print, Place::Next(self.next.len()));
            push(&mut self.next, NOWHERE);
        }
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
