//! The ledger of a search and the graph that it began with, put together to a file.

use super::format::{HEADER, Header, NO_TARGETS, UNKNOWN, home, row_seal};
use super::ledger::{Ledger, TO_BOUND, Written};
use super::lists::{Dictionary, Lists};
use super::{BEYOND, Baseline, Makeup, Meta, NOWHERE};
use crate::{Canonical, Step};
use std::io::{self, Seek, SeekFrom, Write};
use xxhash_rust::xxh3::Xxh3;

/// The ledger and the baseline put together: every state gets the number it has in the file.
pub(super) struct Assembly<'a> {
    ledger: &'a Ledger,
    /// The runs of the ledger, by the number of their state, and where their next states begin.
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

/// What of the file is known only when all transitions have been looked at.
struct Parts {
    steps: Dictionary,
    /// Which lists of the ledger are in the order of their steps.
    sorted: Vec<bool>,
    /// The lists that the ledger does not have; their numbers follow those of the ledger.
    lists: Lists,
    /// The transitions of a state: the step, its number in the file, and the next state's.
    transitions: Vec<(Step, u32, u32)>,
    list: Vec<u32>,
    /// The next states of a row, as bytes.
    targets: Vec<u8>,
    written: u64,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        baseline: Option<&'a Baseline<'a>>,
        left_out: &'a [u16],
    ) -> Self {
        let graph = baseline.map(|baseline| baseline.graph);
        let (old_expanded, old_states) =
            graph.map_or((0, 0), |graph| (graph.expanded() as u32, graph.states() as u32));
        let in_ledger =
            |old: u32| graph.and_then(|graph| ledger.find(graph.print(old))).unwrap_or(NOWHERE);
        let begin = |first: &mut u32, listed: &u32| {
            let start = *first;
            if listed & TO_BOUND == 0 {
                *first += ledger.lists.get(*listed).len() as u32;
            }
            Some(start)
        };
        let mut runs: Vec<(u32, u32)> = (0..).zip(ledger.listed.iter().scan(0, begin)).collect();
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

    /// Puts the next states of a state into `parts`; returns the number of its list in the file.
    fn row(&self, (old, new): (u32, u32), parts: &mut Parts) -> u32 {
        parts.targets.clear();
        if let &[(run, first)] = self.runs_of(new)
            && old == NOWHERE
            && let listed = self.ledger.listed[run as usize]
            && parts.sorted[(listed & !TO_BOUND) as usize]
        {
            let count = self.ledger.lists.get(listed & !TO_BOUND).len();
            parts.written += count as u64;
            if listed & TO_BOUND != 0 {
                return listed & !TO_BOUND | NO_TARGETS;
            }
            for next in &self.ledger.next[first as usize..][..count] {
                parts.targets.extend(self.from_new[*next as usize].to_le_bytes());
            }
            return listed;
        }
        self.transitions((old, new), parts);
        let Parts { transitions, list, targets, .. } = parts;
        list.clear();
        list.extend(transitions.iter().map(|(_, number, _)| *number));
        let no_targets = transitions.iter().all(|(_, _, next)| *next == BEYOND);
        if !no_targets {
            targets.extend(transitions.iter().flat_map(|(_, _, next)| next.to_le_bytes()));
        }
        parts.written += transitions.len() as u64;
        let number = self.ledger.lists.len() + parts.lists.number(list);
        number | if no_targets { NO_TARGETS } else { 0 }
    }

    /// The transitions of a state, with the numbers of their steps in the file, in the order of their
    /// steps; what was executed now counts.
    fn transitions(&self, (old, new): (u32, u32), parts: &mut Parts) {
        let Parts { steps, transitions: out, .. } = parts;
        out.clear();
        for &(run, first) in self.runs_of(new) {
            let listed = self.ledger.listed[run as usize];
            let next = |at: usize| match listed & TO_BOUND {
                0 => self.from_new[self.ledger.next[first as usize + at] as usize],
                _ => BEYOND,
            };
            let list = self.ledger.lists.get(listed & !TO_BOUND);
            // The steps of the ledger come first in the file.
            out.extend(
                list.enumerate().map(|(at, number)| {
                    (self.ledger.steps.steps[number as usize], number, next(at))
                }),
            );
        }
        if let Some(baseline) = self.baseline.filter(|_| old != NOWHERE) {
            let from_old = |next: u32| self.from_old.get(next as usize).copied();
            out.extend(
                baseline.kept(old).map(|(step, next)| {
                    (step, steps.number(step), from_old(next).unwrap_or(BEYOND))
                }),
            );
        }
        // The sort is stable, so that the first of equal steps is the one executed now; but a known
        // next state is better than none.
        let key = |(step, ..): &(Step, u32, u32)| (step.actor, step.event, step.param);
        if !out.is_sorted_by(|a, b| key(a) < key(b)) {
            out.sort_by_key(|it| (key(it), it.2 == BEYOND));
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

    fn parts(&self) -> Parts {
        let mut steps = Dictionary::default();
        let kept = self.baseline.iter().flat_map(|baseline| baseline.steps());
        for step in self.ledger.steps.steps.iter().copied().chain(kept) {
            steps.number(step);
        }
        let step = |number: u32| {
            let step = self.ledger.steps.steps[number as usize];
            (step.actor, step.event, step.param)
        };
        let is_sorted = |list: u32| {
            self.ledger.lists.get(list).map(step).is_sorted_by(|before, after| before < after)
        };
        Parts {
            steps,
            sorted: (0..self.ledger.lists.len()).map(is_sorted).collect(),
            lists: Lists::default(),
            transitions: Vec::new(),
            list: Vec::new(),
            targets: Vec::new(),
            written: 0,
        }
    }

    pub(super) fn write(
        &self,
        out: &mut (impl Write + Seek),
        makeup: &Makeup,
        meta: &Meta,
    ) -> io::Result<Written> {
        let mut parts = self.parts();
        out.write_all(&[0; HEADER])?;
        let mut rows = Vec::with_capacity(self.expanded.len());
        let mut targets = 0u64;
        for (&place, print) in self.expanded.iter().zip(self.prints()) {
            let list = self.row(place, &mut parts);
            let seal = row_seal(&parts.targets, (print, list), self.enabled(place));
            rows.push([list, targets as u32, seal]);
            targets += parts.targets.len() as u64 / 4;
            out.write_all(&parts.targets)?;
        }
        let mut rest = Rest { out, sum: Xxh3::new(), buffer: Vec::with_capacity(2 * PIECE) };
        let mut bytes = Vec::new();
        meta.write(&mut bytes);
        rest.write(&bytes)?;
        for step in &parts.steps.steps {
            let event = meta.number(makeup, step.event);
            rest.write(&event.to_le_bytes())?;
            rest.write(&step.actor.to_le_bytes())?;
            rest.write(&step.param.to_le_bytes())?;
        }
        let step_width = if parts.steps.steps.len() <= 1 << 16 { 2 } else { 4 };
        let (lists, listed) = self.write_lists(&parts, step_width, &mut rest)?;
        for word in rows.iter().flatten() {
            rest.write(&word.to_le_bytes())?;
        }
        let index_bits = u64::from((self.expanded.len() * 4 / 3 + 1).next_power_of_two().ilog2());
        for slot in self.index(index_bits) {
            rest.write(&slot.to_le_bytes())?;
        }
        for print in self.prints() {
            rest.write(&print.to_le_bytes())?;
        }
        rest.flush()?;
        let header = Header {
            step_width: step_width as u64,
            meta: bytes.len() as u64,
            steps: parts.steps.steps.len() as u64,
            lists,
            listed,
            expanded: self.expanded.len() as u64,
            states: self.states.into(),
            transitions: parts.written,
            targets,
            index_bits,
            checksum: rest.sum.digest(),
        };
        let places = header.places().ok_or_else(|| io::Error::other("too many transitions"))?;
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&header.encode(places.end as u64))?;
        let bytes = places.end as u64;
        Ok(Written { states: header.states, transitions: parts.written, bytes })
    }

    /// Writes where lists end, then the numbers in them; how many there are of both.
    fn write_lists<W: Write>(
        &self,
        parts: &Parts,
        step_width: usize,
        rest: &mut Rest<'_, W>,
    ) -> io::Result<(u64, u64)> {
        let lists = [&self.ledger.lists, &parts.lists];
        let each = || lists.into_iter().flat_map(|of| (0..of.len()).map(move |at| of.get(at)));
        let mut end = 0u64;
        for list in each() {
            end += list.len() as u64;
            rest.write(&(end as u32).to_le_bytes())?;
        }
        for number in each().flatten() {
            rest.write(&number.to_le_bytes()[..step_width])?;
        }
        Ok((lists.iter().map(|of| u64::from(of.len())).sum(), end))
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

/// What follows the targets, with its checksum. It comes in small pieces, and goes in large ones.
struct Rest<'a, W> {
    out: &'a mut W,
    sum: Xxh3,
    buffer: Vec<u8>,
}

/// How large.
const PIECE: usize = 1 << 16;

impl<W: Write> Rest<'_, W> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < PIECE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sum.update(&self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
