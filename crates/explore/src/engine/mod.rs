//! The worker loop: one for all strategies.
//!
//! A batch of waiting states is taken from the frontier and expanded, then the results are
//! absorbed in order. A queue gives large batches, which several threads expand in parallel; a
//! stack and a priority queue give one state at a time. Because results are absorbed in the order
//! in which one thread would have produced them, the outcome is the same for any number of
//! threads: states, counts, counterexample.
//!
//! The procedures are those of Sobeih (2008), figures 3.2 to 3.4. Where we depart: the initial
//! state is checked as well, recursion is a stack of our own, and see
//! [`Search::must_contain`] and the `shuffle` module.

mod ending;
mod together;

use crate::confirm::confirm;
use crate::costs::{Cost, Rhythm};
use crate::expand::{BreachAt, Class, Expansion, Job, Rules, Worker};
use crate::expander::set_ends;
use crate::frontier::{Frontier, Work};
use crate::graph::NOWHERE;
use crate::incremental::{Increment, Incremental, Incremented, Past, Visit};
use crate::parents::{Parents, ROOT, node_of, place};
use crate::part::count_event;
use crate::table::MAX_BITS;
use crate::visited::{Admission, Candidate, Rule, Shard, shard_of};
use crate::{
    Add, Control, Counts, Ended, Exploration, Fingerprint, Found, Limit, PANIC, Progress, Property,
    PropertyKind, Rank, Search, SearchOrder, System, Ties, fingerprint, panic_capture,
};
use together::candidate;

/// How many states one thread expands before their successors are looked up. Large enough to wait
/// for many cache lines at once, small enough to stay in the first-level cache.
const BATCH: usize = 64;
/// How many states each of several threads expands at a time, and the fewest worth a thread.
const THREAD_BATCH: usize = 16384;
const THREAD_MINIMUM: usize = 128;

/// How many batches are absorbed before one of them is timed, at first.
const TIMED: u32 = 16;

/// How many events are executed before progress is published again.
const PUBLISH: u64 = 256;

/// What to explore, and how.
pub struct Task<'a, S: System> {
    /// The system.
    pub system: &'a S,
    /// What must hold in every state.
    pub properties: &'a [Property<S::State>],
    /// The rank, for best-first search.
    pub rank: Option<&'a Rank<S::State>>,
    /// The strategy and its limits.
    pub search: &'a Search,
}

/// Explores a system.
///
/// # Panics
///
/// If best-first search is asked for without a rank.
pub fn explore<S: System>(task: &Task<'_, S>, control: &Control) -> Exploration {
    explore_with(task, None, control).0
}

/// Explores a system with what an earlier search has left, and for a later one.
///
/// The exploration is the one that [`explore`] gives, if the graph is true.
///
/// # Panics
///
/// If best-first search is asked for without a rank, or an incremental search that adds current.
pub fn explore_incrementally<S: System>(
    task: &Task<'_, S>,
    incremental: Incremental<'_>,
    control: &Control,
) -> Incremented {
    let adds_next = task.search.add == Add::Next || task.search.order == SearchOrder::DfsRecursive;
    assert!(adds_next, "incremental exploration is defined for searches that add next");
    explore_with(task, Some(incremental), control)
}

fn explore_with<S: System>(
    task: &Task<'_, S>,
    incremental: Option<Incremental<'_>>,
    control: &Control,
) -> Incremented {
    assert!(task.search.order != SearchOrder::Befs || task.rank.is_some(), "befs needs a rank");
    match panic_capture::run(|| Engine::new(task, incremental, control)) {
        Ok(engine) => engine.run(),
        Err(message) => {
            let exploration = Exploration {
                counts: Counts {
                    violations: 1,
                    by_property: by_property(task.properties.len(), task.properties.len()),
                    ..Counts::default()
                },
                found: vec![Found {
                    property: PANIC.into(),
                    message,
                    schedule: Vec::new(),
                    loop_start: None,
                }],
                checked_depth: 0,
                ended: Ended::Violation,
                by_event: Vec::new(),
                witnesses: Vec::new(),
            };
            (exploration, Increment::default())
        }
    }
}

/// One violation of property `number` of `properties` (and panics).
fn by_property(number: usize, properties: usize) -> Vec<u64> {
    (0..=properties).map(|i| u64::from(i == number)).collect()
}

