//! An execution in words: what its steps did, and how it ended. What an ending means is decided in
//! `verdict`.

mod details;
mod ending;
mod operations;
mod stuck;

pub use details::SourceLines;
pub(crate) use details::fault_of;
pub use ending::{Ending, too_long};

use crate::execution::Execution;
use crate::replay::{HeapCall, Place, Replayed, Stack};
use crate::schedule::recorded;
use crate::symbols::StepOrigin;
use everypath_shim_abi::{
    Completion, DescriptorUse, Event, NetworkChange, Object, ObjectKind, Operation, OperationKind,
    Outcome, Phase, TIMEOUT, ThreadEntry, Waiting, text,
};
use everypath_trace::{Line, Message, RacingStep, TraceStep};
use operations::{delivery, kind_of_object, resumes, verb, what, with_outcome};
use std::collections::{BTreeMap, BTreeSet};

/// The names of threads and objects in an execution.
pub struct Names<'a> {
    replayed: &'a Replayed,
    /// Variables by their names, and of other objects the how many-th of its kind each is.
    objects: BTreeMap<Object, String>,
    /// What kind of thing each object without a name is.
    kinds: BTreeMap<Object, &'static str>,
    /// The steps that ask for a lock and have to wait for it.
    blocked: BTreeSet<usize>,
}

impl<'a> Names<'a> {
    /// The names in a repeated execution.
    pub fn new(replayed: &'a Replayed) -> Self {
        let mut objects: BTreeMap<Object, String> = replayed.variables.iter().cloned().collect();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut kinds = BTreeMap::new();
        let events = replayed.execution.events.iter().map(|event| (event.kind(), event.object));
        // A thread may wait for something that no step was about.
        let threads = replayed.execution.threads.iter();
        let waiting = threads.filter(|entry| entry.waiting == Waiting::Network);
        let waiting = waiting.map(|entry| (entry.operation, entry.object));
        for (operation, object) in events.chain(waiting) {
            let Some(kind) = kind_of_object(operation).filter(|&kind| kind != "thread") else {
                continue;
            };
            let is_known = objects.get(&object).is_some_and(|name| !name.contains("+0x"));
            if !is_known {
                let count = counts.entry(kind).or_default();
                *count += 1;
                objects.insert(object, format!("#{count}"));
                kinds.insert(object, kind);
            }
        }
        Names { replayed, objects, kinds, blocked: blocked(&replayed.execution) }
    }

    fn entry(&self, number: u16) -> Option<&ThreadEntry> {
        self.replayed.execution.threads.iter().find(|entry| entry.number == number)
    }

    /// A thread's name.
    pub fn thread(&self, number: u16) -> String {
        let given = self.replayed.thread_names.get(&number).map_or("", String::as_str);
        let system = &self.replayed.system;
        let is_fate = |operation| self.entry(number).is_some_and(|of| of.operation == operation);
        let name = match (system.number_in_process(number), given) {
            _ if is_fate(OperationKind::Partition) => return "network".into(),
            _ if is_fate(OperationKind::Kill) => "fault injection".into(),
            (0, _) => "main".into(),
            (number, "" | "main") => format!("thread {number}"),
            (number, _) => format!("thread {number} ({given})"),
        };
        match system.process_of(number) {
            Some(process) => format!("{process}: {name}"),
            None => name,
        }
    }

    fn network_change(&self, event: &Event) -> String {
        let name = |process: usize| {
            self.replayed.system.names().get(process).map_or("a process", String::as_str)
        };
        match event.completion() {
            Completion::NetworkChanged(NetworkChange::Cut(one, other)) => {
                format!("is partitioned between {} and {}", name(one), name(other))
            }
            Completion::NetworkChanged(NetworkChange::Mended(one, other)) => {
                format!("is healed between {} and {}", name(one), name(other))
            }
            _ => "stays as it is".into(),
        }
    }

    fn object(&self, object: Object) -> String {
        match object.kind() {
            // Those above are of sockets with paths, by numbers that nobody knows.
            ObjectKind::Address(port) if port <= u16::MAX.into() => format!(":{port}"),
            _ => self.objects.get(&object).cloned().unwrap_or_else(|| object.to_string()),
        }
    }

