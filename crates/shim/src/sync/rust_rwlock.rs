//! Read-write locks of Rust's standard library: one memory word each.
//!
//! The word counts the readers, or says that it is write-locked, and has two bits for waiting
//! readers and writers. As with mutexes ([`super::rust_mutex`]), the checker recognises the
//! instructions that lock and unlock, and they are lock operations: a thread that does not acquire
//! it blocks here.
//!
//! Readers block while a writer waits, so readers can deadlock. Here, requests are granted in FIFO
//! order. The real lock is less strict: a woken writer may come too late. But that is the same as a
//! later request, which is another schedule: a waiting request can only be in the way of others,
//! and no thread observes how long it has waited. Unless a `try_read` has failed because a writer
//! waits: from then on that writer must request again when it is woken, and others may be faster.
//!
//! Other threads find in the word what they would have found: the bit of a waiting writer is set
//! whenever another thread runs. During a lock or unlock step the bit is cleared, so that the
//! contended path is never taken.

use super::rust_mutex::{first, watch};
use crate::memory::{load, store};
use crate::objects;
use crate::scheduler::{Woken, ask, grant, point, wait};
use crate::state::{State, Thread, state};
use everypath_shim_abi::{LockOrder, Operation, OperationKind, RwRelease, Waiting};

/// The number of readers.
const COUNT: u32 = (1 << 30) - 1;
/// In their place: a writer.
const WRITTEN: u32 = COUNT;
const WRITERS_WAIT: u32 = 1 << 31;

fn count(word: usize) -> u32 {
    load::<u32>(word) & COUNT
}

/// Before an instruction that takes a lock to read: when this returns, the word shows no
/// writer and no waiter, and the instruction is part of the same step.
pub(crate) fn before_reading(word: usize) {
    take(word, Operation::ReadLock, Waiting::WordRead);
}

/// The same for one that takes it to write: the word shows no readers either.
pub(crate) fn before_writing(word: usize) {
    take(word, Operation::WriteLock, Waiting::WordWrite);
}

#[inline(always)]
fn take(word: usize, operation: fn(LockOrder) -> Operation, waiting: Waiting) {
    let state = state();
    let thread = state.current();
    let lock = objects::memory(word);
    ask(operation(LockOrder::Fifo), lock, None);
    while !is_free(word, waiting) || first(state, word).is_some() {
        thread.announce(operation(LockOrder::Fifo), lock);
        thread.was_noticed.set(false);
        watch(word);
        match wait(waiting, lock, None) {
            // It was handed over; the instruction takes it.
            Woken::Granted if !thread.was_noticed.get() => {
                store(word, load::<u32>(word) - share(waiting));
                break;
            }
            // The next attempt is a step of its own. Until then, the word shows no waiter.
            Woken::Granted | Woken::Interrupted { .. } | Woken::TimedOut => {
                watch(word);
                ask(operation(LockOrder::FifoRetry), lock, None);
            }
        }
    }
    show_nobody(word);
}

/// Before an instruction that gives a lock back, which is part of the same step.
pub(crate) fn before_giving_back(word: usize) {
    let by = if count(word) == WRITTEN { RwRelease::Writer } else { RwRelease::Reader };
    point(Operation::RwUnlock(by), objects::memory(word));
    show_nobody(word);
}

/// The word shows no waiter until this step is over.
fn show_nobody(word: usize) {
    store(word, count(word));
    watch(word);
}

/// What is added to the word by who takes the lock.
fn share(waiting: Waiting) -> u32 {
    if waiting == Waiting::WordWrite { WRITTEN } else { 1 }
}

/// Whether the lock can be acquired.
fn is_free(word: usize, waiting: Waiting) -> bool {
    match waiting {
        Waiting::WordWrite => count(word) == 0,
        _ => count(word) != WRITTEN,
    }
}

/// Whether a thread that waits could have the lock now.
pub(super) fn is_next(state: &State, thread: &Thread, word: usize) -> bool {
    first(state, word).is_some_and(|first| core::ptr::eq(first, thread))
        && is_free(word, thread.waiting.get())
}

/// A thread has read this value of a word: if there is no writer, its attempt may have failed because
/// one waits.
pub(crate) fn note_look(word: usize, found: u64) {
    if found & u64::from(WRITERS_WAIT) != 0 && found & u64::from(COUNT) != u64::from(WRITTEN) {
        let writers = state().waiters(Waiting::WordWrite, objects::memory(word));
        writers.for_each(|writer| writer.was_noticed.set(true));
    }
}

/// After the instruction: the lock is granted to its waiters, in FIFO order.
pub(super) fn hand_over(state: &State, word: usize) {
    while let Some(next) = first(state, word).filter(|next| is_free(word, next.waiting.get())) {
        match next.was_noticed.get() {
            true => next.set_operation(match next.kind.get() {
                OperationKind::ReadLock => Operation::ReadLock(LockOrder::FifoRetry),
                _ => Operation::WriteLock(LockOrder::FifoRetry),
            }),
            false => store(word, load::<u32>(word) + share(next.waiting.get())),
        }
        grant(next);
    }
    let writer_waits = state.waiters(Waiting::WordWrite, objects::memory(word)).next().is_some();
    let bit = if writer_waits { WRITERS_WAIT } else { 0 };
    store(word, count(word) | bit);
}
