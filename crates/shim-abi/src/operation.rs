use core::fmt;

/// The outcome of a step in which a time-out fires.
pub const TIMEOUT: u16 = u16::MAX;

/// Stands for the only outcome of a step in which a thread goes on that has waited. A lenient
/// execution leaves the choice out if the thread need not wait this time.
pub const GOES_ON: u16 = TIMEOUT - 1;

macro_rules! operations {
    ($($name:ident = $text:literal,)*) => {
        /// What a thread does in one step.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Operation {
            /// Nothing yet: a thread that was just created.
            #[default]
            Start,
            $(#[doc = concat!("`", $text, "`.")] $name,)*
        }

        impl Operation {
            /// Every operation, in the order of their numbers.
            pub const ALL: &[Operation] = &[Operation::Start, $(Operation::$name,)*];

            /// The operation's name in traces.
            pub const fn name(self) -> &'static str {
                match self {
                    Operation::Start => "start",
                    $(Operation::$name => $text,)*
                }
            }
        }
    };
}

operations! {
    Create = "thread-create",
    Exit = "thread-exit",
    Join = "join",
    TryJoin = "try-join",
    Detach = "detach",
    Yield = "yield",
    Pause = "spin-pause",
    MutexInit = "mutex-init",
    MutexDestroy = "mutex-destroy",
    MutexLock = "mutex-lock",
    MutexTrylock = "mutex-trylock",
    MutexUnlock = "mutex-unlock",
    CondWait = "cond-wait",
    CondSignal = "cond-signal",
    CondBroadcast = "cond-broadcast",
    ReadLock = "read-lock",
    TryReadLock = "try-read-lock",
    WriteLock = "write-lock",
    TryWriteLock = "try-write-lock",
    RwUnlock = "rwlock-unlock",
    BarrierWait = "barrier-wait",
    SpinLock = "spin-lock",
    SpinTrylock = "spin-trylock",
    SpinUnlock = "spin-unlock",
    SemWait = "sem-wait",
    SemTrywait = "sem-trywait",
    SemPost = "sem-post",
    Once = "once",
    OnceDone = "once-done",
    OnceSeen = "once-seen",
    FutexWait = "futex-wait",
    FutexWake = "futex-wake",
    FutexRequeue = "futex-requeue",
    CompareExchange = "compare-exchange",
    Exchange = "exchange",
    FetchModify = "fetch-modify",
    Load = "load",
    Store = "store",
    Fence = "fence",
    Sleep = "sleep",
    Output = "output",
    FileRead = "file-read",
    FileWrite = "file-write",
    DescriptorUse = "descriptor-use",
    DescriptorMove = "descriptor-move",
    DescriptorClose = "descriptor-close",
    Bind = "bind",
    Listen = "listen",
    Connect = "connect",
    ConnectPeer = "connect-peer",
    Accept = "accept",
    ConnectQueued = "connect-queued",
    AcceptQueued = "accept-queued",
    AwaitListener = "await-listener",
    AwaitConnection = "await-connection",
    Send = "send",
    Receive = "receive",
    SendWhole = "send-whole",
    SendAway = "send-away",
    ReceiveWhole = "receive-whole",
    ReceiveAny = "receive-any",
    AwaitSpace = "await-space",
    AwaitBytes = "await-bytes",
    Shutdown = "shutdown",
    Close = "close",
    Poll = "poll",
    Arrive = "arrive",
    Deliver = "deliver",
    EpollControl = "epoll-control",
    SocketState = "socket-state",
    TimerSet = "timer-set",
    Signal = "signal",
    SignalWait = "signal-wait",
    Cancel = "cancel",
    TestCancel = "test-cancel",
    ProcessExit = "exit",
    Kill = "kill",
    Partition = "partition",
    Choose = "choose",
    Fault = "fault",
    Note = "note",
    AtomicBegin = "atomic-begin",
    AtomicEnd = "atomic-end",
}