    /// The thread whose handle an object is.
    fn thread_of_handle(&self, handle: Object) -> Option<u16> {
        let mut events = self.replayed.execution.events.iter();
        let is_its =
            |event: &&Event| event.kind() == OperationKind::Start && event.object == handle;
        events.find(is_its).map(|event| event.thread)
    }

    fn by_handle(&self, handle: Object) -> String {
        self.thread_of_handle(handle).map_or_else(|| "a thread".into(), |it| self.thread(it))
    }

    /// What a step does.
    fn step(&self, at: usize, event: &Event) -> String {
        let words = match (event.operation(), event.phase, event.outcome) {
            (Operation::Start, ..) => "starts".into(),
            (Operation::Create, ..) => match event.completion() {
                Completion::Created(thread) => {
                    let name = self.thread(thread);
                    let process = self.replayed.system.process_of(thread);
                    let process = process.map(|process| format!("{process}: ")).unwrap_or_default();
                    format!("creates {}", name.strip_prefix(&process).unwrap_or(&name))
                }
                _ => "creates a thread".into(),
            },
            (Operation::Exit(_), ..) => "ends".into(),
            (Operation::Join, Phase::Request | Phase::Limited | Phase::Patient, _) => {
                format!("joins {}", self.by_handle(event.object))
            }
            (Operation::Join, ..) => format!("has joined {}", self.by_handle(event.object)),
            (Operation::TryJoin, ..) => format!("tries to join {}", self.by_handle(event.object)),
            (Operation::Detach, ..) => format!("detaches {}", self.by_handle(event.object)),
            (Operation::Cancel, ..) => format!("cancels {}", self.by_handle(event.object)),
            (Operation::TestCancel, ..) => "tests for cancellation".into(),
            (Operation::Yield, ..) => "yields".into(),
            (Operation::Pause, ..) => "spins".into(),
            (Operation::Spin, _, 0) => "spins, and lets others go first".into(),
            (Operation::Spin, ..) => "goes on spinning before others move".into(),
            (Operation::Fence, ..) => "passes a fence".into(),
            (Operation::Output(length), ..) => {
                let is_output = matches!(event.object.kind(), ObjectKind::Stream { number: 1, .. });
                let stream = if is_output { "output" } else { "error" };
                format!("writes {length} bytes to standard {stream}")
            }
            (Operation::Sleep(_), Phase::Limited | Phase::Patient, _) => "goes to sleep".into(),
            (Operation::Sleep(_), ..) => "wakes up".into(),
            (Operation::SignalWait, Phase::Resume, _) => "got a signal".into(),
            (Operation::SignalWait, ..) => "waits for a POSIX signal".into(),
            (Operation::DescriptorUse(DescriptorUse::Closed), ..) => {
                "uses a descriptor that is closed".into()
            }
            (Operation::DescriptorUse(_), ..) => "uses a descriptor".into(),
            (Operation::DescriptorMove(_), ..) => "changes a file offset".into(),
            (Operation::DescriptorClose(_), ..) => "closes a descriptor".into(),
            (Operation::Poll(_), ..) => "polls descriptors".into(),
            (Operation::ProcessExit(end), ..) => format!("ends the process with code {}", end.code),
            (Operation::Kill, _, 0) => "does not kill the process".into(),
            (Operation::Kill, _, 1) => "kills the process".into(),
            (Operation::Kill, ..) => "kills and restarts the process".into(),
            (Operation::Partition, ..) => self.network_change(event),
            (Operation::Choose(ways), ..) => format!("chooses {} of {ways}", event.outcome),
            (Operation::Fault(_), .., 0) => "gets no fault".into(),
            (Operation::Fault(it), ..) => format!("gets a fault: {}", it.words()),
            (Operation::Deliver(_), ..) => delivery(event),
            (Operation::Note, ..) => format!("notes: {}", self.note(event)),
            (Operation::AtomicBegin, ..) => "begins an atomic section".into(),
            (Operation::AtomicEnd, ..) => "ends its atomic section".into(),
            (Operation::Signal(number), ..) => format!("sends signal {number}"),
            _ => self.wait(at, event),
        };
        with_outcome(words, event)
    }

