//! What a trace says of an execution besides its steps in words: stacks, objects, lock holds and waits,
//! the happens-before order, and which lines of the sources are worth an excerpt.

use super::Names;
use super::operations::{kind_of_object, what};
use crate::dependence::taken;
use crate::schedule::recorded;
use crate::symbols::Frame;
use crate::symmetry::Symmetry;
use everypath_schedules::HappensBefore;
use everypath_shim_abi::{
    Completion, Delivered, Delivery, Event, NetworkChange, Object, Operation, OperationKind,
    Outcome, Phase, Race, TIMEOUT, ThreadEntry, Waiting,
};
use everypath_trace::{FoundStep, Place, Span, SpanKind, TraceStep};
use std::collections::{BTreeMap, BTreeSet};

/// So many frames of a stack are kept.
const MAX_FRAMES: usize = 16;

/// The lines of a source file that stacks name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLines {
    /// The folder that the file was compiled in; empty if that is unknown.
    pub directory: String,
    /// The lines, counted from 1.
    pub lines: BTreeSet<u32>,
}

impl Names<'_> {
    /// Adds to steps where they were made, what they worked on, and what happens before them.
    pub fn add_details(&self, steps: &mut [TraceStep]) {
        let events = &self.replayed.execution.events;
        let before = happens_before(events);
        for (at, (step, event)) in steps.iter_mut().zip(events).enumerate() {
            step.object = self.worked_on(event);
            step.fault = fault_of(event);
            step.timeout = event.outcome == TIMEOUT && event.phase == Phase::Resume;
            step.after = before.get(at).cloned().unwrap_or_default();
            step.stack =
                self.replayed.places.get(at).map(|place| frames(&place.frames)).unwrap_or_default();
        }
    }

    /// What a step works on, with its kind.
    fn worked_on(&self, event: &Event) -> Option<String> {
        match kind_of_object(event.kind())? {
            "thread" => self.thread_of_handle(event.object).map(|thread| self.thread(thread)),
            kind => Some(format!("{kind} {}", self.object(event.object))),
        }
    }

    /// The steps in words alone.
    pub fn found(&self) -> Vec<FoundStep> {
        let execution = &self.replayed.execution;
        let events = execution.events.iter().enumerate().zip(execution.preempts());
        let step = |((at, event), preempts): ((usize, &Event), bool)| FoundStep {
            step: recorded(event),
            actor: self.thread(event.thread),
            text: self.step_with_place(at, event),
            preempts,
        };
        events.map(step).collect()
    }

    /// Where the threads are that take part in how the execution ended.
    pub fn places(&self) -> Vec<Place> {
        let execution = &self.replayed.execution;
        let of_thread = |thread: u16| {
            let stack = self.stack_of(thread)?;
            (stack.thread.waiting != Waiting::Ended).then(|| Place {
                actor: self.thread(thread),
                text: self.waiting(&stack.thread),
                stack: frames(&stack.frames),
            })
        };
        let threads: Vec<u16> = match execution.outcome {
            Outcome::Deadlock | Outcome::Livelock => {
                execution.threads.iter().map(|entry| entry.number).collect()
            }
            Outcome::DataRace => {
                vec![execution.thread, Race::from_detail(execution.detail).other.into()]
            }
            _ => vec![execution.thread],
        };
        threads.into_iter().filter_map(of_thread).collect()
    }

    /// Lock holds and waits, by where they begin.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = Spans { names: self, open: BTreeMap::new(), found: Vec::new() };
        let events = &self.replayed.execution.events;
        let mut next: Vec<Option<usize>> = vec![None; events.len()];
        let mut later: BTreeMap<u16, usize> = BTreeMap::new();
        for (at, event) in events.iter().enumerate().rev() {
            next[at] = later.insert(event.thread, at);
        }
        for (at, event) in events.iter().enumerate() {
            spans.add(at, event, next[at]);
        }
        spans.found.sort_by_key(|span| span.from);
        spans.found
    }

    /// The lines of the program's own sources that stacks name, by file.
    pub fn source_lines(&self) -> BTreeMap<String, SourceLines> {
        let ends = self.replayed.stacks.iter().map(|stack| &stack.frames);
        let mut files: BTreeMap<String, SourceLines> = BTreeMap::new();
        let steps = self.replayed.places.iter().map(|place| &place.frames);
        for frame in steps.chain(ends).flatten() {
            if let (Some(file), Some(line), true) = (&frame.file, frame.line, frame.is_own()) {
                let of_file = files.entry(file.clone()).or_default();
                of_file.directory.clone_from(&frame.directory);
                of_file.lines.insert(line);
            }
        }
        files
    }
}

