//! What was concluded, and how much was looked at.

use std::fmt;

/// The answer to "does the property hold?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize))]
#[cfg_attr(feature = "file", serde(rename_all = "lowercase"))]
pub enum Verdict {
    /// No violation within the stated coverage.
    Holds,
    /// At least one violation was found, and its replay confirmed it.
    Violated,
    /// No violation was found, but not everything that was asked for was explored.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// How much of the system's behaviour a verdict speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every behaviour.
    Exhaustive,
    /// Every behaviour of at most `depth` steps.
    Bounded {
        /// The bound.
        depth: u32,
    },
    /// Every behaviour with at most so many preemptions.
    BoundedPreemptions {
        /// The bound.
        preemptions: u32,
    },
    /// Every behaviour until nothing but time passes.
    BoundedIdle,
    /// Every behaviour in which no thread locks one mutex very often while others could move.
    BoundedLocks,
    /// Some behaviours, chosen at random.
    Sampled,
    /// Some behaviours only: the exploration stopped early.
    Partial,
}

impl Coverage {
    /// The coverage's name in machine-readable results.
    pub fn kind(self) -> &'static str {
        match self {
            Coverage::Exhaustive => "exhaustive",
            Coverage::Bounded { .. }
            | Coverage::BoundedPreemptions { .. }
            | Coverage::BoundedIdle
            | Coverage::BoundedLocks => "bounded",
            Coverage::Sampled => "sampled",
            Coverage::Partial => "partial",
        }
    }
}
