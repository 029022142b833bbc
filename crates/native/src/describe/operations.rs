//! Operations in words: verbs, and what they work on.

use everypath_shim_abi::{Completion, Delivered, Delivery, Event, OperationKind, TIMEOUT};

/// The description of a step, with the outcome that was chosen if it has several.
pub(super) fn with_outcome(words: String, event: &Event) -> String {
    match event.outcome {
        0 | TIMEOUT => words,
        _ if tells_its_outcome(event.kind()) => words,
        _ if event.kind() == OperationKind::ConnectPeer => format!("{words}, and is refused"),
        outcome if matches!(event.kind(), OperationKind::Send | OperationKind::SendWhole) => {
            format!("{words}, a short write of {outcome} bytes")
        }
        _ if event.completion() == Completion::Reset => {
            format!("{words}, and the connection is reset (ECONNRESET)")
        }
        outcome if matches!(event.kind(), OperationKind::Receive | OperationKind::ReceiveWhole) => {
            format!("{words}, a short read (choice {outcome})")
        }
        outcome => format!("{words}, waking waiter {}", outcome + 1),
    }
}

/// Whether the description of an operation contains its outcome.
pub(super) fn tells_its_outcome(operation: OperationKind) -> bool {
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
pub(super) fn kind_of_object(operation: OperationKind) -> Option<&'static str> {
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

/// What the network did to a datagram.
pub(super) fn delivery(event: &Event) -> String {
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
        Delivery::Answer => "finds what the peer has sent".into(),
        Delivery::Delayed => "finds nothing yet: what the peer has sent is late".into(),
    }
}

/// A thread goes on after having been blocked.
pub(super) fn resumes(what: &str, object: &str) -> String {
    match what {
        "mutex" | "rwlock" | "spin lock" | "semaphore" => format!("acquires {what} {object}"),
        _ => format!("resumes at {what} {object}"),
    }
}

pub(super) fn what(operation: OperationKind) -> &'static str {
    kind_of_object(operation).unwrap_or("the wait for")
}

pub(super) fn verb(operation: OperationKind) -> &'static str {
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
