//! The library that everypath preloads into a program.
//!
//! It runs the program's threads one at a time, following the checker's schedule, and restores the
//! snapshot taken at the start of `main` between executions.
//!
//! A floor names only those below it. What it needs of one above is a trait, which that implements for
//! `worker`, a type without size.
//!
//! Below all:
//! - `memory`, `sys`, `fail`, `log`: the memory map, syscalls, giving up, what happened last. `region`:
//!   what is shared with the checker. `guest`: the program's memory, as syscalls see it. `machine`,
//!   `text`: registers of an interrupted thread; where code lies. `libc`: internals of libc.
//! - `state`: what is part of every snapshot. Everything static in this library is not. `run_state`:
//!   what is not, and is shared by the processes of a closed system. `multi_process`: which of these
//!   this is. `tables`: where the kernel's tables lie. `objects`: what steps work on.
//!
//! Threads, which know no sockets, files, locks or signals (`above`):
//! - `context`, `backend`: context switches between fibers, or between kernel threads.
//! - `scheduler`: scheduling points, choices, blocking, wakeups; a file for each strategy. `symmetry`:
//!   processes with the same command. `trace_hash`: which executions are equivalent.
//! - `snapshot`, `dirty_pages`, `write_protect`: snapshots, restored as a whole, by dirty pages, or
//!   without the pages that were never written. `protection`: what the program does to its own pages.
//!   `fingerprint`: the hash of a state.
//! - `accesses`, `granules`, `hang`: memory accesses; threads that reach no scheduling point.
//! - `ending`: how executions end.
//!
//! What programs see:
//! - `kernel`, `upcalls`: the host of `everypath-vkernel`, and what threads ask of it. `descriptors`,
//!   `net`: its descriptors and sockets. `process_faults`, `partition`: faults that are threads.
//!   `idle`: how executions end in which nothing happens.
//! - `thread`, `cancel`, `sync`, `time`, `timers`, `random`, `signals`, `files`, `credentials`, `output`,
//!   `process`, `heap`, `races`, `mapping`, `libraries`, `unwind`, `interfaces`: interposed functions of
//!   libc, by subject. `verify`: the functions of the library `everypath-verify`.
//! - `summaries`, `wide`: what functions of libc and wide instructions access.
//! - `dispatch`: every other syscall. `detour`: internal calls of libc. `traps`: faults, and calls that
//!   the kernel sends back. `atomics`: patch sites. `xsave`: the vector registers that they save.
//! - `output_digest`: the digest of an execution's output and files, to be judged.
//! - `controller`, `batch`: executions and commands, several for one command. `start`: from the loader
//!   to the first snapshot.

#![no_std]

mod above;
mod accesses;
mod atomics;
mod backend;
mod batch;
mod cancel;
mod context;
mod controller;
mod credentials;
mod descriptors;
mod detour;
mod dirty_pages;
mod dispatch;
mod ending;
mod fail;
mod files;
mod fingerprint;
mod granules;
mod guest;
mod hang;
mod heap;
mod idle;
mod interfaces;
mod kernel;
mod libc;
mod libraries;
mod log;
mod machine;
mod mapping;
mod memory;
mod multi_process;
mod net;
mod objects;
mod output;
mod output_digest;
mod partition;
mod process;
mod process_faults;
mod protection;
mod races;
mod random;
mod region;
mod run_state;
mod scheduler;
mod signals;
mod snapshot;
mod start;
mod state;
mod summaries;
mod symmetry;
mod sync;
mod sys;
mod tables;
mod text;
mod thread;
mod time;
mod timers;
mod trace_hash;
mod traps;
mod unwind;
mod upcalls;
mod verify;
mod wide;
mod worker;
mod write_protect;
mod xsave;
