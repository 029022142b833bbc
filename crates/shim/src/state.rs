//! The scheduler's view of the program; part of every snapshot.

use crate::context::Context;
use crate::memory::{map, round_up, view};
use crate::multi_process;
use crate::snapshot::Span;
use crate::sync::inlined_std::Within;
use core::cell::Cell;
use core::mem::{offset_of, size_of};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use everypath_shim_abi::address_space::{
    self, DESCRIPTORS, HEAP, HEAP_END, PAGE, RUN_STATE, STATE,
};
use everypath_shim_abi::{
    MAX_PROCESSES, MAX_THREADS, Object, Operation, OperationKind, PackedOperation, Payload, Phase,
    Waiting,
};

/// How many keys of thread-specific data a process has.
pub(crate) const KEYS: usize = 1024;
/// How many signals there are, and an unused number 0.
pub(crate) const SIGNALS: usize = 65;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    /// There is no such thread.
    #[default]
    Free,
    /// It can take its next step.
    Ready,
    /// It waits.
    Blocked,
    /// It has ended and was not joined yet.
    Ended,
}

/// Whether a signal has ended a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Interruption {
    /// None has.
    #[default]
    None,
    /// One has, and its action lets calls fail.
    Failing,
    /// One has, and its action lets calls be made again.
    Restarting,
}

/// One thread of the program.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Thread {
    pub(crate) context: Context,
    /// Changed by `set_status` only.
    status: Cell<Status>,
    /// What its next step does.
    pub(crate) kind: Cell<OperationKind>,
    pub(crate) phase: Cell<Phase>,
    pub(crate) waiting: Cell<Waiting>,
    /// Its next step changes nothing that another thread could see.
    pub(crate) idle_step: Cell<bool>,
    pub(crate) detached: Cell<bool>,
    pub(crate) joined: Cell<bool>,
    pub(crate) timed_out: Cell<bool>,
    /// Whether a signal or a cancellation has ended its wait.
    pub(crate) interruption: Cell<Interruption>,
    /// The outcome that was chosen for its step.
    pub(crate) outcome: Cell<u16>,
    pub(crate) number: Cell<u16>,
    /// Its place among those that wait for the same thing: the smallest came first.
    pub(crate) place: Cell<u16>,
    /// How many threads it has created.
    pub(crate) children: Cell<u16>,
    /// What its next step works on, and what goes with the operation.
    pub(crate) object: Cell<Object>,
    payload: Cell<Payload>,
    /// What a waiter said about itself: a futex mask.
    pub(crate) mask: Cell<u32>,
    /// Whether it died of a panic.
    pub(crate) panicked: Cell<bool>,
    /// The first of the robust mutexes that it holds.
    pub(crate) robust: Cell<usize>,
    /// When its wait ends by itself; 0 never.
    pub(crate) deadline: Cell<u64>,
    /// One more than the number of the step that last let it go on.
    pub(crate) granted_by: Cell<u32>,
    /// Its thread control block, which is also its `pthread_t`.
    pub(crate) tcb: Cell<usize>,
    /// Where its thread-local storage begins.
    pub(crate) tls: Cell<usize>,
    pub(crate) function: Cell<usize>,
    pub(crate) argument: Cell<usize>,
    pub(crate) result: Cell<usize>,
    /// Signals that were sent to it, those of them that were sent to the process, and those that
    /// it blocks.
    pub(crate) pending: Cell<u64>,
    pub(crate) pending_by_process: Cell<u64>,
    pub(crate) blocked_signals: Cell<u64>,
    /// Whether its time-out waits until the signal was taken that the last one sent.
    pub(crate) is_unheard: Cell<bool>,
    /// The signals that it waits for, to take them.
    pub(crate) awaited_signals: Cell<u64>,
    /// Registers of the program at a patched instruction or a trapped call; zeros otherwise.
    pub(crate) at: Cell<[u64; 3]>,
    pub(crate) name: Cell<[u8; 16]>,
    /// Whether and where it can be cancelled.
    pub(crate) cancellation: Cell<crate::cancel::Cancellation>,
    /// How it was created: its parent's path, and the how many-th child it is.
    pub(crate) path: Cell<u64>,
    /// The frame that a panic which was raised in it must not leave; 0 if there is none.
    pub(crate) panic_frame: Cell<usize>,
    /// What the kernel knows of it.
    pub(crate) task: everypath_vkernel::Task,
    /// Whether it is in a syscall, which follows no pointer of the program's unchecked.
    pub(crate) in_syscall: Cell<bool>,
    /// How often it read the clock without doing anything else.
    pub(crate) clock_reads: Cell<u32>,
    /// Which patched instruction changed nothing, on what it worked, what it found there, and how
    /// often in a row.
    pub(crate) in_vain: Cell<[u64; 4]>,
    /// The memory access that it is about to make, of no bytes if it stands before none.
    pub(crate) accesses: Cell<crate::races::Accesses>,
    /// The function of Rust's standard library whose step it has taken and that it is inside.
    pub(crate) within: Cell<Within>,
    /// Whether somebody tried in vain to lock something because this thread waits for it.
    pub(crate) was_noticed: Cell<bool>,
    /// Which patched instruction looked at memory last, what it found, and how often in a row,
    /// while the thread did nothing else that others could see.
    pub(crate) looked: Cell<[u64; 3]>,
    /// If it exits the process: one more than how many steps there were before.
    pub(crate) exits_since: Cell<u32>,
    /// How often in a row it let others go first, while it did nothing else that others could see.
    pub(crate) yields: Cell<u16>,
    /// The mutex that it locked last, how many context switches there had been, and how often in a
    /// row it was locked since then.
    pub(crate) relocked: Cell<[u64; 3]>,
    /// Whether it waits for others while it spins, or goes on (`scheduler::spinning`).
    pub(crate) spin: Cell<u16>,
    /// How often it has paused while it goes on.
    pub(crate) pauses: Cell<u16>,
    /// Where it has looked in vain, and what it found there, the last place first; while it did
    /// nothing else that others could see.
    pub(crate) looks: Cell<[[u64; 2]; 4]>,
}

