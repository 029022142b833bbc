//! The library that everypath preloads into a program.
//!
//! It runs the program's threads one at a time, following the checker's schedule, and restores the
//! snapshot taken at the start of `main` between executions.
//!
//! - `memory`, `sys`, `fail`, `log`: the memory map, syscalls, giving up, what happened last. `guest`: the program's memory, as
//!   syscalls see it.
//! - `state`: what is part of every snapshot. Everything static in this library is not.
//! - `context`, `backend`: context switches between fibers, or between kernel threads.
//! - `scheduler`: scheduling points, choices, blocking, wakeups. `controller`: executions and
//!   commands.
//! - `batch`: several executions of one command. `trace_hash`: which executions are equivalent.
//! - `snapshot`, `dirty_pages`, `write_protect`: snapshots, restored as a whole, by dirty pages, or
//!   without the pages that were never written. `protection`: what the program does to its own pages.
//!   `fingerprint`: the hash of a state.
//! - `output_digest`: the digest of an execution's output and files, to be judged.
//! - `start`: from the loader to the first snapshot. `libc`: internals of libc.
//! - `thread`, `cancel`, `sync`, `futex`, `time`, `timers`, `random`, `signals`, `files`, `output`,
//!   `process`, `heap`, `mapping`, `unwind`, `interfaces`: interposed libc functions, by subject.
//! - `verify`: the functions of the library `everypath-verify`.
//! - `dispatch`: every other syscall. `detour`: internal calls of libc.
//! - `atomics`: patch sites. `xsave`: the vector registers that they save.

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
