//! Process faults: crash and restart.
//!
//! The fault injector of a process is a thread without code: its only step is to kill or not to
//! kill. That step is dependent on everything, so every placement of it among the steps of all
//! threads is explored.

use crate::descriptors::{self, RANGES};
use crate::memory::copy;
use crate::multi_process;
use crate::partition;
use crate::region::setup;
use crate::scheduler::withdraw;
use crate::snapshot;
use crate::state::{State, Status, Thread, state};
use crate::symmetry;
use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use everypath_shim_abi::{MAX_THREADS, Object, Operation, OperationKind, Splitmix};

/// The process is spared, killed, or killed and started again.
pub(crate) const WAYS: u32 = 3;
const SPARED: u16 = 0;
const STARTED_AGAIN: u16 = 2;

/// Whether processes may be killed.
pub(crate) fn is_possible() -> bool {
    setup().kills > 0 && multi_process::is_one_of_several()
}

fn kills(thread: &Thread) -> bool {
    thread.kind.get() == OperationKind::Kill
}

/// Adds a fault injector to this process, if it may be killed. The first one, which may not, has
/// that of the network instead.
pub(crate) fn appoint(state: &State) {
    let operation = match multi_process::is_first() {
        true if partition::is_possible() => Operation::Partition,
        false if is_possible() => Operation::Kill,
        _ => return,
    };
    let number = multi_process::main_thread() + multi_process::threads_each() - 1;
    let fate = state.thread(number);
    fate.number.set(number);
    fate.path.set(Splitmix(u64::from(number)).next());
    fate.announce(operation, Object::NONE);
    fate.set_status(Status::Ready);
    state.alive.set(state.alive.get() + 1);
    state.limit.set(state.limit.get().max(number + 1));
    state.selectable.set(state.selectable.get() + 1);
}

/// What this process was like before it ran, beside its memory.
struct Start {
    main: UnsafeCell<MaybeUninit<Thread>>,
    arena_tops: [Cell<usize>; MAX_THREADS],
    descriptors: [Cell<u16>; RANGES],
}
// SAFETY: only the controller uses it. JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for Start {}
static START: Start = Start {
    main: UnsafeCell::new(MaybeUninit::uninit()),
    arena_tops: [const { Cell::new(0) }; MAX_THREADS],
    descriptors: [const { Cell::new(0) }; RANGES],
};

/// The numbers of the threads of this process.
fn own_numbers() -> core::ops::Range<usize> {
    let first = usize::from(multi_process::main_thread());
    first..first + usize::from(multi_process::threads_each())
}

/// Writes down what a process starts from again.
pub(crate) fn remember_start() {
    let state = state();
    let main = state.thread(multi_process::main_thread());
    copy(START.main.get() as usize, (&raw const *main) as usize, size_of::<Thread>());
    for number in own_numbers() {
        START.arena_tops[number].set(state.arena_tops[number].get());
    }
    descriptors::keep_used(&START.descriptors);
}

/// The fault injector of this process was chosen: injects the fault.
pub(crate) fn meet(fate: &Thread) {
    match fate.kind.get() {
        OperationKind::Partition => partition::meet(fate),
        _ => kill(fate),
    }
}

fn kill(fate: &Thread) {
    let state = state();
    let outcome = fate.outcome.get();
    if outcome == SPARED {
        return withdraw(fate);
    }
    state.kills.set(state.kills.get() + 1);
    symmetry::be_seen(state, multi_process::process());
    let section = state.exclusive.get().checked_sub(1);
    if section.is_some_and(|thread| multi_process::owner(thread) == multi_process::process()) {
        state.exclusive.set(0);
        state.sections.set(0);
    }
    let threads = || state.own_threads().filter(|thread| !thread.is_injector());
    threads().filter(|thread| thread.is_alive()).for_each(withdraw);
    descriptors::drop_objects();
    if outcome == STARTED_AGAIN {
        threads().for_each(|thread| thread.set_status(Status::Free));
        start_again(state);
    }
    let is_over = state.kills.get() >= setup().kills;
    for other in state.threads().filter(|other| kills(other) && other.is_alive()) {
        let is_this = core::ptr::eq(other, fate);
        if is_over || is_this && outcome != STARTED_AGAIN {
            withdraw(other);
        }
    }
}

/// Puts this process back to its start, while others go on.
fn start_again(state: &State) {
    snapshot::restore_first();
    let main = state.thread(multi_process::main_thread());
    copy((&raw const *main) as usize, START.main.get() as usize, size_of::<Thread>());
    main.set_status(Status::Ready);
    for number in own_numbers() {
        state.arena_tops[number].set(START.arena_tops[number].get());
    }
    descriptors::restore_used(&START.descriptors);
    let unjoined = state.own_unjoined[multi_process::process()].replace(0);
    state.unjoined.set(state.unjoined.get() - unjoined);
    state.alive.set(state.alive.get() + 1);
}
