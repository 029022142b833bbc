//! What is fixed when a program starts.

use crate::{Datagrams, Faults, MAX_PROCESSES, MAX_THREADS, Outcome, Partitions};

/// How the program's threads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Backend {
    /// User-level fibers on one kernel thread.
    #[default]
    Fibers,
    /// A kernel thread each.
    Threads,
}

/// How the program is restored to its first snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Restart {
    /// `Copy`, or `Tracked` for a program with more than a megabyte of live memory.
    #[default]
    Automatic,
    /// All of its memory is copied back.
    Copy,
    /// Only the pages it wrote are copied back.
    Tracked,
    /// A fork runs each execution.
    Fork,
}

/// When a pending time-out may fire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum TimeMode {
    /// The earliest one, at any point.
    #[default]
    Ordered,
    /// The earliest one, once nothing else can run.
    Quiescent,
    /// Each, at any point.
    Any,
}

/// The verdict when all threads block on input that can no longer arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum IdleMode {
    /// As expected if the program listens.
    #[default]
    Automatic,
    /// As expected.
    Fine,
    /// A violation.
    Violation,
}

/// What is fixed when the program starts.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Setup {
    /// How threads run.
    pub backend: Backend,
    /// How the program is restored between executions.
    pub restart: Restart,
    /// When time-outs fire.
    pub time: TimeMode,
    /// Whether no step races with the start of a wait that has a timeout, since that fires only when no
    /// thread can go on.
    pub patient: bool,
    /// Whether memory is kept canonical, so that equal states have equal hashes.
    pub canonical: bool,
    /// Whether memory accesses are recorded.
    pub memory: bool,
    /// Whether data races are violations, if accesses are recorded.
    pub races: bool,
    /// Whether output is a step: if not, its order between threads is not explored.
    pub output_steps: bool,
    /// Whether messages between sockets are logged.
    pub chronicle: bool,
    /// Whether every execution enters [`Reply::digest`](crate::Reply::digest).
    pub digest: bool,
    /// The verdict when all threads block on input that can no longer arrive.
    pub idle: IdleMode,
    /// What may go wrong with connections to peers.
    pub faults: Faults,
    /// Whether answers of peers may be late where the program can tell.
    pub late_answers: bool,
    /// Whether all connections to a server have one communication tree.
    pub one_tree: bool,
    /// Whether a server may answer by what happens on other connections to it, so that the order of all
    /// that is sent to servers makes a difference.
    pub peers_in_turn: bool,
    /// Whether the other endpoints are programs that are explored alone.
    pub joint: bool,
    /// Whether there are peers that may turn out to be clients.
    pub has_peers: bool,
    /// Whether what an execution leaves behind must be known to be right.
    pub judged: bool,
    /// Whether the events that the program notes are judged, too: their order is then explored.
    pub refines: bool,
    /// Whether the shim writes down what it does: see [`LogEntry`](crate::LogEntry).
    pub log: bool,
    /// For tests of the shim itself: a certain syscall that does not exist makes it fault.
    pub defective: bool,
    /// For benchmarks, which measure what the checks cost: the heap has no canaries and no poison.
    pub unchecked_heap: bool,
    /// Whether it is being found out which addresses are served: connections that nobody accepts are
    /// then refused in any order.
    pub scouts: bool,
    /// Whether leaks of the heap are looked for when an execution ends.
    pub leaks: bool,
    /// Whether a search lets a process end only after those steps of its threads that nobody else can see.
    pub exits_wait: bool,
    /// The call of the heap, counted from the start, at which an execution ends; 0 is none.
    pub heap_stop: u32,
    /// The exit code that counts as success.
    pub exit_code: i32,
    /// The same of the other programs of a closed system; [`ANY_CODE`] if any does.
    pub others_exit_code: i32,
    /// How many steps an execution may have.
    pub max_steps: u32,
    /// Which process of a system this is.
    pub process: u16,
    /// How many processes the system has; 0 if the program is alone.
    pub processes: u16,
    /// How often one of the others may be killed.
    pub kills: u16,
    /// How often the network between two of them may be cut.
    pub partitions: Partitions,
    /// How many spins of an execution may go on before others move.
    pub spins: u16,
    /// How often in a row a timeout of a thread may fire while others can take steps, before something
    /// happens at a socket; 0 if that is not bounded.
    pub early_timeouts: u16,
    /// The seed of the random values that the program is given.
    pub random_seed: u64,
    /// How many streams of them are explored: 0 and 1 are one.
    pub random_streams: u16,
    /// How often a condition variable may wake up a thread although nobody has signalled it.
    pub spurious: u16,
    /// So many calls that create a thread fail first.
    pub refused_threads: u16,
    /// For each process, one more than the number of another one that is just like it, and that
    /// therefore is the first to use the network; 0 if there is none.
    pub leaders: [u8; MAX_PROCESSES],
    /// What becomes of datagrams on their way.
    pub datagrams: Datagrams,
    /// The addresses at which some process of a system listens in the end: connections to others are
    /// refused before those, since a server may first look for somebody who is not there. The rest is 0.
    pub served: [u64; MAX_SERVED],
}

/// How many addresses [`Setup::served`] has.
pub const MAX_SERVED: usize = 16;

/// No exit code: any counts as success.
pub const ANY_CODE: i32 = -1;

impl Setup {
    /// Whether another program of a closed system may exit with this code.
    pub fn others_may_exit_with(&self, code: i32) -> bool {
        matches!(self.others_exit_code, ANY_CODE) || self.others_exit_code == code
    }

    /// How many threads each process may have: the numbers of its threads follow each other.
    pub fn threads_each(&self) -> usize {
        MAX_THREADS / usize::from(self.processes).next_power_of_two().min(MAX_PROCESSES)
    }

    /// Whether an execution that ended so is as expected.
    pub fn expects(&self, outcome: Outcome, detail: i32) -> bool {
        match outcome {
            Outcome::Exited => detail == self.exit_code,
            Outcome::Idle => match self.idle {
                IdleMode::Automatic => detail == 1,
                IdleMode::Fine => true,
                IdleMode::Violation => false,
            },
            Outcome::Abandoned | Outcome::Quiet => true,
            _ => false,
        }
    }
}
