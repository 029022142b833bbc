//! An execution in words: what its steps did, and how it ended. What an ending means is decided in
//! `verdict`.

mod ending;
mod stuck;

pub use ending::Ending;

use crate::replay::{Replayed, Stack};
use crate::schedule::recorded;
use everypath_shim_abi::{
    CLOSED, Delivery, Event, Fault, NetworkChange, Operation, Outcome, Phase, TIMEOUT, TO_PEER,
    ThreadEntry, Waiting, text,
};
use everypath_trace::{Line, Message, RacingStep, TraceStep};
use std::collections::BTreeMap;

/// The names of threads and objects in an execution.
pub struct Names<'a> {
    replayed: &'a Replayed,
    /// What kind of thing each object without a name is, and the how many-th of its kind.
    objects: BTreeMap<u64, String>,
}

impl<'a> Names<'a> {
    /// The names in a repeated execution.
    pub fn new(replayed: &'a Replayed) -> Self {
        let mut objects: BTreeMap<u64, String> = replayed.variables.iter().cloned().collect();
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for event in &replayed.execution.events {
            let Some(kind) = kind_of_object(event.operation) else { continue };
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
            _ if is_fate(Operation::Partition) => return "network".into(),
            _ if is_fate(Operation::Kill) => "fault injection".into(),
            (0, _) => "main".into(),
            (number, "" | "main") => format!("thread {number}"),
            (number, _) => format!("thread {number} ({given})"),
        };
        match system.process_of(number) {
            Some(process) => format!("{process}: {name}"),
            None => name,
        }
    }

    fn network_change(&self, value: u64) -> String {
        let name = |process: usize| {
            self.replayed.system.names().get(process).map_or("a process", String::as_str)
        };
        match NetworkChange::of(value) {
            NetworkChange::None => "stays as it is".into(),
            NetworkChange::Cut(one, other) => {
                format!("is partitioned between {} and {}", name(one), name(other))
            }
            NetworkChange::Mended(one, other) => {
                format!("is healed between {} and {}", name(one), name(other))
            }
        }
    }

    fn object(&self, address: u64) -> String {
        self.objects.get(&address).cloned().unwrap_or_else(|| format!("at {address:#x}"))
    }

    /// The thread whose handle an object is.
    fn thread_of_handle(&self, handle: u64) -> Option<u16> {
        let mut events = self.replayed.execution.events.iter();
        let is_its = |event: &&Event| event.operation == Operation::Start && event.object == handle;
        events.find(is_its).map(|event| event.thread)
    }

    fn by_handle(&self, handle: u64) -> String {
        self.thread_of_handle(handle).map_or_else(|| "a thread".into(), |it| self.thread(it))
    }

    /// What a step does.
    fn step(&self, event: &Event) -> String {
        let object = self.object(event.object);
        let words = match (event.operation, event.phase, event.outcome) {
            (Operation::Start, ..) => "starts".into(),
            (Operation::Create, ..) => "creates a thread".into(),
            (Operation::Exit, ..) => "ends".into(),
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
            (Operation::Fence, ..) => "passes a fence".into(),
            (Operation::Output, ..) => {
                let stream = if event.object & 0xff == 1 { "output" } else { "error" };
                format!("writes {} bytes to standard {stream}", event.value)
            }
            (Operation::Sleep, Phase::Limited, _) => "goes to sleep".into(),
            (Operation::Sleep, ..) => "wakes up".into(),
            (Operation::SignalWait, Phase::Resume, _) => "got a signal".into(),
            (Operation::SignalWait, ..) => "waits for a POSIX signal".into(),
            (Operation::DescriptorUse, ..) if event.value == CLOSED => {
                "uses a descriptor that is closed".into()
            }
            (Operation::DescriptorUse, ..) => "uses a descriptor".into(),
            (Operation::DescriptorMove, ..) => "changes a file offset".into(),
            (Operation::DescriptorClose, ..) => "closes a descriptor".into(),
            (Operation::Poll, ..) => "polls descriptors".into(),
            (Operation::ProcessExit, ..) => format!("ends the process with code {}", event.value),
            (Operation::Kill, _, 0) => "does not kill the process".into(),
            (Operation::Kill, _, 1) => "kills the process".into(),
            (Operation::Kill, ..) => "kills and restarts the process".into(),
            (Operation::Partition, ..) => self.network_change(event.value),
            (Operation::Choose, ..) => format!("chooses {} of {}", event.outcome, event.value),
            (Operation::Fault, .., 0) => "gets no fault".into(),
            (Operation::Fault, ..) => format!("gets a fault: {}", fault(event.value)),
            (Operation::Deliver, ..) => delivery(event.value),
            (Operation::Note, ..) => format!("notes: {}", self.note(event)),
            (Operation::AtomicBegin, ..) => "begins an atomic section".into(),
            (Operation::AtomicEnd, ..) => "ends its atomic section".into(),
            (Operation::Signal, ..) => format!("sends signal {}", event.value),
            (Operation::Connect | Operation::AwaitListener, Phase::Resume, TIMEOUT) => {
                self.in_vain(event)
            }
            (_, Phase::Resume, TIMEOUT) => {
                format!("times out waiting for {} {object}", what(event.operation))
            }
            (Operation::CondWait, Phase::Resume, _) => {
                format!("is woken at condition {object} and requests its mutex")
            }
            (Operation::FutexWait, Phase::Resume, _) => format!("is woken at futex {object}"),
            (_, Phase::Resume, _) => resumes(what(event.operation), &object),
            _ => format!("{} {object}", verb(event.operation)),
        };
        match event.outcome {
            0 | TIMEOUT => words,
            _ if tells_its_outcome(event.operation) => words,
            _ if event.operation == Operation::ConnectPeer => format!("{words}, and is refused"),
            outcome if matches!(event.operation, Operation::Send | Operation::SendWhole) => {
                format!("{words}, a short write of {outcome} bytes")
            }
            outcome if matches!(event.operation, Operation::Receive | Operation::ReceiveWhole) => {
                format!("{words}, a short read (choice {outcome})")
            }
            outcome => format!("{words}, waking waiter {}", outcome + 1),
        }
    }

