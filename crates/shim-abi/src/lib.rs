//! What the shim inside a program and the checker outside share.
//!
//! - [`Region`]: the one piece of shared memory, and whose [`Turn`] it is to use it.
//! - [`Operation`], [`Event`], [`Choice`]: what threads do, and what was chosen.
//! - [`Footprint`]: what a step touches, from which follows which steps depend on each other.
//! - [`Command`], [`Outcome`]: what the checker asks for, and how an execution ended.
//! - [`Order`], [`Record`]: several executions that are asked for at once, and what came of them.
//! - [`Patience`]: how long each waits for the other without sleeping.
//! - [`Question`]: what a program asks in the middle of an execution, because only a peer knows it.
//! - [`Datagrams`], [`Delivery`]: what the network may do to datagrams, and what it did.
//! - [`Passage`]: what passed between sockets.
//! - [`Faults`]: what may go wrong with connections to peers.
//! - [`FileHeader`]: files that are handed over.
//! - [`Splitmix`]: the generator behind sampled schedules.
//!
//! Every type is plain bytes in a fixed layout. Fields are [`core::cell::Cell`]s: both processes
//! map the same memory, but only the one whose turn it is touches it.

#![no_std]

pub mod callers;
mod delivery;
mod faults;
mod file;
mod footprint;
mod notice;
mod operation;
mod order;
mod outcome;
mod partition;
mod passage;
mod patience;
mod pending;
mod question;
mod random;
mod region;
mod turn;
pub mod units;

pub use delivery::{Delivery, TO_PEER};
pub use faults::{Fault, Faults};
pub use file::{FILES_DESCRIPTOR, FOLDER, FileHeader, REGULAR};
pub use footprint::{
    ABANDONED, AGAIN, BY_READER, CLOSED, Footprint, IN_ORDER, Mode, NOT_HELD, POLL_ARRIVES,
    POLL_DOOR, Part, Relation,
};
pub use notice::{MAX_NOTICES, Notice, Strangeness};
pub use operation::{Choice, Event, GOES_ON, Operation, Phase, TIMEOUT, is_use_of_network};
pub use operation::{connected_to, connecting, moved, socket_key};
pub use order::{MAX_ORDERED, MAX_ORDERED_ALTERNATIVES, MAX_ORDERS, Order, Record};
pub use outcome::{Outcome, Waiting};
pub use partition::NetworkChange;
pub use passage::{Passage, Passing};
pub use patience::Patience;
pub use pending::Pending;
pub use question::{Asked, Glance, Granted, MAX_ADDRESS, MAX_MESSAGE, Question, Sight, Wish};
pub use random::Splitmix;
pub use region::{
    Apart, Backend, Command, Counters, Crossing, Datagrams, IdleMode, MAX_ACCEPTED,
    MAX_ALTERNATIVES, MAX_BATCH, MAX_DEPTH, MAX_EVENTS, MAX_MODULES, MAX_OUTPUT, MAX_PATCHES,
    MAX_PORTS, MAX_PROCESSES, MAX_STARTS, MAX_TEXT, MAX_THREADS, ModuleEntry, OUTPUTS, OWN_OUTPUTS,
    Output, PROCESS_BITS, Partitions, Policy, Region, Reply, Request, Restart, SHARED_OBJECT,
    SYSTEM_LENGTH, Setup, TUNABLES, ThreadEntry, TimeMode, VERSION, text,
};
pub use turn::{Turn, Turns};