impl Operation {
    /// The operation with number `number`.
    pub fn from_number(number: u8) -> Option<Operation> {
        Operation::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A blocking call takes two steps: it asks, which it always can, and it goes on once granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The call itself.
    #[default]
    Request,
    /// The call itself, if it waits for some time only.
    Limited,
    /// Going on after having waited.
    Resume,
}

/// One step that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// The thread's number.
    pub thread: u16,
    /// What it did.
    pub operation: Operation,
    /// Whether it asked or went on.
    pub phase: Phase,
    /// Which outcome was chosen.
    pub outcome: u16,
    /// How many choices there were, saturating.
    pub alternatives: u16,
    /// The address of the lock, word or thread; 0 if there is none.
    pub object: u64,
    /// A value that goes with it: the other mutex, a count, a file descriptor.
    pub value: u64,
    /// For a thread that goes on after having waited, one more than the number of the step that
    /// let it; 0 for all others.
    pub granted_by: u64,
}

impl Event {
    /// Whether the thread only wanted others to move: it yields, or looks again at a word that has
    /// not changed, which is announced with no value.
    pub fn stands_back(&self) -> bool {
        match self.operation {
            Operation::Yield | Operation::Pause => true,
            Operation::CompareExchange | Operation::Exchange | Operation::Load => self.value == 0,
            _ => false,
        }
    }
}

/// Whether a step of a process among several uses what belongs to all of them: the network.
pub fn is_use_of_network(operation: Operation, object: u64) -> bool {
    object >> crate::PROCESS_BITS == crate::SHARED_OBJECT
        || matches!(operation, Operation::Poll | Operation::Arrive)
}

/// The value of a step that moves bytes: how many were moved in all, and by this step.
pub fn moved(total: u64, count: u64) -> u64 {
    total << COUNT_BITS | count & ((1 << COUNT_BITS) - 1)
}

const COUNT_BITS: u32 = 24;

/// What stands for a socket in the footprints of steps; its parts are found at small distances.
pub fn socket_key(number: u64) -> u64 {
    const FIRST: u64 = 0x6006_0000_0000;
    const APART: u64 = 64;
    FIRST + number * APART
}

/// The value of a step that connects a socket, and puts that into a queue: how many bytes were put
/// there in all, and by this step.
pub fn connecting(number: usize, (total, count): (u64, u64)) -> u64 {
    (number as u64 + 1) << SOCKET_SHIFT | total << ENTRY_BITS | count
}

/// The same once it is known which socket is at the other end.
pub fn connected_to(value: u64, far: usize) -> u64 {
    value | (far as u64 + 1) << FAR_SHIFT
}

const SOCKET_SHIFT: u32 = 48;
const FAR_SHIFT: u32 = 32;
const ENTRY_BITS: u32 = 8;

/// The two sockets that a step connects which meets at an address, by their keys; 0 for none.
pub(crate) fn connected(address: u64, value: u64) -> (u64, u64) {
    let shared = address >> crate::PROCESS_BITS << crate::PROCESS_BITS;
    let key = |number: u64| match number & 0xffff {
        0 => 0,
        some => socket_key(some - 1) | shared,
    };
    (key(value >> SOCKET_SHIFT), key(value >> FAR_SHIFT))
}

impl Event {
    /// For a step that moves bytes, how many had been moved before and after it.
    pub fn bytes_moved(&self) -> (u64, u64) {
        let (value, bits) = match self.operation {
            Operation::ConnectQueued => (self.value & ((1 << FAR_SHIFT) - 1), ENTRY_BITS),
            _ => (self.value, COUNT_BITS),
        };
        let total = value >> bits;
        (total.saturating_sub(value & ((1 << bits) - 1)), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_operations_match() {
        for (number, &operation) in Operation::ALL.iter().enumerate() {
            assert_eq!(operation as usize, number);
            assert_eq!(Operation::from_number(number as u8), Some(operation));
        }
        assert_eq!(Operation::from_number(Operation::ALL.len() as u8), None);
    }
}