impl Thread {
    /// The top of its stack.
    pub(crate) fn stack_top(&self) -> usize {
        address_space::stack_top(self.number.get())
    }

    /// What it is doing.
    pub(crate) fn status(&self) -> Status {
        self.status.get()
    }

    /// Sets what it is doing, here and in the sets by which the scheduler finds it.
    pub(crate) fn set_status(&self, status: Status) {
        self.status.set(status);
        let state = state();
        state.ready.change(self.number.get(), status == Status::Ready);
        state.blocked.change(self.number.get(), status == Status::Blocked);
    }

    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(self.status.get(), Status::Ready | Status::Blocked)
    }

    /// What the next step does, as it was announced.
    pub(crate) fn operation(&self) -> Operation {
        self.announced().operation()
    }

    /// The same as it is passed on.
    pub(crate) fn announced(&self) -> PackedOperation {
        PackedOperation::new(self.kind.get(), self.payload.get())
    }

    /// Sets what the next step does, on the same object as before.
    #[inline(always)]
    pub(crate) fn set_operation(&self, operation: Operation) {
        self.set_packed(operation.pack());
    }

    fn set_packed(&self, operation: PackedOperation) {
        self.kind.set(operation.kind());
        self.payload.set(operation.payload());
    }

    /// Sets what the next step does.
    #[inline(always)]
    pub(crate) fn announce(&self, operation: Operation, object: Object) {
        self.announce_packed(operation.pack(), object);
    }

    /// The same for an operation as it is passed on.
    pub(crate) fn announce_packed(&self, operation: PackedOperation, object: Object) {
        self.set_packed(operation);
        self.phase.set(Phase::Request);
        self.object.set(object);
        self.idle_step.set(false);
        // Whatever it was in the middle of, this is another step.
        self.within.set(Within::default());
    }
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

/// What a program asked to happen on a signal.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Action {
    pub(crate) handler: usize,
    pub(crate) mask: u64,
    pub(crate) flags: i32,
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
    /// Signals that were sent to the process while every thread blocked them.
    pub(crate) pending_signals: Cell<u64>,
    pub(crate) timers: [Cell<crate::timers::Timer>; crate::timers::TIMERS],
    /// Where a place for a new timer is looked for first.
    pub(crate) next_timer: Cell<u32>,
    pub(crate) actions: [Cell<Action>; SIGNALS],
    pub(crate) settings: crate::dispatch::Settings,
    pub(crate) files: crate::files::Files,
    /// How many keys of thread-specific data were made.
    pub(crate) keys: Cell<u32>,
    pub(crate) key_destructors: [Cell<usize>; KEYS],
    pub(crate) pages: PageStart,
    /// The program's pages that are not readable and writable.
    pub(crate) protected: crate::protection::Ranges,
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
    map(DESCRIPTORS, round_up(crate::kernel::SLOTS_LENGTH, PAGE));
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
    crate::process_faults::appoint(state);
    crate::symmetry::declare(state);
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
            thread.status.get() == Status::Blocked && thread.object.get() == object
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
        let length = crate::protection::Ranges::size_of(self.protected_count.get());
        Span { address: STATE + offset_of!(State, protected), length }
    }

    /// The part that is this process's own.
    pub(crate) fn own_span(&self) -> Span {
        let keys = self.keys.get() as usize * size_of::<usize>();
        let start = offset_of!(State, own);
        Span { address: STATE + start, length: offset_of!(State, key_destructors) + keys - start }
    }
}
