//! Expanding states: every enabled step is taken, and its successor checked and encoded.

use crate::costs::{Costs, Rhythm, Stopwatch};
use crate::frontier::Work;
use crate::graph::{BEYOND, Baseline, Hint, NOWHERE, Origin};
use crate::incremental::{Claims, Note, Past, Skip, Source};
use crate::part::{Part, Recent};
use crate::property::Kind;
use crate::shuffle::shuffle;
use crate::visited::{Rule, Shard, shard_of};
use crate::{
    Canonical, Fingerprint, Property, Rank, Search, Step, System, fingerprint, panic_capture,
};
use std::ops::Range;

/// How many states a thread expands before it measures one, at first.
const MEASURED: u32 = 256;

/// What expanding needs to know, the same for all threads.
pub(crate) struct Rules<'a, S: System> {
    pub(crate) system: &'a S,
    pub(crate) properties: &'a [Property<S::State>],
    pub(crate) rank: Option<&'a Rank<S::State>>,
    pub(crate) search: &'a Search,
    pub(crate) rule: Rule<'a>,
    /// Take one step of a state at a time, as recursive depth-first search does.
    pub(crate) one_step: bool,
    /// The numbers of the properties that some state must satisfy and none has so far.
    pub(crate) wanted: Vec<usize>,
    /// Whether any property speaks of steps.
    pub(crate) checks_steps: bool,
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
    pub(crate) fn split<'b>(&self, bytes: &'b [u8]) -> (bool, &'b [u8]) {
        match self.search.must_contain {
            Some(_) => (bytes[0] == 1, &bytes[1..]),
            None => (true, bytes),
        }
    }

    /// Whether neither `state` nor the step to it violates a property.
    fn holds(&self, before: Option<&S::State>, state: &S::State) -> bool {
        self.properties.iter().all(|property| property.check_from(before, state).is_ok())
    }

    /// The properties that `state` or the step to it violates, by number, and why.
    pub(crate) fn violations(
        &self,
        before: Option<&S::State>,
        state: &S::State,
    ) -> Vec<(usize, String)> {
        violations(self.properties, before, state)
    }

    /// The properties that speak of deadlocks and that a state violates in which nothing is enabled.
    fn deadlocks(&self, state: &S::State) -> Vec<(usize, String)> {
        deadlocks(self.properties, state)
    }

    /// Those of the wanted properties that a state satisfies.
    #[inline]
    pub(crate) fn witnessed(&self, state: &S::State) -> Vec<usize> {
        let is = |number: &usize| match &self.properties[*number].kind {
            Kind::Sometimes(is) => is(state),
            _ => false,
        };
        self.wanted.iter().copied().filter(is).collect()
    }

    /// Whether a state of this depth is at the bound.
    fn deepest(&self, depth: u32) -> bool {
        self.search.max_depth.is_some_and(|bound| depth >= bound)
    }
}

/// The properties that a state or the step to it violates, by number, and why.
pub(crate) fn violations<T>(
    properties: &[Property<T>],
    before: Option<&T>,
    state: &T,
) -> Vec<(usize, String)> {
    let check = |(number, property): (usize, &Property<T>)| {
        property.check_from(before, state).err().map(|message| (number, message))
    };
    properties.iter().enumerate().filter_map(check).collect()
}

/// The properties that speak of deadlocks and that a state violates in which nothing is enabled.
pub(crate) fn deadlocks<T>(properties: &[Property<T>], state: &T) -> Vec<(usize, String)> {
    let stuck = |(number, property): (usize, &Property<T>)| match &property.kind {
        Kind::Deadlock(may_end) if !may_end(state) => {
            Some((number, "nothing can happen any more".into()))
        }
        _ => None,
    };
    properties.iter().enumerate().filter_map(stuck).collect()
}

