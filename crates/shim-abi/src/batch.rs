//! Several executions of a search of all schedules, asked for at once.

use crate::Outcome;

/// How many executions of a search of all schedules one command may ask for.
pub const MAX_ORDERS: usize = 32;
/// How many choices those may be given, and how many of their steps are kept.
pub const MAX_ORDERED: usize = 1 << 16;
/// How many of the steps that could have been taken in them are kept.
pub const MAX_ORDERED_ALTERNATIVES: usize = 1 << 18;

/// One execution of a batch. Its choices and its sleep set come after those of the entry before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct BatchEntry {
    /// How many choices it follows.
    pub prefix: u32,
    /// Of how many steps it is known what could be taken.
    pub known: u32,
    /// How many steps sleep after that.
    pub sleeping: u32,
}

/// What came of an entry. Its steps, from the last one on that was known, and what could have been
/// taken come after those of the entry before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Record {
    /// How it ended.
    pub outcome: Outcome,
    /// How many steps it had.
    pub steps: u32,
    /// How many steps could have been taken instead, in all.
    pub alternatives: u32,
}

impl Record {
    /// The first step that is kept of an execution in which so many were known: the last of those was
    /// another one before.
    pub fn first_kept(known: usize) -> usize {
        known.saturating_sub(1)
    }
}
