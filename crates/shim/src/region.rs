//! The memory shared with the checker.

use crate::sys::{number, sys};
use core::cell::Cell;
use core::mem::size_of;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use everypath_commtree::Memory;
use everypath_shim_abi::{AdaptiveSpin, Counters, Handoff, Region, Reply, Setup, VERSION};

/// The descriptor under which the checker hands the region over.
pub(crate) const DESCRIPTOR: usize = 198;
/// The descriptor under which the loader found this library.
const LIBRARY: usize = 199;
const ADDRESS: usize = 0x5fff_0000_0000;
/// Where the region of this process is; that of the first process is at `ADDRESS` for all.
const OWN_ADDRESS: usize = 0x5ffd_0000_0000;
/// The descriptor under which the checker hands over the region of the first process.
const FIRST_DESCRIPTOR: usize = 195;
/// The descriptor under which the checker hands over what was said to peers.
const TREES_DESCRIPTOR: usize = 197;
const TREES_ADDRESS: usize = 0x5ffe_0000_0000;

static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Maps the region; without one the program was not started by a checker.
pub(crate) fn open() -> bool {
    if is_open() {
        return own().version.get() == VERSION;
    }
    if !map(OWN_ADDRESS, size_of::<Region>(), DESCRIPTOR) {
        return false;
    }
    let is_first = own().setup.get().process == 0;
    let first = if is_first { DESCRIPTOR } else { FIRST_DESCRIPTOR };
    if !map(ADDRESS, size_of::<Region>(), first)
        || !map(TREES_ADDRESS, size_of::<Memory>(), TREES_DESCRIPTOR)
    {
        return false;
    }
    if !is_first {
        sys!(number::CLOSE, FIRST_DESCRIPTOR);
    }
    sys!(number::CLOSE, TREES_DESCRIPTOR);
    sys!(number::CLOSE, DESCRIPTOR);
    sys!(number::CLOSE, LIBRARY);
    MAPPED.store(ADDRESS, Ordering::Relaxed);
    own().version.get() == VERSION
}

/// Maps what the checker hands over; false if it does not.
fn map(address: usize, length: usize, descriptor: usize) -> bool {
    const READ_WRITE: usize = 3;
    const SHARED_FIXED_NOREPLACE: usize = 0x10_0001;
    let flags = SHARED_FIXED_NOREPLACE;
    let got = sys!(number::MMAP, address, length, READ_WRITE, flags, descriptor, 0);
    got == address as isize
}

/// Whether there is a region.
pub(crate) fn is_open() -> bool {
    MAPPED.load(Ordering::Relaxed) != 0
}

/// Whether an address lies in it, or in what else is shared.
pub(crate) fn holds(address: usize) -> bool {
    let within = |start: usize, length: usize| (start..start + length).contains(&address);
    let regions = [ADDRESS, OWN_ADDRESS];
    regions.into_iter().any(|start| within(start, size_of::<Region>()))
        || within(TREES_ADDRESS, size_of::<Memory>())
}

/// The region of the first process, in which executions are written down.
pub(crate) fn region() -> &'static Region {
    crate::memory::view(ADDRESS)
}

/// The region of this process: what the checker tells it at the start.
pub(crate) fn own() -> &'static Region {
    crate::memory::view(OWN_ADDRESS)
}

/// What was said to peers and what they answered: the checker lets it grow.
pub(crate) fn trees() -> &'static Memory {
    crate::memory::view(TREES_ADDRESS)
}

/// What is fixed at the start.
pub(crate) fn setup() -> Setup {
    own().setup.get()
}

/// Changes the reply, in place: a copy of it on the stack of a thread would become part of its
/// state.
pub(crate) fn reply(change: impl FnOnce(&mut Reply)) {
    // SAFETY: it is our turn, one thread of the program runs at a time, and no change looks at the
    // reply by another way. JUSTIFICATION: a cell can only be changed as a whole.
    change(unsafe { &mut *region().reply.as_ptr() });
}

/// Changes the counters.
pub(crate) fn count(change: impl FnOnce(&mut Counters)) {
    // SAFETY: as for `reply`.
    change(unsafe { &mut *region().counters.as_ptr() });
}

/// How long is waited for the turn before sleeping.
struct OfController(Cell<AdaptiveSpin>);
// SAFETY: only the controller uses it. JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for OfController {}
static PATIENCE: OfController = OfController(Cell::new(AdaptiveSpin::new()));

/// Hands the turn to the checker and waits for it to come back.
pub(crate) fn hand_over() {
    give_back();
    let turn = &own().turn;
    if own().command.get().attentive {
        let mut patience = PATIENCE.0.get();
        patience.wait(|| turn.is(Handoff::Worker));
        PATIENCE.0.set(patience);
    }
    while let Some(asleep) = turn.doze(Handoff::Checker) {
        wait(turn.word(), asleep);
    }
}

/// Hands the turn to the checker.
pub(crate) fn give_back() {
    let turn = &own().turn;
    if turn.give(Handoff::Checker) {
        wake(turn.word());
    }
}

/// Sleeps while the word has a value.
pub(crate) fn wait(word: &AtomicU32, value: u32) {
    const FUTEX_WAIT: usize = 0;
    sys!(number::FUTEX, word.as_ptr(), FUTEX_WAIT, value, 0, 0, 0);
}

/// Wakes whoever sleeps on the word.
pub(crate) fn wake(word: &AtomicU32) {
    const FUTEX_WAKE: usize = 1;
    sys!(number::FUTEX, word.as_ptr(), FUTEX_WAKE, i32::MAX, 0, 0, 0);
}
