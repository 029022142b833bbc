//! What the kernel needs of whoever runs it: memory, a scheduler, an environment.
//!
//! The shim implements these over fixed addresses, so that a call costs what a function of its own
//! would; the tests of this crate implement them over vectors, without a program.

use crate::object::{Object, Transit};
use crate::plain::Plain;
use crate::slot::{Open, Slot};
use crate::state::{MAX_WATCHED, OwnState, State, Task};
use crate::trees::Trees;
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::AtomicU64;
use everypath_shim_abi::{
    self as abi, Completion, NoticeKind, Operation, OperationKind, PackedCompletion,
    PackedOperation, Setup, Upcall, UpcallReply, Waiting,
};

/// All of it.
pub trait Host: Memory + Tables + Scheduler + Threads + Environment + Files {}

impl<H: Memory + Tables + Scheduler + Threads + Environment + Files> Host for H {}

/// Memory by address: the program's, of which any address may be bad (`EFAULT`), and the kernel's
/// own, which is always there.
pub trait Memory {
    /// Reads the program's memory.
    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), i32>;

    /// Writes the program's memory.
    fn write(&self, at: usize, bytes: &[u8]) -> Result<(), i32>;

    /// Whether so many bytes can be read.
    fn check(&self, at: usize, length: usize) -> Result<(), i32>;

    /// How many bytes can be written from an address on, of so many; an error if there should be some
    /// and are none.
    fn writable(&self, at: usize, length: usize) -> Result<usize, i32>;

    /// Copies bytes that do not overlap, either of which may be the program's.
    fn copy(&self, to: usize, from: usize, length: usize) -> Result<(), i32>;

    /// Reads the kernel's own memory.
    fn read_own(&self, at: usize, out: &mut [u8]);

    /// Writes the kernel's own memory.
    fn write_own(&self, at: usize, bytes: &[u8]);

    /// Moves bytes in the kernel's own memory, which may overlap.
    fn shift_own(&self, to: usize, from: usize, length: usize);

    /// The address by which bytes on the kernel's stack can be read as long as they are there.
    fn lend(&self, bytes: &[u8]) -> usize;

    /// Reads a value from the program's memory.
    fn load<T: Plain>(&self, at: usize) -> Result<T, i32> {
        T::read(|offset, out| self.read(at.wrapping_add(offset), out))
    }

    /// Writes a value to the program's memory.
    fn store<T: Plain>(&self, at: usize, value: T) -> Result<(), i32> {
        value.write(|offset, bytes| self.write(at.wrapping_add(offset), bytes))
    }

    /// Clears the program's memory.
    fn zero(&self, at: usize, length: usize) -> Result<(), i32> {
        const ZEROS: [u8; 64] = [0; 64];
        (0..length).step_by(ZEROS.len()).try_for_each(|done| {
            self.write(at.wrapping_add(done), &ZEROS[..ZEROS.len().min(length - done)])
        })
    }
}

/// Where the kernel's own state is. It belongs to whoever runs it, who restores it with the
/// program's memory.
pub trait Tables {
    /// What there is once.
    fn state(&self) -> &State;

    /// What this process has for itself.
    fn own_state(&self) -> &OwnState;

    /// The object with a number.
    fn object(&self, number: usize) -> &Object;

    /// Makes an object as good as new: zeros.
    fn clear_object(&self, number: usize);

    /// The slot of the descriptor table with a number.
    fn slot(&self, number: usize) -> &Slot;

    /// Makes a slot as good as new: zeros.
    fn clear_slot(&self, number: usize);

    /// Where the buffer of an object begins, in the kernel's own memory.
    fn buffer(&self, number: usize) -> usize;

    /// What precedes the messages in the buffer of an object, so many bytes from its beginning.
    fn transit(&self, number: usize, start: usize) -> &Transit;

    /// Where a thread writes down which objects it waits for, each above the events that it wants;
    /// no part of snapshots.
    fn watched(&self, thread: u16) -> &[AtomicU64; MAX_WATCHED];

    /// Changes a large value. Whoever can do so in place need not copy it.
    fn change<T: Copy, R>(&self, cell: &Cell<T>, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = cell.get();
        let result = change(&mut value);
        cell.set(value);
        result
    }
}

/// A thread of the program.
pub trait Thread {
    /// Its number.
    fn number(&self) -> u16;

    /// What its next step does.
    fn kind(&self) -> OperationKind;

    /// The same, with what goes with it.
    fn operation(&self) -> Operation;

    /// What its next step works on.
    fn object(&self) -> abi::Object;

    /// The outcome that was chosen for its step.
    fn outcome(&self) -> u16;

    /// How it was created: the same in every execution.
    fn path(&self) -> u64;

    /// Announces its next step.
    fn announce(&self, operation: PackedOperation, object: abi::Object);

    /// What the kernel knows of it.
    fn task(&self) -> &Task;

