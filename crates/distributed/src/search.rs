//! The search of one worker, level by level with all others.

use crate::gauges::Gauges;
use crate::message::{Back, Generated, Link, Message, Place, ROOT, Summary, Total, read, written};
use crate::partition::{Partition, Waiting, key, owner};
use crate::sent::Sent;
use everypath_explore::expander::{Expand, SuccessorKind, set_ends};
use everypath_explore::{
    Canonical, Control, Counts, Ended, Exploration, Limit, Progress, PropertyKind, Search,
};
use serde_bytes::ByteBuf;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{Input, Operator, Probe};
use timely::dataflow::{InputHandleVec, ProbeHandle};
use timely::worker::Worker;

/// How many states are expanded before messages are looked at.
const CHUNK: usize = 512;
/// How many bytes make a message.
const MESSAGE: usize = 1 << 16;
/// How long a worker with nothing to do sleeps at most.
const PARK: Duration = Duration::from_millis(100);

/// What arrived, with the phase in which it was sent: the phases of two workers may be one apart.
type Inbox = Rc<RefCell<Vec<(u64, ByteBuf)>>>;

/// Messages between the workers, phase by phase: whatever is sent in one arrives in it.
struct Post<'w> {
    worker: &'w mut Worker,
    input: InputHandleVec<u64, Message>,
    probe: ProbeHandle<u64>,
    inbox: Inbox,
    /// What is not sent yet, for each worker.
    outgoing: Vec<Vec<u8>>,
    phase: u64,
}

impl<'w> Post<'w> {
    fn new(worker: &'w mut Worker) -> Self {
        let (mut input, probe, inbox) =
            (InputHandleVec::new(), ProbeHandle::new(), Inbox::default());
        let arrived = Rc::clone(&inbox);
        worker.dataflow::<u64, _, _>(|scope| {
            let to = Exchange::new(|message: &Message| message.to);
            scope
                .input_from(&mut input)
                .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "receive", |_, _| {
                    move |input, _| {
                        input.for_each_time(|time, batches| {
                            let mut arrived = arrived.borrow_mut();
                            for batch in batches {
                                let bytes = batch.drain(..).map(|message: Message| message.bytes);
                                arrived.extend(bytes.map(|bytes| (*time.time(), bytes)));
                            }
                        });
                    }
                })
                .probe_with(&probe);
        });
        let outgoing = vec![Vec::new(); worker.peers()];
        Post { worker, input, probe, inbox, outgoing, phase: 0 }
    }

    fn flush(&mut self, to: usize) {
        let bytes = ByteBuf::from(std::mem::take(&mut self.outgoing[to]));
        self.input.send(Message { to: to as u64, bytes });
        self.input.flush();
    }

    /// Sends a state to the worker that has it.
    fn send(&mut self, to: usize, state: &Generated<'_>) {
        state.write(&mut self.outgoing[to]);
        if self.outgoing[to].len() >= MESSAGE {
            self.flush(to);
        }
    }

    /// What has arrived in this phase so far.
    fn arrived(&mut self) -> Vec<ByteBuf> {
        let phase = self.phase;
        let mut inbox = self.inbox.borrow_mut();
        inbox.extract_if(.., |(sent, _)| *sent == phase).map(|(_, bytes)| bytes).collect()
    }

    /// Ends the phase when everybody has, and everything has arrived.
    fn finish(&mut self, mut receive: impl FnMut(&[u8])) {
        for to in 0..self.outgoing.len() {
            if !self.outgoing[to].is_empty() {
                self.flush(to);
            }
        }
        self.input.advance_to(self.phase + 1);
        while self.probe.less_than(self.input.time()) {
            self.worker.step_or_park(Some(PARK));
            self.arrived().iter().for_each(|bytes| receive(bytes));
        }
        self.arrived().iter().for_each(|bytes| receive(bytes));
        self.phase += 1;
    }

    /// Tells everybody something, and hears what everybody has to say; in no particular order.
    fn tell<T: Canonical + Default>(&mut self, values: &[T]) -> Vec<T> {
        for value in values {
            let bytes = written(value);
            for to in 0..self.outgoing.len() as u64 {
                self.input.send(Message { to, bytes: ByteBuf::from(bytes.clone()) });
            }
        }
        let mut heard = Vec::new();
        self.finish(|bytes| heard.push(read(bytes)));
        heard
    }
}

