//! An execution in words: what its steps did, and how it ended. What an ending means is decided in
//! `verdict`.

mod details;
mod ending;
mod stuck;

pub use details::SourceLines;
pub use ending::Ending;

use crate::replay::{HeapCall, Replayed, Stack};
use crate::schedule::recorded;
use everypath_shim_abi::{
    Completion, Delivered, Delivery, DescriptorUse, Event, Fault, NetworkChange, Object,
    ObjectKind, Operation, OperationKind, Outcome, Phase, TIMEOUT, ThreadEntry, Waiting, text,
};
use everypath_trace::{Line, Message, RacingStep, TraceStep};
use std::collections::BTreeMap;

/// The names of threads and objects in an execution.
pub struct Names<'a> {
    replayed: &'a Replayed,
    /// What kind of thing each object without a name is, and the how many-th of its kind.
    objects: BTreeMap<Object, String>,
}

impl<'a> Names<'a> {
    /// The names in a repeated execution.
    pub fn new(replayed: &'a Replayed) -> Self {
        let mut objects: BTreeMap<Object, String> = replayed.variables.iter().cloned().collect();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for event in &replayed.execution.events {
            let Some(kind) = kind_of_object(event.kind()) else { continue };
            if kind == "thread" {
                continue;
            }
            let known = objects.get(&event.object).is_some_and(|name| !name.contains("+0x"));
            if !known && !objects.get(&event.object).is_some_and(|name| name.contains('#')) {
                let count = counts.entry(kind).or_default();
                *count += 1;
                objects.insert(event.object, format!("#{count}"));
            }
        }
        Names { replayed, objects }
    }

    fn entry(&self, number: u16) -> Option<&ThreadEntry> {
        self.replayed.execution.threads.iter().find(|entry| entry.number == number)
    }

