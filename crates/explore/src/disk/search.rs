//! The loop of a search on disk: a chunk of a level at a time.

use super::level::Chunk;
use super::store::{ROOT, Store};
use super::tally::Tally;
use super::{Disk, DiskError};
use crate::engine::narrow;
use crate::expander::{Expand, SuccessorKind, set_ends};
use crate::{Control, Ended, Exploration, Limit, Progress, Search};
use std::thread;

/// How many states a thread expands at a time, and the fewest worth a thread.
const CHUNK: usize = 2048;
const THREAD_MINIMUM: usize = 128;

/// A search that keeps its states in files.
pub(super) struct DiskSearch<'a> {
    expanders: Vec<Box<dyn Expand + 'a>>,
    search: &'a Search,
    disk: Disk<'a>,
    control: &'a Control,
    store: Store,
    tally: Tally,
    chunk: Chunk,
    /// The depth of the states being expanded.
    level: u32,
    /// Whether the search was over when it was resumed.
    is_over: bool,
}

impl<'a> DiskSearch<'a> {
    pub(super) fn open(
        expanders: Vec<Box<dyn Expand + 'a>>,
        search: &'a Search,
        (disk, control): (Disk<'a>, &'a Control),
    ) -> Result<Self, DiskError> {
        let (store, kept) = Store::open(&disk)?;
        let unlike =
            |why: String| DiskError::refused(disk.folder, &format!("cannot be resumed: {why}"));
        let mut tally = match &kept {
            Some(kept) => Tally::restore(&*expanders[0], &kept.tally).map_err(unlike)?,
            None => Tally::new(expanders[0].properties().len()),
        };
        let ended = kept.as_ref().and_then(|kept| kept.ended);
        tally.ended =
            ended.map(|violated| if violated { Ended::Violation } else { Ended::Complete });
        let level = store.depth.saturating_sub(1);
        let is_over = tally.ended.is_some();
        let chunk = Chunk::default();
        let mut search =
            DiskSearch { expanders, search, disk, control, store, tally, chunk, level, is_over };
        search.want();
        if kept.is_none() {
            search.start()?;
        }
        Ok(search)
    }

    /// Explores as far as it can.
    pub(super) fn run(mut self) -> Result<Exploration, DiskError> {
        if let Err(error) = self.explore() {
            self.tally.ended = Some(Ended::Failed(error.to_string()));
        }
        self.publish();
        let counts = &mut self.tally.counts;
        counts.stored = counts.states + self.store.waiting() + self.tally.rest;
        let witnesses = self.tally.confirm_witnesses(&*self.expanders[0]);
        Ok(Exploration {
            found: self.tally.found(),
            counts: self.tally.counts,
            checked_depth: self.level,
            ended: self.tally.ended.unwrap_or(Ended::Complete),
            by_event: self.tally.by_event,
            witnesses,
        })
    }

    fn explore(&mut self) -> Result<(), DiskError> {
        if self.is_over {
            return Ok(());
        }
        while self.tally.ended.is_none() {
            if (self.disk.due)() {
                self.checkpoint(None)?;
            }
            self.publish();
            self.tally.ended = self.limit_reached()?;
            if self.tally.ended.is_some() {
                break;
            }
            self.step()?;
        }
        // Counts are exact at the end, and a search that goes on later begins there.
        self.resolve()?;
        let over = match self.tally.ended {
            Some(Ended::Complete) => Some(false),
            Some(Ended::Violation) => Some(true),
            Some(Ended::Limit(_) | Ended::Stopped) => None,
            // What made the search inconclusive must be met again.
            _ => return Ok(()),
        };
        self.checkpoint(over)
    }

    fn checkpoint(&mut self, over: Option<bool>) -> Result<(), DiskError> {
        self.store.checkpoint(self.disk.identity, (self.tally.keep(), over))
    }

    /// Lets nobody look for what was found.
    fn want(&mut self) {
        let witnesses = &self.tally.witnesses;
        for expander in &mut self.expanders {
            expander.wanted().retain(|number| witnesses.iter().all(|(known, _)| known != number));
        }
    }

    /// Checks the initial state and makes it the first to be explored.
    fn start(&mut self) -> Result<(), DiskError> {
        let start = self.expanders[0].start();
        self.tally.witnesses = start.witnesses.iter().map(|&number| (number, Vec::new())).collect();
        self.want();
        if !start.violations.is_empty() {
            if start.counts {
                let with = (&*self.expanders[0], self.search);
                self.tally.report(with, &start.violations, &[]);
            }
            self.tally.ended.get_or_insert(Ended::Complete);
            return Ok(());
        }
        self.store.admit((start.print, &start.bytes), (ROOT, 0))?;
        self.tally.counts.states = 1;
        self.store.resolve()?;
        // The initial state was added to what follows depth 0, which has no states.
        self.checkpoint(None)
    }

    /// How many states to take at once.
    fn width(&self) -> usize {
        let width = self.expanders.len() * CHUNK;
        let counts = &self.tally.counts;
        narrow(width, self.search, (counts.states, counts.executions()))
    }

    fn publish(&self) {
        let counts = &self.tally.counts;
        self.control.publish(Progress {
            states: counts.states,
            events: counts.events,
            depth: counts.depth.into(),
            frontier: self.store.following.end - self.store.reader.next,
            ..Progress::default()
        });
    }

    fn limit_reached(&mut self) -> Result<Option<Ended>, DiskError> {
        if self.control.stopped() {
            return Ok(Some(Ended::Stopped));
        }
        if let Some(limit) = self.search.max_states
            && self.tally.counts.states >= limit
        {
            self.resolve()?;
            if self.tally.counts.states >= limit {
                return Ok(Some(Ended::Limit(Limit::States(limit))));
            }
        }
        let limit = self.search.max_executions;
        let limit = limit.filter(|&limit| self.tally.counts.executions() >= limit);
        Ok(limit.map(|limit| Ended::Limit(Limit::Executions(limit))))
    }