/// A property that was violated or satisfied, and where: everybody knows the same.
struct Known {
    place: Place,
    /// The choices that lead there.
    choices: Vec<u32>,
}

/// The search of one worker.
struct WorkerSearch<'s, 'w> {
    expander: &'s mut dyn Expand,
    search: &'s Search,
    control: &'s Control,
    gauges: &'s Gauges,
    post: Post<'w>,
    partition: Partition,
    sent: Sent,
    counts: Counts,
    by_event: Vec<u64>,
    violations: Vec<Place>,
    witnesses: Vec<Place>,
    found: Vec<Known>,
    witnessed: Vec<Known>,
    level: u32,
}

/// Explores with all other workers; each gets the same result.
pub(crate) fn explore(
    worker: &mut Worker,
    expander: &mut dyn Expand,
    (search, control, gauges): (&Search, &Control, &Gauges),
) -> Exploration {
    let properties = expander.properties().len();
    let by_property = vec![0; properties + 1];
    let partition = Partition::new(worker.index());
    let search = WorkerSearch {
        expander,
        search,
        control,
        gauges,
        post: Post::new(worker),
        partition,
        sent: Sent::new(),
        counts: Counts { by_property, ..Counts::default() },
        by_event: Vec::new(),
        violations: Vec::new(),
        witnesses: Vec::new(),
        found: Vec::new(),
        witnessed: Vec::new(),
        level: 0,
    };
    search.run()
}

impl WorkerSearch<'_, '_> {
    fn run(mut self) -> Exploration {
        let (ended, waiting) = match self.start() {
            Some(ended) => (ended, 0),
            None => self.levels(),
        };
        self.trace_back();
        self.conclude(ended, waiting)
    }

    /// Checks the initial state; whoever has it counts it.
    fn start(&mut self) -> Option<Ended> {
        let start = self.expander.start();
        let own = owner(start.print, self.post.worker.peers()) == self.post.worker.index();
        let state = Place { state: ROOT, ..Place::default() };
        let known = |property: usize| Known {
            place: Place { property: property as u64, ..state },
            choices: Vec::new(),
        };
        self.witnessed.extend(start.witnesses.iter().map(|&property| known(property)));
        self.expander.wanted().retain(|property| !start.witnesses.contains(property));
        if !start.violations.is_empty() {
            if start.counts {
                self.found.extend(start.violations.iter().map(|(property, _)| known(*property)));
                if own {
                    self.count_violation(&start.violations);
                }
            }
            let stops = start.counts && !self.search.keep_going;
            return Some(if stops { Ended::Violation } else { Ended::Complete });
        }
        if own {
            let link = Link { parent: ROOT, ..Link::default() };
            let state = Generated { print: start.print, link, bytes: &start.bytes };
            self.partition.admit(&state);
        }
        None
    }

    fn count_violation(&mut self, violated: &[(usize, String)]) {
        self.counts.violations += 1;
        violated.iter().for_each(|(property, _)| self.counts.by_property[*property] += 1);
    }

    /// Explores level by level; why it ended, and how many states of the last level still wait.
    fn levels(&mut self) -> (Ended, u64) {
        loop {
            let (first, states) = self.partition.advance();
            let expanded = self.expand(first, &states);
            let WorkerSearch { post, partition, counts, .. } = self;
            post.finish(|bytes| admit_all(partition, counts, bytes));
            let summary = Summary {
                fresh: self.partition.waiting() as u64,
                states: self.partition.len() as u64,
                executions: self.counts.executions(),
                stopped: self.control.stopped(),
                violations: std::mem::take(&mut self.violations),
                witnesses: std::mem::take(&mut self.witnesses),
            };
            let heard = self.post.tell(&[summary]);
            let left = (states.len() - expanded) as u64;
            if let Some(ended) = self.learn(&heard) {
                return (ended, left + self.partition.waiting() as u64);
            }
            self.level += 1;
        }
    }