/// How many states to take at once, of so many visited ones and paths that have come to their end. Close
/// to a limit a search goes slowly, so that it is hit at the same place by any number of threads.
pub(crate) fn narrow(width: usize, search: &Search, (states, executions): (u64, u64)) -> usize {
    let states = search.max_states.map(|limit| limit.saturating_sub(states));
    let executions = search.max_executions.map(|limit| limit.saturating_sub(executions));
    let left = states.into_iter().chain(executions).min();
    left.map_or(width, |left| width.min((left / 64) as usize).max(1))
}

/// When a generated state is shown to the visited set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Admit {
    /// When it is about to be explored: adding current.
    Later,
    /// At once: adding next, on one thread.
    Now,
    /// With all others of its batch, by several threads: adding next.
    Together,
}

struct Engine<'a, S: System> {
    rules: Rules<'a, S>,
    admission: Admit,
    control: &'a Control,
    shards: Vec<Shard>,
    frontier: Frontier,
    lineage: Parents,
    workers: Vec<Worker<S>>,
    batch: Vec<Work>,
    counts: Counts,
    found: Vec<(usize, Found)>,
    /// How often each event was executed.
    by_event: Vec<u64>,
    /// Properties that some state must satisfy, by number, and the choices that lead to one.
    witnesses: Vec<(usize, Vec<u32>)>,
    /// Adding current: for each state of the batch, how many before it were rejected; then all.
    rejected: Vec<u32>,
    /// States admitted although the search ended before their turn.
    premature: u64,
    /// The depth of the states being expanded, if they come level by level.
    level: u32,
    ended: Option<Ended>,
    /// What makes the search incremental.
    past: Option<Past<'a>>,
    /// When looking up and adding states is timed.
    rhythm: Rhythm,
}

impl<'a, S: System> Engine<'a, S> {
    fn new(task: &Task<'a, S>, incremental: Option<Incremental<'a>>, control: &'a Control) -> Self {
        let search = task.search;
        let rule = Rule::new(search, task.system, task.properties);
        let is = |kind: PropertyKind| move |property: &Property<_>| property.kind() == kind;
        let wanted = task.properties.iter().enumerate();
        let wanted = wanted.filter(|(_, property)| is(PropertyKind::Sometimes)(property));
        let threads = if search.level_by_level() { search.threads.max(1) } else { 1 };
        let shards = threads.next_power_of_two();
        let one_step = search.order == SearchOrder::DfsRecursive;
        Engine {
            admission: match search.add {
                Add::Current if !one_step => Admit::Later,
                _ if shards == 1 => Admit::Now,
                _ => Admit::Together,
            },
            rules: Rules {
                system: task.system,
                properties: task.properties,
                rank: task.rank.filter(|_| search.order == SearchOrder::Befs),
                search,
                rule,
                one_step,
                wanted: wanted.map(|(number, _)| number).collect(),
                checks_steps: task.properties.iter().any(is(PropertyKind::Step)),
            },
            control,
            shards: (0..shards).map(|_| Shard::new(rule, search.depth_matters())).collect(),
            frontier: Frontier::new(search.order, task.rank.map_or(Ties::Last, |rank| rank.ties)),
            lineage: Parents::new(search.order, shards),
            workers: (0..threads).map(|_| Worker::new(task.system)).collect(),
            batch: Vec::new(),
            counts: Counts { by_property: vec![0; task.properties.len() + 1], ..Counts::default() },
            found: Vec::new(),
            by_event: Vec::new(),
            witnesses: Vec::new(),
            rejected: Vec::new(),
            premature: 0,
            level: 0,
            ended: None,
            past: incremental.map(|incremental| Past::new(incremental, search)),
            rhythm: Rhythm::every(TIMED),
        }
    }

    fn run(mut self) -> Incremented {
        self.start();
        let mut published = 0;
        while self.ended.is_none() {
            if self.counts.events >= published + PUBLISH {
                published = self.counts.events;
                self.publish();
            }
            self.ended = self.limit_reached();
            if self.ended.is_some() {
                break;
            }
            let (mut batch, width) = (std::mem::take(&mut self.batch), self.width());
            self.frontier.take(width, &mut batch);
            if batch.is_empty() {
                self.ended = Some(Ended::Complete);
                break;
            }
            if self.rules.search.level_by_level() {
                if batch[0].depth > self.level {
                    self.past.iter_mut().for_each(Past::review);
                }
                self.level = batch[0].depth;
            }
            if self.adds_current() {
                self.admit_waiting(&mut batch);
            }
            batch.iter().for_each(|work| self.lineage.enter(work));
            let used = self.expand(&batch);
            self.absorb(&batch, used);
            self.batch = batch;
            if let Some(past) = self.past.as_mut().filter(|_| !self.rules.search.level_by_level()) {
                past.review();
            }
        }
        self.publish();
        self.counts.states = self.visited() - self.premature;
        // A recursive search keeps its stack instead of states to be explored.
        self.counts.stored += self.counts.states;
        if !self.rules.one_step {
            self.counts.stored += self.frontier.len() as u64;
        }
        let increment = self.increment();
        self.check_relation();
        let witnesses = self.confirm_witnesses();
        let exploration = Exploration {
            counts: self.counts,
            found: self.found.into_iter().map(|(_, found)| found).collect(),
            checked_depth: self.level,
            ended: self.ended.unwrap_or(Ended::Complete),
            by_event: self.by_event,
            witnesses,
        };
        (exploration, increment)
    }

