//! Misuse of the heap: double and invalid frees, and writes behind the end of a block.

use super::block::{Block, HEADER, Use};
use super::{ALIGNED, HEAD, holds};
use crate::ending;
use crate::memory::load;
use crate::protection;
use crate::region::setup;
use crate::state::state;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::address_space::{ARENA, HEAP, HEAP_END, SLOTS};
use everypath_shim_abi::{HeapMisuse, MAX_THREADS, Object, ObjectKind, Outcome, Setup};

/// Whether calls are counted: not where equal states must be equal bytes.
static IS_COUNTED: AtomicBool = AtomicBool::new(false);
/// The call at which the execution ends, for somebody to look at its stack; 0 if there is none.
static STOP: AtomicU32 = AtomicU32::new(0);
/// Whether there are canaries and poison.
static IS_GUARDED: AtomicBool = AtomicBool::new(true);

/// The detail of that end: no misuse.
const STOPPED: i32 = -1;

/// Takes over what is fixed at the start.
pub(crate) fn obey(setup: &Setup) {
    IS_COUNTED.store(!setup.canonical, Relaxed);
    STOP.store(setup.heap_stop, Relaxed);
    IS_GUARDED.store(!setup.unchecked_heap, Relaxed);
}

/// Whether there are canaries and poison.
pub(super) fn is_guarded() -> bool {
    IS_GUARDED.load(Relaxed)
}

/// Counts a call that allocates or frees, and ends the execution if that is the one to stop at.
pub(super) fn next_call() -> u32 {
    if !IS_COUNTED.load(Relaxed) {
        return 0;
    }
    let calls = &state().heap_calls;
    calls.set(calls.get().wrapping_add(1));
    if STOP.load(Relaxed) == calls.get() {
        ending::ended(Outcome::HeapMisuse, STOPPED)
    }
    calls.get()
}

/// The block of an address that the program frees or resizes; none if it is not of our heap, but of
/// the loader's own early memory. Ends the execution if it is no block in use.
pub(super) fn block_in_use(pointer: usize) -> Option<Block> {
    protection::lifted_at(pointer - HEADER, HEADER, || find_in_use(pointer))
}

fn find_in_use(pointer: usize) -> Option<Block> {
    if !holds(pointer) {
        // The rest is the loader's or unknown; the stacks of threads are ours.
        if (SLOTS..HEAP).contains(&pointer) {
            report(HeapMisuse::InvalidFree, None, format_args!("on a stack"));
        }
        if crate::text::is_of_program(pointer) {
            report(HeapMisuse::InvalidFree, None, format_args!("a static variable or constant"));
        }
        return None;
    }
    let Some(block) = block_at(pointer) else { invalid(pointer) };
    match block.usage() {
        Some(Use::Allocated | Use::Reached) => {}
        Some(Use::Freed) => double_free(block),
        None => invalid(pointer),
    }
    if !protection::lifted_at(block.0, block.size(), || block.is_intact()) {
        overflow(block);
    }
    Some(block)
}

/// The block that an address is the beginning of, or of whose aligned part; none if there is none.
pub(super) fn block_at(pointer: usize) -> Option<Block> {
    let arena = (pointer - HEAP) / ARENA;
    let top = state().arena_tops.get(arena)?.get();
    let first = HEAP + arena * ARENA + HEAD + HEADER;
    let is_block = |at: usize| at.is_multiple_of(16) && (first..top).contains(&at);
    if !is_block(pointer) {
        return None;
    }
    if load::<u64>(pointer - HEADER) != ALIGNED {
        return Some(Block(pointer));
    }
    let start: usize = load(pointer - 8);
    (is_block(start) && start < pointer).then_some(Block(start))
}

/// The address is no beginning of a block in use: of a block that was freed, or of none.
fn invalid(pointer: usize) -> ! {
    match around(pointer) {
        // An aligned part has its header in the block, which is poisoned.
        Some(block) if block.usage() == Some(Use::Freed) => double_free(block),
        Some(block) => {
            let (offset, size) = (pointer - block.0, block.asked());
            let what = format_args!("{offset} bytes behind the start of a block of {size} bytes");
            report(HeapMisuse::InvalidFree, Some(block), what)
        }
        None => report(HeapMisuse::InvalidFree, None, format_args!("of the heap, but no block")),
    }
}