    /// Takes in what everybody tells at the end of a level; why the search ends, if it does.
    fn learn(&mut self, heard: &[Summary]) -> Option<Ended> {
        let violations = heard.iter().flat_map(|summary| summary.violations.iter().copied());
        note(&mut self.found, violations);
        let witnesses = heard.iter().flat_map(|summary| summary.witnesses.iter().copied());
        note(&mut self.witnessed, witnesses);
        let witnessed = &self.witnessed;
        self.expander.wanted().retain(|&property| {
            witnessed.iter().all(|known| known.place.property != property as u64)
        });
        let sum = |of: fn(&Summary) -> u64| heard.iter().map(of).sum::<u64>();
        let (states, fresh) = (sum(|summary| summary.states), sum(|summary| summary.fresh));
        self.publish(0);
        if !self.found.is_empty() && !self.search.keep_going {
            return Some(Ended::Violation);
        }
        if heard.iter().any(|summary| summary.stopped) {
            return Some(Ended::Stopped);
        }
        if fresh == 0 {
            return Some(Ended::Complete);
        }
        let Search { max_states, max_executions, .. } = *self.search;
        if let Some(limit) = max_states.filter(|&limit| states >= limit) {
            return Some(Ended::Limit(Limit::States(limit)));
        }
        let executions = sum(|summary| summary.executions);
        let limit = max_executions.filter(|&limit| executions >= limit)?;
        Some(Ended::Limit(Limit::Executions(limit)))
    }

    /// Says how far this worker has come, with so many states of its level left, and with it all.
    fn publish(&self, left: usize) {
        let progress = Progress {
            states: self.partition.len() as u64,
            events: self.counts.events,
            depth: u64::from(self.level) + 1,
            frontier: (left + self.partition.waiting()) as u64,
            ..Progress::default()
        };
        self.gauges.set_worker(self.post.worker.index(), progress);
        self.control.publish(self.gauges.all());
    }

    /// Expands the states of a level that are here, of which the first has this number; how many it
    /// came to.
    fn expand(&mut self, first: usize, states: &Waiting) -> usize {
        let mut at = 0;
        while at < states.len() && !self.control.stopped() {
            let end = states.len().min(at + CHUNK);
            let mut chunk = (at..end).map(|state| states.get(state));
            // A chunk is expanded as a whole.
            self.expander.expand(self.level, &mut chunk, &Control::default());
            set_ends(std::iter::once(self.expander.results()), true);
            self.count(first + at);
            self.post.worker.step();
            for bytes in self.post.arrived() {
                admit_all(&mut self.partition, &mut self.counts, &bytes);
            }
            at = end;
            self.publish(states.len() - at);
        }
        at
    }

    /// Counts what came out of a chunk whose first state has this number, and sends the successors to
    /// those who have them.
    fn count(&mut self, first: usize) {
        let WorkerSearch { expander, post, partition, counts, by_event, sent, .. } = self;
        let (me, workers) = (post.worker.index(), post.worker.peers());
        let results = expander.results();
        counts.dead_ends += results.dead_ends();
        for successor in results.successors() {
            counts.events += 1;
            counts.depth = self.level + 1;
            let event = usize::from(successor.event);
            if by_event.len() <= event {
                by_event.resize(event + 1, 0);
            }
            by_event[event] += 1;
            match successor.kind {
                SuccessorKind::Unsafe => counts.unsafe_events += 1,
                SuccessorKind::Deepest => counts.deepest += 1,
                SuccessorKind::Safe => {
                    let parent = first + successor.from as usize;
                    let link = Link {
                        key: key(partition.print(parent)),
                        choice: successor.choice,
                        parent: partition.number(parent),
                    };
                    let (print, bytes) = (successor.print, successor.bytes);
                    let state = Generated { print, link, bytes };
                    match owner(print, workers) {
                        own if own == me => admit(partition, counts, &state),
                        other if sent.must_send(print, &link, self.level + 1) => {
                            post.send(other, &state);
                        }
                        _ => counts.non_tree += 1,
                    }
                }
            }
        }
        let place = |property: usize, from: u32, choice: u64| {
            let state = first + from as usize;
            let (property, key) = (property as u64, key(partition.print(state)));
            Place { key, choice, property, state: partition.number(state) }
        };
        let mut violated = Vec::new();
        for found in results.violations() {
            let choice = found.choice.map_or(0, |choice| u64::from(choice) + 1);
            let numbers = found.violated.iter().map(|(number, _)| *number);
            self.violations.extend(numbers.map(|number| place(number, found.from, choice)));
            violated.push(found.violated.to_vec());
        }
        let witnesses = results.witnesses();
        self.witnesses.extend(
            witnesses.map(|(number, from, choice)| place(number, from, u64::from(choice) + 1)),
        );
        least(&mut self.violations);
        least(&mut self.witnesses);
        violated.iter().for_each(|violated| self.count_violation(violated));
    }

