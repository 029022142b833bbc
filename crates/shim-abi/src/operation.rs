//! What threads do: operations, and what goes with each of them.

use crate::payload::AsWord;
use crate::{
    Attempt, Closing, CondMutex, Connecting, DescriptorUse, Fault, FaultLimit, FileEffect,
    LockOrder, Moved, Object, Overflow, Ownership, PeerConnection, PollScope, ProcessEnd,
    QueuedConnection, RobustMutexes, RwRelease, Sending,
};
use core::fmt;

/// The outcome of a step in which a timeout fires.
pub const TIMEOUT: u16 = u16::MAX;

/// Stands for the only outcome of a step in which a thread goes on that has waited. A lenient
/// execution leaves the choice out if the thread need not wait this time.
pub const GOES_ON: u16 = TIMEOUT - 1;

/// Which part of the dependence relation knows an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Threads: creating, joining, yielding, cancelling.
    Threads,
    /// Mutexes, condition variables, semaphores and other locks.
    Locks,
    /// Futexes and atomic instructions.
    Memory,
    /// Files, descriptors and standard streams.
    Files,
    /// Sockets, pipes, events and timers that are descriptors.
    Network,
    /// Time, signals and whole processes.
    Process,
}

/// What an operation carries, as it lies in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Payload(u64);

#[cfg(test)]
impl Payload {
    /// That of a word.
    pub(crate) fn of(word: u64) -> Self {
        Payload(word)
    }
}

/// An operation as the shim passes it on. It has no padding: the stack of a thread that is at a
/// scheduling point is part of the state, so equal operations must be equal bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PackedOperation {
    payload: Payload,
    kind: u64,
}

impl PackedOperation {
    /// An operation without what goes with it, and that.
    #[inline(always)]
    pub fn new(kind: OperationKind, payload: Payload) -> Self {
        PackedOperation { payload, kind: kind as u64 }
    }

    /// The operation without what goes with it.
    #[inline(always)]
    pub fn kind(self) -> OperationKind {
        OperationKind::from_number(self.kind as u8).unwrap_or_default()
    }

    /// What goes with it.
    #[inline(always)]
    pub fn payload(self) -> Payload {
        self.payload
    }

    /// The operation.
    #[inline]
    pub fn operation(self) -> Operation {
        Operation::unpack(self.kind(), self.payload)
    }
}

macro_rules! operations {
    ($($family:ident $name:ident $(($field:ident: $payload:ty))? = $text:literal,)*) => {
        /// What a thread does in one step, with what goes with it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Operation {
            /// Nothing yet: a thread that was just created.
            #[default]
            Start,
            $(#[doc = concat!("`", $text, "`.")] $name $(($payload))?,)*
        }

        /// An [`Operation`] without what goes with it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum OperationKind {
            /// Nothing yet: a thread that was just created.
            #[default]
            Start,
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }

        impl OperationKind {
            /// Every kind, in the order of their numbers.
            pub const ALL: &[OperationKind] = &[OperationKind::Start, $(OperationKind::$name,)*];

            /// The operation's name in traces.
            pub const fn name(self) -> &'static str {
                match self {
                    OperationKind::Start => "start",
                    $(OperationKind::$name => $text,)*
                }
            }

            /// The operation's family.
            pub const fn family(self) -> Family {
                match self {
                    OperationKind::Start => Family::Threads,
                    $(OperationKind::$name => Family::$family,)*
                }
            }
        }

        impl Operation {
            /// The operation without what goes with it.
            #[inline]
            pub const fn kind(self) -> OperationKind {
                match self {
                    Operation::Start => OperationKind::Start,
                    $(Operation::$name { .. } => OperationKind::$name,)*
                }
            }

            /// As the shim passes it on.
            #[inline(always)]
            pub fn pack(self) -> PackedOperation {
                match self {
                    Operation::Start => PackedOperation::new(OperationKind::Start, Payload(0)),
                    $(Operation::$name $(($field))? => {
                        let payload = Payload(0 $(| $field.word())?);
                        PackedOperation::new(OperationKind::$name, payload)
                    })*
                }
            }

            /// From shared memory.
            #[inline]
            pub fn unpack(kind: OperationKind, payload: Payload) -> Operation {
                match kind {
                    OperationKind::Start => Operation::Start,
                    $(OperationKind::$name => {
                        Operation::$name $((<$payload>::from_word(payload.0)))?
                    })*
                }
            }
        }
    };
}

