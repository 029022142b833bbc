//! Breadth-first search on several threads: what is done with a batch of states, in three rounds.
//!
//! 1. Each thread expands a part of the batch and looks its successors up. Those that earlier batches
//!    have visited, most of them, are counted and forgotten while they are in the cache.
//! 2. Each thread shows a shard of the visited set those successors that belong to it, in the order in
//!    which one thread would have.
//! 3. Each thread counts what became of its successors, and lists the new states in their order.
//!
//! A search that uses a graph counts one event after the other, by one thread, instead of round 3, and
//! forgets nothing in round 1.

use super::{Admit, BATCH, Engine};
use crate::System;
use crate::expand::{Class, Expansion, Job, Record, Worker};
use crate::frontier::Work;
use crate::parents::{Link, link_in, node_of, place};
use crate::part::{Part, count_event};
use crate::visited::{Admission, Candidate, Rule, Shard, shard_of};
use std::thread;

/// How many successors are looked up before what they lead to is.
const LOOKUPS: usize = 256;

/// Counts an event that is known to lead nowhere.
fn count(part: &mut Part, record: &Record) {
    count_event(&mut part.by_event, record.event);
    part.events += 1;
    match record.class {
        Class::Safe => part.non_tree += 1,
        Class::Deepest => part.deepest += 1,
        Class::Unsafe => part.unsafe_events += 1,
    }
}

/// The successor of a record, as the visited set is shown it.
pub(super) fn candidate<'e>(
    expansion: &'e Expansion,
    record: &Record,
    depth: u32,
) -> Candidate<'e> {
    let Record { start, end, hash, .. } = *record;
    Candidate { buffer: &expansion.bytes, start, end, hash, depth, stored: None }
}

/// Gives each of some jobs a thread of its own, the first one this thread.
fn on_threads<T: Send>(jobs: impl Iterator<Item = T>, work: impl Fn(usize, T) + Sync) {
    let mut jobs = jobs.enumerate();
    let first = jobs.next();
    thread::scope(|scope| {
        let work = &work;
        for (number, job) in jobs {
            scope.spawn(move || work(number, job));
        }
        if let Some((number, job)) = first {
            work(number, job);
        }
    });
}

/// What was expanded and not looked up so far begins here.
#[derive(Clone, Copy, Default)]
pub(super) struct Sifted {
    records: usize,
    breaches: usize,
    witnesses: usize,
}

impl Expansion {
    /// Counts and forgets those of the last successors that were visited before this batch, or generated
    /// in it by this thread before. Whether the search ends with one of them.
    pub(super) fn sift(
        &mut self,
        sifted: &mut Sifted,
        (rule, shards, keep_going): (Rule<'_>, &[Shard], bool),
    ) -> bool {
        let new = &self.breaches[sifted.breaches..];
        let ends = !keep_going && new.iter().any(|breach| breach.counts);
        // Breaches and witnesses name records by their numbers.
        let named = !new.is_empty() || self.witnesses.len() > sifted.witnesses;
        if !named {
            self.forget_visited(sifted.records, (rule, shards));
        }
        let records = self.records.len();
        *sifted =
            Sifted { records, breaches: self.breaches.len(), witnesses: self.witnesses.len() };
        ends
    }

    fn forget_visited(&mut self, from: usize, (rule, shards): (Rule<'_>, &[Shard])) {
        let shard = |hash: u128| &shards[shard_of(hash, shards.len())];
        let Expansion { records, bytes, part, recent, .. } = self;
        let safe = records[from..].iter().filter(|record| record.class == Class::Safe);
        safe.for_each(|record| shard(record.hash).prefetch_state(record.hash));
        let mut kept = from;
        let mut end = records.get(from).map_or(bytes.len(), |record| record.start);
        for at in from..records.len() {
            let record = records[at];
            let own = &bytes[record.start..record.end];
            let place = recent.place(record.hash);
            let is_same = |other: &Record| {
                other.hash == record.hash
                    && other.class == Class::Safe
                    && (rule.keeps_keys() || bytes[other.start..other.end] == *own)
            };
            let is_known = || {
                records[..kept].get(*place as usize).is_some_and(is_same)
                    || shard(record.hash).is_visited(record.hash, own)
            };
            if record.class == Class::Deepest || record.class == Class::Safe && is_known() {
                count(part, &record);
                continue;
            }
            *place = kept as u32;
            let start = end;
            end += record.end - record.start;
            if start < record.start {
                bytes.copy_within(record.start..record.end, start);
            }
            records[kept] = Record { start, end, ..record };
            kept += 1;
        }
        records.truncate(kept);
        bytes.truncate(end);
    }

    /// Lists the successors that may be new, for each shard.
    pub(super) fn sort_by_shard(&mut self, shards: usize) {
        let Expansion { records, routes, .. } = self;
        routes.resize_with(shards, Vec::new);
        for (number, record) in (0..).zip(records) {
            if record.class == Class::Safe {
                routes[shard_of(record.hash, shards)].push(number);
            }
        }
    }

    /// Counts what became of the successors that were left.
    fn count_rest(&mut self, number: usize, shards: &[Shard]) {
        let Expansion { records, end, part, is_void, .. } = self;
        if *is_void {
            part.clear();
        }
        let mut outcomes: Vec<_> =
            shards.iter().map(|shard| shard.outcomes(number).iter()).collect();
        for record in &records[..*end] {
            if record.class != Class::Safe {
                count(part, record);
                continue;
            }
            let shard = shard_of(record.hash, shards.len());
            match outcomes[shard].next() {
                Some(Admission::Fresh(stored) | Admission::Shallower(stored)) => {
                    count_event(&mut part.by_event, record.event);
                    part.events += 1;
                    part.tree += 1;
                    part.fresh.push(node_of(shards.len(), (shard, *stored)));
                }
                Some(Admission::Known) => count(part, record),
                None => unreachable!("a shard was shown each of its states"),
            }
        }
    }
}

/// A batch that was expanded.
#[derive(Clone, Copy)]
struct Batch<'b> {
    works: &'b [Work],
    expansions: &'b [&'b Expansion],
    rule: Rule<'b>,
    shards: usize,
}

