//! Strategies: how a step is chosen once the choices that the checker gave are used up.
//!
//! Each is a file of its own and a type without size; `of` is the list of them. They see threads and
//! what these could do, and nothing of what that is.

use super::dfs::Exhaustive;
use super::pct::Pct;
use super::pos::Pos;
use super::random::Random;
use crate::state::{Ending, State, Thread};
use everypath_shim_abi::{BatchEntry, Choice, Command, Policy, TimeMode};

/// What is chosen from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Among {
    /// How many choices there are.
    pub(super) total: u32,
    /// Whether they are only between threads.
    pub(super) simple: bool,
}

/// A strategy.
pub(super) trait Strategy {
    /// Takes over what a command asks for.
    fn obey(&self, _command: &Command) {}

    /// Takes over what an order of a batch asks for.
    fn follow(&self, _order: BatchEntry) {}

    /// Begins an execution, whose generator is set.
    fn begin(&self) {}

    /// Whether the execution goes on at all.
    #[inline(always)]
    fn goes_on(&self) -> Result<(), Ending> {
        Ok(())
    }

    /// Notes that the checker has made the next choice.
    #[inline(always)]
    fn note_given(&self, _state: &State, _mode: TimeMode) -> Result<(), Ending> {
        Ok(())
    }

    /// Notes that a thread takes the only step that there is.
    fn note_only(&self, _thread: &Thread) {}

    /// Whether an execution ends in which a thread spins for ever: a search would explore the same once
    /// more, while a sample has no use for executions that do not end.
    fn leaves_out_unfair(&self) -> bool {
        false
    }

    /// Chooses one of the steps that can be taken.
    fn choose(&self, state: &State, mode: TimeMode, among: Among) -> Result<Choice, Ending>;
}

/// All of them.
pub(super) const ALL: [&dyn Strategy; 4] = [&Exhaustive, &Pct, &Pos, &Random];

/// The strategy of a policy.
#[inline(always)]
pub(super) fn of(policy: Policy) -> &'static dyn Strategy {
    match policy {
        Policy::First => &Exhaustive,
        Policy::Pct => &Pct,
        Policy::Pos => &Pos,
        Policy::Random => &Random,
    }
}