    /// What there is to say about an incremental search.
    fn increment(&mut self) -> Increment {
        let Some(mut past) = self.past.take() else { return Increment::default() };
        for worker in &self.workers {
            past.costs().merge(&worker.costs);
        }
        let shards: usize = self.shards.iter().map(Shard::bytes).sum();
        let claims = self.workers.iter().map(Worker::extra_bytes).sum();
        past.finish((shards + self.frontier.bytes() + self.lineage.bytes()) as u64, claims)
    }

    fn adds_current(&self) -> bool {
        self.admission == Admit::Later
    }

    fn visited(&self) -> u64 {
        self.shards.iter().map(|shard| shard.visited).sum()
    }

    /// How many states to take at once.
    fn width(&self) -> usize {
        let width = match self.workers.len() {
            1 => BATCH,
            threads => threads * THREAD_BATCH,
        };
        narrow(width, self.rules.search, (self.visited(), self.counts.executions()))
    }

    fn publish(&self) {
        self.control.publish(Progress {
            states: self.visited(),
            events: self.counts.events,
            depth: self.counts.depth.into(),
            frontier: self.frontier.len() as u64,
            ..Progress::default()
        });
    }

    fn limit_reached(&self) -> Option<Ended> {
        if self.control.stopped() {
            return Some(Ended::Stopped);
        }
        let search = self.rules.search;
        // Numbers of states must fit the tables, with room for one more batch.
        let fullest = self.shards.iter().map(|shard| shard.states.len()).max().unwrap_or(0);
        if u64::from(fullest) >= (1 << (MAX_BITS - 1)) * 7 / 4 / self.shards.len() as u64 {
            return Some(Ended::Limit(Limit::States(self.visited())));
        }
        if search.max_states.is_some_and(|limit| self.visited() >= limit) {
            return search.max_states.map(|limit| Ended::Limit(Limit::States(limit)));
        }
        search
            .max_executions
            .filter(|&limit| self.counts.executions() >= limit)
            .map(|limit| Ended::Limit(Limit::Executions(limit)))
    }

    /// Checks the initial state and makes it the first to be explored.
    fn start(&mut self) {
        let contains = self.rules.search.must_contain.is_none();
        let mut bytes = Vec::new();
        let mut hash = 0;
        let checked = panic_capture::run(|| {
            let state = self.rules.system.initial();
            self.rules.encode(&state, contains, &mut bytes);
            hash = self.rules.rule.hash(&bytes);
            for number in self.rules.witnessed(&state) {
                self.witnesses.push((number, Vec::new()));
            }
            self.rules.violations(None, &state)
        });
        let witnesses = &self.witnesses;
        self.rules.wanted.retain(|number| witnesses.iter().all(|(known, _)| known != number));
        let violations = match checked {
            Ok(violations) => violations,
            Err(message) => vec![(self.rules.properties.len(), message)],
        };
        if !violations.is_empty() {
            if contains {
                self.report(&violations, Vec::new());
            }
            self.ended.get_or_insert(Ended::Complete);
            return;
        }
        let work = Work { node: self.store(&bytes, hash), depth: 0, choice: 0, from: 0 };
        self.lineage.link(work.node, ROOT, 0);
        self.frontier.push(work, &[]);
        if let Some(past) = &mut self.past {
            let print = || fingerprint(self.rules.split(&bytes).1);
            past.visit(
                work.node,
                Visit { hint: NOWHERE, contains, depth: 0, fresh: true, print: &print },
            );
        }
    }

