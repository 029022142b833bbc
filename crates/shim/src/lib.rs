//! The library that everypath preloads into a program.
//!
//! It runs the program's threads one at a time, in the order the checker asks for, and puts the
//! program back to its start between executions.
//!
//! - `memory`, `sys`, `fail`: addresses, system calls, the ways to give up.
//! - `state`: what is part of every snapshot. Everything static in this library is not.
//! - `context`, `backend`: fibers, and kernel threads as the other way to carry them.
//! - `scheduler`: points, choices, waits and wakes. `controller`: executions and commands.
//! - `batch`: several executions of one command. `trace_hash`: which executions are equivalent.
//! - `snapshot`, `dirty_pages`, `write_protect`: copies of the program, whole, by written pages, or without
//!   those that were never written. `fingerprint`: the hash of its state.
//! - `output_digest`: what an execution leaves behind, to be judged.
//! - `start`: from the loader to the first snapshot. `libc`: what we need of libc's insides.
//! - `thread`, `cancel`, `sync`, `futex`, `time`, `alarm`, `random`, `signals`, `files`, `output`,
//!   `process`, `heap`, `mapping`, `unwind`: the functions that stand in for libc's, by subject.
//! - `verify`: what programs ask of us by the library `everypath-verify`.
//! - `dispatch`: every other system call. `detour`: libc's own calls of its functions.
//! - `atomics`: patched instructions. `xsave`: what they save of the processor.

#![no_std]

mod alarm;
mod atomics;
mod backend;
mod batch;
mod cancel;
mod context;
mod controller;
mod descriptors;
mod detour;
mod dirty_pages;
mod dispatch;
mod fail;
mod files;
mod fingerprint;
mod futex;
mod heap;
mod libc;
mod mapping;
mod memory;
mod multi_process;
mod net;
mod output;
mod output_digest;
mod partition;
mod process;
mod process_faults;
mod random;
mod region;
mod run_state;
mod scheduler;
mod signals;
mod snapshot;
mod start;
mod state;
mod symmetry;
mod sync;
mod sys;
mod thread;
mod time;
mod trace_hash;
mod unwind;
mod verify;
mod write_protect;
mod xsave;
