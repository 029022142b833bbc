//! What the shim inside a program and the checker outside share.
//!
//! - [`Region`]: the one piece of shared memory, and whose [`Handoff`] it is to use it.
//! - [`Operation`], [`Object`]: what threads do, with what goes with it, and what they work on.
//! - [`Event`], [`Completion`], [`Choice`]: steps that were taken, what performing them showed, and
//!   what was chosen.
//! - [`Step`], [`Footprint`]: what a step touches, from which follows which steps depend on each other.
//! - [`Command`], [`Outcome`]: what the checker asks for, and how an execution ended.
//! - [`Order`], [`Record`]: several executions that are asked for at once, and what came of them.
//! - [`AdaptiveSpin`]: how long each waits for the other without sleeping.
//! - [`Upcall`]: what a program asks in the middle of an execution, because only a peer knows it.
//! - [`Datagrams`], [`Delivery`]: what the network may do to datagrams, and what it did.
//! - [`MessageEvent`]: what passed between sockets.
//! - [`Faults`]: what may go wrong with connections to peers.
//! - [`FileHeader`]: files that are handed over.
//! - [`Splitmix`]: the generator behind sampled schedules.
//!
//! Every type is plain bytes in a fixed layout. Fields are [`core::cell::Cell`]s: both processes
//! map the same memory, but only the one whose turn it is touches it.

#![no_std]

mod adaptive_spin;
pub mod address_space;
mod batch;
mod baton;
pub mod client_ports;
mod delivery;
mod dependence;
mod enabled_step;
mod event;
mod faults;
mod file;
mod futex;
mod handoff;
mod message_event;
mod notice;
mod object;
mod operation;
mod outcome;
mod partition;
mod patch_sites;
mod patches;
mod payload;
pub mod preload;
mod random;
mod region;
pub mod reserved_fds;
mod upcall;

pub use adaptive_spin::AdaptiveSpin;
pub use batch::{MAX_ORDERED, MAX_ORDERED_ALTERNATIVES, MAX_ORDERS, Order, Record};
pub use baton::Baton;
pub use delivery::{Delivered, Delivery};
pub use dependence::{Providers, Step};
pub use enabled_step::EnabledStep;
pub use event::{Completion, Event, PackedCompletion};
pub use everypath_dependence::{Choice, Enabled, Footprint, Mode, Part, Relation};
pub use faults::{Fault, Faults};
pub use file::{FOLDER, FileHeader, REGULAR};
pub use futex::{Futex, Word};
pub use handoff::{Handoff, Side};
pub use message_event::{MessageEvent, MessageEventKind};
pub use notice::{MAX_NOTICES, Notice, NoticeKind};
pub use object::{Facet, Global, Object, ObjectKind};
pub use operation::{
    Family, GOES_ON, Operation, OperationKind, PackedOperation, Payload, Phase, TIMEOUT,
    is_use_of_network,
};
pub use outcome::{Outcome, Waiting};
pub use partition::NetworkChange;
pub use patch_sites::{Site, SiteKind, StubFrame, Trap};
pub use patches::{PatchHeader, PatchKind, UnknownNumber, padding, patch_records};
pub use payload::{
    Attempt, Closing, CondMutex, Connecting, DescriptorUse, FaultLimit, FileEffect, LockOrder,
    Moved, Overflow, Ownership, PollScope, ProcessEnd, QueuedConnection, RobustMutexes, RwRelease,
    Sending, Span,
};
pub use random::Splitmix;
pub use region::{
    Apart, Backend, Command, Counters, Crossing, Datagrams, IdleMode, MAX_ACCEPTED,
    MAX_ALTERNATIVES, MAX_BATCH, MAX_DEPTH, MAX_EVENTS, MAX_MODULES, MAX_OUTPUT, MAX_PATCHES,
    MAX_PORTS, MAX_PROCESSES, MAX_STARTS, MAX_TEXT, MAX_THREADS, ModuleEntry, OUTPUTS, OWN_OUTPUTS,
    Output, Partitions, Policy, Region, Reply, Request, Restart, SYSTEM_LENGTH, Setup, ThreadEntry,
    TimeMode, VERSION, text,
};
pub use upcall::{Asked, Glance, Granted, JointRequest, MAX_ADDRESS, MAX_MESSAGE, Sight, Upcall};
