//! The contract between the shim inside a program and the checker outside: everything that both must
//! agree on, once.
//!
//! **Shared memory.** [`Region`] is the one piece of memory that a worker and the checker share; the
//! [`Handoff`] says whose turn it is to use it, and [`AdaptiveSpin`] how long each waits for the other
//! without sleeping. Between processes of a closed system, a [`Baton`] does.
//! [`address_space`] has the addresses of all areas, [`reserved_fds`] the descriptors by which files
//! are handed over, [`preload`] how the shim is loaded, [`limits`](MAX_THREADS) how much there may be.
//!
//! **Commands.** [`Setup`] is fixed when the program starts. A [`Command`] asks for executions, one or
//! a batch of [`BatchEntry`]s; a [`Reply`], a [`Record`] for each entry and [`Counters`] say what came of
//! them, and an [`Outcome`] how an execution ended. [`ModuleEntry`], [`ThreadEntry`] and [`Notice`]
//! describe the program, a [`LogEntry`] what the shim did. What the program could have overwritten is
//! [`Untrusted`].
//!
//! **Steps.** An [`Operation`] on an [`Object`] is what a thread announces. An [`EnabledStep`] can be
//! taken, an [`Event`] was, with the [`Choice`] that was made and the [`Completion`] that performing it
//! showed. The [`Footprint`] of a [`Step`] says which steps depend on each other.
//!
//! **Upcalls.** An [`Upcall`] asks the checker in the middle of an execution: a [`PeerRequest`], or a
//! [`JointRequest`] to programs that are explored alone. The [`UpcallReply`] is the answer.
//!
//! **The network and its faults.** [`Datagrams`] and [`Delivery`]: what the network may do to
//! datagrams, and what it did. [`Partitions`] and [`NetworkChange`]: the same between processes.
//! [`Faults`]: what may go wrong with connections. [`MessageEvent`]: what passed between sockets.
//! [`client_ports`]: the ports of clients that send datagrams.
//!
//! **Patches.** A [`PatchHeader`] precedes each patch; a [`Site`] says what a patched instruction was.
//!
//! **Syscalls.** [`syscalls`] is the table of all of them, with what the shim does with each.
//!
//! **Also.** [`FileHeader`]: files that are handed over. [`Splitmix`]: the generator behind sampled
//! schedules. [`userfault`]: how the kernel is asked for dirty pages.
//!
//! Every type is plain bytes in a fixed layout (`layout.rs` pins it). Fields are [`core::cell::Cell`]s:
//! both processes map the same memory, but only the one whose turn it is touches it.

#![no_std]

pub mod access_log;
mod adaptive_spin;
pub mod address_space;
mod batch;
mod baton;
pub mod client_ports;
mod command;
mod datagrams;
mod delivery;
mod dependence;
mod enabled_step;
mod event;
mod faults;
mod file;
mod futex;
mod handoff;
mod inventory;
mod layout;
mod libc_functions;
mod limits;
mod log;
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
pub mod quiet;
mod random;
mod region;
mod reply;
pub mod reserved_fds;
mod setup;
pub mod syscalls;
mod untrusted;
mod upcall;
pub mod userfault;

pub use adaptive_spin::AdaptiveSpin;
pub use batch::{BatchEntry, MAX_ORDERED, MAX_ORDERED_ALTERNATIVES, MAX_ORDERS, Record};
pub use baton::Baton;
pub use command::{Command, Policy, Request};
pub use datagrams::{Crossing, Datagrams};
pub use delivery::{Delivered, Delivery};
pub use dependence::{Providers, Step};
pub use enabled_step::EnabledStep;
pub(crate) use event::CompletionKind;
pub use event::{Completion, Event, PackedCompletion};
pub use everypath_dependence::{Choice, Enabled, Footprint, Mode, Part, Relation};
pub use faults::{Fault, Faults};
pub use file::{FOLDER, FileHeader, REGULAR, STANDARD_INPUT};
pub use futex::{Futex, Word};
pub use handoff::{Handoff, Side};
pub use inventory::{ModuleEntry, ThreadEntry};
pub use libc_functions::{LIBC_FUNCTIONS, accesses_no_memory};
pub use limits::{
    EVENT, MAX_ACCEPTED, MAX_ALTERNATIVES, MAX_BATCH, MAX_DEPTH, MAX_EVENTS, MAX_LIBRARIES,
    MAX_LOOKS, MAX_MODULES, MAX_OUTPUT, MAX_PATCHES, MAX_PORTS, MAX_PROCESSES, MAX_RELOCKS,
    MAX_STARTS, MAX_TEXT, MAX_THREADS, NOTES, OUTPUTS, OWN_OUTPUTS, SYSTEM_LENGTH,
};
pub use log::{LogEntry, LogKind, MAX_FRAMES, MAX_LOG};
pub use message_event::{MessageEvent, MessageEventKind};
pub use notice::{MAX_GOALS, MAX_NOTICES, Notice, NoticeKind};
pub use object::{Facet, Global, Object, ObjectKind};
pub use operation::{
    Family, GOES_ON, Operation, OperationKind, PackedOperation, Payload, Phase, TIMEOUT,
    is_use_of_network,
};
pub use outcome::{HeapMisuse, Outcome, Race, Waiting};
pub use partition::{NetworkChange, Partitions};
pub use patch_sites::{Site, SiteKind, StubFrame, Trap};
pub use patches::{PatchHeader, PatchKind, UnknownNumber, padding, patch_records};
pub use payload::{
    Attempt, Closing, CondMutex, Connecting, DescriptorUse, FaultLimit, FileEffect, LockOrder,
    Moved, Overflow, Ownership, PeerConnection, PollScope, ProcessEnd, QueuedConnection,
    RobustMutexes, RwRelease, Sending, Span,
};
pub use random::Splitmix;
pub use region::{Apart, Output, Region, VERSION};
pub use reply::{Counters, Reply, text};
pub use setup::{ANY_CODE, Backend, IdleMode, MAX_SERVED, Restart, Setup, TimeMode};
pub use untrusted::Untrusted;
pub use upcall::{
    Endpoint, Glance, Grant, Granted, JointRequest, MAX_ADDRESS, MAX_MESSAGE, PeerRequest, Senders,
    Sight, SocketAddress, Upcall, UpcallReply,
};
