//! Condition variables of Rust's standard library.
//!
//! Such a condition variable is a word. A wait loads it, unlocks the mutex, and blocks at a futex
//! unless the word has changed; a notification increments it and wakes. Exploring these
//! instructions one by one would multiply the schedules of what is a condition variable like those
//! of pthreads: waiting is one step, which unlocks the mutex; resuming is another one, which
//! requests it; and notifying is one, which chooses the waiter. So the checker finds the entries of
//! these functions, and everything inside belongs to the step (`inlined_std`). The functions still
//! run: other code that uses the same words, because a function was inlined there, finds in them
//! what it would have found.

use super::inlined_std::enter;
use crate::objects;
use crate::scheduler::{ask, point};
use crate::state::{Stage, Thread, Within, state};
use everypath_shim_abi::{CondMutex, Operation};

/// Where a function begins that waits on a condition, perhaps for some time only.
pub(crate) fn before_waiting(condition: usize, mutex: usize, limited: bool) {
    // When that time is over is not known yet, but it is not the past.
    let deadline = limited.then_some(u64::MAX);
    let mutex_of_it = CondMutex::owned(objects::memory(mutex));
    ask(Operation::CondWait(mutex_of_it), objects::memory(condition), deadline);
    enter(Stage::Sleep, condition, mutex);
}

/// Where a function begins that notifies one of those who wait, or all.
#[inline(always)]
pub(crate) fn before_notifying(condition: usize, operation: Operation) {
    let outcome = point(operation, objects::memory(condition));
    state().current().outcome.set(outcome);
    enter(Stage::Notify, condition, 0);
}

/// The mutex of the condition that the thread is about to sleep at, if that belongs to its step.
pub(crate) fn mutex_of_sleeper(thread: &Thread, word: usize) -> Option<usize> {
    let within = thread.within.replace(Within::default());
    (within.stage == Stage::Sleep && within.word == word).then_some(within.mutex)
}

/// After a wait on a condition: what is left is to take its mutex again.
pub(crate) fn woken(mutex: usize) {
    enter(Stage::Wake, 0, mutex);
}

/// Whether the wake that the thread is about to do belongs to the step in which it notifies.
pub(crate) fn notifies(thread: &Thread, word: usize) -> bool {
    let within = thread.within.replace(Within::default());
    within.stage == Stage::Notify && within.word == word
}
