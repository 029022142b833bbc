//! The program's heap: an address depends only on the allocations of the same thread.
//!
//! Each thread has an arena that grows upwards and free lists by size in the order of addresses. A
//! block goes to the thread that frees it. Memory is cleared when it is allocated and poisoned when it
//! is freed, so that equal states are equal bytes. `block`: headers, canaries and poison; `misuse`:
//! what is reported about them.

mod block;
mod leaks;
mod misuse;

pub(crate) use misuse::{allocation_of, check_at_exit, expect_allocated, name_block, obey};

use crate::libc::fail;
use crate::memory::{copy, load, round_up, store, zero};
use crate::protection::{self, holds};
use crate::state::state;
use crate::sys::errno;
use block::{Block, CANARY, CLASSES, HEADER, class_of};
use core::cell::Cell;
use everypath_shim_abi::address_space::{ARENA, HEAP, PAGE};
use misuse::{block_in_use, next_call};

/// The head of an arena: its free lists.
const HEAD: usize = CLASSES * 8;
/// Marks the header of an aligned block; the word after it is the start of the real block.
const ALIGNED: u64 = u64::MAX;
/// How far a free list is searched for a block's place: long lists lose their order, not time.
const SEARCH: usize = 64;

fn arena() -> usize {
    HEAP + usize::from(state().current.get()) * ARENA
}

fn allocate(size: usize) -> usize {
    let state = state();
    let arena = arena();
    let top = &state.arena_tops[usize::from(state.current.get())];
    open_if_new(arena, top);
    if size > ARENA / 2 {
        return 0;
    }
    let (class, whole) = class_of(size + CANARY);
    let list = arena + class * 8;
    let block = match load(list) {
        0 => {
            let block = Block(top.get() + HEADER);
            if block.0 + whole > arena + ARENA {
                crate::fail::stop!(
                    "a thread allocates more than 4 GiB of heap, the limit of its arena"
                );
            }
            top.set(block.0 + whole);
            protection::open_arena(top.get());
            block.make(class);
            block
        }
        first => {
            let block = Block(first);
            store(list, load::<usize>(block.link()));
            make_accessible(block);
            block
        }
    };
    block.allocate(size, next_call());
    block.0
}

/// Begins to use an arena.
fn open_if_new(arena: usize, top: &Cell<usize>) {
    if top.get() == 0 {
        protection::open_arena(arena + HEAD);
        zero(arena, HEAD);
        top.set(arena + HEAD);
    }
}

/// Lifts the protection of a block for good.
fn make_accessible(block: Block) {
    if protection::is_used() {
        let (low, high) = (round_up(block.0, PAGE), block.end() & !(PAGE - 1));
        if low < high && !protection::set(low, high - low, protection::READ_WRITE) {
            crate::fail::fatal("the kernel does not make memory accessible");
        }
    }
}

/// How many bytes from a pointer on may be used.
fn usable(pointer: usize) -> usize {
    match block_in_use(pointer) {
        Some(block) => block.0 + block.asked() - pointer,
        None => 0,
    }
}

fn release(pointer: usize) {
    // The loader's own early memory is never reused.
    let Some(block) = block_in_use(pointer) else { return };
    let has_moved = crate::summaries::free(pointer, block.0 + block.asked() - pointer);
    if has_moved && block_in_use(pointer).is_none() {
        return;
    }
    make_accessible(block);
    block.free(next_call());
    let arena = arena();
    let top = &state().arena_tops[usize::from(state().current.get())];
    open_if_new(arena, top);
    let mut link = arena + block.class() * 8;
    for _ in 0..SEARCH {
        let next: usize = load(link);
        if next == 0 || next > block.0 {
            break;
        }
        link = Block(next).link();
    }
    store(block.link(), load::<usize>(link));
    store(link, block.0);
}

/// A cleared block whose address is a multiple of `alignment`, a power of two.
pub(crate) fn allocate_aligned(alignment: usize, size: usize) -> usize {
    if alignment <= 16 {
        return allocate(size);
    }
    let Some(padded) = size.checked_add(alignment + HEADER) else { return 0 };
    let block = allocate(padded);
    if block == 0 {
        return 0;
    }
    let pointer = round_up(block + HEADER, alignment);
    store(pointer - HEADER, ALIGNED);
    store(pointer - HEADER + 8, block);
    // The canary is behind what was asked for, not behind what was needed for it.
    Block(block).resize(pointer + size - block);
    pointer
}

