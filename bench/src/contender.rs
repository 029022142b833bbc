//! What is compared: the list of rows and what a row reports.

use crate::model::{Bounds, Expected};
use crate::{limit, ours, scale, spin, stateright};
use serde::{Deserialize, Serialize};

/// What one run of a tool found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateCounts {
    /// Distinct states.
    pub states: u64,
    /// Transitions, where the tool reports them.
    pub transitions: Option<u64>,
    /// Breadth-first levels, where the tool reports them.
    pub levels: Option<u64>,
}

impl StateCounts {
    /// Returns the outcome of a tool that reports everything and is right.
    #[cfg(test)]
    pub fn exact(size: &Expected) -> StateCounts {
        StateCounts {
            states: size.states,
            transitions: Some(size.transitions),
            levels: Some(size.levels),
        }
    }

    /// Tells whether all numbers that are reported are right.
    pub fn agrees_with(&self, size: &Expected) -> bool {
        self.states == size.states
            && self.transitions.is_none_or(|count| count == size.transitions)
            && self.levels.is_none_or(|count| count == size.levels)
    }
}

/// How a row is run; always in a process of its own.
#[derive(Clone, Copy)]
pub enum Tool {
    /// A function of this binary, which is executed again for it.
    InProcess(fn(&Bounds) -> StateCounts),
    /// A `pan` that SPIN generates.
    Spin(&'static spin::Variant),
}

/// One row of the table.
#[derive(Clone, Copy)]
pub struct Contender {
    /// The name, as `--only` takes it and the table shows it.
    pub name: &'static str,
    /// Whether the row uses all cores; it is left out on a machine that has one.
    pub parallel: bool,
    /// How to run it.
    pub tool: Tool,
}

impl Contender {
    /// Makes a row for a function of this binary that uses one thread.
    pub const fn sequential(name: &'static str, run: fn(&Bounds) -> StateCounts) -> Contender {
        Contender { name, parallel: false, tool: Tool::InProcess(run) }
    }

    /// Makes a row for a function of this binary that uses all cores.
    pub const fn parallel(name: &'static str, run: fn(&Bounds) -> StateCounts) -> Contender {
        Contender { name, parallel: true, tool: Tool::InProcess(run) }
    }
}

/// The row that every ratio refers to.
pub const REFERENCE: &str = "limit";

/// The rows of the hand-written loop.
const LIMIT: [Contender; 3] = [
    Contender::sequential(REFERENCE, limit::presized),
    Contender::sequential("limit-growing", limit::growing),
    Contender::sequential("limit-depth-first", limit::depth_first),
];

/// Returns all rows for a machine with `cores` cores, in the order of the table.
pub fn all(cores: usize) -> Vec<Contender> {
    LIMIT
        .iter()
        .chain(&ours::ROWS)
        .chain(&scale::ROWS)
        .chain(&stateright::ROWS)
        .chain(&spin::ROWS)
        .filter(|row| cores > 1 || !row.parallel)
        .copied()
        .collect()
}

/// Returns the number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}
