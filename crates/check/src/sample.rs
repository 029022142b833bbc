//! What a sample of executions says of those that are not in it.

use everypath_native::{Explored, GoodTuring, Promise};
use serde::Serialize;

/// An estimate, and a bound if the strategy has one.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// How many executions this is about: the first ones, if there were very many.
    pub executions_classified: u64,
    /// Whether there were more.
    #[serde(skip)]
    pub is_a_part: bool,
    /// Classes of executions that differ only in the order of independent steps.
    pub classes: u64,
    /// Those of them that one execution only belongs to.
    pub classes_seen_once: u64,
    /// That one more execution is of a class that was not seen: an estimate, and what it is below
    /// with 95 % confidence.
    pub new_class_probability: f64,
    /// The upper bound.
    pub new_class_probability_at_most: f64,
    /// What the strategy promises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pct: Option<PctBound>,
}

/// What probabilistic concurrency testing promises.
#[derive(Clone, Debug, Serialize)]
pub struct PctBound {
    /// The depth of the bugs that this is about.
    pub depth: u32,
    /// How many threads there are.
    pub threads: u64,
    /// The promise is of executions with at most so many steps.
    pub steps: u64,
    /// How many steps the longest execution had.
    pub longest_execution: u64,
    /// That an execution meets a bug of this depth, at least.
    pub probability_each: f64,
    /// That one of all executions does.
    pub probability: f64,
}

impl Sample {
    /// Of executions that were sampled; none if all were explored.
    pub(crate) fn of(explored: &Explored) -> Option<Self> {
        let GoodTuring { executions, classes, once } = explored.variety;
        let bound = |promise: Promise| PctBound {
            depth: promise.depth,
            threads: promise.threads,
            steps: promise.steps,
            longest_execution: explored.longest,
            probability_each: promise.each(),
            probability: promise.together(explored.executions),
        };
        (executions > 0).then(|| Sample {
            executions_classified: executions,
            is_a_part: executions < explored.executions,
            classes,
            classes_seen_once: once,
            new_class_probability: explored.variety.unseen(),
            new_class_probability_at_most: explored.variety.unseen_at_most(),
            pct: explored.promise.map(bound),
        })
    }
}