impl Batch<'_> {
    /// Shows a shard its successors, and lets go of its states if only keys are kept.
    fn admit(&self, own: usize, shard: &mut Shard, links: &mut Vec<Link>) {
        let Batch { works, expansions, rule, shards } = *self;
        shard.next_batch();
        if rule.keeps_keys() {
            let places = works.iter().map(|work| place(shards, work.node));
            let mine = places.filter(|(shard, _)| *shard == own);
            mine.for_each(|(_, number)| shard.states.release(number));
        }
        for expansion in expansions {
            shard.next_expansion();
            for numbers in expansion.routes[own].chunks(LOOKUPS) {
                let records = numbers.iter().map(|&number| number as usize);
                let records = records.take_while(|&number| number < expansion.end);
                let mine = records.map(|number| &expansion.records[number]);
                mine.clone().for_each(|record| shard.prefetch(record.hash));
                mine.clone().for_each(|record| shard.prefetch_state(record.hash));
                for record in mine {
                    let parent = works[record.work as usize];
                    let candidate = candidate(expansion, record, parent.depth + 1);
                    if let Admission::Fresh(number) = shard.admit_in_batch(rule, candidate) {
                        link_in(links, number, (parent.node, record.choice));
                    }
                }
            }
        }
    }
}

impl<S: System> Engine<'_, S> {
    /// Shows all safe successors to the visited sets, a thread for each shard.
    pub(super) fn admit_all(&mut self, works: &[Work], results: &[Worker<S>]) {
        let (rule, shards) = (self.rules.rule, self.shards.len());
        // The bytes and hashes are shared between threads, the working states are not.
        let expansions: Vec<_> = results.iter().map(|worker| &worker.expansion).collect();
        let batch = Batch { works, expansions: &expansions, rule, shards };
        let jobs = self.shards.iter_mut().zip(self.lineage.shards());
        let admit = |own: usize, (shard, links): (&mut Shard, &mut Vec<Link>)| {
            batch.admit(own, shard, links);
        };
        match results.len() {
            1 => jobs.enumerate().for_each(|(own, job)| admit(own, job)),
            _ => on_threads(jobs, admit),
        }
    }

    /// Counts what became of all successors, a thread for each part of the batch.
    pub(super) fn count_all(&mut self, results: &mut [Worker<S>]) {
        let shards = &self.shards;
        let jobs = results.iter_mut().map(|worker| &mut worker.expansion);
        let count = |number: usize, expansion: &mut Expansion| expansion.count_rest(number, shards);
        match jobs.len() {
            1 => jobs.enumerate().for_each(|(number, job)| count(number, job)),
            _ => on_threads(jobs, count),
        }
    }

    /// Adds what a thread has counted, and its new states to the frontier.
    pub(super) fn take_part(&mut self, works: &[Work], expansion: &Expansion) {
        self.count_dead_ends(expansion);
        let part = &expansion.part;
        if part.events > 0 {
            // All states of a batch have one depth.
            self.counts.depth = self.counts.depth.max(works[0].depth + 1);
        }
        part.add_to(&mut self.counts, &mut self.by_event);
        self.frontier.extend(&part.fresh);
    }

    /// Expands a batch; the first so many workers hold the results, in order.
    pub(super) fn expand_together(&mut self, batch: &[Work], threads: usize) {
        let share = batch.len().div_ceil(threads);
        let (rules, shards, control) = (&self.rules, &self.shards[..], self.control);
        let (past, keep_going) = (self.past.as_ref(), rules.search.keep_going);
        let watch = past.and_then(|past| past.watch);
        // A graph must be told of each event, and a relation decides in the order of the search.
        let admits = self.admission == Admit::Together;
        let sifts = admits && past.is_none() && rules.rule.is_equality();
        let prefetched = if admits { shards } else { &[] };
        let past = past.filter(|past| past.active());
        let jobs = self.workers.iter_mut().zip(batch.chunks(share));
        let expand = |number: usize, (worker, works): (&mut Worker<S>, &[Work])| {
            worker.clear();
            let mut sifted = Sifted::default();
            for (group, works) in works.chunks(BATCH).enumerate() {
                for (index, work) in works.iter().enumerate() {
                    if control.stopped() {
                        break;
                    }
                    let (at, stored) = place(shards.len(), work.node);
                    let bytes = shards[at].states.get(stored);
                    let index = (number * share + group * BATCH + index) as u32;
                    let shards = prefetched;
                    worker.expand(rules, Job { work, index, bytes, shards, past, watch });
                }
                if sifts && worker.expansion.sift(&mut sifted, (rules.rule, shards, keep_going)) {
                    break;
                }
            }
            if admits {
                worker.expansion.sort_by_shard(shards.len());
            }
        };
        match threads {
            1 => jobs.enumerate().for_each(|(number, job)| expand(number, job)),
            _ => on_threads(jobs, expand),
        }
    }
}