operations! {
    Threads Create = "thread-create",
    Threads Exit(robust: RobustMutexes) = "thread-exit",
    Threads Join = "join",
    Threads TryJoin = "try-join",
    Threads Detach = "detach",
    Threads Yield = "yield",
    Threads Pause = "spin-pause",
    Locks MutexInit = "mutex-init",
    Locks MutexDestroy = "mutex-destroy",
    Locks MutexLock = "mutex-lock",
    Locks MutexTrylock = "mutex-trylock",
    Locks MutexUnlock(ownership: Ownership) = "mutex-unlock",
    Locks CondWait(mutex: CondMutex) = "cond-wait",
    Locks CondSignal = "cond-signal",
    Locks CondBroadcast = "cond-broadcast",
    Locks ReadLock(order: LockOrder) = "read-lock",
    Locks TryReadLock = "try-read-lock",
    Locks WriteLock(order: LockOrder) = "write-lock",
    Locks TryWriteLock = "try-write-lock",
    Locks RwUnlock(by: RwRelease) = "rwlock-unlock",
    Locks BarrierWait = "barrier-wait",
    Locks SpinLock = "spin-lock",
    Locks SpinTrylock = "spin-trylock",
    Locks SpinUnlock(ownership: Ownership) = "spin-unlock",
    Locks SemWait = "sem-wait",
    Locks SemTrywait = "sem-trywait",
    Locks SemPost(overflow: Overflow) = "sem-post",
    Locks Once = "once",
    Locks OnceDone = "once-done",
    Locks OnceSeen = "once-seen",
    Memory FutexWait(expected: u32) = "futex-wait",
    Memory FutexWake(most: u32) = "futex-wake",
    Memory FutexRequeue(to: Object) = "futex-requeue",
    Memory CompareExchange(attempt: Attempt) = "compare-exchange",
    Memory Exchange(attempt: Attempt) = "exchange",
    Memory FetchModify = "fetch-modify",
    Memory Load(attempt: Attempt) = "load",
    Memory Store = "store",
    Memory Fence = "fence",
    Process Sleep(until: u64) = "sleep",
    Files Output(length: u64) = "output",
    Files FileRead = "file-read",
    Files FileWrite(length: u64) = "file-write",
    Files DescriptorUse(found: DescriptorUse) = "descriptor-use",
    Files DescriptorMove(offset: Object) = "descriptor-move",
    Files DescriptorClose(effect: FileEffect) = "descriptor-close",
    Network Bind(socket: Object) = "bind",
    Network Listen(socket: Object) = "listen",
    Network Connect(socket: Connecting) = "connect",
    Network ConnectPeer(connection: PeerConnection) = "connect-peer",
    Network Accept = "accept",
    Network ConnectQueued(connection: QueuedConnection) = "connect-queued",
    Network AcceptQueued(entry: Moved) = "accept-queued",
    Network AwaitListener = "await-listener",
    Network AwaitConnection = "await-connection",
    Network Send(sending: Sending) = "send",
    Network Receive(moved: Moved) = "receive",
    Network SendWhole(moved: Moved) = "send-whole",
    Network SendAway = "send-away",
    Network ReceiveWhole(moved: Moved) = "receive-whole",
    Network ReceiveAny = "receive-any",
    Network AwaitSpace = "await-space",
    Network AwaitBytes = "await-bytes",
    Network Shutdown(closing: Closing) = "shutdown",
    Network Close(closing: Closing) = "close",
    Network Poll(scope: PollScope) = "poll",
    Network Arrive(limit: FaultLimit) = "arrive",
    Process Deliver(ways: u32) = "deliver",
    Network EpollControl = "epoll-control",
    Network SocketState(other_end: Object) = "socket-state",
    Network TimerSet(after: u64) = "timer-set",
    Process Signal(number: u32) = "signal",
    Process SignalWait = "signal-wait",
    Threads Cancel = "cancel",
    Threads TestCancel = "test-cancel",
    Process ProcessExit(end: ProcessEnd) = "exit",
    Process Kill = "kill",
    Process Partition = "partition",
    Process Choose(ways: u32) = "choose",
    Network Fault(fault: Fault) = "fault",
    Process Note = "note",
    Process AtomicBegin = "atomic-begin",
    Process AtomicEnd = "atomic-end",
    Threads Spin = "spin",
}

impl OperationKind {
    /// The kind with number `number`.
    pub fn from_number(number: u8) -> Option<OperationKind> {
        OperationKind::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Operation {
    /// Whether the thread only wants others to move: it yields, spins, or repeats an atomic
    /// instruction that found no change.
    pub fn stands_back(self) -> bool {
        match self {
            Operation::Yield | Operation::Pause | Operation::Spin => true,
            Operation::CompareExchange(attempt)
            | Operation::Exchange(attempt)
            | Operation::Load(attempt) => attempt == Attempt::Repeated,
            _ => false,
        }
    }
}

/// Whether a step uses the network, which belongs to all processes.
pub fn is_use_of_network(kind: OperationKind, object: Object) -> bool {
    object.is_of_network() || matches!(kind, OperationKind::Poll | OperationKind::Arrive)
}

/// A blocking call takes two steps: the request, which is always enabled, and going on once it was
/// granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The call itself.
    #[default]
    Request,
    /// The call itself, if it has a timeout.
    Limited,
    /// The call itself, if it has a timeout that fires only when no thread can go on: until then it is as
    /// if there were none.
    Patient,
    /// Going on after having waited.
    Resume,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_match() {
        for (number, &kind) in OperationKind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(OperationKind::from_number(number as u8), Some(kind));
        }
        assert_eq!(OperationKind::from_number(OperationKind::ALL.len() as u8), None);
    }

    #[test]
    fn operations_survive_being_packed() {
        for &kind in OperationKind::ALL {
            let operation = Operation::unpack(kind, Payload(1));
            let packed = operation.pack();
            assert_eq!((packed.kind(), operation.kind()), (kind, kind));
            assert_eq!(packed.operation(), operation);
        }
    }
}