fn frames(stack: &[Frame]) -> Vec<everypath_trace::Frame> {
    let frame = |frame: &Frame| everypath_trace::Frame {
        function: match &frame.function {
            Some(function) => function.clone(),
            None => format!("{}+{:#x}", frame.module, frame.offset),
        },
        file: frame.file.clone(),
        line: frame.line,
    };
    stack.iter().take(MAX_FRAMES).map(frame).collect()
}

/// The name of the fault that a step is.
pub(crate) fn fault_of(event: &Event) -> Option<String> {
    let name = match (event.operation(), event.completion()) {
        (Operation::Fault(it), _) if event.outcome != 0 => it.words(),
        (Operation::Kill, _) if event.outcome == 1 => "kill",
        (Operation::Kill, _) if event.outcome > 1 => "restart",
        (_, Completion::NetworkChanged(NetworkChange::Cut(..))) => "partition",
        (_, Completion::NetworkChanged(NetworkChange::Mended(..))) => "partition healed",
        (_, Completion::Spurious) => "spurious wakeup",
        (_, Completion::Reset) => "connection reset",
        (_, Completion::Delivered(Delivered { delivery, .. })) => match delivery {
            Delivery::Nothing { lost: 0 } | Delivery::InOrder { .. } | Delivery::Answer => {
                return None;
            }
            Delivery::Nothing { .. } => "loss",
            Delivery::Again { .. } => "duplication",
            Delivery::Late { .. } | Delivery::Early { .. } => "reordering",
            Delivery::Delayed => "late answer",
        },
        (Operation::ConnectPeer(_), _) if event.outcome != 0 => "connection refused",
        (Operation::Send(_) | Operation::SendWhole(_), _) if event.outcome != 0 => "short write",
        _ => return None,
    };
    Some(name.into())
}

/// Of each step, the steps of other threads that happen before it, counted from 1, without those that
/// follow from others.
fn happens_before(events: &[Event]) -> Vec<Vec<usize>> {
    let mut order = HappensBefore::default();
    order.replace(0, &taken(events, &Symmetry::default()));
    let is_before =
        |one: usize, other: usize| order.is_before(order.first_event(one), order.last_event(other));
    let mut of_thread: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    let mut all = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        let own = of_thread.get(&event.thread).and_then(|steps| steps.last().copied());
        let others = of_thread.iter().filter(|(thread, _)| **thread != event.thread);
        // What happens before a step of a thread happens before its later ones, too.
        let last = |(_, steps): (&u16, &Vec<usize>)| {
            let count = steps.partition_point(|&step| is_before(step, at));
            count.checked_sub(1).map(|last| steps[last])
        };
        let latest: Vec<usize> = others.filter_map(last).collect();
        let follows = |step: usize| {
            let mut known = latest.iter().copied().chain(own);
            known.any(|other| other != step && other > step && is_before(step, other))
        };
        let mut direct: Vec<usize> =
            latest.iter().filter(|&&step| !follows(step)).map(|step| step + 1).collect();
        direct.sort_unstable();
        all.push(direct);
        of_thread.entry(event.thread).or_default().push(at);
    }
    all
}

/// Lock holds and waits, as far as the events tell.
struct Spans<'a> {
    names: &'a Names<'a>,
    /// The holds that have not ended, with how often the lock is held: indices into `found`.
    open: BTreeMap<(u16, Object), (usize, u32)>,
    found: Vec<Span>,
}