/// What expanding a number of states produced, in order.
#[derive(Default)]
pub struct Expansion {
    /// The canonical bytes of the successors that may be stored, concatenated.
    pub(crate) bytes: Vec<u8>,
    /// The executed events, in order.
    pub(crate) records: Vec<Record>,
    /// The violations among them.
    pub(crate) breaches: Vec<Breach>,
    /// The records whose states satisfy wanted properties, and which.
    pub(crate) witnesses: Vec<(usize, usize)>,
    /// The ranks of the records, concatenated, in best-first search.
    ranks: Vec<i64>,
    /// Where in `ranks` that of each record ends.
    rank_ends: Vec<usize>,
    /// The states of the batch in which nothing was enabled.
    pub(crate) dead_ends: Vec<u32>,
    /// What else is to be known of the records, in an incremental search.
    pub(crate) notes: Vec<Note>,
    /// The states whose transitions are recorded.
    pub(crate) sources: Vec<Source>,
    /// The events that were not executed because a graph knows them.
    pub(crate) skips: Vec<Skip>,
    /// States whose transitions in the graph are damaged.
    pub(crate) damaged: u64,
    /// An event of which the graph was wrong.
    pub(crate) stale: Option<u16>,
    /// Whether the state has more steps, when they are taken one at a time.
    pub(crate) more: bool,
    /// What was counted of a batch that several threads share, and the records that may lead to new
    /// states, for each shard.
    pub(crate) part: Part,
    pub(crate) routes: Vec<Vec<u32>>,
    pub(crate) recent: Recent,
    /// How many of the records count. Set when all threads have finished.
    pub(crate) end: usize,
    /// How many of the skips do, and up to which state of the batch.
    pub(crate) skips_end: usize,
    pub(crate) works_end: u32,
    /// Whether the search ends before all of this.
    pub(crate) is_void: bool,
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
    /// Which event it is.
    pub(crate) event: u16,
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
    /// How many skips came before it.
    pub(crate) skips: usize,
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
        self.witnesses.clear();
        self.ranks.clear();
        self.rank_ends.clear();
        self.dead_ends.clear();
        self.notes.clear();
        self.sources.clear();
        self.skips.clear();
        self.damaged = 0;
        self.stale = None;
        self.more = false;
        self.part.clear();
        self.routes.iter_mut().for_each(Vec::clear);
        self.end = 0;
        self.skips_end = 0;
        self.works_end = 0;
        self.is_void = false;
    }

    /// Notes that so many events of a state of the batch are not executed.
    #[inline]
    fn skip(&mut self, work: u32, count: u32) {
        let records = self.records.len();
        match self.skips.last_mut() {
            Some(skip) if skip.work == work && skip.records == records => skip.count += count,
            _ if count > 0 => self.skips.push(Skip { work, records, count }),
            _ => {}
        }
    }

    /// The state of the batch in which a violation happened.
    pub(crate) fn work_of(&self, at: BreachAt) -> u32 {
        match at {
            BreachAt::Record(record) => self.records[record].work,
            BreachAt::Enabled(work, _) => work,
        }
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
    /// Where its successors will be looked up, if that is known: a power of two of them.
    pub(crate) shards: &'a [Shard],
    /// The graph of an earlier search, and what is recorded of this one.
    pub(crate) past: Option<&'a Past<'a>>,
    /// What times a sample of the operations, if anything does.
    pub(crate) watch: Option<Stopwatch<'a>>,
}

impl<'a> Job<'a> {
    /// The graph, and the number of the state in it.
    fn known(&self) -> Option<(&'a Baseline<'a>, u32)> {
        let past = self.past?;
        Some((past.reading()?, past.number(self.work.node)))
    }

    /// Whether a hit need not be executed.
    fn needless(&self, hint: Hint, contains: bool, claims: &mut Claims) -> bool {
        let Some(past) = self.past.filter(|_| hint.origin == Origin::Hit) else { return false };
        past.memo.shown(hint.next, contains, self.work.depth + 1)
            || !claims.claim(hint.next, contains)
    }
}