    fn note(&self, event: &Event) -> String {
        let notes = &self.replayed.execution.notes;
        // What did not fit is not there.
        let noted = notes.get(event.value as usize..).unwrap_or_default();
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
                event: event.operation.name().into(),
                text: self.step_with_place(at, event),
                state: Vec::new(),
                fingerprint: None,
                preempts,
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
            if matches!(thread.operation, Operation::Kill | Operation::Partition) {
                continue;
            }
            let name = self.thread(thread.number);
            lines.push(Line::new(&name, self.waiting(thread)));
            if thread.waiting != Waiting::Ended {
                lines.extend(frames.iter().take(16).map(|frame| Line::new("", frame.to_string())));
            }
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

/// Whether the description of an operation contains its outcome.
fn tells_its_outcome(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Choose
            | Operation::Fault
            | Operation::Deliver
            | Operation::Kill
            | Operation::Partition
    )
}

/// What kind of object an operation works on.
#[expect(clippy::too_many_lines, reason = "one table, in which no operation may be missing")]
fn kind_of_object(operation: Operation) -> Option<&'static str> {
    Some(match operation {
        Operation::MutexInit
        | Operation::MutexDestroy
        | Operation::MutexLock
        | Operation::MutexTrylock
        | Operation::MutexUnlock => "mutex",
        Operation::CondWait | Operation::CondSignal | Operation::CondBroadcast => "condition",
        Operation::ReadLock
        | Operation::TryReadLock
        | Operation::WriteLock
        | Operation::TryWriteLock
        | Operation::RwUnlock => "rwlock",
        Operation::BarrierWait => "barrier",
        Operation::SpinLock | Operation::SpinTrylock | Operation::SpinUnlock => "spin lock",
        Operation::SemWait | Operation::SemTrywait | Operation::SemPost => "semaphore",
        Operation::Once | Operation::OnceDone | Operation::OnceSeen => "once",
        Operation::FutexWait
        | Operation::FutexWake
        | Operation::FutexRequeue
        | Operation::CompareExchange
        | Operation::Exchange
        | Operation::FetchModify
        | Operation::Load
        | Operation::Store => "word",
        Operation::FileRead | Operation::FileWrite => "file",
        Operation::Bind
        | Operation::Listen
        | Operation::Connect
        | Operation::ConnectPeer
        | Operation::SendAway
        | Operation::Accept
        | Operation::ConnectQueued
        | Operation::AcceptQueued
        | Operation::AwaitListener
        | Operation::AwaitConnection
        | Operation::Send
        | Operation::Receive
        | Operation::SendWhole
        | Operation::ReceiveWhole
        | Operation::ReceiveAny
        | Operation::Arrive
        | Operation::AwaitSpace
        | Operation::AwaitBytes
        | Operation::Shutdown
        | Operation::Close
        | Operation::EpollControl
        | Operation::SocketState => "socket",
        Operation::TimerSet => "timer",
        Operation::DescriptorUse | Operation::DescriptorMove | Operation::DescriptorClose => {
            "descriptor"
        }
        Operation::Join | Operation::TryJoin | Operation::Detach | Operation::Cancel => "thread",
        Operation::Start
        | Operation::Create
        | Operation::Exit
        | Operation::Yield
        | Operation::Pause
        | Operation::Fence
        | Operation::Sleep
        | Operation::Output
        | Operation::Poll
        | Operation::Signal
        | Operation::SignalWait
        | Operation::TestCancel
        | Operation::ProcessExit
        | Operation::Kill
        | Operation::Partition
        | Operation::Choose
        | Operation::Fault
        | Operation::Deliver
        | Operation::Note
        | Operation::AtomicBegin
        | Operation::AtomicEnd => return None,
    })
}