    /// Stores the initial state: as visited, or (adding current) as waiting.
    fn store(&mut self, bytes: &[u8], hash: u128) -> u32 {
        let shard = shard_of(hash, self.shards.len());
        let number = if self.adds_current() {
            self.shards[shard].states.push(bytes)
        } else {
            let end = bytes.len();
            let candidate =
                Candidate { buffer: bytes, start: 0, end, hash, depth: 0, stored: None };
            match self.shards[shard].admit(self.rules.rule, candidate) {
                Admission::Fresh(number) | Admission::Shallower(number) => number,
                Admission::Known => unreachable!("nothing was visited before"),
            }
        };
        self.node(shard, number)
    }

    fn node(&self, shard: usize, number: u32) -> u32 {
        node_of(self.shards.len(), (shard, number))
    }

    /// The shard and the number there of a node.
    fn place(&self, node: u32) -> (usize, u32) {
        place(self.shards.len(), node)
    }

    /// Adding current: keeps those states of a batch that are worth exploring now that their turn
    /// has come.
    fn admit_waiting(&mut self, batch: &mut Vec<Work>) {
        self.rejected.clear();
        let mut rejected = 0;
        batch.retain(|work| {
            let admitted = self.admit_stored(work);
            match admitted {
                true => self.rejected.push(rejected),
                false => rejected += 1,
            }
            admitted
        });
        self.rejected.push(rejected);
        self.counts.tree -= u64::from(rejected);
        self.counts.non_tree += u64::from(rejected);
    }

    /// Whether a waiting state is worth exploring.
    fn admit_stored(&mut self, work: &Work) -> bool {
        let (shard, number) = self.place(work.node);
        let bytes = self.shards[shard].states.get(number).to_vec();
        let candidate = Candidate {
            buffer: &bytes,
            start: 0,
            end: bytes.len(),
            hash: self.rules.rule.hash(&bytes),
            depth: work.depth,
            stored: Some(number),
        };
        match self.shards[shard].admit(self.rules.rule, candidate) {
            Admission::Fresh(_) => true,
            Admission::Shallower(known) => {
                // The duplicate is explored in place of the one stored; both are the same state.
                let known = self.node(shard, known);
                self.lineage.relink(known, work.node);
                true
            }
            Admission::Known => {
                self.shards[shard].states.release(number);
                false
            }
        }
    }

    /// Expands a batch; the first so many workers hold the results, in order.
    fn expand(&mut self, batch: &[Work]) -> usize {
        let threads = (batch.len() / THREAD_MINIMUM).clamp(1, self.workers.len());
        if self.admission == Admit::Together || threads > 1 {
            self.expand_together(batch, threads);
            return threads;
        }
        let (rules, shards, control) = (&self.rules, &self.shards, self.control);
        // What is timed may be all that is asked of a search without a graph.
        let watch = self.past.as_ref().and_then(|past| past.watch);
        let past = self.past.as_ref().filter(|past| past.active());
        let prefetched = match self.admission {
            Admit::Now => &shards[..1],
            Admit::Later | Admit::Together => &[],
        };
        let worker = &mut self.workers[0];
        worker.clear();
        for (index, work) in (0..).zip(batch) {
            if control.stopped() {
                break;
            }
            let (at, number) = place(shards.len(), work.node);
            let bytes = shards[at].states.get(number);
            worker.expand(rules, Job { work, index, bytes, shards: prefetched, past, watch });
        }
        threads
    }

    /// Absorbs the results of the first `used` workers, in order.
    fn absorb(&mut self, batch: &[Work], used: usize) {
        let mut workers = std::mem::take(&mut self.workers);
        let results = &mut workers[..used];
        let timed = self.past.as_ref().is_some_and(|past| past.watch.is_some());
        let timed = timed && self.admission == Admit::Now && self.rhythm.beat();
        let expansions = results.iter_mut().map(|worker| &mut worker.expansion);
        set_ends(expansions, self.rules.search.keep_going);
        match self.admission {
            Admit::Later => {}
            Admit::Now if self.rules.rule.keeps_keys() => {}
            Admit::Now => {
                let hashes = results[0].expansion.hashes();
                hashes.for_each(|hash| self.shards[0].prefetch_state(hash));
            }
            Admit::Together => self.admit_all(batch, results),
        }
        let together = self.admission == Admit::Together && self.past.is_none();
        if together {
            self.count_all(results);
        }
        self.put_back(batch, results[0].expansion.more);
        for worker in &workers[..used] {
            self.keep_witnesses(batch, &worker.expansion);
            match together {
                true => self.take_part(batch, &worker.expansion),
                false => self.count(batch, &worker.expansion, timed),
            }
            self.report_breaches(batch, &worker.expansion);
            if self.ended.is_some() {
                break;
            }
        }
        self.workers = workers;
    }