    /// The mask with which it waits at a futex, or wakes others there.
    fn mask(&self) -> &Cell<u32>;
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// What was waited for was granted.
    Granted,
    /// Time ran out.
    TimedOut,
    /// A signal was handled; syscalls are restarted if its action says so. Or the thread is cancelled:
    /// cancellation points ask [`Scheduler::is_cancelled`].
    Interrupted {
        /// Whether it says so.
        restart: bool,
    },
}

/// The deadline of a call that fails only when nothing else can happen any more.
pub const LAST: u64 = u64::MAX;

/// The deadline of a call that waits for a peer which may say something by itself: it passes when
/// no thread can run, before other deadlines or after them.
pub const PEERS: u64 = u64::MAX - 1;

/// Scheduling points, choices, waits and wakeups, and virtual time.
pub trait Scheduler {
    /// A thread of the program.
    type Thread: Thread;

    /// The thread that runs.
    fn current(&self) -> &Self::Thread;

    /// Those that wait for the network, in the order of their numbers.
    fn network_waiters(&self) -> impl Iterator<Item = &Self::Thread>;

    /// Whether no other thread is alive.
    fn is_alone(&self) -> bool;

    /// Virtual nanoseconds since the start.
    fn clock(&self) -> u64;

    /// How many steps the execution has taken.
    fn steps(&self) -> u32;

    /// A scheduling point at which the thread asks for what it may have to wait for, until a
    /// deadline if there is one. Whoever waits with a deadline must have asked with it. Returns the
    /// outcome.
    fn ask(&self, operation: PackedOperation, object: abi::Object, deadline: Option<u64>) -> u16;

    /// The same for a cancellation point, which asks by itself whether the thread was cancelled.
    fn request(
        &self,
        operation: PackedOperation,
        object: abi::Object,
        deadline: Option<u64>,
    ) -> u16;

    /// A scheduling point: any thread may go on, this one with `operation`.
    #[inline(always)]
    fn point(&self, operation: Operation, object: abi::Object) {
        self.ask(operation.pack(), object, None);
    }

    /// A scheduling point that is a step even if no other thread is there. Returns the outcome.
    fn step(&self, operation: Operation, object: abi::Object) -> u16;

    /// A choice that belongs to the step before it: no other thread moves in between. Returns the
    /// outcome.
    fn choose(&self, operation: Operation, object: abi::Object) -> u16;

    /// A point at which the thread only wants others to move.
    fn stand_back(&self, operation: Operation, object: abi::Object);

    /// Whether the thread, which has looked for something in vain, goes on at once rather than let
    /// others move first: a choice, if there are others.
    fn insists(&self) -> Option<bool>;

    /// The thread has looked in vain as often as it may.
    fn leave_out_unfair(&self);

    /// Blocks the thread until another grants it what it waits for, or its deadline passes.
    fn wait(&self, waiting: Waiting, object: abi::Object, deadline: Option<u64>) -> Woken;

    /// Lets a waiting thread go on.
    fn grant(&self, thread: &Self::Thread);

    /// Those that wait at a futex, by a mask; or at a condition variable of Rust's standard library,
    /// which is one.
    fn futex_waiters(&self, word: abi::Object, mask: u32) -> impl Iterator<Item = &Self::Thread>;

    /// The thread that has waited longest for something.
    fn first_waiter(&self, waiting: Waiting, object: abi::Object) -> Option<&Self::Thread>;

    /// Lets a waiting thread wait at another object, after all who do so already.
    fn requeue(&self, thread: &Self::Thread, waiting: Waiting, object: abi::Object);

    /// The mutex of the condition variable of Rust's standard library that the running thread is about
    /// to sleep at, if what it does at this word belongs to a step that it has taken.
    fn mutex_of_sleeper(&self, _word: usize) -> Option<usize> {
        None
    }

    /// It has slept there: what is left of that step is to take the mutex again.
    fn has_slept(&self, _mutex: usize) {}

    /// Whether the wake that the running thread is about to do belongs to the step in which it notifies.
    fn notifies(&self, _word: usize) -> bool {
        false
    }

    /// Lets all go on who wait for something.
    fn grant_all(&self, waiting: Waiting, object: abi::Object);

    /// Records what performing the step showed that is being taken, if that is one of these.
    #[inline(always)]
    fn complete(&self, kinds: &'static [OperationKind], completion: Completion) {
        self.complete_earlier(0, kinds, completion.pack());
    }

    /// The same for a step that so many others of the same thread followed, which belong to it.
    fn complete_earlier(
        &self,
        after: u32,
        kinds: &'static [OperationKind],
        completion: PackedCompletion,
    );

    /// The earliest moment at which a thread stops waiting by itself, if there is one.
    fn next_deadline(&self) -> Option<u64>;

    /// Whether a signal comes after some time.
    fn is_alarm_set(&self) -> bool;

    /// Whether the running thread must not go on with the call that it is in.
    fn is_cancelled(&self) -> bool;