    /// What a step does that waits, goes on after having waited, or could have had to wait.
    fn wait(&self, at: usize, event: &Event) -> String {
        let object = self.object(event.object);
        let origin = self.replayed.places.get(at).map(|place| place.origin);
        match (event.operation(), event.phase, event.outcome) {
            (Operation::Connect(_) | Operation::AwaitListener, Phase::Resume, TIMEOUT) => {
                self.in_vain(event)
            }
            (Operation::CondWait(_), ..) if event.completion() == Completion::Spurious => {
                format!("wakes up spuriously at condition {object} and requests its mutex")
            }
            (_, Phase::Resume, TIMEOUT) => {
                format!("times out waiting for {} {object}", what(event.kind()))
            }
            (Operation::CondWait(_), Phase::Resume, _) => {
                format!("is woken at condition {object} and requests its mutex")
            }
            (Operation::FutexWait(_), Phase::Resume, _) => format!("is woken at futex {object}"),
            (_, Phase::Resume, _) => resumes(what(event.kind()), &object),
            _ if self.blocked.contains(&at) => {
                format!("requests {} {object} and blocks", what(event.kind()))
            }
            _ if origin == Some(StepOrigin::ReferenceCount) => {
                verb(event.kind()).replace("word", "reference count") + " " + &object
            }
            _ => format!("{} {object}", verb(event.kind())),
        }
    }

    fn note(&self, event: &Event) -> String {
        let notes = &self.replayed.execution.notes;
        // What did not fit is not there.
        let Completion::Noted(start) = event.completion() else { return String::new() };
        let noted = notes.get(start as usize..).unwrap_or_default();
        String::from_utf8_lossy(text(noted)).into_owned()
    }

    /// The steps of the execution for a trace.
    pub fn steps(&self) -> Vec<TraceStep> {
        let execution = &self.replayed.execution;
        let marks = execution.preempts().into_iter().zip(self.runtime());
        let events = execution.events.iter().enumerate().zip(marks);
        let mut steps: Vec<TraceStep> = events
            .map(|((at, event), (preempts, runtime))| TraceStep {
                step: recorded(event),
                actor: self.thread(event.thread),
                event: event.kind().name().into(),
                text: self.step_with_place(at, event),
                state: Vec::new(),
                fingerprint: None,
                preempts,
                runtime,
                ..TraceStep::default()
            })
            .collect();
        if let Some(last) = steps.last_mut() {
            last.state = self.end();
        }
        steps
    }

    /// Of each step, whether it is not the program's own. A thread that has panicked unwinds.
    fn runtime(&self) -> Vec<bool> {
        let Execution { events, outcome, .. } = &self.replayed.execution;
        let may_unwind = matches!(
            outcome,
            Outcome::Panicked | Outcome::Exited | Outcome::OtherExited | Outcome::Aborted
        );
        let mut unwinding = BTreeSet::new();
        let is_runtime = |(event, place): (&Event, &Place)| {
            if may_unwind && place.origin == StepOrigin::Panic {
                unwinding.insert(event.thread);
            }
            place.origin != StepOrigin::Program || unwinding.contains(&event.thread)
        };
        events.iter().zip(&self.replayed.places).map(is_runtime).collect()
    }

    /// The messages between sockets; `outside` is the name of the peer.
    pub fn messages(&self, outside: &str) -> Vec<Message> {
        let events = &self.replayed.execution.message_events;
        crate::messages::messages(events, &self.replayed.system, outside)
    }

    /// A `connect` that fails: during a partition, or without a listener.
    fn in_vain(&self, event: &Event) -> String {
        let events = &self.replayed.execution.events;
        let own = |other: &&Event| other.thread == event.thread && other.phase != Phase::Resume;
        let at = events.iter().position(|other| std::ptr::eq(other, event)).unwrap_or(0);
        let object = self.object(event.object);
        match events[..at].iter().rfind(own) {
            Some(asked) if matches!(asked.phase, Phase::Limited | Phase::Patient) => {
                format!("times out: address {object} is unreachable")
            }
            _ => format!(
                "finds no listener at address {object}, and nothing else can happen any more"
            ),
        }
    }

    fn step_with_place(&self, at: usize, event: &Event) -> String {
        let frame = self.replayed.places.get(at).and_then(|place| place.frames.first());
        // A line inside the language's library says less than none.
        let place = frame.filter(|frame| !frame.is_foreign()).map(|frame| format!(", {frame}"));
        let called = self.replayed.places.get(at).and_then(|place| place.called.as_ref());
        let called = called.map(|function| format!(" in {function}")).unwrap_or_default();
        format!("{}{called}{}", self.step(at, event), place.unwrap_or_default())
    }