    /// Puts a state back that has more steps to take, and lets go of the others where their
    /// bytes are not needed as visited states.
    fn put_back(&mut self, batch: &[Work], more: bool) {
        if self.rules.one_step && more {
            let work = Work { from: batch[0].from + 1, ..batch[0] };
            self.frontier.push(work, &[]);
        } else if self.rules.rule.keeps_keys() && self.admission != Admit::Together {
            for work in batch {
                let (shard, number) = self.place(work.node);
                self.shards[shard].states.release(number);
            }
        }
    }

    /// Counts the records that count and adds the new states to the frontier.
    fn count(&mut self, batch: &[Work], expansion: &Expansion, timed: bool) {
        self.count_dead_ends(expansion);
        let records = &expansion.records[..expansion.end];
        // States are taken from the frontier with non-decreasing depth, or one at a time.
        let deepest = records.last().map_or(0, |record| batch[record.work as usize].depth + 1);
        self.counts.depth = self.counts.depth.max(deepest);
        let mut sources = expansion.sources.iter().peekable();
        for (number, record) in records.iter().enumerate() {
            if let (Some(past), Some(note)) = (&mut self.past, expansion.notes.get(number)) {
                while let Some(source) = sources.next_if(|source| source.records <= number) {
                    past.start(source);
                }
                let depth = batch[record.work as usize].depth + 1;
                past.executed(note, depth, record.class);
            }
            count_event(&mut self.by_event, record.event);
            match record.class {
                Class::Unsafe => self.counts.unsafe_events += 1,
                Class::Deepest => self.counts.deepest += 1,
                Class::Safe if timed => self.count_timed(batch, expansion, number),
                Class::Safe => {
                    let admission = self.admit(batch, expansion, number);
                    self.count_safe(batch, expansion, (number, admission));
                }
            }
        }
        self.counts.events += expansion.end as u64;
        if self.past.is_some() {
            self.count_skips(batch, expansion);
        }
        self.counts.safe = self.counts.events - self.counts.unsafe_events;
    }

    fn count_dead_ends(&mut self, expansion: &Expansion) {
        self.counts.dead_ends += expansion.dead_ends();
    }

    /// Counts the events that a graph made it unnecessary to execute.
    fn count_skips(&mut self, batch: &[Work], expansion: &Expansion) {
        let Some(past) = &mut self.past else { return };
        if expansion.notes.is_empty() {
            past.unnoted(expansion.end as u64);
        }
        for skip in &expansion.skips[..expansion.skips_end] {
            let (count, depth) = (u64::from(skip.count), batch[skip.work as usize].depth + 1);
            self.counts.events += count;
            match self.rules.search.max_depth {
                Some(bound) if depth >= bound => self.counts.deepest += count,
                _ => self.counts.non_tree += count,
            }
            self.counts.depth = self.counts.depth.max(depth);
            past.skipped(count);
        }
        let done = expansion.sources.iter().skip_while(|source| source.records < expansion.end);
        if expansion.end == expansion.records.len() {
            done.for_each(|source| past.start(source));
        }
        past.found_wanting(expansion.damaged, expansion.stale);
        if let Some(event) = expansion.stale {
            self.ended.get_or_insert(Ended::Stale(event));
        }
    }

    /// Shows a safe successor to the visited set.
    #[inline]
    fn admit(&mut self, batch: &[Work], expansion: &Expansion, number: usize) -> Admission {
        let record = &expansion.records[number];
        let depth = batch[record.work as usize].depth + 1;
        let candidate = candidate(expansion, record, depth);
        match self.admission {
            Admit::Now => self.shards[0].admit(self.rules.rule, candidate),
            Admit::Later => {
                let shard = shard_of(candidate.hash, self.shards.len());
                Admission::Fresh(self.shards[shard].states.push(candidate.bytes()))
            }
            Admit::Together => {
                let shard = shard_of(candidate.hash, self.shards.len());
                self.shards[shard].next_admission()
            }
        }
    }