/// A thread's working states; no two threads write to one cache line.
#[repr(align(128))]
pub(crate) struct Worker<S: System> {
    current: S::State,
    next: S::State,
    steps: Vec<Step>,
    /// The node that the steps belong to, if they still do, and whether `current` is its state.
    listed: Option<u32>,
    read: bool,
    /// What the graph knows of the steps; empty if it is not asked.
    hints: Vec<Hint>,
    claims: Claims,
    /// Which of the steps are executed, which of them comes next, and up to where the steps,
    /// executed or not, are done.
    todo: Vec<usize>,
    next_todo: usize,
    done: usize,
    end: usize,
    /// The step being taken, so that a panic can be laid at its door.
    taking: Option<usize>,
    pub(crate) expansion: Expansion,
    rhythm: Rhythm,
    pub(crate) costs: Costs,
}

impl<S: System> Worker<S> {
    pub(crate) fn new(system: &S) -> Self {
        Worker {
            current: system.initial(),
            next: system.initial(),
            steps: Vec::new(),
            listed: None,
            read: false,
            hints: Vec::new(),
            claims: Claims::default(),
            todo: Vec::new(),
            next_todo: 0,
            done: 0,
            end: 0,
            taking: None,
            expansion: Expansion::default(),
            rhythm: Rhythm::every(MEASURED),
            costs: Costs::default(),
        }
    }

    /// How many bytes an incremental search takes here.
    pub(crate) fn extra_bytes(&self) -> usize {
        self.claims.bytes()
    }

    /// Forgets the batch before.
    pub(crate) fn clear(&mut self) {
        self.expansion.clear();
        self.claims.clear();
    }

    /// Expands a state.
    pub(crate) fn expand(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        self.taking = None;
        let mut outcome = panic_capture::run(|| self.prepare(rules, job));
        while outcome.is_ok() && self.next_todo < self.todo.len() {
            outcome = panic_capture::run(|| self.take_all(rules, job)).or_else(|message| {
                self.record_panic(rules, job, message);
                // The working states may have been left in disorder by the panic.
                self.reset(rules);
                panic_capture::run(|| self.load(rules, job.bytes))
            });
        }
        match outcome {
            Ok(()) => {
                self.expansion.skip(job.index, (self.end - self.done) as u32);
                self.sample(rules, job);
            }
            Err(message) => {
                self.taking = None;
                self.record_panic(rules, job, message);
                self.reset(rules);
            }
        }
    }

    fn reset(&mut self, rules: &Rules<'_, S>) {
        self.current = rules.system.initial();
        self.next = rules.system.initial();
        (self.listed, self.read) = (None, false);
    }

    /// Measures what expanding this state takes, if its turn has come.
    fn sample(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        let Some(watch) = job.watch else { return };
        if self.rhythm.beat() {
            self.listed = None;
            if panic_capture::run(|| self.measure(rules, job, watch)).is_err() {
                self.reset(rules);
            }
        }
    }

    /// The steps enabled in `state`, in the order in which they are explored.
    pub(crate) fn enumerate(&mut self, rules: &Rules<'_, S>, bytes: &[u8]) -> &[Step] {
        self.hints.clear();
        self.listed = None;
        self.list(rules, bytes);
        self.leave_out(rules);
        self.shuffle(rules, || fingerprint(rules.split(bytes).1));
        &self.steps
    }

    /// Lists the steps enabled in a state, in the order of the system.
    fn list(&mut self, rules: &Rules<'_, S>, bytes: &[u8]) {
        self.load(rules, bytes);
        self.steps.clear();
        rules.system.enabled(&self.current, &mut self.steps);
    }

    /// Reads a state.
    fn load(&mut self, rules: &Rules<'_, S>, bytes: &[u8]) {
        let (_, own) = rules.split(bytes);
        self.current.read(&mut &own[..]);
        self.read = true;
    }

    /// Lists the steps enabled in a state and what the graph knows of them. The state is read only
    /// if it must be.
    fn list_known(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        self.hints.clear();
        self.read = false;
        let Some((baseline, number)) = job.known() else { return self.list(rules, job.bytes) };
        let row = baseline.graph.row(number);
        self.expansion.damaged += u64::from(row.is_err());
        let row = row.unwrap_or_default();
        let lists = job.past.is_some_and(|past| past.lists);
        let row = (row, rules.deepest(job.work.depth + 1));
        if !lists || !baseline.list(row, &mut self.steps, &mut self.hints) {
            self.list(rules, job.bytes);
            baseline.look_up(row, &self.steps, &mut self.hints);
        }
    }

