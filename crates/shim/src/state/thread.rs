//! A thread of the program, as the scheduler knows it.

use super::access::Accesses;
use super::state;
use crate::context::Context;
use core::cell::Cell;
use everypath_shim_abi::{
    Object, Operation, OperationKind, PackedOperation, Payload, Phase, Waiting, address_space,
};

/// Threads are known to programs by their number, and this.
pub(crate) const FIRST_TID: i32 = 100_000;

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

/// Whether a thread is in a call that is a cancellation point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Place {
    #[default]
    Elsewhere,
    /// It is, and nothing has happened yet.
    Entered,
    /// It is, and something may have happened.
    Begun,
}

/// What a thread knows of its cancellation. No byte between its parts is left undefined: it is part
/// of states, which are hashed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Cancellation {
    pub(crate) pending: bool,
    pub(crate) disabled: bool,
    pub(crate) asynchronous: bool,
    /// It is being cancelled, or ends by itself.
    pub(crate) over: bool,
    pub(crate) place: Place,
    /// How often in a row it only tested.
    pub(crate) tests: u8,
}

/// What is left to do of a step that is a whole function of Rust's standard library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Stage {
    /// Nothing.
    #[default]
    Nothing,
    /// A lock or unlock.
    Lock,
    /// The mutex of a condition variable is unlocked; then the thread blocks there.
    Sleep,
    /// The mutex is taken again.
    Wake,
    /// Others are woken.
    Notify,
    /// A read-write lock is taken, once a comparison succeeds.
    ReadWriteLock,
}

/// The step that a thread is inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Within {
    pub(crate) stage: Stage,
    /// The lock, or the condition.
    pub(crate) word: usize,
    /// The mutex of the condition.
    pub(crate) mutex: usize,
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
    /// Whether its time-out waits until the signal was taken that the last one sent.
    pub(crate) is_unheard: Cell<bool>,
    /// Registers of the program at a patched instruction or a trapped call; zeros otherwise.
    pub(crate) at: Cell<[u64; 3]>,
    pub(crate) name: Cell<[u8; 16]>,
    /// Whether and where it can be cancelled.
    pub(crate) cancellation: Cell<Cancellation>,
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
    pub(crate) accesses: Cell<Accesses>,
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
    /// Whether it runs no code: it is the fault injector of its process, or of the network.
    pub(crate) fn is_injector(&self) -> bool {
        matches!(self.kind.get(), OperationKind::Kill | OperationKind::Partition)
    }

    /// Whether it was cancelled and must not go on with the call that it is in.
    pub(crate) fn is_cancelled(&self) -> bool {
        let it = self.cancellation.get();
        // Nothing can be unwound from within a patched instruction or a trapped call.
        let anywhere = it.asynchronous && self.at.get() == [0; 3];
        it.pending && !it.disabled && !it.over && (anywhere || it.place != Place::Elsewhere)
    }

    /// The number by which the program knows it.
    pub(crate) fn tid(&self) -> i32 {
        FIRST_TID + i32::from(self.number.get())
    }

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
