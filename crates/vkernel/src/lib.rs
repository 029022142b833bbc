//! The kernel that a program under control sees: descriptors, sockets, pipes, events, `poll`.
//!
//! Plain Rust without `unsafe`, statics or an allocator. All state is cells that somebody else owns
//! and restores ([`host::Tables`]); the program's memory, the scheduler and the world outside are
//! traits as well ([`host`]). The shim implements them over fixed addresses, the tests over vectors:
//! there, the same calls are made here and to the kernel of the machine, and compared.
//!
//! Every function takes the host as `k`, by a shared reference: a call that blocks keeps it while
//! other threads make calls of their own.
//!
//! - [`syscalls`]: what programs call, each under its name. [`ioctl`], [`fd_table`]: the others that
//!   descriptors have.
//! - `fd_table`, `numbers`: descriptors, and which thread may give out which number.
//! - [`flock`], [`lseek`]: locks and offsets of open files. [`random`]: `getrandom`.
//! - [`signal`]; [`timer`], [`itimer`], [`posix_timer`]: signals, and timers that send them.
//! - [`futex`]: words to wait at; [`combination`]: which waiters are woken. [`clock`]: times.
//! - `object`, `slot`, `state`, `address`: what the kernel keeps, as plain data. [`lifetime`]: objects made
//!   and closed; `footprint`: what they are in the footprints of steps. `buffer`: the bytes that wait.
//! - `pipe`, `eventfd`, `timerfd`, `epoll`, `poll`, `select`: what their names say. `readiness`,
//!   `wants`, `wakeup`: what can happen to an object, what a blocked call waits for, and who is
//!   woken.
//! - `tcp`, `unix`, `connect`, `stream`: stream sockets, and bytes through them and through pipes.
//! - `udp`, `in_flight`, `send_queue`, `multicast`: datagrams, and what the network does to them.
//! - `sockaddr`, `sockopt`, `iovec`, `msghdr`, `cmsg`: the layouts that socket calls are given.
//! - `peer`, `udp_clients`, `frames`: real processes outside, by communication trees. `joint`:
//!   programs that are explored on their own. `message_log`: who sent what to whom, for a trace.
//! - `faults`, `partition`: what goes wrong as a choice of the search.
//! - `blocking`, `refine`: calls that may wait, and what a step turns out to be when it is taken.

#![no_std]
#![forbid(unsafe_code)]

mod address;
mod arrival;
mod blocking;
pub mod buffer;
pub mod clock;
mod cmsg;
pub mod combination;
mod connect;
mod epoll;
pub mod errno;
mod eventfd;
pub mod faults;
pub mod fd_table;
pub mod flock;
mod footprint;
mod frames;
pub mod futex;
pub mod host;
mod in_flight;
pub mod ioctl;
mod iovec;
pub mod itimer;
mod joint;
pub mod lifetime;
pub mod lseek;
mod message_log;
mod msghdr;
mod multicast;
mod numbers;
pub mod object;
pub mod partition;
mod peer;
mod peer_time;
mod pipe;
mod plain;
mod poll;
pub mod posix_timer;
pub mod random;
mod readiness;
mod refine;
mod select;
mod send_queue;
mod senders;
pub mod signal;
mod slot;
mod sockaddr;
mod sockopt;
mod state;
mod stream;
pub mod syscalls;
mod tcp;
pub mod timer;
mod timerfd;
mod trees;
mod udp;
mod udp_clients;
mod unix;
mod wakeup;
mod wants;

use host::stop;

pub use object::{Object, Transit};
pub use plain::Plain;
pub use refine::refined;
pub use slot::Slot;
pub use state::{Action, MAX_WATCHED, OwnState, SIGNALS, State, Task};
pub use trees::Trees;
pub use wants::awaits_clients;