fn or_no_memory(pointer: usize) -> usize {
    if pointer == 0 {
        fail(errno::ENOMEM);
    }
    pointer
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> usize {
    or_no_memory(allocate(size))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn free(pointer: usize) {
    if pointer != 0 {
        release(pointer);
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> usize {
    or_no_memory(count.checked_mul(size).map_or(0, allocate))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn realloc(pointer: usize, size: usize) -> usize {
    if pointer == 0 {
        return malloc(size);
    }
    if size == 0 {
        free(pointer);
        return 0;
    }
    let Some(block) = block_in_use(pointer) else {
        // The loader's own early memory: how much of it, nobody knows.
        let new = or_no_memory(allocate(size));
        if new != 0 {
            copy(new, pointer, size.min(PAGE - pointer % PAGE));
        }
        return new;
    };
    let old = block.0 + block.asked() - pointer;
    let room = block.end() - CANARY - pointer;
    if size <= room && size >= room / 2 {
        block.unguard();
        block.resize(pointer + size - block.0);
        return pointer;
    }
    let new = allocate(size);
    if new != 0 {
        copy(new, pointer, old.min(size));
        release(pointer);
    }
    or_no_memory(new)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn reallocarray(pointer: usize, count: usize, size: usize) -> usize {
    match count.checked_mul(size) {
        Some(bytes) => realloc(pointer, bytes),
        None => or_no_memory(0),
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, size: usize) -> usize {
    or_no_memory(allocate_aligned(alignment.next_power_of_two(), size))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> usize {
    memalign(alignment, size)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn posix_memalign(result: usize, alignment: usize, size: usize) -> i32 {
    if !alignment.is_power_of_two() || alignment < 8 {
        return errno::EINVAL;
    }
    let pointer = allocate_aligned(alignment, size);
    if pointer == 0 {
        return errno::ENOMEM;
    }
    store(result, pointer);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn valloc(size: usize) -> usize {
    memalign(PAGE, size)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pvalloc(size: usize) -> usize {
    memalign(PAGE, round_up(size, PAGE))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn malloc_usable_size(pointer: usize) -> usize {
    if pointer == 0 { 0 } else { usable(pointer) }
}

/// Interposes libc's function: memory is never returned to the kernel.
#[unsafe(no_mangle)]
extern "C" fn malloc_trim(_keep: usize) -> i32 {
    0
}

/// In front of a mapping's header: how long the mapping is.
const LENGTH: usize = HEADER + 8;

/// A cleared block of whole pages.
pub(crate) fn allocate_mapping(length: usize) -> usize {
    let Some(padded) = length.checked_add(PAGE + 2 * HEADER) else { return 0 };
    let block = allocate(padded);
    if block == 0 {
        return 0;
    }
    let pointer = round_up(block + 2 * HEADER, PAGE);
    store(pointer - LENGTH, length);
    store(pointer - HEADER, ALIGNED);
    store(pointer - HEADER + 8, block);
    pointer
}

/// Gives pages back: to the free lists if they are a whole mapping, else they are only cleared.
pub(crate) fn release_mapping(address: usize, length: usize) {
    // Pages inside a mapping may hold anything, also what looks like a header, or be protected.
    let whole = protection::lifted_at(address - LENGTH, LENGTH, || {
        load::<u64>(address - HEADER) == ALIGNED
            && load::<usize>(address - LENGTH) == length
            && holds(load(address - HEADER + 8))
    });
    if whole {
        release(address);
    } else {
        zero(address, length);
    }
}

/// Makes a mapping shorter where it is.
pub(crate) fn shorten_mapping(address: usize, old: usize, new: usize) {
    zero(address + new, old - new);
    protection::lifted_at(address - LENGTH, LENGTH, || {
        if load::<usize>(address - LENGTH) == old {
            store(address - LENGTH, new);
        }
    });
}

/// Gives a block back.
pub(crate) fn release_block(address: usize) {
    release(address);
}
