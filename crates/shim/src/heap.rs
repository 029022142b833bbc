//! The program's heap: an address depends only on the allocations of the same thread.
//!
//! Each thread has an arena that grows upwards and free lists by size in the order of addresses. A
//! block goes to the thread that frees it. Memory is cleared when it is freed and when it is first
//! used, so that equal states are equal bytes.

use crate::libc::fail;
use crate::memory::{copy, load, round_up, store, zero};
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::address_space::{ARENA, HEAP, HEAP_END, PAGE};

/// In front of every block: its class and, for an aligned block, how far back its start is.
const HEADER: usize = 16;
const CLASSES: usize = 160;
/// The head of an arena: its free lists.
const HEAD: usize = CLASSES * 8;
/// Marks the header of an aligned block; the word after it is the start of the real block.
const ALIGNED: u64 = u64::MAX;
/// How far a free list is searched for a block's place: long lists lose their order, not time.
const SEARCH: usize = 64;

/// The class of a size, and the size of its blocks.
fn class(size: usize) -> (usize, usize) {
    let size = round_up(size.max(16), 16);
    if size <= 512 {
        return (size / 16, size);
    }
    let shift = (size - 1).ilog2() as usize;
    let step = 1 << (shift - 2);
    let rounded = round_up(size, step);
    (33 + (shift - 9) * 4 + (rounded - (1 << shift)) / step - 1, rounded)
}

fn arena() -> usize {
    HEAP + usize::from(state().current.get()) * ARENA
}

fn allocate(size: usize) -> usize {
    let state = state();
    let arena = arena();
    let top = &state.arena_tops[usize::from(state.current.get())];
    if top.get() == 0 {
        zero(arena, HEAD);
        top.set(arena + HEAD);
    }
    if size > ARENA / 2 {
        return 0;
    }
    let (class, size) = class(size);
    let list = arena + class * 8;
    let first: usize = load(list);
    if first != 0 {
        store(list, load::<usize>(first));
        store(first, 0usize);
        return first;
    }
    let block = top.get() + HEADER;
    if block + size > arena + ARENA {
        crate::fail::stop!("a thread allocates more than 4 GiB of heap, the limit of its arena");
    }
    top.set(block + size);
    store(block - HEADER, class as u64);
    store(block - HEADER + 8, size);
    zero(block, size);
    block
}

/// The start and the size of the real block around a pointer.
fn real_block(pointer: usize) -> (usize, usize) {
    let block = match load::<u64>(pointer - HEADER) {
        ALIGNED => load(pointer - HEADER + 8),
        _ => pointer,
    };
    (block, load(block - HEADER + 8))
}

fn usable(pointer: usize) -> usize {
    let (block, size) = real_block(pointer);
    block + size - pointer
}

fn release(pointer: usize) {
    if !(HEAP..HEAP_END).contains(&pointer) {
        // Not ours: the loader's own early memory. It is never reused.
        return;
    }
    let (block, size) = real_block(pointer);
    zero(block, size);
    let arena = arena();
    if state().arena_tops[usize::from(state().current.get())].get() == 0 {
        allocate(0);
    }
    let mut link = arena + load::<u64>(block - HEADER) as usize * 8;
    for _ in 0..SEARCH {
        let next: usize = load(link);
        if next == 0 || next > block {
            break;
        }
        link = next;
    }
    store(block, load::<usize>(link));
    store(link, block);
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
    pointer
}

/// Whether an address is in the program's heap.
pub(crate) fn holds(address: usize) -> bool {
    (HEAP..HEAP_END).contains(&address)
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
    let old = usable(pointer);
    if size <= old && size >= old / 2 {
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
    // Pages inside a mapping may hold anything, also what looks like a header.
    let whole = load::<u64>(address - HEADER) == ALIGNED
        && load::<usize>(address - LENGTH) == length
        && holds(load(address - HEADER + 8));
    if whole {
        release(address);
    } else {
        zero(address, length);
    }
}

/// Makes a mapping shorter where it is.
pub(crate) fn shorten_mapping(address: usize, old: usize, new: usize) {
    zero(address + new, old - new);
    if load::<usize>(address - LENGTH) == old {
        store(address - LENGTH, new);
    }
}

/// Gives a block back.
pub(crate) fn release_block(address: usize) {
    release(address);
}
