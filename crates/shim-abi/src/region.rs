//! The memory that a worker and the checker share.

use crate::access_log::MAX_LOGGED;
use crate::{
    BatchEntry, Choice, Command, Counters, EnabledStep, Event, Handoff, LIBC_FUNCTIONS, LogEntry,
    MAX_ACCEPTED, MAX_ALTERNATIVES, MAX_BATCH, MAX_EVENTS, MAX_FRAMES, MAX_GOALS, MAX_LIBRARIES,
    MAX_LOG, MAX_MESSAGE, MAX_MODULES, MAX_NOTICES, MAX_ORDERED, MAX_ORDERED_ALTERNATIVES,
    MAX_ORDERS, MAX_OUTPUT, MAX_PATCHES, MAX_PROCESSES, MAX_STARTS, MAX_THREADS, ModuleEntry,
    Notice, OUTPUTS, Record, Reply, Setup, Splitmix, ThreadEntry, Upcall, UpcallReply,
};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Changes whenever the layout or the meaning of anything here does.
pub const VERSION: u32 = 19;
/// One captured stream.
#[derive(Debug)]
#[repr(C)]
pub struct Output {
    /// How many bytes were written, of which the first [`MAX_OUTPUT`] are kept.
    pub length: Cell<u64>,
    /// The bytes.
    pub bytes: [Cell<u8>; MAX_OUTPUT],
}

/// What lies in lines of the processor's cache of its own: one side looks at it again and again while the
/// other one changes what would be beside it.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Apart<T>(T);

impl<T> core::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The shared memory. It starts out as zeros.
#[derive(Debug)]
#[repr(C)]
pub struct Region {
    /// [`VERSION`], written by the checker.
    pub version: Cell<u32>,
    /// Whose turn it is.
    pub turn: Apart<Handoff>,
    /// Goes up while the program moves: the watchdog looks at it.
    pub progress: Apart<AtomicU64>,
    /// What is fixed at the start.
    pub setup: Apart<Cell<Setup>>,
    /// What the worker shall do.
    pub command: Cell<Command>,
    /// What came of it.
    pub reply: Cell<Reply>,
    /// What was counted.
    pub counters: Cell<Counters>,
    /// The generator as it stands.
    pub random: Cell<Splitmix>,
    /// Where the shim's routines for patched instructions are: for any, and for those in modules that
    /// use nothing but the lower halves of vector registers.
    pub atomics_entries: Cell<[u64; 2]>,
    /// Where the shim's summaries of libc functions are, in the order of
    /// [`LIBC_FUNCTIONS`](crate::LIBC_FUNCTIONS).
    pub summaries: Cell<[u64; LIBC_FUNCTIONS.len()]>,
    /// How many modules there are.
    pub module_count: Cell<u32>,
    /// How many bytes of [`Region::patches`] are in use.
    pub patch_bytes: Cell<u32>,
    /// How many threads are described.
    pub thread_count: Cell<u32>,
    /// How many steps of [`Region::sleep`] must not be taken first after the given choices.
    pub sleep_count: Cell<u32>,
    /// How many choices [`Region::schedule`] holds.
    pub schedule_length: Cell<u32>,
    /// How many entries [`Region::thread_starts`] has.
    pub thread_start_count: Cell<u32>,
    /// How many entries [`Region::accepted`] has.
    pub accepted_count: Cell<u32>,
    /// Hashes of what executions may leave behind.
    pub accepted: [Cell<u128>; MAX_ACCEPTED],
    /// Where Rust's threads call what the program gave them: start and end of each function.
    pub thread_starts: [Cell<[u64; 2]>; MAX_STARTS],
    /// The libraries to be loaded before `main`, in their order: the flags of `dlopen`, four bytes, and the
    /// name, which ends with a zero. An empty name ends the list.
    pub libraries: [Cell<u8>; MAX_LIBRARIES],
    /// The modules.
    pub modules: [Cell<ModuleEntry>; MAX_MODULES],
    /// The threads at the end of the last execution.
    pub threads: [Cell<ThreadEntry>; MAX_THREADS],
    /// Standard output, standard error, what the program noted for whoever reads the trace, and
    /// each [`MessageEvent`](crate::MessageEvent). Those of the last two kinds are the first process's.
    pub output: [Output; OUTPUTS * MAX_PROCESSES],
    /// The class of each execution of the last command that sampled: executions with equal classes
    /// differ only in the order of independent steps.
    pub classes: [Cell<u64>; MAX_BATCH],
    /// The choices to follow.
    pub schedule: [Cell<Choice>; MAX_EVENTS],
    /// The steps taken.
    pub events: [Cell<Event>; MAX_EVENTS],
    /// What was explored before, from the state after the given choices.
    pub sleep: [Cell<EnabledStep>; 2 * MAX_THREADS],
    /// Where the alternatives of each step end.
    pub alternative_ends: [Cell<u32>; MAX_EVENTS],
    /// What could have been taken at each step that is not known.
    pub alternatives: [Cell<EnabledStep>; MAX_ALTERNATIVES],
    /// The executions that a command asks for if they are several.
    pub orders: [Cell<BatchEntry>; MAX_ORDERS],
    /// What they follow.
    pub ordered_choices: [Cell<Choice>; MAX_ORDERED],
    /// What sleeps after that.
    pub ordered_sleep: [Cell<EnabledStep>; MAX_ORDERS * 2 * MAX_THREADS],
    /// The worker shall return at once: the execution that it runs is not wanted now.
    pub hurry: Apart<AtomicU32>,
    /// How many of them have been run and kept.
    pub recorded: Apart<AtomicU32>,
    /// What came of each.
    pub records: [Cell<Record>; MAX_ORDERS],
    /// Their steps.
    pub recorded_events: [Cell<Event>; MAX_ORDERED],
    /// Where the alternatives of each step end that was not known, counted from the first of its
    /// execution.
    pub recorded_ends: [Cell<u32>; MAX_ORDERED],
    /// What could have been taken.
    pub recorded_alternatives: [Cell<EnabledStep>; MAX_ORDERED_ALTERNATIVES],
    /// How many entries [`Region::notices`] has.
    pub notice_count: Cell<u32>,
    /// What was strange in the executions of the last command.
    pub notices: [Cell<Notice>; MAX_NOTICES],
    /// How many entries [`Region::reached`] has, and had before the present execution.
    pub reached_count: Cell<u32>,
    /// The latter.
    pub reached_before: Cell<u32>,
    /// Hashes of the goals that executions have reached so far: these are never restored.
    pub reached: [Cell<u64>; MAX_GOALS],
    /// What the shim asks in the middle of an execution.
    pub upcall: Cell<Upcall>,
    /// What the checker replies to it.
    pub upcall_reply: Cell<UpcallReply>,
    /// The bytes that go with either.
    pub message: [Cell<u8>; MAX_MESSAGE],
    /// What to write where: see `native`'s `patching`.
    pub patches: [Cell<u8>; MAX_PATCHES],
    /// The shim's stack when it faulted: the instruction, then what may be return addresses, up to
    /// the first 0.
    pub fault_stack: [Cell<u64>; MAX_FRAMES],
    /// How many entries were ever written to [`Region::log`].
    pub log_count: Cell<u64>,
    /// What the shim did last, if it was asked to write that down.
    pub log: [Cell<LogEntry>; MAX_LOG],
    /// Logs of accesses that the checker may not know: for each its hash, its length in words, its words.
    pub access_logs: [Cell<u64>; MAX_LOGGED],
    /// How many words of that are in use, and whether a log was [lost](crate::access_log::LOST).
    pub access_logs_used: AtomicU64,
}