    /// Leaves out what is switched off.
    fn leave_out(&mut self, rules: &Rules<'_, S>) {
        let Worker { steps, hints, .. } = self;
        let off = &rules.search.disabled;
        if !off.is_empty() {
            let mut events = steps.iter().map(|step| step.event);
            hints.retain(|_| events.next().is_some_and(|event| !off.contains(&event)));
            steps.retain(|step| !off.contains(&step.event));
        }
    }

    /// Shuffles the steps, if that is wanted.
    fn shuffle(&mut self, rules: &Rules<'_, S>, print: impl FnOnce() -> Fingerprint) {
        if let Some(seed) = rules.search.shuffle {
            let print = print();
            shuffle(&mut self.steps, seed, print);
            shuffle(&mut self.hints, seed, print);
        }
    }

    /// Whether there are steps and none needs to be executed, in whatever order they come.
    fn nothing_to_do(&self, rules: &Rules<'_, S>, job: Job<'_>) -> bool {
        let Some(past) = job.past.filter(|_| !self.hints.is_empty()) else { return false };
        let deepest = rules.deepest(job.work.depth + 1);
        let (contained, _) = rules.split(job.bytes);
        self.hints.iter().zip(&self.steps).all(|(hint, step)| {
            let contains = contained || rules.search.must_contain == Some(step.event);
            hint.origin == Origin::Hit
                && (deepest || past.memo.shown(hint.next, contains, job.work.depth + 1))
        })
    }

    /// Lists the steps of a state and decides which are executed.
    fn prepare(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        let from = job.work.from as usize;
        (self.done, self.end, self.next_todo) = (from, from, 0);
        self.todo.clear();
        // Successors at the bound are not explored, so nothing comes between them.
        let one_step = rules.one_step && !rules.deepest(job.work.depth + 1);
        // A state whose steps are taken one at a time often comes back at once.
        if from == 0 || self.listed != Some(job.work.node) {
            let print = self.list_all(rules, job);
            if !one_step && self.nothing_to_do(rules, job) {
                self.end = self.steps.len();
                return;
            }
            self.shuffle(rules, print);
        }
        self.end = if one_step { self.steps.len().min(from + 1) } else { self.steps.len() };
        self.expansion.more = self.end < self.steps.len();
        self.listed = self.expansion.more.then_some(job.work.node);
        if self.steps.is_empty() {
            self.dead_end(rules, job);
        }
        self.plan(rules, job, from..self.end);
        if !self.todo.is_empty() && !self.read {
            self.load(rules, job.bytes);
        }
    }

    /// Notes that nothing is enabled in a state.
    fn dead_end(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        self.expansion.dead_ends.push(job.index);
        if rules.properties.iter().any(|property| matches!(property.kind, Kind::Deadlock(_))) {
            self.load(rules, job.bytes);
            let violations = rules.deadlocks(&self.current);
            if !violations.is_empty() {
                let (counts, _) = rules.split(job.bytes);
                let out = &mut self.expansion;
                let at = BreachAt::Enabled(job.index, out.records.len());
                let skips = out.skips.len();
                out.breaches.push(Breach { at, violations, counts, skips });
            }
        }
    }

