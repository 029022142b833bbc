//! The address space of a process under the shim.
//!
//! Everything lies at fixed addresses, so that an execution is the same in every process. Areas
//! follow each other below, in ascending order; none overlaps the next, which is checked when this is
//! compiled. The program itself and its libraries lie where the kernel puts them, without
//! randomisation: around `0x5555_0000_0000` and `0x7fff_0000_0000`.

use crate::{MAX_THREADS, Region};

/// The size of a page.
pub const PAGE: usize = 4096;

/// Memory of the shim that is not part of snapshots: from here to [`PRIVATE_END`].
pub const PRIVATE: usize = SNAPSHOTS;
/// Snapshots, [`MAX_SNAPSHOTS`] of them.
pub const SNAPSHOTS: usize = 0x5e00_0000_0000;
/// The size reserved for one snapshot.
pub const SNAPSHOT_SIZE: usize = 1 << 34;
/// How many snapshots are kept at the same time.
pub const MAX_SNAPSHOTS: u32 = 32;
/// Stacks of the kernel threads that the program's threads run on.
pub const KERNEL_STACKS: usize = 0x5e80_0000_0000;
/// Copies of the machine's files that the program has opened.
pub const FILE_COPIES: usize = 0x5ea0_0000_0000;
/// The size reserved for them.
pub const FILE_COPIES_SIZE: usize = 1 << 37;
/// Alternate signal stacks, one for each kernel thread.
pub const SIGNAL_STACKS: usize = 0x5ef0_0000_0000;
/// The context of copied functions and their log: see [`crate::access_log`].
pub const ACCESS_LOG: usize = 0x5ef8_0000_0000;
/// The end of the memory that is not part of snapshots.
pub const PRIVATE_END: usize = 0x5f00_0000_0000;

/// The region of this process.
pub const OWN_REGION: usize = 0x5ffd_0000_0000;
/// Communication trees.
pub const TREES: usize = 0x5ffe_0000_0000;
/// The region of the first process, for all processes of a closed system.
pub const REGION: usize = 0x5fff_0000_0000;

/// The scheduler's state, part of every snapshot.
pub const STATE: usize = 0x6000_0000_0000;
/// What the scheduler keeps beside its state, not part of snapshots.
pub const RUN_STATE: usize = 0x6003_0000_0000;
/// The table of descriptors, part of every snapshot as far as it is in use.
pub const DESCRIPTORS: usize = 0x6004_0000_0000;
/// Receive buffers of sockets and pipes.
pub const BUFFERS: usize = 0x6005_0000_0000;
/// Sockets, pipes and events, part of every snapshot as far as they are in use.
pub const OBJECTS: usize = 0x6006_0000_0000;
/// Stacks and thread-local storage: a slot for each thread. See [`stack_top`].
pub const SLOTS: usize = 0x6010_0000_0000;
/// The size of a slot.
pub const SLOT: usize = 0x200_0000;
/// The heap, one arena for each thread.
pub const HEAP: usize = 0x6100_0000_0000;
/// The size of an arena.
pub const ARENA: usize = 1 << 32;
/// The end of the heap.
pub const HEAP_END: usize = HEAP + MAX_THREADS * ARENA;

/// Within a slot: where the stack ends and thread-local storage begins.
const STACK_END: usize = 0x180_0000;
/// Within a slot: the guard below the stack, which is never mapped.
pub const GUARD: usize = 0x1_0000;
/// The size of a stack.
pub const STACK_SIZE: usize = STACK_END - GUARD;

/// How much room for trampolines is reserved beside a module that is patched.
pub const TRAMPOLINES_SIZE: usize = 0x40_0000;

/// The first address above the stack of a thread, which grows down to [`stack_bottom`].
pub const fn stack_top(thread: u16) -> usize {
    SLOTS + thread as usize * SLOT + STACK_END
}

/// The lowest address of the stack with this top: the guard is below.
pub const fn stack_bottom(top: usize) -> usize {
    top - STACK_SIZE
}

/// Whether an address is on the stack with this top.
pub const fn is_on_stack(top: u64, address: u64) -> bool {
    top - STACK_SIZE as u64 <= address && address < top
}

/// Whether an access at this address overflows the stack with this top: it lies in the guard, or in
/// the last page above, which the kernel could not use for the frame of a signal.
pub const fn overflows_stack(top: u64, address: u64) -> bool {
    let guard = top - STACK_END as u64;
    guard <= address && address < guard + (GUARD + PAGE) as u64
}

/// All areas with a size that is known here, ascending: start and length.
const AREAS: [(usize, usize); 15] = [
    (SNAPSHOTS, MAX_SNAPSHOTS as usize * SNAPSHOT_SIZE),
    (KERNEL_STACKS, 0),
    (FILE_COPIES, FILE_COPIES_SIZE),
    (SIGNAL_STACKS, 0),
    (ACCESS_LOG, 1 << 24),
    (PRIVATE_END, 0),
    (OWN_REGION, size_of::<Region>()),
    (TREES, 0),
    (REGION, size_of::<Region>()),
    (STATE, 0),
    (RUN_STATE, 0),
    (DESCRIPTORS, 0),
    (BUFFERS, 0),
    (OBJECTS, 0),
    (SLOTS, MAX_THREADS * SLOT),
];

const _: () = {
    let mut at = 1;
    while at < AREAS.len() {
        let (start, length) = AREAS[at - 1];
        assert!(start + length <= AREAS[at].0, "two areas overlap");
        assert!(start.is_multiple_of(PAGE), "an area does not start with a page");
        at += 1;
    }
    assert!(SLOTS + MAX_THREADS * SLOT <= HEAP, "the heap overlaps the stacks");
    assert!(HEAP_END <= 1 << 47, "the heap ends above user space");
    assert!(GUARD < STACK_END && STACK_END < SLOT, "a slot is a guard, a stack and storage");
};

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn the_guard_and_the_page_above_are_an_overflow() {
        let top = stack_top(3) as u64;
        let bottom = stack_bottom(stack_top(3)) as u64;
        assert!(overflows_stack(top, bottom - 1) && overflows_stack(top, bottom));
        assert!(!overflows_stack(top, bottom + PAGE as u64));
        assert!(!overflows_stack(top, bottom - GUARD as u64 - 1));
    }
    #[test]
    fn the_page_for_maintainers_shows_where_everything_lies() {
        let page = include_str!("../../../docs/dev/life-of-an-execution.md");
        for start in AREAS.map(|(start, _)| start).into_iter().chain([HEAP]) {
            let row = std::format!("| `{start:#x}` |");
            assert!(page.contains(&row), "no row {row}");
        }
    }
}