    /// A thread's name.
    pub fn thread(&self, number: u16) -> String {
        let given = self.entry(number).map(|entry| text(&entry.name).to_vec()).unwrap_or_default();
        let given = String::from_utf8_lossy(&given).into_owned();
        let system = &self.replayed.system;
        let is_fate = |operation| self.entry(number).is_some_and(|of| of.operation == operation);
        let name = match (system.number_in_process(number), given.as_str()) {
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
        self.objects.get(&object).cloned().unwrap_or_else(|| format!("at {object}"))
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
    fn step(&self, event: &Event) -> String {
        let object = self.object(event.object);
        let words = match (event.operation(), event.phase, event.outcome) {
            (Operation::Start, ..) => "starts".into(),
            (Operation::Create, ..) => "creates a thread".into(),
            (Operation::Exit(_), ..) => "ends".into(),
            (Operation::Join, Phase::Request | Phase::Limited, _) => {
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
            (Operation::Sleep(_), Phase::Limited, _) => "goes to sleep".into(),
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
            (Operation::Fault(it), ..) => format!("gets a fault: {}", fault(it)),
            (Operation::Deliver(_), ..) => delivery(event),
            (Operation::Note, ..) => format!("notes: {}", self.note(event)),
            (Operation::AtomicBegin, ..) => "begins an atomic section".into(),
            (Operation::AtomicEnd, ..) => "ends its atomic section".into(),
            (Operation::Signal(number), ..) => format!("sends signal {number}"),
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
            _ => format!("{} {object}", verb(event.kind())),
        };
        with_outcome(words, event)
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
        let events = execution.events.iter().enumerate().zip(execution.preempts());
        let mut steps: Vec<TraceStep> = events
            .map(|((at, event), preempts)| TraceStep {
                step: recorded(event),
                actor: self.thread(event.thread),
                event: event.kind().name().into(),
                text: self.step_with_place(at, event),
                state: Vec::new(),
                fingerprint: None,
                preempts,
                ..TraceStep::default()
            })
            .collect();
        if let Some(last) = steps.last_mut() {
            last.state = self.end();
        }
        steps
    }

    /// The messages between sockets; `outside` is the name of the peer.
    pub fn messages(&self, outside: &str) -> Vec<Message> {
        crate::messages::messages(self.replayed, outside)
    }

    /// A `connect` that fails: during a partition, or without a listener.
    fn in_vain(&self, event: &Event) -> String {
        let events = &self.replayed.execution.events;
        let own = |other: &&Event| other.thread == event.thread && other.phase != Phase::Resume;
        let at = events.iter().position(|other| std::ptr::eq(other, event)).unwrap_or(0);
        let object = self.object(event.object);
        match events[..at].iter().rfind(own) {
            Some(asked) if asked.phase == Phase::Limited => {
                format!("times out: address {object} is unreachable")
            }
            _ => format!(
                "finds no listener at address {object}, and nothing else can happen any more"
            ),
        }
    }

    fn step_with_place(&self, at: usize, event: &Event) -> String {
        let frame = self.replayed.places.get(at).and_then(|stack| stack.first());
        // A line inside the language's library says less than none.
        let place = frame.filter(|frame| !frame.is_foreign()).map(|frame| format!(", {frame}"));
        format!("{}{}", self.step(event), place.unwrap_or_default())
    }

    /// A step with its stack; `number` is its number in the trace.
    pub(crate) fn racing_step(&self, at: usize, number: Option<usize>) -> Option<RacingStep> {
        let event = self.replayed.execution.events.get(at)?;
        let stack = self.replayed.places.get(at)?;
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
        for HeapCall { what, thread, frames } in &self.replayed.heap_calls {
            lines.push(Line::new(*what, format!("by {}", self.thread(*thread))));
            lines.extend(frames.iter().take(16).map(|frame| Line::new("", frame.to_string())));
        }
        let execution = &self.replayed.execution;
        for (name, bytes) in [("stdout", &execution.stdout), ("stderr", &execution.stderr)] {
            let text = String::from_utf8_lossy(bytes);
            let last: Vec<&str> = text.lines().rev().take(20).collect();
            let shown = last.into_iter().rev().map(|line| line.trim_end());
            lines.extend(shown.filter(|line| !line.is_empty()).map(|line| Line::new(name, line)));
        }
        lines
    }

    fn stack_of(&self, number: u16) -> Option<&Stack> {
        self.replayed.stacks.iter().find(|stack| stack.thread.number == number)
    }
}

/// The description of a step, with the outcome that was chosen if it has several.
fn with_outcome(words: String, event: &Event) -> String {
    match event.outcome {
        0 | TIMEOUT => words,
        _ if tells_its_outcome(event.kind()) => words,
        _ if event.kind() == OperationKind::ConnectPeer => format!("{words}, and is refused"),
        outcome if matches!(event.kind(), OperationKind::Send | OperationKind::SendWhole) => {
            format!("{words}, a short write of {outcome} bytes")
        }
        outcome if matches!(event.kind(), OperationKind::Receive | OperationKind::ReceiveWhole) => {
            format!("{words}, a short read (choice {outcome})")
        }
        outcome => format!("{words}, waking waiter {}", outcome + 1),
    }
}

/// Whether the description of an operation contains its outcome.
fn tells_its_outcome(operation: OperationKind) -> bool {
    matches!(
        operation,
        OperationKind::Choose
            | OperationKind::Fault
            | OperationKind::Deliver
            | OperationKind::Kill
            | OperationKind::Partition
            | OperationKind::Spin
    )
}

/// What kind of object an operation works on.
#[expect(clippy::too_many_lines, reason = "one table, in which no operation may be missing")]
fn kind_of_object(operation: OperationKind) -> Option<&'static str> {
    Some(match operation {
        OperationKind::MutexInit
        | OperationKind::MutexDestroy
        | OperationKind::MutexLock
        | OperationKind::MutexTrylock
        | OperationKind::MutexUnlock => "mutex",
        OperationKind::CondWait | OperationKind::CondSignal | OperationKind::CondBroadcast => {
            "condition"
        }
        OperationKind::ReadLock
        | OperationKind::TryReadLock
        | OperationKind::WriteLock
        | OperationKind::TryWriteLock
        | OperationKind::RwUnlock => "rwlock",
        OperationKind::BarrierWait => "barrier",
        OperationKind::SpinLock | OperationKind::SpinTrylock | OperationKind::SpinUnlock => {
            "spin lock"
        }
        OperationKind::SemWait | OperationKind::SemTrywait | OperationKind::SemPost => "semaphore",
        OperationKind::Once | OperationKind::OnceDone | OperationKind::OnceSeen => "once",
        OperationKind::FutexWait
        | OperationKind::FutexWake
        | OperationKind::FutexRequeue
        | OperationKind::CompareExchange
        | OperationKind::Exchange
        | OperationKind::FetchModify
        | OperationKind::Load
        | OperationKind::Store => "word",
        OperationKind::FileRead | OperationKind::FileWrite => "file",
        OperationKind::Bind
        | OperationKind::Listen
        | OperationKind::Connect
        | OperationKind::ConnectPeer
        | OperationKind::SendAway
        | OperationKind::Accept
        | OperationKind::ConnectQueued
        | OperationKind::AcceptQueued
        | OperationKind::AwaitListener
        | OperationKind::AwaitConnection
        | OperationKind::Send
        | OperationKind::Receive
        | OperationKind::SendWhole
        | OperationKind::ReceiveWhole
        | OperationKind::ReceiveAny
        | OperationKind::Arrive
        | OperationKind::AwaitSpace
        | OperationKind::AwaitBytes
        | OperationKind::Shutdown
        | OperationKind::Close
        | OperationKind::EpollControl
        | OperationKind::SocketState => "socket",
        OperationKind::TimerSet => "timer",
        OperationKind::DescriptorUse
        | OperationKind::DescriptorMove
        | OperationKind::DescriptorClose => "descriptor",
        OperationKind::Join
        | OperationKind::TryJoin
        | OperationKind::Detach
        | OperationKind::Cancel => "thread",
        OperationKind::Start
        | OperationKind::Create
        | OperationKind::Exit
        | OperationKind::Yield
        | OperationKind::Pause
        | OperationKind::Spin
        | OperationKind::Fence
        | OperationKind::Sleep
        | OperationKind::Output
        | OperationKind::Poll
        | OperationKind::Signal
        | OperationKind::SignalWait
        | OperationKind::TestCancel
        | OperationKind::ProcessExit
        | OperationKind::Kill
        | OperationKind::Partition
        | OperationKind::Choose
        | OperationKind::Fault
        | OperationKind::Deliver
        | OperationKind::Note
        | OperationKind::AtomicBegin
        | OperationKind::AtomicEnd => return None,
    })
}

/// The name of a fault.
fn fault(fault: Fault) -> &'static str {
    match fault {
        Fault::Refuse => "connection refused",
        Fault::Reset => "connection reset",
        Fault::ShortWrite => "short write",
        Fault::Interrupt => "EINTR",
    }
}

/// What the network did to a datagram.
fn delivery(event: &Event) -> String {
    let Completion::Delivered(Delivered { delivery, to_peer }) = event.completion() else {
        return "receives something from the network".into();
    };
    let whose = if to_peer { "the peer receives" } else { "receives" };
    let packet = |packet: u32| format!("{whose} packet {} from the network", packet + 1);
    match delivery {
        Delivery::Nothing { lost: 0 } => format!("{whose} nothing more from the network"),
        Delivery::Nothing { lost: 1 } => format!("{whose} nothing: the network lost a packet"),
        Delivery::Nothing { lost } => format!("{whose} nothing: the network lost {lost} packets"),
        Delivery::InOrder { packet: number } => packet(number),
        Delivery::Again { packet: number } => packet(number) + " again (duplicate)",
        Delivery::Late { packet: number } => packet(number) + " (reordered, late)",
        Delivery::Early { packet: number } => packet(number) + " (reordered, early)",
    }
}

/// A thread goes on after having been blocked.
fn resumes(what: &str, object: &str) -> String {
    match what {
        "mutex" | "rwlock" | "spin lock" | "semaphore" => format!("acquires {what} {object}"),
        _ => format!("resumes at {what} {object}"),
    }
}

fn what(operation: OperationKind) -> &'static str {
    kind_of_object(operation).unwrap_or("the wait for")
}

