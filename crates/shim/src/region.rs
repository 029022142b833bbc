//! The memory region shared with the checker.

use crate::sys::{number, sys};
use core::cell::Cell;
use core::mem::{MaybeUninit, size_of};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use everypath_commtree::Memory;
use everypath_shim_abi::address_space::{OWN_REGION, REGION, TREES};
use everypath_shim_abi::reserved_fds;
use everypath_shim_abi::{AdaptiveSpin, Counters, Futex, Region, Reply, Setup, Side, VERSION};

const _: () = assert!(size_of::<Memory>() <= REGION - TREES, "the trees overlap the region");

static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Maps the region; without one the program was not started by a checker.
pub(crate) fn open() -> bool {
    if is_open() {
        return own().version.get() == VERSION;
    }
    if !map(OWN_REGION, size_of::<Region>(), reserved_fds::REGION) {
        return false;
    }
    SETUP.0.set(MaybeUninit::new(own().setup.get()));
    let is_first = setup().process == 0;
    let first = if is_first { reserved_fds::REGION } else { reserved_fds::FIRST_REGION };
    if !map(REGION, size_of::<Region>(), first)
        || !map(TREES, size_of::<Memory>(), reserved_fds::TREES)
    {
        return false;
    }
    if !is_first {
        sys!(number::CLOSE, reserved_fds::FIRST_REGION);
    }
    sys!(number::CLOSE, reserved_fds::TREES);
    sys!(number::CLOSE, reserved_fds::REGION);
    sys!(number::CLOSE, reserved_fds::SHIM);
    // Most programs have none.
    let _ = sys!(number::CLOSE, reserved_fds::TSAN);
    MAPPED.store(REGION, Ordering::Relaxed);
    own().version.get() == VERSION
}

/// Maps what the checker hands over; false if it does not.
fn map(address: usize, length: usize, descriptor: i32) -> bool {
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
    let regions = [REGION, OWN_REGION];
    regions.into_iter().any(|start| within(start, size_of::<Region>()))
        || within(TREES, size_of::<Memory>())
}

/// The region of the first process, in which executions are recorded.
pub(crate) fn region() -> &'static Region {
    crate::memory::view(REGION)
}

/// The region of this process: what the checker tells it at the start.
pub(crate) fn own() -> &'static Region {
    crate::memory::view(OWN_REGION)
}

/// What was said to peers and what they answered: the checker lets it grow.
pub(crate) fn trees() -> &'static Memory {
    crate::memory::view(TREES)
}

/// What is fixed at the start: a copy, which the program does not write over with the region.
pub(crate) fn setup() -> Setup {
    // SAFETY: zeros are a setup, as in a region that is new; later it is the checker's.
    // JUSTIFICATION: there is no constant one.
    unsafe { SETUP.0.get().assume_init() }
}

struct Fixed(Cell<MaybeUninit<Setup>>);
// SAFETY: written once, before the program has threads. JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for Fixed {}
static SETUP: Fixed = Fixed(Cell::new(MaybeUninit::zeroed()));

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

/// How long to spin for the turn before sleeping.
struct OfController(Cell<AdaptiveSpin>);
// SAFETY: only the controller uses it. JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for OfController {}
static SPIN: OfController = OfController(Cell::new(AdaptiveSpin::new()));

/// Hands the turn to the checker and waits for it to come back.
pub(crate) fn hand_over() {
    give_back();
    let turn = &own().turn;
    if own().command.get().attentive {
        let mut spin = SPIN.0.get();
        spin.wait(|| turn.has(Side::Worker));
        SPIN.0.set(spin);
    }
    turn.wait(Side::Worker, &SysFutex);
}

/// Hands the turn to the checker.
pub(crate) fn give_back() {
    own().turn.give(Side::Checker, &SysFutex);
}

/// The kernel's futex.
pub(crate) struct SysFutex;

impl Futex<AtomicU32> for SysFutex {
    fn wait(&self, word: &AtomicU32, value: u32) {
        const FUTEX_WAIT: usize = 0;
        sys!(number::FUTEX, word.as_ptr(), FUTEX_WAIT, value, 0, 0, 0);
    }

    fn wake(&self, word: &AtomicU32) {
        const FUTEX_WAKE: usize = 1;
        sys!(number::FUTEX, word.as_ptr(), FUTEX_WAKE, i32::MAX, 0, 0, 0);
    }
}
