//! Choices in an exhaustive search: the checker gives a prefix, the shim continues depth-first.
//!
//! The running thread continues while it can. Steps that the checker has explored before from the
//! same state sleep until a dependent step is taken (sleep sets, Godefroid 1996). All alternatives
//! are recorded.

use super::alternatives::{comes_last, offers, yields};
use super::exits;
use super::strategy::{Among, Strategy};
use crate::region::region;
use crate::run_state::{Common, RunState};
use crate::state::{Ending, State, Status, Thread, state};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::{
    BatchEntry, Choice, Command, Enabled, EnabledStep, MAX_ALTERNATIVES, OperationKind, Outcome,
    Request, TIMEOUT, TimeMode,
};

/// How many alternatives were recorded in this execution.
static WRITTEN: Common<AtomicU32> = Common::at(offset_of!(RunState, written));
/// Of so many steps the checker knows what can be chosen.
static KNOWN: Common<AtomicU32> = Common::at(offset_of!(RunState, known));
/// How many steps sleep.
static SLEEPING: Common<AtomicU32> = Common::at(offset_of!(RunState, sleeping));

/// How often in a row a thread that stands back was chosen.
static INSISTING: Common<AtomicU32> = Common::at(offset_of!(RunState, insisting));

/// A thread that spins so often without a visible effect spins for ever.
const MAX_INSISTING: u32 = 500;

/// The search.
pub(super) struct Exhaustive;

impl Strategy for Exhaustive {
    fn obey(&self, command: &Command) {
        WRITTEN.store(0, Relaxed);
        INSISTING.store(0, Relaxed);
        if command.request == Request::Run {
            SLEEPING.store(region().sleep_count.get(), Relaxed);
            KNOWN.store(command.known, Relaxed);
        }
    }

    fn follow(&self, order: BatchEntry) {
        WRITTEN.store(0, Relaxed);
        INSISTING.store(0, Relaxed);
        SLEEPING.store(order.sleeping, Relaxed);
        KNOWN.store(order.known, Relaxed);
    }

    /// The checker may have no use for this execution now: it may want another one first.
    fn goes_on(&self) -> Result<(), Ending> {
        match region().hurry.load(Relaxed) {
            0 => Ok(()),
            _ => Err(Ending { outcome: Outcome::Unwanted, detail: 0 }),
        }
    }

    fn note_given(&self, state: &State, mode: TimeMode) -> Result<(), Ending> {
        if is_news() { write_down(state, mode) } else { Ok(()) }
    }

    fn note_only(&self, thread: &Thread) {
        write_down_only(thread);
    }

    fn leaves_out_unfair(&self) -> bool {
        true
    }

    fn choose(&self, state: &State, mode: TimeMode, _among: Among) -> Result<Choice, Ending> {
        choose(state, mode)
    }
}

/// The step that a thread could take.
pub(super) fn pending(thread: &Thread, outcomes: u32) -> EnabledStep {
    let blocked = thread.status() == Status::Blocked;
    let announced = super::announced(thread);
    let mut step = EnabledStep::announced(thread.number.get(), announced, thread.object.get());
    step.phase = thread.phase.get();
    step.outcomes = if blocked { TIMEOUT } else { outcomes.min(u32::from(TIMEOUT) - 1) as u16 };
    step.is_last = blocked && comes_last(state(), thread);
    step
}

fn sleeps(alternative: &EnabledStep) -> bool {
    region().sleep[..SLEEPING.load(Relaxed) as usize].iter().any(|sleeping| {
        let sleeping = sleeping.get();
        sleeping.thread == alternative.thread && sleeping.is_timeout() == alternative.is_timeout()
    })
}

/// Whether the checker does not know yet what can be chosen now.
fn is_news() -> bool {
    super::STEPS.load(Relaxed) >= KNOWN.load(Relaxed)
}

/// Writes down all that can be chosen.
#[inline(never)]
pub(super) fn write_down(state: &State, mode: TimeMode) -> Result<(), Ending> {
    each_alternative(state, mode, |_| {})
}

/// Writes down all that can be chosen, and shows it.
fn each_alternative(
    state: &State,
    mode: TimeMode,
    mut each: impl FnMut(EnabledStep),
) -> Result<(), Ending> {
    let step = super::STEPS.load(Relaxed) as usize;
    let mut written = WRITTEN.load(Relaxed) as usize;
    for thread in state.threads() {
        let stands_back = yields(state, thread);
        let outcomes = if stands_back { 1 } else { offers(state, thread, mode) };
        if outcomes == 0 || exits::waits(state, thread, mode) {
            continue;
        }
        let mut alternative = pending(thread, outcomes);
        alternative.stands_back = stands_back;
        if written == MAX_ALTERNATIVES {
            return Err(Ending { outcome: Outcome::TooLong, detail: step as i32 });
        }
        region().alternatives[written].set(alternative);
        written += 1;
        each(alternative);
    }
    WRITTEN.store(written as u32, Relaxed);
    region().alternative_ends[step].set(written as u32);
    Ok(())
}

/// What depends on the chosen step sleeps no more.
fn wake_dependent(chosen: &EnabledStep) {
    if SLEEPING.load(Relaxed) == 0 {
        return;
    }
    let taken = chosen.footprint();
    let region = region();
    let mut kept = 0;
    for at in 0..SLEEPING.load(Relaxed) as usize {
        let sleeping = region.sleep[at].get();
        if sleeping.footprint().commutes(&taken) {
            region.sleep[kept].set(sleeping);
            kept += 1;
        }
    }
    SLEEPING.store(kept as u32, Relaxed);
}

/// Chooses, and records the alternatives.
#[inline(never)]
fn choose(state: &State, mode: TimeMode) -> Result<Choice, Ending> {
    let current = state.current.get();
    let mut chosen: Option<EnabledStep> = None;
    each_alternative(state, mode, |alternative| {
        // A time-out is taken only if nothing else can be; the thread that runs goes first, unless it
        // would miss what others send. A thread that stands back goes on if all others sleep: its next
        // step may wake them.
        let better = |than: EnabledStep| {
            let rank = |of: &EnabledStep| {
                let misses = of.kind() == OperationKind::ReceiveAny;
                (of.stands_back, of.is_timeout(), misses, of.thread != current)
            };
            rank(&alternative) < rank(&than)
        };
        if !sleeps(&alternative) && chosen.is_none_or(better) {
            chosen = Some(alternative);
        }
    })?;
    let insisting = match &chosen {
        Some(chosen) if chosen.stands_back => INSISTING.load(Relaxed) + 1,
        _ => 0,
    };
    INSISTING.store(insisting, Relaxed);
    let Some(chosen) = chosen.filter(|_| insisting <= MAX_INSISTING) else {
        return Err(Ending { outcome: Outcome::SleepSetBlocked, detail: 0 });
    };
    wake_dependent(&chosen);
    let outcome = if chosen.is_timeout() { TIMEOUT } else { 0 };
    Ok(Choice { thread: chosen.thread, outcome })
}

/// Writes down the only step that can be taken.
fn write_down_only(thread: &Thread) {
    let step = super::STEPS.load(Relaxed) as usize;
    let written = WRITTEN.load(Relaxed) as usize;
    if !is_news() || written == MAX_ALTERNATIVES {
        return;
    }
    let only = pending(thread, 1);
    region().alternatives[written].set(only);
    WRITTEN.store(written as u32 + 1, Relaxed);
    region().alternative_ends[step].set(written as u32 + 1);
    if !super::replay::are_left() {
        wake_dependent(&only);
    }
}
