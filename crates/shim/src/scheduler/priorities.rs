//! Thread priorities: the runnable thread with the highest one runs.

use super::alternatives::offers;
use super::random::pick;
use crate::region::region;
use crate::run_state::{Common, RunState};
use crate::state::{State, Status, Thread};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use everypath_shim_abi::{Choice, MAX_THREADS, TIMEOUT, TimeMode};

/// Priorities that were drawn are not below this.
pub(super) const DRAWN: u64 = 1 << 63;

/// The priority of each thread, and which thread it is of: numbers are used again.
static PRIORITIES: Common<[[AtomicU64; 2]; MAX_THREADS]> =
    Common::at(offset_of!(RunState, priorities));
/// No path of a thread is this.
const NOBODY: u64 = u64::MAX;

/// Forgets all priorities.
pub(super) fn forget() {
    PRIORITIES.iter().for_each(|[_, whose]| whose.store(NOBODY, Relaxed));
}

/// Gives a thread a priority.
pub(super) fn set(thread: &Thread, value: u64) {
    let [priority, whose] = &PRIORITIES[usize::from(thread.number.get())];
    priority.store(value, Relaxed);
    whose.store(thread.path.get(), Relaxed);
}

/// Gives a thread a priority at random.
pub(super) fn draw(thread: &Thread) {
    let mut random = region().random.get();
    set(thread, random.next() | DRAWN);
    region().random.set(random);
}

/// The thread's priority, which is drawn the first time.
fn get(thread: &Thread) -> u64 {
    let [priority, whose] = &PRIORITIES[usize::from(thread.number.get())];
    if whose.load(Relaxed) != thread.path.get() {
        draw(thread);
    }
    priority.load(Relaxed)
}

/// The thread with the highest priority of those that can go on, if only because time runs out.
pub(super) fn highest(state: &State, mode: TimeMode) -> &Thread {
    let can_go_on = state.threads().filter(|thread| offers(state, thread, mode) > 0);
    can_go_on.max_by_key(|thread| get(thread)).unwrap_or(state.current())
}

/// The thread goes on, with an outcome at random.
pub(super) fn choice(state: &State, thread: &Thread, mode: TimeMode) -> Choice {
    let outcome = match offers(state, thread, mode) {
        _ if thread.status() == Status::Blocked => TIMEOUT,
        0 | 1 => 0,
        several => pick(several) as u16,
    };
    Choice { thread: thread.number.get(), outcome }
}
