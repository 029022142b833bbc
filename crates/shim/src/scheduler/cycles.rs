//! Executions that become long: does the state repeat?
//!
//! If a state comes back, the steps in between can be taken again and again. If each thread that can run
//! takes one of them, no fair scheduler ends that: it is a livelock. Otherwise another thread might end
//! it, and nothing is known. The earlier state is replaced after 1, 2, 4, … steps, so that a cycle is
//! found that begins late (Brent 1980).

use super::{CLOCK_READ, Counter, Ending, STEPS};
use crate::fingerprint::fingerprint_without_time;
use crate::multi_process;
use crate::region::setup;
use crate::state::{State, Status};
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{Facet, Outcome};

/// Shorter executions are not looked at.
const FIRST: u64 = 4_000;
/// A state is compared with at most so many others as a whole.
const MAX_COMPARED: u64 = 32;

/// In a cycle in which something changes, threads do not look in vain for longer.
const MAX_ROUNDS: u32 = 16;

/// The step before which the earlier state was, what its threads were about to do, its hash, and with
/// how many states it was compared.
static EARLIER: [Counter; 5] = [const { Counter::new() }; 5];
/// Which threads have moved since then, a bit each.
static MOVED: [Counter; 2] = [const { Counter::new() }; 2];

/// Looks at the state before a step is chosen.
#[inline(always)]
pub(super) fn look(state: &State) -> Result<(), Ending> {
    let step = u64::from(STEPS.load(Relaxed));
    if step < FIRST { Ok(()) } else { compare(state, step) }
}

/// Notes who takes a step.
#[inline(always)]
pub(super) fn note(thread: u16) {
    let half = &MOVED[usize::from(thread / 64) % 2];
    half.set(half.get() | 1 << (thread % 64));
}

#[inline(never)]
fn compare(state: &State, step: u64) -> Result<(), Ending> {
    let [since, threads, low, high, compared] = [0, 1, 2, 3, 4].map(|at| EARLIER[at].get());
    let now = about_to_do(state);
    if step == FIRST || (step - FIRST).is_power_of_two() {
        let hash = fingerprint_without_time(state);
        let kept = [step, now, hash as u64, (hash >> 64) as u64, 0];
        EARLIER.iter().zip(kept).for_each(|(place, value)| place.set(value));
        MOVED.iter().for_each(|half| half.set(0));
        return Ok(());
    }
    let may_repeat = compared < MAX_COMPARED && is_closed(state, since);
    if now != threads || !may_repeat || !all_have_moved(state) {
        return Ok(());
    }
    EARLIER[4].set(compared + 1);
    let hash = fingerprint_without_time(state);
    match [hash as u64, (hash >> 64) as u64] == [low, high] {
        true => Err(Ending { outcome: Outcome::Livelock, detail: 0 }),
        false => Ok(()),
    }
}

/// Whether nothing but the steps of threads changes the state, as far as is known since a step: not
/// time, nor what other processes and machines do. Threads of which none does anything but look are
/// known to spin by the rounds that they take.
pub(super) fn is_closed(state: &State, since: u64) -> bool {
    state.deadlines.get() == 0
        && state.idle_rounds.get() <= MAX_ROUNDS
        && CLOCK_READ.get() < since
        && !setup().has_peers
        && !multi_process::is_one_of_several()
}

/// Whether each thread that can run has taken a step since the earlier state.
fn all_have_moved(state: &State) -> bool {
    let has_moved =
        |number: u16| MOVED[usize::from(number / 64) % 2].get() >> (number % 64) & 1 == 1;
    let can_run = state.threads().filter(|thread| thread.status() == Status::Ready);
    can_run.map(|thread| thread.number.get()).all(has_moved)
}

/// What tells most states apart: what each thread is about to do, or waits for.
fn about_to_do(state: &State) -> u64 {
    state.threads().fold(0, |sum: u64, thread| {
        let parts = [
            thread.status() as u64,
            thread.kind.get() as u64,
            thread.object.get().facet(Facet::Whole),
        ];
        parts
            .into_iter()
            .fold(sum, |sum, part| (sum.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    })
}
