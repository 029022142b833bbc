//! What the kernel keeps beside objects and descriptors: plain cells, which snapshots hold.

use crate::object::{Clients, Kind};
use crate::slot::RANGES;
use core::cell::Cell;
use everypath_perturb::Account;
use everypath_shim_abi::{self as abi, Fault, MAX_PORTS, MAX_PROCESSES, Splitmix};

/// What there is once, for all processes of a closed system.
#[derive(Debug)]
#[repr(C)]
pub struct State {
    /// How often each fault has happened.
    pub(crate) spent: Cell<[u8; Fault::ALL.len()]>,
    /// What the network did to datagrams: everywhere, and at the ports with rules of their own.
    pub(crate) accounts: [Cell<Account>; MAX_PORTS + 1],
    /// Clients that send datagrams.
    pub(crate) clients: Clients,
    /// Whether a peer that waits with a timeout was met.
    pub(crate) has_timed_peers: Cell<bool>,
    /// Which stream of random values the program is given.
    pub(crate) random_stream: Cell<u16>,
    /// From which others each process is cut off, a bit each.
    pub cuts: [Cell<u16>; MAX_PROCESSES],
    /// How many numbers of each range were given out: see [`crate::fd_table`].
    pub(crate) slots_used: [Cell<u16>; RANGES],
    pub(crate) objects_used: [Cell<u16>; RANGES],
    /// One more than the highest number of a thread that has ever made an object.
    pub(crate) object_owners: Cell<u16>,
}

impl Default for State {
    fn default() -> Self {
        use core::array::from_fn;
        State {
            spent: Cell::default(),
            accounts: from_fn(|_| Cell::default()),
            clients: Clients::default(),
            has_timed_peers: Cell::default(),
            random_stream: Cell::default(),
            cuts: from_fn(|_| Cell::default()),
            slots_used: from_fn(|_| Cell::default()),
            objects_used: from_fn(|_| Cell::default()),
            object_owners: Cell::default(),
        }
    }
}

/// How many signals there are, and an unused number 0.
pub const SIGNALS: usize = 65;
/// The alarm of a process, and up to 32 timers of `timer_create`.
pub const TIMERS: usize = 33;
/// The place of the alarm.
pub const ALARM: usize = 0;

/// What each process has for itself.
#[derive(Debug)]
#[repr(C)]
pub struct OwnState {
    /// Signals that were sent to the process while every thread blocked them.
    pub(crate) pending_signals: Cell<u64>,
    /// What it does about each signal.
    pub actions: [Cell<Action>; SIGNALS],
    pub(crate) timers: [Cell<Timer>; TIMERS],
    /// Where a place for a new timer is looked for first.
    pub(crate) next_timer: Cell<u32>,
}

impl Default for OwnState {
    fn default() -> Self {
        use core::array::from_fn;
        OwnState {
            pending_signals: Cell::default(),
            actions: from_fn(|_| Cell::default()),
            timers: from_fn(|_| Cell::default()),
            next_timer: Cell::default(),
        }
    }
}

/// What a program asked to happen on a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Action {
    /// The handler, or a number that stands for none.
    pub handler: usize,
    /// The signals that are blocked while it runs.
    pub mask: u64,
    /// How it is called.
    pub flags: i32,
}

/// A timer of a process.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Timer {
    /// When it rings; 0 if it is not set.
    pub(crate) at: u64,
    /// After which time it rings again; 0 if it does not.
    pub(crate) again: u64,
    /// The handle of its ringer; 0 if there is none.
    pub(crate) ringer: usize,
    pub(crate) notice: Notice,
    /// Whether `timer_create` made it, and it was not deleted.
    pub(crate) exists: bool,
    /// Whether its signal was sent and not taken yet.
    pub(crate) is_sent: bool,
}

/// Whom a timer tells, and what.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Notice {
    pub(crate) how: i32,
    pub(crate) signal: i32,
    /// The thread that the signal goes to, by its number for the kernel.
    pub(crate) thread: i32,
    pub(crate) clock: i32,
    /// What the program gave for the signal or the thread.
    pub(crate) value: usize,
    /// What a thread that is started begins with.
    pub(crate) function: usize,
}

/// What the kernel knows of a thread.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Task {
    /// Its own stream of random bytes.
    pub(crate) random: Cell<Splitmix>,
    /// Signals that were sent to it.
    pub(crate) pending_signals: Cell<u64>,
    /// Those of them that were sent to the process.
    pub pending_by_process: Cell<u64>,
    /// The signals that it blocks.
    pub blocked_signals: Cell<u64>,
    /// The signals that it waits for, to take them.
    pub(crate) awaited_signals: Cell<u64>,
    /// How many ports it was given, and how many connections to peers it asked for.
    pub(crate) ports: Cell<u16>,
    pub(crate) connections: Cell<u16>,
    /// The outcome of the step in which it looks for something.
    pub(crate) outcome: Cell<u16>,
    /// What it waits for at a socket or several.
    pub(crate) want: Cell<Want>,
    /// What it is about to send or receive.
    pub(crate) transfer: Cell<Transfer>,
    /// How many non-blocking calls in a row found nothing.
    pub(crate) vain_looks: Cell<u16>,
    /// Whether the network does nothing to the datagrams that it looks for.
    pub undisturbed: Cell<bool>,
}

/// How many sockets a thread can wait for so that other processes know which.
pub const MAX_WATCHED: usize = 64;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) enum Want {
    #[default]
    Nothing,
    /// That one of these can happen to an object.
    Ready { number: u16, events: u32 },
    /// That so many bytes can be sent, or some of them, or that sending fails.
    Space { number: u16, length: u32 },
    /// That so much can be added to an event's counter.
    Counter { number: u16, added: u64 },
    /// That a listener has room for one more connection, or is gone.
    Room { listener: u16 },
    /// That somebody is there, at an address with this key.
    Somebody { kind: Kind, key: abi::Object },
    /// That somebody listens at an address with this key whom this process can reach.
    Reachable { from: u16, key: abi::Object },
    /// That something happens to one of the objects that a thread of another process has written
    /// down, so many; or to any, if there are too many.
    OneOf { thread: u16, count: u16 },
    /// `poll`: where its entries are and how many.
    Poll { entries: usize, count: usize },
    /// `select`: copies of its three sets and how many descriptors.
    Select { sets: usize, count: usize },
}

/// What a thread is about to send or receive.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Transfer {
    /// One more than the number of the stream, or of the socket that receives; 0 if neither.
    pub(crate) object: u16,
    /// Whether it would wait for bytes, or for space.
    pub(crate) waits: bool,
    /// Whether it is content with less.
    pub(crate) divisible: bool,
    pub(crate) length: u32,
}
