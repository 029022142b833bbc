//! Mutexes of Rust's standard library: one memory word each.
//!
//! Acquiring an unlocked one makes no call: it is an inlined `lock cmpxchg` from 0 to 1. On
//! contention a thread spins, marks the word and waits at a futex. Exploring these instructions one
//! by one would multiply the schedules of what is a mutex. So the checker recognises the
//! instructions that lock and unlock, and they are lock operations: a thread that does not acquire
//! the mutex blocks here, and the spinning code is never reached. Instructions that were not
//! recognised use the same word, and find in it what they would have found.

use super::rust_rwlock;
use crate::memory::{load, store};
use crate::multi_process;
use crate::objects;
use crate::region::region;
use crate::run_state::STEPS;
use crate::scheduler::{Woken, ask, grant, point, wait};
use crate::state::{State, Thread, state};
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{LockOrder, Operation, Ownership, Phase, RwRelease, Waiting};

const FREE: u32 = 0;
const HELD: u32 = 1;

/// Before an instruction that takes a lock: when this returns, the lock is free, and the
/// instruction is part of the same step.
pub(crate) fn before_taking(word: usize) {
    ask(Operation::MutexLock, objects::memory(word), None);
    take(word);
}

/// Waits until a lock is free, as part of a step that has been taken.
pub(super) fn take(word: usize) {
    while load::<u32>(word) != FREE {
        let lock = objects::memory(word);
        state().current().announce(Operation::MutexLock, lock);
        match wait(Waiting::Word, lock, None) {
            // It was handed over; the instruction takes it.
            Woken::Granted => store(word, FREE),
            // Asking again is a step of its own.
            Woken::Interrupted { .. } | Woken::TimedOut => {
                ask(Operation::MutexLock, lock, None);
            }
        }
    }
}

/// Before an instruction that gives a lock back, which is part of the same step.
pub(crate) fn before_giving_back(word: usize) {
    point(Operation::MutexUnlock(Ownership::Owner), objects::memory(word));
    watch(word);
}

/// Before any instruction that may free a lock. Whether it has waiters is looked up later: the lookup
/// must leave no dead bytes on the stack of this thread.
pub(crate) fn watch(word: usize) {
    state().freed.set(word);
}

/// The first waiter of such a mutex. Others may wait at the same word as a futex.
pub(super) fn first(state: &State, word: usize) -> Option<&Thread> {
    let asks = |thread: &&Thread| {
        matches!(thread.waiting.get(), Waiting::Word | Waiting::WordRead | Waiting::WordWrite)
    };
    state.waiters_on(objects::memory(word)).filter(asks).min_by_key(|thread| thread.place.get())
}

/// After the instruction: an unlocked mutex is granted to its first waiter.
pub(crate) fn hand_over(state: &State) {
    let word = state.freed.replace(0);
    let Some(first) = first(state, word) else { return };
    match first.waiting.get() {
        Waiting::Word if load::<u32>(word) == FREE => {
            store(word, HELD);
            grant(first);
        }
        Waiting::WordRead | Waiting::WordWrite => rust_rwlock::hand_over(state, word),
        _ => {}
    }
}

/// Hands over a lock of this process that was freed by an unpatched instruction, if there is one.
pub(crate) fn hand_over_unseen(state: &State) -> bool {
    let is_unseen = |thread: &&Thread| {
        let word = objects::address(thread.object.get());
        multi_process::is_own(thread)
            && match thread.waiting.get() {
                Waiting::Word => load::<u32>(word) == FREE,
                Waiting::WordRead | Waiting::WordWrite => rust_rwlock::is_next(state, thread, word),
                _ => false,
            }
    };
    let found = state.members(state.blocked.bits()).find(is_unseen);
    if let Some(thread) = found {
        state.freed.set(objects::address(thread.object.get()));
        hand_over(state);
    }
    found.is_some()
}

/// The owner of the lock that a thread waits for, plus one; 0 if that is not known. It is the thread
/// that has locked it once more than it unlocked it; a wait on a condition variable unlocks and locks,
/// too.
pub(super) fn holder(waiting: &Thread) -> u16 {
    let object = waiting.object.get();
    let balance = |thread: &Thread| {
        let waits = matches!(thread.waiting.get(), Waiting::Word | Waiting::WordWrite)
            && thread.object.get() == object;
        let events =
            region().events[..STEPS.load(Relaxed) as usize].iter().map(|event| event.get());
        let mine = events.filter(|event| event.thread == thread.number.get());
        mine.fold(-i32::from(waits), |balance, event| {
            let is_lock = event.object == object;
            match (event.operation(), event.phase) {
                (Operation::WriteLock(LockOrder::FifoRetry), _) => balance,
                (Operation::MutexLock | Operation::WriteLock(_), Phase::Request) if is_lock => {
                    balance + 1
                }
                (Operation::RwUnlock(RwRelease::Reader), _) => balance,
                (Operation::MutexUnlock(_) | Operation::RwUnlock(_), _) if is_lock => balance - 1,
                (Operation::CondWait(condition), phase) if condition.mutex == object => {
                    balance + if phase == Phase::Resume { 1 } else { -1 }
                }
                _ => balance,
            }
        })
    };
    let holder = state().threads().find(|thread| balance(thread) > 0);
    holder.map_or(0, |thread| thread.number.get() + 1)
}