    /// Handles what signals were sent to the running thread; says whether there were any.
    fn deliver_signals(&self) -> bool;

    /// Sends a signal to the running thread.
    fn raise(&self, signal: i32);
}

/// The threads of this process, as signals reach them and timers need them.
pub trait Threads: Scheduler {
    /// Those that have not ended, in the order of their numbers.
    fn own_threads(&self) -> impl Iterator<Item = &Self::Thread>;

    /// What the program has for a thread: its `pthread_t`.
    fn handle(&self, thread: &Self::Thread) -> usize;

    /// The thread behind that.
    fn thread_of_handle(&self, handle: usize) -> Option<&Self::Thread>;

    /// The thread with a number of the kernel's, if it has not ended.
    fn thread_of_number(&self, number: i32) -> Option<&Self::Thread>;

    /// The number of the kernel's for this process.
    fn process_number(&self) -> i32;

    /// Whether a thread waits for signals.
    fn waits_for_signals(&self, thread: &Self::Thread) -> bool;

    /// Ends the wait of a thread, if it waits, since it has a signal to handle: the call is made again,
    /// or fails.
    fn interrupt(&self, thread: &Self::Thread, restarts: bool);

    /// Ends the execution by a signal.
    fn end_by(&self, signal: i32) -> !;

    /// Ends the running thread if it was cancelled.
    fn end_if_cancelled(&self);

    /// Whether a step of the running thread could be taken in another order with one of another.
    fn is_concurrent(&self) -> bool;

    /// Creates the thread that rings for a timer. It must be put to sleep.
    fn start_ringer(&self, timer: usize, was_concurrent: bool) -> &Self::Thread;

    /// Whether a thread is blocked.
    fn is_asleep(&self, thread: &Self::Thread) -> bool;

    /// Lets a ringer sleep until a moment; or changes until when.
    fn sleep_until(&self, ringer: &Self::Thread, moment: u64);

    /// What a ringer said last was heard: it may ring again.
    fn heard(&self, ringer: &Self::Thread);

    /// Ends a ringer that sleeps.
    fn retire(&self, ringer: &Self::Thread);
}

/// What is outside: settings, other processes, the checker and the peers behind it.
pub trait Environment {
    /// What holds the conversations with peers.
    type Trees: Trees;

    /// What is fixed at the start.
    fn setup(&self) -> Setup;

    /// The number of this process.
    fn process(&self) -> usize;

    /// Whether there are others in a closed system.
    fn is_one_of_several(&self) -> bool;

    /// How many threads each process may have.
    fn threads_each(&self) -> u16;

    /// The number of the thread that runs this process's `main`.
    fn main_thread(&self) -> u16;

    /// The process that a thread belongs to.
    fn owner(&self, thread: u16) -> usize;

    /// Ends the check: the program does what is not modelled.
    fn stop(&self, why: fmt::Arguments<'_>) -> !;

    /// Ends the execution: a peer failed because of what the program sent.
    fn peer_failed(&self, how: &str) -> !;

    /// Ends the check because of a defect.
    fn fail(&self, why: &str) -> !;

    /// Tells the checker what is strange: nobody outside is at fault for it.
    fn notice(&self, what: NoticeKind, port: u16);

    /// What was said to peers and what they answered: the checker lets it grow.
    fn trees(&self) -> &Self::Trees;

    /// Asks the checker.
    fn upcall(&self, upcall: Upcall) -> UpcallReply;

    /// Where messages lie that are exchanged with the checker, in the kernel's own memory.
    fn message(&self) -> usize;

    /// The first bytes of those.
    fn message_bytes(&self, length: usize) -> &[u8];

    /// Something is sent to a peer.
    fn note_sent(&self) {}

    /// Counts something that was answered without asking.
    fn count_cache_hit(&self);

    /// Counts that the program was given random bytes.
    fn count_random(&self);

    /// Counts an answer of a peer that cannot be late any longer.
    fn count_overdue(&self);

    /// Counts a read of several bytes that could have come in parts.
    fn count_whole(&self);

    /// Adds to the log of messages.
    fn log(&self, bytes: &[u8]);
}

/// What sockets and descriptors have to do with files.
pub trait Files {
    /// Makes the file by which a Unix socket is found.
    fn make_socket(&self, path: &[u8]) -> Result<(), i32>;

    /// Whether there is one.
    fn is_there(&self, path: &[u8]) -> bool;

    /// The last descriptor of a file that the program wrote is closed.
    fn written_is_closed(&self, index: usize);

    /// How many bytes a file has, or none what is a directory; `None` if it is neither.
    fn length(&self, open: Open) -> Option<usize>;
}

/// Ends the check: the program does what is not modelled.
macro_rules! stop {
    ($host:expr, $($argument:tt)*) => {
        $host.stop(format_args!($($argument)*))
    };
}
pub(crate) use stop;
