//! Memory accesses of a step: the log that copied functions write, and its hash.
//!
//! Between two scheduling points of a thread the log holds what the thread accesses. When its step ends
//! the log becomes a hash in the step's [`Event`](everypath_shim_abi::Event), and is passed on to the
//! checker unless that has probably seen it: what was passed on is remembered in a table in which
//! entries replace each other. The log is empty whenever another thread may run, and no part of
//! snapshots.

use crate::fail::stop;
use crate::machine::Machine;
use crate::memory::{bytes, load, map, store, view};
use crate::multi_process;
use crate::region::{own, region, setup};
use crate::run_state::{Common, Counter, RunState};
use crate::state::{State, state};
use crate::sys::{number, sys};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::Release};
use everypath_shim_abi::access_log::{
    AccessContext, CALL, CONTINUES, LOG_GUARD, LOG_HEAD, LOG_SIZE, LOST, MAX_LOGGED, MAX_RECORD,
    WIDE_WORDS,
};
use everypath_shim_abi::address_space::{ACCESS_LOG, PAGE};
use everypath_shim_abi::{MAX_THREADS, ModuleEntry};
use xxhash_rust::xxh3::xxh3_128;

/// Where the log begins and ends. The guard is behind.
const START: usize = ACCESS_LOG + PAGE;
const END: usize = START + LOG_SIZE;

static ARMED: AtomicBool = AtomicBool::new(false);
/// For each thread, one more than the number of its last step.
static LAST_STEPS: Common<[AtomicU32; MAX_THREADS]> = Common::at(offset_of!(RunState, last_steps));

/// How many logs are remembered.
const REMEMBERED: usize = 1 << 14;
/// Halves of the hashes of logs that were passed on.
static PASSED_ON: [Counter; REMEMBERED] = [const { Counter::new() }; REMEMBERED];

fn context() -> &'static AccessContext {
    view(ACCESS_LOG)
}

/// Maps the log and makes `gs` lead to it.
pub(crate) fn arm() {
    const SET_GS: usize = 0x1001;
    if !setup().memory {
        return;
    }
    map(ACCESS_LOG, PAGE + LOG_SIZE);
    context().next.set(START as u64);
    if sys!(number::ARCH_PRCTL, SET_GS, ACCESS_LOG) != 0 {
        crate::fail::fatal("cannot set the base of gs");
    }
    ARMED.store(true, Relaxed);
}

/// Whether accesses are recorded.
pub(crate) fn is_armed() -> bool {
    ARMED.load(Relaxed)
}

/// Nothing was accessed yet.
pub(crate) fn begin_execution() {
    if is_armed() {
        LAST_STEPS.iter().for_each(|step| step.store(0, Relaxed));
        context().next.set(START as u64);
    }
}

/// How often the log was full in the present step.
static EMPTIED: Counter = Counter::new();
const OFTEN: u64 = 32;
/// How many instructions are traced then: each costs as much as many thousand others, and a thread that waits for
/// a flag repeats after a few.
const TRACED: u32 = 512;

/// A thread takes a step.
pub(crate) fn begin_step(thread: u16, step: u32) {
    if is_armed() {
        EMPTIED.set(0);
        LAST_STEPS[usize::from(thread) % MAX_THREADS].store(step + 1, Relaxed);
    }
}

/// The running thread has come to its next scheduling point, or to its end.
#[inline(always)]
pub(crate) fn end_step(state: &State) {
    if is_armed() && context().next.get() != START as u64 {
        settle(state);
    }
}

/// Turns the log into a hash.
#[inline(never)]
fn settle(state: &State) {
    let thread = usize::from(state.current.get()) % MAX_THREADS;
    let is_own = multi_process::owner(thread as u16) == multi_process::process();
    let last = LAST_STEPS[thread].load(Relaxed);
    if let (Some(step), true) = (last.checked_sub(1), is_own) {
        let event = &region().events[step as usize];
        let mut now = event.get();
        if now.accesses != [0; 2] {
            append_continuation(now.accesses);
        }
        now.accesses = pass_on();
        event.set(now);
    }
    context().next.set(START as u64);
}

/// Appends that another log belongs to this one.
fn append_continuation(hash: [u64; 2]) {
    let next = context().next.get() as usize;
    store(next, [hash[0], hash[1], CONTINUES]);
    context().next.set(next as u64 + 24);
}