    /// Finds out which new states are in runs.
    fn resolve(&mut self) -> Result<(), DiskError> {
        self.store.resolve()?;
        self.discount();
        Ok(())
    }

    /// Corrects the counts by the states that turned out to be duplicates.
    fn discount(&mut self) {
        let duplicates = self.store.duplicates();
        let counts = &mut self.tally.counts;
        counts.states -= duplicates;
        counts.tree -= duplicates;
        counts.non_tree += duplicates;
    }

    /// Expands the next chunk, or goes on to the next level.
    fn step(&mut self) -> Result<(), DiskError> {
        let (next, offset) = (self.store.reader.next, self.store.reader.offset);
        let width = self.width();
        let Store { reader, current, .. } = &mut self.store;
        reader.take(current, width, &mut self.chunk)?;
        if self.chunk.len() == 0 {
            self.resolve()?;
            if self.store.following.len_from(self.store.following.first) == 0 {
                self.tally.ended = Some(Ended::Complete);
                return Ok(());
            }
            return self.store.advance();
        }
        // The initial state is the first of depth 1 in files, since depth 0 is before it.
        self.level = self.store.depth - 1;
        self.expand();
        if self.control.stopped() {
            // Some of the chunk was not expanded: it is as if none had been.
            (self.store.reader.next, self.store.reader.offset) = (next, offset);
            return Ok(());
        }
        self.absorb()
    }

    /// How many states of the chunk each thread expands.
    fn share(&self) -> usize {
        let len = self.chunk.len();
        len.div_ceil((len / THREAD_MINIMUM).clamp(1, self.expanders.len()))
    }

    /// Expands the chunk on all threads.
    fn expand(&mut self) {
        let (len, share) = (self.chunk.len(), self.share());
        let (chunk, control, depth) = (&self.chunk, self.control, self.level);
        let expand = |expander: &mut Box<dyn Expand + 'a>, from: usize| {
            let mut states = chunk.states(from.min(len), len.min(from + share));
            expander.expand(depth, &mut states, control);
        };
        let shares = self.expanders.iter_mut().enumerate();
        if share == len {
            shares.for_each(|(number, expander)| expand(expander, number * share));
        } else {
            thread::scope(|scope| {
                for (number, expander) in shares {
                    let expand = &expand;
                    scope.spawn(move || expand(expander, number * share));
                }
            });
        }
        let results = self.expanders.iter_mut().map(|expander| expander.results());
        set_ends(results, self.search.keep_going);
    }

    /// Absorbs what came out, in the order in which one thread would have produced it.
    fn absorb(&mut self) -> Result<(), DiskError> {
        let share = self.share();
        for number in 0..self.expanders.len() {
            let from = number * share;
            self.keep_witnesses(number, from)?;
            self.count(number, from)?;
            self.report(number, from)?;
            if self.tally.ended.is_some() {
                break;
            }
        }
        self.discount();
        Ok(())
    }

    /// Keeps the first state that satisfies each property that some state must satisfy.
    fn keep_witnesses(&mut self, number: usize, from: usize) -> Result<(), DiskError> {
        let witnesses: Vec<_> = self.expanders[number].results().witnesses().collect();
        for (property, state, choice) in witnesses {
            if self.tally.witnesses.iter().any(|(known, _)| *known == property) {
                continue;
            }
            let mut choices = self.store.choices(self.chunk.numbers[from + state as usize])?;
            choices.push(choice);
            self.tally.witnesses.push((property, choices));
            self.want();
        }
        Ok(())
    }

    /// Counts the events of a thread and adds the new states to the following level.
    fn count(&mut self, number: usize, from: usize) -> Result<(), DiskError> {
        let DiskSearch { expanders, store, tally, chunk, .. } = self;
        let results = expanders[number].results();
        results.successors().for_each(|successor| store.prefetch(successor.print));
        tally.counts.dead_ends += results.dead_ends();
        let mut executed = 0;
        for successor in results.successors() {
            executed += 1;
            tally.count_event(successor.event);
            match successor.kind {
                SuccessorKind::Unsafe => tally.counts.unsafe_events += 1,
                SuccessorKind::Deepest => tally.counts.deepest += 1,
                SuccessorKind::Safe => {
                    let parent = chunk.numbers[from + successor.from as usize];
                    let state = (successor.print, successor.bytes);
                    if store.admit(state, (parent, successor.choice))? {
                        tally.counts.states += 1;
                        tally.counts.tree += 1;
                    } else {
                        tally.counts.non_tree += 1;
                    }
                }
            }
        }
        if executed > 0 {
            tally.counts.depth = tally.counts.depth.max(self.level + 1);
        }
        tally.counts.events += executed;
        tally.counts.safe = tally.counts.events - tally.counts.unsafe_events;
        Ok(())
    }

    /// Reports the violations of a thread.
    fn report(&mut self, number: usize, from: usize) -> Result<(), DiskError> {
        let DiskSearch { expanders, store, tally, chunk, search, .. } = self;
        let violations = expanders[number].results().violations();
        let violations =
            violations.map(|found| (found.from, found.choice, found.violated.to_vec()));
        for (state, choice, violated) in violations.collect::<Vec<_>>() {
            let state = from + state as usize;
            let mut choices = store.choices(chunk.numbers[state])?;
            choices.extend(choice);
            tally.report((&*expanders[number], search), &violated, &choices);
            if tally.ended.is_some() {
                tally.rest = (chunk.len() - 1 - state) as u64;
                return Ok(());
            }
        }
        Ok(())
    }
}