fn double_free(block: Block) -> ! {
    let size = block.size();
    report(HeapMisuse::DoubleFree, Some(block), format_args!("of up to {size} bytes"))
}

fn overflow(block: Block) -> ! {
    let size = block.asked();
    report(HeapMisuse::Overflow, Some(block), format_args!("of {size} bytes"))
}

/// The block of an arena in which an address lies.
pub(super) fn around(pointer: usize) -> Option<Block> {
    let arena = (pointer - HEAP) / ARENA;
    blocks(arena).find(|block| (block.0..block.end()).contains(&pointer))
}

/// The blocks of an arena, up to the first without a header.
pub(super) fn blocks(arena: usize) -> impl Iterator<Item = Block> {
    let top = state().arena_tops[arena].get();
    let mut next = HEAP + arena * ARENA + HEAD;
    core::iter::from_fn(move || {
        let block = Block(next + HEADER);
        let is_one = next != 0 && block.0 < top && block.usage().is_some();
        next = if is_one { block.end() } else { 0 };
        is_one.then_some(block)
    })
}

/// Looks at all blocks when the process exits: nobody frees what is left, so nobody else would
/// notice a write behind its end. Also looks for leaks, if somebody asked for that.
pub(crate) fn check_at_exit() {
    if is_guarded() {
        protection::lifted(check_all);
    }
    if setup().leaks
        && let Some(block) = protection::lifted(super::leaks::first)
    {
        let size = block.asked();
        report(HeapMisuse::Leak, Some(block), format_args!("of {size} bytes"));
    }
}

fn check_all() {
    for arena in (0..MAX_THREADS).filter(|&arena| state().arena_tops[arena].get() != 0) {
        let mut last = None;
        for block in blocks(arena) {
            last = Some(block);
            if block.usage() == Some(Use::Allocated) && !block.is_intact() {
                overflow(block);
            }
        }
        // The header behind it was overwritten.
        if let Some(block) = last.filter(|last| last.end() < state().arena_tops[arena].get()) {
            overflow(block);
        }
    }
}

/// Says which block an address lies in, if it does, of the execution that is about to end.
pub(crate) fn name_block(address: usize) {
    let is_ours = (HEAP..HEAP_END).contains(&address);
    if let Some(block) = is_ours.then(|| around(address)).flatten() {
        let (offset, size) = (address - block.0, block.asked());
        crate::region::reply(|reply| reply.heap_calls = block.calls());
        ending::say(format_args!("{offset} bytes into a block of {size} bytes"));
    }
}

/// Ends the execution if an address that is about to be accessed is in a block that was freed.
pub(crate) fn expect_allocated(address: usize) {
    if !holds(address) || load::<u64>(address & !7) != super::block::POISON_WORD {
        return;
    }
    if let Some(block) = around(address).filter(|block| block.usage() == Some(Use::Freed)) {
        let (offset, size) = (address - block.0, block.size());
        let what = format_args!("{offset} bytes into a block of up to {size} bytes");
        report(HeapMisuse::UseAfterFree, Some(block), what);
    }
}

/// The call that allocated the block in which an object of this process lies; 0 if there is none. Told
/// only of executions that somebody wants to read.
pub(crate) fn allocation_of(object: Object) -> u32 {
    let ObjectKind::Memory { address, .. } = object.kind() else { return 0 };
    let address = address as usize;
    if !setup().chronicle || !holds(address) {
        return 0;
    }
    protection::lifted(|| around(address).map_or(0, |block| block.calls()[0]))
}

/// Ends the execution.
fn report(misuse: HeapMisuse, block: Option<Block>, what: fmt::Arguments<'_>) -> ! {
    let calls = block.map_or([0; 2], Block::calls);
    crate::region::reply(|reply| reply.heap_calls = calls);
    ending::ended_with(Outcome::HeapMisuse, misuse as i32, what)
}