fn verb(operation: OperationKind) -> &'static str {
    match operation {
        OperationKind::MutexInit => "initialises mutex",
        OperationKind::MutexDestroy => "destroys mutex",
        OperationKind::MutexLock => "locks mutex",
        OperationKind::MutexTrylock => "tries to lock mutex",
        OperationKind::MutexUnlock => "unlocks mutex",
        OperationKind::CondWait => "waits on condition",
        OperationKind::CondSignal => "signals condition",
        OperationKind::CondBroadcast => "broadcasts condition",
        OperationKind::ReadLock => "read-locks rwlock",
        OperationKind::TryReadLock => "tries to read-lock rwlock",
        OperationKind::WriteLock => "write-locks rwlock",
        OperationKind::TryWriteLock => "tries to write-lock rwlock",
        OperationKind::RwUnlock => "unlocks rwlock",
        OperationKind::BarrierWait => "arrives at barrier",
        OperationKind::SpinLock => "locks spin lock",
        OperationKind::SpinTrylock => "tries to lock spin lock",
        OperationKind::SpinUnlock => "unlocks spin lock",
        OperationKind::SemWait => "waits for semaphore",
        OperationKind::SemTrywait => "tries semaphore",
        OperationKind::SemPost => "posts semaphore",
        OperationKind::Once => "runs initialiser",
        OperationKind::OnceDone => "completes initialiser",
        OperationKind::OnceSeen => "finds completed initialiser",
        OperationKind::FutexWait => "waits at futex",
        OperationKind::FutexWake => "wakes futex",
        OperationKind::FutexRequeue => "requeues futex",
        OperationKind::CompareExchange => "compare-exchanges word",
        OperationKind::Exchange => "exchanges word",
        OperationKind::FetchModify => "modifies word",
        OperationKind::Load => "loads word",
        OperationKind::Store => "stores word",
        OperationKind::Bind => "binds to address",
        OperationKind::Listen => "listens at address",
        OperationKind::Connect | OperationKind::ConnectPeer | OperationKind::ConnectQueued => {
            "connects to address"
        }
        OperationKind::Accept | OperationKind::AcceptQueued => "accepts a connection at address",
        OperationKind::AwaitListener => "waits for a listener at address",
        OperationKind::AwaitConnection => "waits for a connection at address",
        OperationKind::SendAway => "sends to address",
        OperationKind::Send | OperationKind::SendWhole => "sends to socket",
        OperationKind::Receive
        | OperationKind::ReceiveWhole
        | OperationKind::ReceiveAny
        | OperationKind::Arrive => "receives from socket",
        OperationKind::AwaitSpace => "waits for buffer space at socket",
        OperationKind::AwaitBytes => "waits for bytes from socket",
        OperationKind::Shutdown => "shuts down socket",
        OperationKind::Close => "closes socket",
        OperationKind::EpollControl => "calls epoll_ctl on",
        OperationKind::SocketState => "reads the state of socket",
        OperationKind::TimerSet => "sets timer",
        OperationKind::FileRead => "reads file",
        OperationKind::FileWrite => "writes file",
        other => other.name(),
    }
}