    /// Lists the steps of a state that are not switched off, in the order of the system; returns
    /// what tells its fingerprint.
    fn list_all<'j>(
        &mut self,
        rules: &'j Rules<'_, S>,
        job: Job<'j>,
    ) -> impl Fn() -> Fingerprint + use<'j, S> {
        self.listed = None;
        self.list_known(rules, job);
        let own = rules.split(job.bytes).1;
        let print = move || match job.known() {
            Some((baseline, number)) if number != NOWHERE => {
                Fingerprint(baseline.graph.print(number))
            }
            _ => fingerprint(own),
        };
        if let Some(past) = job.past.filter(|past| past.recording()) {
            let enabled = past.enabled(&self.steps);
            let records = self.expansion.records.len();
            self.expansion.sources.push(Source { print: print().0, records, enabled });
        }
        self.leave_out(rules);
        print
    }

    /// Decides which steps are executed.
    fn plan(&mut self, rules: &Rules<'_, S>, job: Job<'_>, choices: Range<usize>) {
        let Worker { steps, hints, claims, todo, .. } = self;
        if hints.is_empty() {
            todo.extend(choices);
            return;
        }
        let (contained, _) = rules.split(job.bytes);
        let deepest = rules.deepest(job.work.depth + 1);
        todo.extend(choices.filter(|&choice| {
            let hint = hints[choice];
            if deepest {
                return hint.origin != Origin::Hit;
            }
            let contains = contained || rules.search.must_contain == Some(steps[choice].event);
            !job.needless(hint, contains, claims)
        }));
    }

    /// Executes the steps that were decided upon, and notes those that were not.
    fn take_all(&mut self, rules: &Rules<'_, S>, job: Job<'_>) {
        let (contained, own) = rules.split(job.bytes);
        let Worker { current, next, steps, hints, taking, expansion, .. } = self;
        let class = if rules.deepest(job.work.depth + 1) { Class::Deepest } else { Class::Safe };
        // The last step may use up the state itself, unless more are to come.
        let last = self.todo.last().copied().filter(|_| !expansion.more && !rules.checks_steps);
        for &choice in &self.todo[self.next_todo..] {
            expansion.skip(job.index, (choice - self.done) as u32);
            self.done = choice + 1;
            self.next_todo += 1;
            *taking = Some(choice);
            let (step, hint) = (steps[choice], hints.get(choice).copied());
            let (before, state) = if last == Some(choice) {
                self.read = false;
                (None, &mut *current)
            } else {
                rules.system.restore(current, own, next);
                (Some(&*current), &mut *next)
            };
            rules.system.take(state, step);
            let contains = contained || rules.search.must_contain == Some(step.event);
            let start = expansion.bytes.len();
            let choice = choice as u32;
            let (work, event) = (job.index, step.event);
            let record = Record { work, choice, start, end: start, hash: 0, event, class };
            let arrival = Arrival { step, contains, hint, before };
            expansion.record(rules, state, &arrival, (record, job.past));
            if let (false, Some(record)) = (job.shards.is_empty(), expansion.records.last()) {
                job.shards[shard_of(record.hash, job.shards.len())].prefetch(record.hash);
            }
        }
    }

    /// Does everything that expanding a state takes once more, for the clock.
    fn measure(&mut self, rules: &Rules<'_, S>, job: Job<'_>, watch: Stopwatch<'_>) {
        let mut costs = std::mem::take(&mut self.costs);
        let enabled = &mut costs.enabled;
        let count = self.steps.len();
        watch.time_for(count, enabled, || self.list(rules, job.bytes));
        if job.known().is_some() {
            let search = &mut costs.search_graph;
            watch.time_for(count, search, || self.list_known(rules, job));
            self.list(rules, job.bytes);
        }
        let (contained, own) = rules.split(job.bytes);
        let Worker { current, next, steps, .. } = self;
        let mut bytes = Vec::new();
        for &step in steps.iter() {
            watch.time(&mut costs.execute, || {
                rules.system.restore(current, own, next);
                rules.system.take(next, step);
            });
            let holds = watch.time(&mut costs.check, || rules.holds(Some(current), next));
            watch.time(&mut costs.hash, || {
                bytes.clear();
                rules.encode(next, contained, &mut bytes);
                rules.rule.hash(&bytes)
            });
            if let Some(rank) = rules.rank.filter(|_| holds) {
                watch.time(&mut costs.rank, || rank.tuple(next));
            }
        }
        self.costs = costs;
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
                    event: self.steps[choice].event,
                    class: Class::Unsafe,
                });
                out.rank_ends.resize(out.records.len(), out.ranks.len());
                if job.past.is_some() {
                    let step = self.steps[choice];
                    let mut note = Note::plain(step, counts);
                    match self.hints.get(choice) {
                        // It was safe in the graph, by a handler that is said to be the same.
                        Some(Hint { origin: Origin::Hit, .. }) => out.stale = Some(step.event),
                        Some(hint) => (note.origin, note.next) = (hint.origin, hint.next),
                        None => {}
                    }
                    out.notes.push(note);
                }
                BreachAt::Record(out.records.len() - 1)
            }
            None => BreachAt::Enabled(job.index, out.records.len()),
        };
        out.breaches.push(Breach {
            at,
            violations: vec![(rules.properties.len(), message)],
            counts,
            skips: out.skips.len(),
        });
    }
}