    /// Counts a safe event below the depth bound; a new state joins the frontier.
    #[inline]
    fn count_safe(
        &mut self,
        batch: &[Work],
        expansion: &Expansion,
        (number, admission): (usize, Admission),
    ) {
        let record = &expansion.records[number];
        let (Admission::Fresh(stored) | Admission::Shallower(stored)) = admission else {
            self.counts.non_tree += 1;
            return;
        };
        self.counts.tree += 1;
        let parent = &batch[record.work as usize];
        let shard = shard_of(record.hash, self.shards.len());
        let (choice, node) = (record.choice, self.node(shard, stored));
        self.lineage.link(node, parent.node, choice);
        let depth = parent.depth + 1;
        let work = Work { node, depth, choice, from: 0 };
        self.frontier.push(work, expansion.rank(number));
        if self.past.is_some() {
            let fresh = matches!(admission, Admission::Fresh(_));
            self.visit(&work, expansion, (number, fresh));
        }
    }

    /// Tells the incremental side of a new state.
    fn visit(&mut self, work: &Work, expansion: &Expansion, (number, fresh): (usize, bool)) {
        let Some(past) = &mut self.past else { return };
        let record = &expansion.records[number];
        let bytes = &expansion.bytes[record.start..record.end];
        let (rules, note) = (&self.rules, expansion.notes.get(number));
        let contains = note.is_none_or(|note| note.contains);
        let print = || match rules.rule.is_hash() {
            true => Fingerprint(rules.rule.side(record.hash, contains)),
            false => fingerprint(rules.split(bytes).1),
        };
        let hint = note.map_or(NOWHERE, |note| past.leads_to(note));
        past.visit(work.node, Visit { hint, contains, depth: work.depth, fresh, print: &print });
    }

    /// Counts a safe event as [`Engine::count_safe`] does, and measures what that takes.
    #[cold]
    fn count_timed(&mut self, batch: &[Work], expansion: &Expansion, number: usize) {
        let Some(watch) = self.past.as_ref().and_then(|past| past.watch) else { return };
        let (mut search, mut add) = (Cost::default(), Cost::default());
        let admission = watch.time(&mut search, || self.admit(batch, expansion, number));
        watch.time(&mut add, || self.count_safe(batch, expansion, (number, admission)));
        let Some(past) = &mut self.past else { return };
        match admission {
            Admission::Known => past.costs().search_visited.merge(search),
            Admission::Fresh(_) | Admission::Shallower(_) => {
                past.costs().add_visited.merge(search);
                past.costs().add_frontier.merge(add);
            }
        }
    }

    fn report_breaches(&mut self, batch: &[Work], expansion: &Expansion) {
        for breach in expansion.breaches.iter().filter(|breach| breach.counts) {
            let choices = match breach.at {
                BreachAt::Record(record) if record >= expansion.end => continue,
                BreachAt::Record(record) => {
                    let record = expansion.records[record];
                    let mut choices = self.lineage.choices(&batch[record.work as usize]);
                    choices.push(record.choice);
                    choices
                }
                BreachAt::Enabled(work, _) => self.lineage.choices(&batch[work as usize]),
            };
            self.report(&breach.violations, choices);
            if self.ended.is_some() {
                self.give_back(batch, expansion.work_of(breach.at) as usize);
                return;
            }
        }
    }

    /// Corrects the counts when a search ends with the state number `last` of a batch: had the
    /// states been taken one by one, the rest would still be waiting.
    fn give_back(&mut self, batch: &[Work], last: usize) {
        let rest = (batch.len() - 1 - last) as u64;
        self.counts.stored += rest;
        if self.adds_current() {
            let rejected = u64::from(self.rejected[batch.len()] - self.rejected[last]);
            self.premature = rest;
            self.counts.tree += rejected;
            self.counts.non_tree -= rejected;
            self.counts.stored += rejected;
        }
        if self.rules.search.level_by_level() {
            self.level = batch[last].depth;
        }
    }

    /// Counts a violation, and keeps it if it is the first or the shallowest of its property.
    fn report(&mut self, violations: &[(usize, String)], choices: Vec<u32>) {
        self.counts.violations += 1;
        for (property, _) in violations {
            self.counts.by_property[*property] += 1;
            let known = self.found.iter().position(|(number, _)| number == property);
            if known.is_some_and(|at| self.found[at].1.schedule.len() <= choices.len()) {
                continue;
            }
            match confirm(&self.rules, *property, &choices) {
                Err(reason) => {
                    self.ended = Some(Ended::Unconfirmed(reason));
                    return;
                }
                Ok(found) => match known {
                    Some(at) => self.found[at].1 = found,
                    None => self.found.push((*property, found)),
                },
            }
        }
        if !self.rules.search.keep_going {
            self.ended = Some(Ended::Violation);
        }
    }
}