impl Spans<'_> {
    fn add(&mut self, at: usize, event: &Event, next: Option<usize>) {
        self.release(at, event);
        // Going on at a condition variable means asking for its mutex.
        let object = match event.operation() {
            Operation::CondWait(of) if event.phase == Phase::Resume => of.mutex,
            _ => event.object,
        };
        let is_asked = event.phase != Phase::Resume || object != event.object;
        let is_at_end = next.is_none();
        let resumes = next.filter(|&next| {
            let later = &self.names.replayed.execution.events[next];
            later.phase == Phase::Resume && (later.object == object || object == event.object)
        });
        let blocked = self.names.entry(event.thread).filter(|entry| {
            is_at_end && !matches!(entry.waiting, Waiting::Nothing | Waiting::Ended)
        });
        match (is_asked, resumes, blocked) {
            (true, Some(until), _) => self.wait(at, event, object, Some(until)),
            (true, None, Some(entry)) => self.wait_for_ever(at, event, object, entry),
            _ if acquires(event) && !self.fails(event) => self.hold(at, event.thread, object),
            _ => {}
        }
    }

    /// Whether an attempt to lock fails: another thread holds it.
    fn fails(&self, event: &Event) -> bool {
        let is_attempt = matches!(
            event.kind(),
            OperationKind::MutexTrylock
                | OperationKind::SpinTrylock
                | OperationKind::TryReadLock
                | OperationKind::TryWriteLock
        );
        let is_held = self
            .open
            .keys()
            .any(|&(thread, object)| object == event.object && thread != event.thread);
        event.outcome == TIMEOUT || (is_attempt && is_held)
    }

    fn hold(&mut self, at: usize, thread: u16, object: Object) {
        if let Some((_, count)) = self.open.get_mut(&(thread, object)) {
            *count += 1;
            return;
        }
        self.open.insert((thread, object), (self.found.len(), 1));
        self.push(SpanKind::Hold, at, thread, self.named(object, "mutex"));
    }

    /// The object with its kind, as far as an event tells that.
    fn named(&self, object: Object, otherwise: &str) -> String {
        let mut events = self.names.replayed.execution.events.iter();
        let kind = events.find(|event| event.object == object).map(|event| event.kind());
        let kind = kind.and_then(kind_of_object).unwrap_or(otherwise);
        format!("{kind} {}", self.names.object(object))
    }

    fn push(&mut self, kind: SpanKind, at: usize, thread: u16, object: String) {
        let actor = self.names.thread(thread);
        let span = Span { kind, actor, object, from: at + 1, ..Span::default() };
        self.found.push(span);
    }

    fn wait(&mut self, at: usize, event: &Event, object: Object, until: Option<usize>) {
        let awaited = match event.kind() {
            OperationKind::Sleep => "time to pass".into(),
            OperationKind::Poll => "a descriptor to be ready".into(),
            kind if what(kind) == "thread" => self.names.by_handle(object),
            _ => self.named(object, what(event.kind())),
        };
        self.push(SpanKind::Wait, at, event.thread, awaited);
        let span = self.found.last_mut().expect("it was just added");
        span.to = until.map(|step| step + 1);
    }

    fn wait_for_ever(&mut self, at: usize, event: &Event, object: Object, entry: &ThreadEntry) {
        self.wait(at, event, object, None);
        let awaits = self.names.awaited_by(entry).map(|thread| self.names.thread(thread));
        self.found.last_mut().expect("it was just added").awaits = awaits;
    }

    fn release(&mut self, at: usize, event: &Event) {
        let object = match event.operation() {
            Operation::CondWait(of) if event.phase != Phase::Resume => of.mutex,
            Operation::MutexUnlock(_) | Operation::SpinUnlock(_) | Operation::RwUnlock(_) => {
                event.object
            }
            _ => return,
        };
        let is_wait = event.kind() == OperationKind::CondWait;
        let Some((span, count)) = self.open.get_mut(&(event.thread, object)) else { return };
        *count -= 1;
        if *count == 0 || is_wait {
            self.found[*span].to = Some(at + 1);
            self.open.remove(&(event.thread, object));
        }
    }
}

/// Whether a thread has a lock after a step, if it does not block in it.
fn acquires(event: &Event) -> bool {
    match event.kind() {
        OperationKind::MutexLock
        | OperationKind::MutexTrylock
        | OperationKind::SpinLock
        | OperationKind::SpinTrylock
        | OperationKind::ReadLock
        | OperationKind::TryReadLock
        | OperationKind::WriteLock
        | OperationKind::TryWriteLock => true,
        OperationKind::CondWait => event.phase == Phase::Resume,
        _ => false,
    }
}
