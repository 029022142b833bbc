//! Protection of the program's pages: what `mprotect`, `mmap` and `munmap` ask for, done by the kernel.
//!
//! All memory that is part of snapshots is readable and writable, but for the ranges in a table that
//! is part of snapshots itself. Whoever saves, restores or hashes memory lifts the protection of these
//! before ([`lift`]) and restores it after ([`apply`]); most programs have none, and pay nothing.
//!
//! An arena of the heap is accessible only as far as it is used, in steps of [`STEP`]: a write far
//! behind its last block faults, as it would natively.

use crate::multi_process;
use crate::state::{MAX_RANGES, Range, State, state};
use crate::sys::{number, sys};
use crate::{snapshot, write_protect};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::MAX_THREADS;
use everypath_shim_abi::address_space::{ARENA, HEAP, HEAP_END, PAGE, SLOTS};

/// No access.
pub(crate) const NONE: usize = 0;
/// Readable and writable.
pub(crate) const READ_WRITE: usize = 3;
/// Not mapped: no access, and no protection can be changed there.
pub(crate) const UNMAPPED: usize = 8;

fn ranges(state: &State) -> &[Cell<Range>] {
    &state.protected.ranges[..state.protected_count.get() as usize]
}

/// Whether anything is protected.
pub(crate) fn is_used() -> bool {
    state().protected_count.get() != 0
}

fn protect(start: usize, end: usize, protection: usize) -> bool {
    let accessible = if protection == UNMAPPED { NONE } else { protection };
    sys!(number::MPROTECT, start, end - start, accessible) == 0
}

/// Makes all memory readable and writable for us.
pub(crate) fn lift() {
    for range in ranges(state()).iter().map(Cell::get) {
        protect(range.start, range.end, READ_WRITE);
    }
}

/// Protects again what the program has protected.
pub(crate) fn apply() {
    for range in ranges(state()).iter().map(Cell::get) {
        protect(range.start, range.end, range.protection);
    }
}

/// Whether a part of some bytes is protected.
pub(crate) fn meets(start: usize, length: usize) -> bool {
    let meets = |range: Range| range.start < start + length && range.end > start;
    is_used() && ranges(state()).iter().any(|range| meets(range.get()))
}

/// Accesses some bytes, of which the program may have protected a part.
pub(crate) fn lifted_at<T>(start: usize, length: usize, access: impl FnOnce() -> T) -> T {
    if meets(start, length) { lifted(access) } else { access() }
}

/// Accesses all memory, of which the program may have protected a part. That takes two syscalls for
/// each protected range, so it is not for what a program does often.
pub(crate) fn lifted<T>(access: impl FnOnce() -> T) -> T {
    if !is_used() {
        return access();
    }
    lift();
    let result = access();
    apply();
    result
}

/// Whether a part of some pages is not mapped any more.
pub(crate) fn is_unmapped(start: usize, length: usize) -> bool {
    let meets = |range: Range| range.start < start + length && range.end > start;
    let mut ranges = ranges(state()).iter().map(Cell::get);
    ranges.any(|range| range.protection == UNMAPPED && meets(range))
}

/// Whether some pages are part of snapshots, and so readable and writable but for the table.
pub(crate) fn is_restored(start: usize, length: usize) -> bool {
    let end = start + length;
    let is_stack = SLOTS <= start && end <= HEAP;
    let mut fixed = snapshot::fixed();
    is_used_heap(start, length)
        || is_stack
        || fixed.any(|span| span.address <= start && end <= span.address + span.length)
}

/// Whether an address is in the program's heap.
pub(crate) fn holds(address: usize) -> bool {
    (HEAP..HEAP_END).contains(&address)
}

/// Whether some bytes are all in the used part of an arena.
pub(crate) fn is_used_heap(address: usize, length: usize) -> bool {
    let top = |address: usize| state().arena_tops[(address - HEAP) / ARENA].get();
    holds(address) && address + length <= top(address)
}