/// How a state was arrived at.
struct Arrival<'a, T> {
    step: Step,
    contains: bool,
    /// What the graph knows of the step.
    hint: Option<Hint>,
    /// The state before the step, if it is still there.
    before: Option<&'a T>,
}

impl Expansion {
    /// Checks and encodes the state that a step led to.
    #[inline]
    fn record<S: System>(
        &mut self,
        rules: &Rules<'_, S>,
        state: &S::State,
        arrival: &Arrival<'_, S::State>,
        (mut record, past): (Record, Option<&Past<'_>>),
    ) {
        let contains = arrival.contains;
        let hit = arrival.hint.is_some_and(|hint| hint.origin == Origin::Hit);
        // What the graph holds is safe.
        if !rules.wanted.is_empty() {
            let witnessed = rules.witnessed(state).into_iter();
            self.witnesses.extend(witnessed.map(|property| (self.records.len(), property)));
        }
        if !hit && !rules.holds(arrival.before, state) {
            record.class = Class::Unsafe;
            let at = BreachAt::Record(self.records.len());
            let violations = rules.violations(arrival.before, state);
            let skips = self.skips.len();
            self.breaches.push(Breach { at, violations, counts: contains, skips });
        }
        if record.class == Class::Safe {
            rules.encode(state, contains, &mut self.bytes);
            record.end = self.bytes.len();
            record.hash = match (past.and_then(Past::reading), arrival.hint) {
                (Some(baseline), Some(Hint { origin: Origin::Hit, next }))
                    if rules.rule.is_hash() =>
                {
                    rules.rule.side(baseline.graph.print(next), contains)
                }
                _ => rules.rule.hash(&self.bytes[record.start..]),
            };
        }
        if let Some(rank) = rules.rank {
            if record.class == Class::Safe {
                rank.append(state, &mut self.ranks);
            }
            self.rank_ends.push(self.ranks.len());
        }
        if let Some(past) = past {
            self.note(rules, arrival, (&record, past));
        }
        self.records.push(record);
    }

    /// Notes what an incremental search must know of an executed event.
    fn note<S: System>(
        &mut self,
        rules: &Rules<'_, S>,
        arrival: &Arrival<'_, S::State>,
        (record, past): (&Record, &Past<'_>),
    ) {
        let &Arrival { step, contains, hint, .. } = arrival;
        let unasked = || Hint { origin: past.unasked(step.event), next: NOWHERE };
        let Hint { origin, next } = hint.unwrap_or_else(unasked);
        let compared = match origin {
            Origin::Hit => Past::sampled(next),
            Origin::Miss => past.recording(),
            Origin::Modified => past.recording() || next < BEYOND,
        };
        // At the bound a state is not hashed; to compare it would cost more than it tells.
        let after = match record.class {
            Class::Safe if compared && rules.rule.is_hash() && origin != Origin::Hit => {
                rules.rule.side(record.hash, contains)
            }
            Class::Safe if compared => {
                fingerprint(rules.split(&self.bytes[record.start..record.end]).1).0
            }
            _ => 0,
        };
        if let (Origin::Hit, true, Some(baseline)) = (origin, compared, past.reading())
            && baseline.graph.print(next) != after
        {
            self.stale = self.stale.or(Some(step.event));
        }
        self.notes.push(Note { step, origin, next, contains, after });
    }
}