/// Appends what a call of libc or the kernel accesses.
pub(crate) fn record_call(address: usize, length: usize, writes: bool) {
    let next = context().next.get() as usize;
    if next + MAX_RECORD > END {
        empty();
    }
    let next = context().next.get() as usize;
    store(next, [address as u64, length as u64, u64::from(writes), CALL]);
    context().next.set(next as u64 + 32);
}

/// Empties the log in the middle of a step: what it held becomes a log of its own, which the rest of the
/// step continues.
fn empty() {
    let concurrent = state().is_concurrent();
    let hash = if concurrent { pass_on() } else { [0; 2] };
    context().next.set(START as u64);
    if concurrent {
        append_continuation(hash);
    }
}

/// The hash of the log, which is passed on to the checker if that may not know it.
fn pass_on() -> [u64; 2] {
    let length = context().next.get() as usize - START;
    let hash = xxh3_128(bytes(START, length));
    let hash = [hash as u64, (hash >> 64) as u64 | 1];
    let remembered = &PASSED_ON[hash[0] as usize % REMEMBERED];
    if remembered.get() != hash[1] {
        remembered.set(hash[1]);
        write_down(hash, length / 8);
    }
    hash
}

/// Puts the log where the checker finds it.
fn write_down(hash: [u64; 2], words: usize) {
    let used = &own().access_logs_used;
    let at = used.load(Relaxed);
    let end = at as usize + LOG_HEAD + words;
    if at & LOST != 0 || end > MAX_LOGGED {
        return used.store(at | LOST, Release);
    }
    let logs = &own().access_logs[at as usize..];
    for (cell, word) in logs.iter().zip([hash[0], hash[1], words as u64]) {
        cell.set(word);
    }
    crate::memory::copy(logs[LOG_HEAD].as_ptr() as usize, START, 8 * words);
    used.store(end as u64, Release);
}

/// Whether there is room for the logs of another execution.
pub(crate) fn has_room() -> bool {
    own().access_logs_used.load(Relaxed) < MAX_LOGGED as u64 / 2
}

/// Whether an access that faults is that of a copy which found the log full. Then it is emptied.
pub(crate) fn is_full(address: u64, machine: &Machine) -> bool {
    if !is_armed() || !(END as u64..(END + LOG_GUARD) as u64).contains(&address) {
        return false;
    }
    // The instruction is `mov qword ptr [free + displacement], block`.
    let [prefix, _, operand] = load::<[u8; 3]>(machine.rip.get() as usize);
    let free = usize::from(operand & 7) | usize::from(prefix & 1) << 3;
    empty();
    machine.set(free, context().next.get());
    let times = EMPTIED.get() + 1;
    EMPTIED.set(times);
    // A thread that fills the log so often in one step may wait for another one.
    if times >= OFTEN && times.is_power_of_two() && state().has_runnable_other() {
        crate::hang::probe(machine, TRACED);
    }
    true
}

/// Whether an address is in the copies of functions.
pub(crate) fn is_copy(address: usize) -> bool {
    let modules = own().modules[..own().module_count.get() as usize].iter();
    let contains = |module: &ModuleEntry| {
        let start = module.trampolines as usize;
        (start..start + module.trampolines_size as usize).contains(&address)
    };
    is_armed() && modules.map(|module| module.get()).any(|module| contains(&module))
}

/// Ends control if a trap is in the original of a function that was copied: nobody was expected to come
/// there, and what follows would run unseen.
pub(crate) fn refuse_unseen(address: usize) {
    if is_armed() && !is_copy(address) {
        stop!("code at {address:#x} is entered in a way that --memory on does not know");
    }
}

/// The operand of an instruction that accesses more than eight bytes.
pub(crate) fn wide_operand() -> &'static Cell<[u64; WIDE_WORDS]> {
    &context().wide
}

/// What an instruction that is divided into a load and a store has loaded: it belongs to its thread.
pub(crate) fn divided_value() -> u64 {
    if is_armed() { context().value.get() } else { 0 }
}

/// Puts it back when that thread goes on.
pub(crate) fn restore_divided_value(value: u64) {
    if is_armed() {
        context().value.set(value);
    }
}
