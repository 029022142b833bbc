//! A thread that reaches no scheduling point: does its state repeat?
//!
//! When the watchdog interrupts it, it goes on instruction by instruction. If its registers and the
//! program's memory are what they were before, it runs for ever, since nothing else runs meanwhile.
//! Otherwise nobody knows: it may only take long. The earlier state is replaced after 1, 2, 4, …
//! instructions, so that a cycle is found that begins late (Brent 1980).

use crate::ending::ended;
use crate::machine::Machine;
use crate::memory::{bytes, load};
use crate::region::reply;
use crate::run_state::Counter;
use crate::state::state;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::Outcome;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// After so many instructions the state of a thread that runs for too long is taken not to repeat.
const MAX_INSTRUCTIONS: u32 = 1 << 14;
/// Memory is hashed at most so often.
const MAX_HASHES: u32 = 256;
/// The flag of the processor that makes every instruction trap, and one that differs for no reason.
const TRAP: u64 = 1 << 8;
const RESUME: u64 = 1 << 16;
/// What a signal says that came from there.
const TRACED: i32 = 2;
/// How far below its stack pointer a function may write.
const RED_ZONE: usize = 128;

static IS_TRACING: AtomicBool = AtomicBool::new(false);
/// Whether a thread whose state does not repeat goes on: nobody has waited long for it.
static IS_PROBED: AtomicBool = AtomicBool::new(false);
/// After so many instructions the state is taken not to repeat, this time.
static LIMIT: AtomicU32 = AtomicU32::new(0);
static INSTRUCTIONS: AtomicU32 = AtomicU32::new(0);
static HASHES: AtomicU32 = AtomicU32::new(0);
/// Halves of the hashes of the earlier registers and of the earlier memory.
static BEFORE: [Counter; 4] = [const { Counter::new() }; 4];

fn keep(at: usize, hash: u128) {
    BEFORE[at].set(hash as u64);
    BEFORE[at + 1].set((hash >> 64) as u64);
}

fn kept(at: usize) -> u128 {
    u128::from(BEFORE[at].get()) | u128::from(BEFORE[at + 1].get()) << 64
}

/// The flags, among the registers of an interrupted thread.
fn flags(machine: &Machine) -> &core::cell::Cell<u64> {
    crate::memory::view(machine.rip.as_ptr() as usize + 8)
}

/// Begins to trace a thread that runs for too long.
pub(crate) fn trace(machine: &Machine) {
    IS_PROBED.store(false, Relaxed);
    begin(machine, MAX_INSTRUCTIONS);
}

/// Begins to trace a thread that may spin, for some instructions: its execution ends if its state
/// repeats.
pub(crate) fn probe(machine: &Machine, instructions: u32) {
    if !IS_TRACING.load(Relaxed) {
        IS_PROBED.store(true, Relaxed);
        begin(machine, instructions.min(MAX_INSTRUCTIONS));
    }
}

fn begin(machine: &Machine, limit: u32) {
    if IS_TRACING.swap(true, Relaxed) {
        return;
    }
    LIMIT.store(limit, Relaxed);
    INSTRUCTIONS.store(0, Relaxed);
    HASHES.store(0, Relaxed);
    flags(machine).set(flags(machine).get() | TRAP);
}

/// An instruction was traced; false if the trap has another reason.
pub(crate) fn is_traced(info: usize, machine: &Machine) -> bool {
    if load::<i32>(info + 8) != TRACED {
        return false;
    }
    let is_tracing = IS_TRACING.load(Relaxed);
    // In the shim it has come to a scheduling point.
    if !is_tracing || crate::text::is_our_text(machine.rip.get() as usize) {
        IS_TRACING.store(false, Relaxed);
        flags(machine).set(flags(machine).get() & !TRAP);
        return true;
    }
    let count = INSTRUCTIONS.fetch_add(1, Relaxed) + 1;
    let now = registers(machine);
    if count > 1 && now == kept(0) && memory(machine) == kept(2) {
        end(machine, true);
    }
    if count > LIMIT.load(Relaxed) || HASHES.load(Relaxed) > MAX_HASHES {
        if !IS_PROBED.load(Relaxed) {
            end(machine, false);
        }
        IS_TRACING.store(false, Relaxed);
        flags(machine).set(flags(machine).get() & !TRAP);
        return true;
    }
    if count.is_power_of_two() {
        keep(0, now);
        keep(2, memory(machine));
    }
    true
}

/// The hash of all registers of an interrupted thread.
fn registers(machine: &Machine) -> u128 {
    const GENERAL: usize = 18;
    /// The pointer to the vector registers, after the general ones and what the kernel adds.
    const VECTORS: usize = 23;
    let start = machine.r8.as_ptr() as usize;
    let before = flags(machine).get();
    flags(machine).set(before & !(TRAP | RESUME));
    let general = xxh3_128_with_seed(bytes(start, 8 * GENERAL), 0);
    flags(machine).set(before);
    match load::<usize>(start + 8 * VECTORS) {
        0 => general,
        area => general ^ vectors(area),
    }
}

/// The hash of saved vector registers, without what says how they were saved.
fn vectors(area: usize) -> u128 {
    const LEGACY: usize = 416;
    const MAGIC: usize = 464;
    const IS_EXTENDED: u32 = 0x4650_5853;
    const SIZE: usize = 480;
    const HEADER_END: usize = 576;
    let legacy = xxh3_128_with_seed(bytes(area, LEGACY), 1);
    if load::<u32>(area + MAGIC) != IS_EXTENDED {
        return legacy;
    }
    let size = (load::<u32>(area + SIZE) as usize).max(HEADER_END);
    legacy ^ xxh3_128_with_seed(bytes(area + HEADER_END, size - HEADER_END), 2)
}

/// The hash of the program's memory, with the stack of the interrupted thread.
fn memory(machine: &Machine) -> u128 {
    HASHES.fetch_add(1, Relaxed);
    let state = state();
    let low = machine.rsp.get() as usize - RED_ZONE;
    let top = state.current().stack_top();
    let stack = if low < top { bytes(low, top - low) } else { &[] };
    let kept = state.current().context.rsp.replace(top);
    let others = crate::fingerprint::of_memory(state);
    state.current().context.rsp.set(kept);
    others ^ crate::protection::lifted(|| xxh3_128_with_seed(stack, 3))
}

/// Ends the execution; says whether the state repeats.
fn end(machine: &Machine, repeats: bool) -> ! {
    IS_TRACING.store(false, Relaxed);
    let thread = state().current();
    thread.at.set([machine.rip.get(), machine.rsp.get(), machine.rbp.get()]);
    reply(|reply| reply.address = repeats.into());
    ended(Outcome::Hang, i32::from(thread.number.get()))
}
