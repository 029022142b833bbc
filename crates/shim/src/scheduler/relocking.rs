//! Threads that lock the same mutex again and again while nobody else moves: they may do so to look at
//! what it protects.
//!
//! If the state is one that was there a few locks before, whatever the thread does next it has done
//! before: it stands back until others have moved, and no execution is lost. A thread that counts
//! comes to another state each time; after [`MAX_RELOCKS`] locks in a row it stands back, too, and the
//! verdict says so.

use super::cycles::is_closed;
use super::{Counter, STEPS, SWITCHES, glance, stand_back};
use crate::fingerprint::fingerprint_without_time;
use crate::region::{count, setup};
use crate::state::{State, Thread, state};
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{MAX_RELOCKS, Object, Operation};

/// So often in a row a thread may lock the same mutex before its states are compared.
const LOCKS: u64 = MAX_RELOCKS - 5;

/// How often the thread that is about to lock has done so in a row, if its state is to be looked at
/// before the next choice; else 0.
static DUE: Counter = Counter::new();
/// The step of the first lock that was looked at, and the hash of the state before it.
static FIRST: [Counter; 3] = [const { Counter::new() }; 3];

/// Forgets the last execution.
pub(super) fn begin() {
    DUE.set(0);
}

/// The thread that runs is about to lock a mutex. Not inlined: what this looks at would stay on the
/// stack of the thread, and become part of its state.
#[inline(never)]
pub(crate) fn before_locking(mutex: usize) {
    // States are told apart by what a thread has counted, and whoever matches them needs no bound.
    if setup().canonical {
        return;
    }
    let state = state();
    let thread = state.current();
    let [last, switches, times] = thread.relocked.get();
    let now = [mutex as u64, SWITCHES.get()];
    let times = if [last, switches] == now { times + 1 } else { 1 };
    thread.relocked.set([now[0], now[1], times]);
    if times <= LOCKS {
        return;
    }
    // Not a yield: it must not go on because all that others could do sleeps.
    if state.is_lonely() {
        thread.relocked.set([0; 3]);
        stand_back(Operation::Pause, Object::NONE);
    } else {
        DUE.set(times);
        glance(Operation::Pause, Object::NONE);
        DUE.set(0);
    }
}

/// Looks at the state before a step is chosen; the registers of the thread that ran are saved.
#[inline(always)]
pub(super) fn look(state: &State) {
    match DUE.get() {
        0 => {}
        times => compare(state, state.current(), times),
    }
}

#[inline(never)]
fn compare(state: &State, thread: &Thread, times: u64) {
    DUE.set(0);
    let is_first = times == LOCKS + 1;
    if is_first {
        FIRST[0].set(u64::from(STEPS.load(Relaxed)));
    }
    let [since, low, high] = [0, 1, 2].map(|at| FIRST[at].get());
    let mut is_same = false;
    if is_closed(state, since) {
        let hash = fingerprint_without_time(state);
        let now = [hash as u64, (hash >> 64) as u64];
        is_same = !is_first && now == [low, high];
        if is_first {
            FIRST[1..].iter().zip(now).for_each(|(place, value)| place.set(value));
        }
    }
    let is_last = times >= MAX_RELOCKS;
    if is_last && !is_same {
        count(|counters| counters.relocks += 1);
    }
    if is_last || is_same {
        thread.relocked.set([0; 3]);
        state.standing.change(thread.number.get(), true);
    }
}
