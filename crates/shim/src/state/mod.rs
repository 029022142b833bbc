//! The scheduler's view of the program; part of every snapshot.

use crate::above::Above;
use crate::memory::{Span, map, round_up, view};
use crate::multi_process;
use crate::tables::SLOTS_LENGTH;
use crate::worker::KERNEL;
use core::cell::Cell;
use core::mem::{offset_of, size_of};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use everypath_shim_abi::address_space::{DESCRIPTORS, HEAP, HEAP_END, PAGE, RUN_STATE, STATE};
use everypath_shim_abi::{MAX_PROCESSES, MAX_THREADS, Object, Outcome, Waiting};

mod access;
mod files;
mod ranges;
mod settings;
mod thread;

pub(crate) use access::{Access, MOST_ACCESSES};
pub(crate) use files::{CHANGED, Changed, Files, WRITTEN, Written};
pub(crate) use ranges::{MAX_RANGES, Range, Ranges};
pub(crate) use settings::{Identity, Settings};
pub(crate) use thread::{
    Cancellation, FIRST_TID, Interruption, Place, Stage, Status, Thread, Within,
};

/// How many keys of thread-specific data a process has.
pub(crate) const KEYS: usize = 1024;

/// How an execution ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) detail: i32,
}

/// A set of threads.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Threads([Cell<u64>; 2]);

impl Threads {
    /// Adds or removes a thread.
    pub(crate) fn change(&self, number: u16, member: bool) {
        let half = &self.0[usize::from(number / 64) % 2];
        let bit = 1 << (number % 64);
        half.set(if member { half.get() | bit } else { half.get() & !bit });
    }

    /// Whether a thread is a member.
    pub(crate) fn contains(&self, number: u16) -> bool {
        self.bits() >> number & 1 != 0
    }

    /// Removes all.
    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|half| half.set(0));
    }

    /// A bit for each member.
    pub(crate) fn bits(&self) -> u128 {
        u128::from(self.0[0].get()) | u128::from(self.0[1].get()) << 64
    }
}

/// Where a page begins.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(crate) struct PageStart;

/// The state of the program that its own memory does not hold. Up to `own`, processes of a system
/// have it in common.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct State {
    pub(crate) current: Cell<u16>,
    /// How many threads have not ended.
    pub(crate) alive: Cell<u16>,
    /// How many threads were created and have not been joined.
    pub(crate) unjoined: Cell<u16>,
    /// One more than the highest number of a thread that there is.
    pub(crate) limit: Cell<u16>,
    /// The runnable threads.
    pub(crate) ready: Threads,
    /// The blocked threads.
    pub(crate) blocked: Threads,
    /// Threads that have yielded: blocked until another thread has taken a step.
    pub(crate) standing: Threads,
    /// How many wait with a deadline.
    pub(crate) deadlines: Cell<u16>,
    /// How many wait for a wakeup that chooses its waiter, or choose by themselves.
    pub(crate) selectable: Cell<u16>,
    /// One more than the number of the thread that is inside an atomic section; 0 if none is.
    pub(crate) exclusive: Cell<u16>,
    /// In how many atomic sections it is, one inside the other.
    pub(crate) sections: Cell<u16>,
    /// The kernel's state, beside objects and descriptors.
    pub(crate) kernel: everypath_vkernel::State,
    /// A word that the present step may change, and so free a lock; 0 if there is none.
    pub(crate) freed: Cell<usize>,
    /// Virtual nanoseconds since the start.
    pub(crate) clock: Cell<u64>,
    /// Rounds in which every thread that could run stood back.
    pub(crate) idle_rounds: Cell<u32>,
    /// What the program that is checked exited with, if it has and others go on.
    pub(crate) exit_code: Cell<i32>,
    /// How often a process was killed.
    pub(crate) kills: Cell<u16>,
    /// How many threads woke up spuriously.
    pub(crate) spurious: Cell<u16>,
    /// How many calls to create a thread failed on purpose.
    pub(crate) refused_threads: Cell<u16>,
    /// How often the network was cut.
    pub(crate) partitions: Cell<u16>,
    /// How many spins went on before others had moved.
    pub(crate) insisted: Cell<u16>,
    /// Which processes have used the network, a bit each: see `symmetry`.
    pub(crate) seen: Cell<u16>,
    /// How many threads each process has created that have not been joined.
    pub(crate) own_unjoined: [Cell<u16>; MAX_PROCESSES],
    /// Where the heap of each thread ends.
    pub(crate) arena_tops: [Cell<usize>; MAX_THREADS],
    pub(crate) threads: [Thread; MAX_THREADS],
    pub(crate) own: PageStart,
    pub(crate) umask: Cell<u32>,
    /// How many ranges of pages are protected.
    pub(crate) protected_count: Cell<u32>,
    /// How often memory was allocated or freed.
    pub(crate) heap_calls: Cell<u32>,
    /// What the kernel knows of this process alone.
    pub(crate) own_kernel: everypath_vkernel::OwnState,
    pub(crate) settings: Settings,
    pub(crate) files: Files,
    /// How many keys of thread-specific data were made.
    pub(crate) keys: Cell<u32>,
    pub(crate) key_destructors: [Cell<usize>; KEYS],
    pub(crate) pages: PageStart,
    /// The program's pages that are not readable and writable.
    pub(crate) protected: Ranges,
}