    /// A step with its stack; `number` is its number in the trace.
    pub(crate) fn racing_step(&self, at: usize, number: Option<usize>) -> Option<RacingStep> {
        let event = self.replayed.execution.events.get(at)?;
        let stack = &self.replayed.places.get(at)?.frames;
        Some(RacingStep {
            number,
            actor: self.thread(event.thread),
            text: self.step_with_place(at, event),
            stack: stack.iter().take(16).map(ToString::to_string).collect(),
        })
    }

    /// What there is to see at the end: threads with their stacks, and what was written.
    pub fn end(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        // Of a process that has ended, there is nothing to see but what it left behind.
        let over = matches!(self.replayed.execution.outcome, Outcome::Exited | Outcome::Unaccepted);
        for Stack { thread, frames } in self.replayed.stacks.iter().filter(|_| !over) {
            if matches!(thread.operation, OperationKind::Kill | OperationKind::Partition) {
                continue;
            }
            let name = self.thread(thread.number);
            lines.push(Line::new(&name, self.waiting(thread)));
            if thread.waiting != Waiting::Ended {
                lines.extend(frames.iter().take(16).map(|frame| Line::new("", frame.to_string())));
            }
        }
        for (object, HeapCall { thread, frames, .. }) in &self.replayed.allocated {
            let (Some(kind), Some(frame)) = (self.kinds.get(object), frames.first()) else {
                continue;
            };
            let part = format!("{kind} {}", self.object(*object));
            let who = self.thread(*thread);
            lines.push(Line::new(part, format!("is in a block that {who} allocated, {frame}")));
        }
        for HeapCall { what, thread, frames } in &self.replayed.heap_calls {
            lines.push(Line::new(*what, format!("by {}", self.thread(*thread))));
            lines.extend(frames.iter().take(16).map(|frame| Line::new("", frame.to_string())));
        }
        let execution = &self.replayed.execution;
        for (name, bytes) in [("stdout", &execution.stdout), ("stderr", &execution.stderr)] {
            let text = String::from_utf8_lossy(bytes);
            let last: Vec<String> = without_backtraces(&text).into_iter().rev().take(20).collect();
            let shown = last.into_iter().rev().filter(|line| !line.is_empty());
            lines.extend(shown.map(|line| Line::new(name, line)));
        }
        lines
    }

    fn stack_of(&self, number: u16) -> Option<&Stack> {
        self.replayed.stacks.iter().find(|stack| stack.thread.number == number)
    }
}

/// The steps that ask for a lock or a unit and have to wait for it.
fn blocked(execution: &Execution) -> BTreeSet<usize> {
    let mut blocked = BTreeSet::new();
    let mut next: BTreeMap<u16, &Event> = BTreeMap::new();
    for (at, event) in execution.events.iter().enumerate().rev() {
        let is_request = matches!(
            event.kind(),
            OperationKind::MutexLock
                | OperationKind::ReadLock
                | OperationKind::WriteLock
                | OperationKind::SpinLock
                | OperationKind::SemWait
        );
        let waits = match next.insert(event.thread, event) {
            Some(next) => next.phase == Phase::Resume && next.object == event.object,
            None => execution.threads.iter().any(|entry| {
                let waits = !matches!(entry.waiting, Waiting::Nothing | Waiting::Ended);
                entry.number == event.thread && entry.object == event.object && waits
            }),
        };
        if is_request && event.phase != Phase::Resume && waits {
            blocked.insert(at);
        }
    }
    blocked
}

/// The lines of a text; the stack backtraces of Rust are one line each, since the report has stacks.
fn without_backtraces(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut folded = None;
    for line in text.lines().map(str::trim_end) {
        let is_frame = line.starts_with(' ');
        match (&mut folded, line) {
            (None, "stack backtrace:") => folded = Some(0),
            (Some(count), _) if is_frame => *count += 1,
            (Some(count), _) => {
                lines.push(format!("stack backtrace: … {count} lines"));
                folded = None;
                // It says how to get a longer one.
                lines.extend((!line.starts_with("note: ")).then(|| line.to_string()));
            }
            (None, _) => lines.push(line.to_string()),
        }
    }
    lines.extend(folded.map(|count| format!("stack backtrace: … {count} lines")));
    lines
}