/// Protects pages; false if the kernel does not, or if there are too many ranges.
pub(crate) fn set(start: usize, length: usize, protection: usize) -> bool {
    let end = start + length;
    if protection == READ_WRITE && !meets(start, length) {
        return true;
    }
    // A page that is not restored because nobody has written it is written from now on.
    if !holds(start) {
        write_protect::expect_write(start, length);
    }
    if state().protected_count.get() as usize + 2 > MAX_RANGES || !protect(start, end, protection) {
        return false;
    }
    cut_out(start, end);
    if protection != READ_WRITE {
        add(Range { start, end, protection });
    }
    true
}

/// Takes pages out of the table.
fn cut_out(start: usize, end: usize) {
    let state = state();
    let mut at = 0;
    while at < state.protected_count.get() as usize {
        let range = state.protected.ranges[at].get();
        if range.end <= start || range.start >= end {
            at += 1;
            continue;
        }
        let last = state.protected_count.get() as usize - 1;
        state.protected.ranges[at].set(state.protected.ranges[last].get());
        state.protected_count.set(last as u32);
        // What is left of it meets the pages no more.
        if range.start < start {
            add(Range { end: start, ..range });
        }
        if range.end > end {
            add(Range { start: end, ..range });
        }
    }
}

/// Adds a range, to a neighbour that is protected alike if there is one.
fn add(range: Range) {
    let state = state();
    let alike = |other: &Range| {
        other.protection == range.protection
            && (other.end == range.start || other.start == range.end)
    };
    if let Some(other) = ranges(state).iter().find(|other| alike(&other.get())) {
        let Range { start, end, protection } = other.get();
        other.set(Range { start: start.min(range.start), end: end.max(range.end), protection });
        return;
    }
    let count = state.protected_count.get();
    state.protected.ranges[count as usize].set(range);
    state.protected_count.set(count + 1);
}

/// An arena becomes accessible in steps of at least so many bytes.
const STEP: usize = 2 << 20;

/// Up to where each arena is accessible; 0 if it is not.
static ACCESSIBLE: [AtomicUsize; MAX_THREADS] = [const { AtomicUsize::new(0) }; MAX_THREADS];
/// How many arenas are accessible beyond their first step.
static GROWN: AtomicUsize = AtomicUsize::new(0);

/// Up to where an arena is accessible that is used up to `top`: a function of that alone, so that a
/// write behind it faults in every execution or in none.
fn accessible(arena: usize, top: usize) -> usize {
    let used = top - arena;
    let step = (used / 4).next_power_of_two().max(STEP);
    arena + used.next_multiple_of(step).clamp(STEP, ARENA)
}

/// Makes an arena accessible that will be used up to `top`.
pub(crate) fn open_arena(top: usize) {
    let index = (top - 1 - HEAP) / ARENA;
    let arena = HEAP + index * ARENA;
    let opened = &ACCESSIBLE[index];
    let before = opened.load(Relaxed).max(arena);
    if top <= before {
        return;
    }
    let after = accessible(arena, top);
    if !protect(before, after, READ_WRITE) {
        crate::fail::fatal("the kernel gives no memory for the heap");
    }
    if after > arena + STEP && before <= arena + STEP {
        GROWN.fetch_add(1, Relaxed);
    }
    opened.store(after, Relaxed);
}

/// Makes arenas inaccessible where they are used no more, after a restore.
pub(crate) fn close_arenas() {
    if GROWN.load(Relaxed) == 0 {
        return;
    }
    GROWN.store(0, Relaxed);
    for (index, opened) in ACCESSIBLE.iter().enumerate() {
        let arena = HEAP + index * ARENA;
        let own = multi_process::owner(index as u16) == multi_process::process();
        let top = state().arena_tops[index].get().max(arena);
        let (before, after) = (opened.load(Relaxed), accessible(arena, top));
        if own && before > after {
            protect(after, before, NONE);
            opened.store(after, Relaxed);
        }
        GROWN.fetch_add(usize::from(opened.load(Relaxed) > arena + STEP), Relaxed);
    }
}

const _: () = assert!(STEP.is_multiple_of(PAGE), "steps are whole pages");