const _: () = assert!(size_of::<State>() <= RUN_STATE - STATE, "the state overlaps the run state");

static MAPPED: AtomicBool = AtomicBool::new(false);

/// The state. It is zeros until the first call maps it.
pub(crate) fn state() -> &'static State {
    if !MAPPED.load(Relaxed) {
        prepare();
    }
    view(STATE)
}

#[cold]
fn prepare() {
    MAPPED.store(true, Relaxed);
    multi_process::join();
    let shared = offset_of!(State, own);
    map(STATE + shared, round_up(size_of::<State>() - shared, PAGE));
    map(DESCRIPTORS, round_up(SLOTS_LENGTH, PAGE));
    crate::memory::reserve(HEAP, HEAP_END - HEAP);
    let state = state();
    let number = multi_process::main_thread();
    let main = state.thread(number);
    main.number.set(number);
    main.set_status(Status::Ready);
    // Those of other processes are never joined.
    state.unjoined.set(state.unjoined.get() + state.alive.get().min(1));
    state.alive.set(state.alive.get() + 1);
    state.limit.set(state.limit.get().max(number + 1));
    state.current.set(number);
    KERNEL.joined(state);
}

/// The number by which the program knows its main thread, and its process.
pub(crate) fn first_tid() -> i32 {
    FIRST_TID + i32::from(multi_process::main_thread())
}

/// The thread behind a `pthread_t`. Not inlined, so that nothing of it stays on a stack.
#[inline(never)]
pub(crate) fn find(handle: usize) -> Option<&'static Thread> {
    let state = state();
    state.own_threads().find(|thread| thread.status() != Status::Free && thread.tcb.get() == handle)
}

impl State {
    /// The thread with a number.
    pub(crate) fn thread(&self, number: u16) -> &Thread {
        &self.threads[usize::from(number) % MAX_THREADS]
    }

    /// The thread that runs.
    pub(crate) fn current(&self) -> &Thread {
        self.thread(self.current.get())
    }

    /// The threads that there are or were, in the order of their numbers.
    pub(crate) fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads[..usize::from(self.limit.get())].iter()
    }

    /// The threads of this process.
    pub(crate) fn own_threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads().filter(|thread| multi_process::is_own(thread))
    }

    /// Those that wait for `waiting` on `object`, in no particular order.
    pub(crate) fn waiters(
        &self,
        waiting: Waiting,
        object: Object,
    ) -> impl Iterator<Item = &Thread> {
        self.waiters_on(object).filter(move |thread| thread.waiting.get() == waiting)
    }

    /// Those that wait for anything on `object`, in no particular order.
    pub(crate) fn waiters_on(&self, object: Object) -> impl Iterator<Item = &Thread> {
        self.members(self.blocked.bits()).filter(move |thread| {
            // Granting one while looking at the others must not hide them.
            thread.status() == Status::Blocked && thread.object.get() == object
        })
    }

    /// The threads of a set, a bit each.
    pub(crate) fn members(&self, mut left: u128) -> impl Iterator<Item = &Thread> {
        core::iter::from_fn(move || {
            let number = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (number < MAX_THREADS as u32).then(|| self.thread(number as u16))
        })
    }

    /// Whether a thread is not kept waiting by another one's atomic section.
    pub(crate) fn may_move(&self, number: u16) -> bool {
        self.exclusive.get() == 0 || self.exclusive.get() == number + 1
    }

    /// Whether what a thread does could have happened before something that another one did or will
    /// do: if not, nothing is a step. Threads that have ended count until they are joined, because
    /// a search must see that the one that is left races with them.
    pub(crate) fn is_concurrent(&self) -> bool {
        self.unjoined.get() > 0
    }

    /// Whether another thread could take a step now.
    pub(crate) fn has_runnable_other(&self) -> bool {
        self.ready.bits() & !(1 << self.current.get()) != 0
    }

    /// Whether no other thread can ever take a step in between.
    pub(crate) fn is_lonely(&self) -> bool {
        self.alive.get() == 1
    }

    /// Where what is known of written files is, as address and length.
    pub(crate) fn files_span(&self) -> Span {
        Span { address: (&raw const self.files) as usize, length: size_of::<Files>() }
    }

    /// The part that processes have in common, as a snapshot holds it. No two parts share a page,
    /// or tracking would lose one of them.
    pub(crate) fn common_span(&self) -> Span {
        let used = usize::from(self.limit.get()) * size_of::<Thread>();
        Span { address: STATE, length: offset_of!(State, threads) + used }
    }

    /// What comes before the threads.
    pub(crate) fn head_span(&self) -> Span {
        Span { address: STATE, length: offset_of!(State, threads) }
    }

    /// The table of protected pages, as far as it is used.
    pub(crate) fn protected_span(&self) -> Span {
        let length = Ranges::size_of(self.protected_count.get());
        Span { address: STATE + offset_of!(State, protected), length }
    }

    /// The part that is this process's own.
    pub(crate) fn own_span(&self) -> Span {
        let keys = self.keys.get() as usize * size_of::<usize>();
        let start = offset_of!(State, own);
        Span { address: STATE + start, length: offset_of!(State, key_destructors) + keys - start }
    }
}