    /// Finds the ways to what was found, step by step back, each at whoever has the state.
    fn trace_back(&mut self) {
        let mut known: Vec<&mut Known> = self.found.iter_mut().chain(&mut self.witnessed).collect();
        let mut at: Vec<u64> = known.iter().map(|known| known.place.state).collect();
        for known in known.iter_mut().filter(|known| known.place.choice > 0) {
            known.choices.push(known.place.choice as u32 - 1);
        }
        while at.iter().any(|&state| state != ROOT) {
            let mut steps = Vec::new();
            for (way, &state) in (0..).zip(&at) {
                if let Some((parent, choice)) = self.partition.back(state) {
                    steps.push(Back { way, parent, choice });
                }
            }
            for Back { way, parent, choice } in self.post.tell(&steps) {
                at[way as usize] = parent;
                if parent != ROOT {
                    known[way as usize].choices.push(choice);
                }
            }
        }
        known.iter_mut().for_each(|known| known.choices.reverse());
    }

    /// Adds up what everybody has counted, and repeats what was found.
    fn conclude(mut self, mut ended: Ended, waiting: u64) -> Exploration {
        let states = self.partition.len() as u64;
        let own = &self.counts;
        let total = Total {
            counts: vec![
                states,
                states + waiting,
                own.events,
                own.unsafe_events,
                own.tree,
                own.non_tree,
                own.deepest,
                own.dead_ends,
                own.violations,
            ],
            depth: own.depth,
            by_property: own.by_property.clone(),
            by_event: self.by_event.clone(),
        };
        let heard = self.post.tell(&[total]);
        let (counts, by_event) = sum(&heard);
        let mut found = Vec::new();
        for known in &self.found {
            match self.expander.confirm(known.place.property as usize, &known.choices) {
                Ok(violation) => found.push(violation),
                Err(reason) => ended = Ended::Unconfirmed(reason),
            }
        }
        let mut witnesses = Vec::new();
        for (number, (name, kind)) in self.expander.properties().into_iter().enumerate() {
            if kind != PropertyKind::Sometimes {
                continue;
            }
            let mut known = self.witnessed.iter();
            let known = known.find(|known| known.place.property == number as u64);
            let steps = known.map(|known| self.expander.confirm_witness(number, &known.choices));
            let steps = steps.transpose().unwrap_or_else(|reason| {
                ended = Ended::Unconfirmed(reason);
                None
            });
            witnesses.push((name, steps));
        }
        Exploration { counts, found, checked_depth: self.level, ended, by_event, witnesses }
    }
}

/// Adds a state that was generated to those that belong here.
fn admit(partition: &mut Partition, counts: &mut Counts, state: &Generated<'_>) {
    match partition.admit(state) {
        true => counts.tree += 1,
        false => counts.non_tree += 1,
    }
}

fn admit_all(partition: &mut Partition, counts: &mut Counts, mut bytes: &[u8]) {
    while let Some(state) = Generated::read(&mut bytes) {
        admit(partition, counts, &state);
    }
}

/// Keeps the least place of each property.
fn least(places: &mut Vec<Place>) {
    places.sort_by_key(|place| (place.property, *place));
    places.dedup_by_key(|place| place.property);
}

/// Notes what a level has shown of properties of which nothing was known before, the least first.
fn note(known: &mut Vec<Known>, places: impl Iterator<Item = Place>) {
    let mut new: Vec<Place> = places.collect();
    least(&mut new);
    new.retain(|place| known.iter().all(|known| known.place.property != place.property));
    new.sort();
    known.extend(new.into_iter().map(|place| Known { place, choices: Vec::new() }));
}

/// What all workers have counted.
fn sum(totals: &[Total]) -> (Counts, Vec<u64>) {
    let add = |into: &mut Vec<u64>, from: &[u64]| {
        into.resize(into.len().max(from.len()), 0);
        into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
    };
    let mut all = Total::default();
    for total in totals {
        add(&mut all.counts, &total.counts);
        add(&mut all.by_property, &total.by_property);
        add(&mut all.by_event, &total.by_event);
        all.depth = all.depth.max(total.depth);
    }
    let of = |at: usize| all.counts.get(at).copied().unwrap_or_default();
    let counts = Counts {
        states: of(0),
        stored: of(1),
        events: of(2),
        safe: of(2) - of(3),
        unsafe_events: of(3),
        tree: of(4),
        non_tree: of(5),
        deepest: of(6),
        dead_ends: of(7),
        depth: all.depth,
        violations: of(8),
        by_property: all.by_property,
    };
    (counts, all.by_event)
}
