//! Probabilistic concurrency testing (PCT).
//!
//! Sebastian Burckhardt, Pravesh Kothari, Madanlal Musuvathi, Santosh Nagarakatte: A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs. ASPLOS 2010.
//!
//! Every thread has a priority at random, and the highest goes on. After `depth - 1` of the first
//! `horizon` steps, chosen at random, the thread that took the step gets one below all that were
//! drawn. A bug that shows whenever `depth` steps come in a certain order is met with a probability
//! of at least 1 / (threads * horizon^(depth - 1)), in executions of up to `horizon` steps.
//!
//! A thread that spins waits for others, unless its step is one of those chosen: then it goes on. So a
//! spin that must give up counts as one of the `depth` steps.
//!
//! Where we depart: after `horizon` steps, and again after as many, the thread that runs falls below
//! all others, so that one that tries again and again cannot keep others away for ever.

use super::spinning::INSISTS;
use super::strategy::{Among, Strategy};
use super::{STEPS, priorities};
use crate::region::region;
use crate::run_state::{Common, RunState};
use crate::state::{Ending, State};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use everypath_shim_abi::{Choice, Command, MAX_DEPTH, OperationKind, TimeMode};

/// How many priorities change.
static CHANGES: Common<AtomicU32> = Common::at(offset_of!(RunState, changes));
static HORIZON: Common<AtomicU32> = Common::at(offset_of!(RunState, horizon));
/// After how many steps each of them does.
static POINTS: Common<[AtomicU32; MAX_DEPTH]> = Common::at(offset_of!(RunState, points));
/// How many steps there were when this was last looked at.
static SEEN: Common<AtomicU32> = Common::at(offset_of!(RunState, seen));
/// Below this are those who fell; a change leads between it and what was drawn.
const CHANGED: u64 = priorities::DRAWN / 2;
/// Who falls next falls to this.
static FLOOR: Common<AtomicU64> = Common::at(offset_of!(RunState, floor));

/// The strategy.
pub(super) struct Pct;

impl Strategy for Pct {
    fn obey(&self, command: &Command) {
        CHANGES.store(command.depth.saturating_sub(1).min(MAX_DEPTH as u32), Relaxed);
        HORIZON.store(command.horizon.max(1), Relaxed);
    }

    fn begin(&self) {
        priorities::forget();
        SEEN.store(0, Relaxed);
        FLOOR.store(CHANGED - 1, Relaxed);
        let mut random = region().random.get();
        for point in &POINTS[..CHANGES.load(Relaxed) as usize] {
            point.store(1 + random.below(HORIZON.load(Relaxed)), Relaxed);
        }
        region().random.set(random);
    }

    fn choose(&self, state: &State, mode: TimeMode, _among: Among) -> Result<Choice, Ending> {
        Ok(choose(state, mode))
    }
}

fn choose(state: &State, mode: TimeMode) -> Choice {
    let steps = STEPS.load(Relaxed);
    let seen = SEEN.swap(steps, Relaxed);
    let is_new = |point: u32| seen < point && point <= steps;
    for (number, point) in POINTS[..CHANGES.load(Relaxed) as usize].iter().enumerate() {
        if is_new(point.load(Relaxed)) {
            priorities::set(state.current(), CHANGED + number as u64);
        }
    }
    let horizon = HORIZON.load(Relaxed);
    if steps / horizon != seen / horizon {
        priorities::set(state.current(), FLOOR.fetch_sub(1, Relaxed));
    }
    let chosen = priorities::highest(state, mode);
    let choice = priorities::choice(state, chosen, mode);
    if chosen.kind.get() != OperationKind::Spin {
        return choice;
    }
    let mut points = POINTS[..CHANGES.load(Relaxed) as usize].iter();
    let insists = points.any(|point| point.load(Relaxed) == steps + 1);
    Choice { outcome: if insists { INSISTS } else { 0 }, ..choice }
}