/// The name of a fault.
fn fault(number: u64) -> &'static str {
    match Fault::ALL.into_iter().find(|&fault| fault as u64 == number) {
        Some(Fault::Refuse) => "connection refused",
        Some(Fault::Reset) => "connection reset",
        Some(Fault::ShortWrite) => "short write",
        Some(Fault::Interrupt) => "EINTR",
        None => "an unknown one",
    }
}

/// What the network did to a datagram.
fn delivery(word: u64) -> String {
    let to_peer = word & TO_PEER != 0;
    let whose = if to_peer { "the peer receives" } else { "receives" };
    let packet = |packet: u32| format!("{whose} packet {} from the network", packet + 1);
    match Delivery::from_word(word & !TO_PEER) {
        Some(Delivery::Nothing { lost: 0 }) => format!("{whose} nothing more from the network"),
        Some(Delivery::Nothing { lost: 1 }) => {
            format!("{whose} nothing: the network lost a packet")
        }
        Some(Delivery::Nothing { lost }) => {
            format!("{whose} nothing: the network lost {lost} packets")
        }
        Some(Delivery::InOrder { packet: number }) => packet(number),
        Some(Delivery::Again { packet: number }) => packet(number) + " again (duplicate)",
        Some(Delivery::Late { packet: number }) => packet(number) + " (reordered, late)",
        Some(Delivery::Early { packet: number }) => packet(number) + " (reordered, early)",
        None => format!("{whose} something from the network"),
    }
}

/// A thread goes on after having been blocked.
fn resumes(what: &str, object: &str) -> String {
    match what {
        "mutex" | "rwlock" | "spin lock" | "semaphore" => format!("acquires {what} {object}"),
        _ => format!("resumes at {what} {object}"),
    }
}

fn what(operation: Operation) -> &'static str {
    kind_of_object(operation).unwrap_or("the wait for")
}

fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::MutexInit => "initialises mutex",
        Operation::MutexDestroy => "destroys mutex",
        Operation::MutexLock => "locks mutex",
        Operation::MutexTrylock => "tries to lock mutex",
        Operation::MutexUnlock => "unlocks mutex",
        Operation::CondWait => "waits on condition",
        Operation::CondSignal => "signals condition",
        Operation::CondBroadcast => "broadcasts condition",
        Operation::ReadLock => "read-locks rwlock",
        Operation::TryReadLock => "tries to read-lock rwlock",
        Operation::WriteLock => "write-locks rwlock",
        Operation::TryWriteLock => "tries to write-lock rwlock",
        Operation::RwUnlock => "unlocks rwlock",
        Operation::BarrierWait => "arrives at barrier",
        Operation::SpinLock => "locks spin lock",
        Operation::SpinTrylock => "tries to lock spin lock",
        Operation::SpinUnlock => "unlocks spin lock",
        Operation::SemWait => "waits for semaphore",
        Operation::SemTrywait => "tries semaphore",
        Operation::SemPost => "posts semaphore",
        Operation::Once => "runs initialiser",
        Operation::OnceDone => "completes initialiser",
        Operation::OnceSeen => "finds completed initialiser",
        Operation::FutexWait => "waits at futex",
        Operation::FutexWake => "wakes futex",
        Operation::FutexRequeue => "requeues futex",
        Operation::CompareExchange => "compare-exchanges word",
        Operation::Exchange => "exchanges word",
        Operation::FetchModify => "modifies word",
        Operation::Load => "loads word",
        Operation::Store => "stores word",
        Operation::Bind => "binds to address",
        Operation::Listen => "listens at address",
        Operation::Connect | Operation::ConnectPeer | Operation::ConnectQueued => {
            "connects to address"
        }
        Operation::Accept | Operation::AcceptQueued => "accepts a connection at address",
        Operation::AwaitListener => "waits for a listener at address",
        Operation::AwaitConnection => "waits for a connection at address",
        Operation::SendAway => "sends to address",
        Operation::Send | Operation::SendWhole => "sends to socket",
        Operation::Receive
        | Operation::ReceiveWhole
        | Operation::ReceiveAny
        | Operation::Arrive => "receives from socket",
        Operation::AwaitSpace => "waits for buffer space at socket",
        Operation::AwaitBytes => "waits for bytes from socket",
        Operation::Shutdown => "shuts down socket",
        Operation::Close => "closes socket",
        Operation::EpollControl => "calls epoll_ctl on",
        Operation::SocketState => "reads the state of socket",
        Operation::TimerSet => "sets timer",
        Operation::FileRead => "reads file",
        Operation::FileWrite => "writes file",
        other => other.name(),
    }
}
