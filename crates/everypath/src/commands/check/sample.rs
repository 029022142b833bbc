//! What a sample of executions says of those that are not in it.

use everypath_native::{Explored, GoodTuring, Promise};
use everypath_report::{grouped, percent};
use serde::Serialize;
use std::fmt::Write;

/// An estimate, and a bound if the strategy has one.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sample {
    /// How many executions this is about: the first ones, if there were very many.
    executions_classified: u64,
    #[serde(skip)]
    is_a_part: bool,
    /// Classes of executions that differ only in the order of independent steps.
    classes: u64,
    classes_seen_once: u64,
    /// That one more execution is of a class that was not seen: an estimate, and what it is below
    /// with 95 % confidence.
    new_class_probability: f64,
    new_class_probability_at_most: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pct: Option<Bound>,
}

/// What probabilistic concurrency testing promises.
#[derive(Clone, Debug, Serialize)]
struct Bound {
    depth: u32,
    threads: u64,
    /// The promise is of executions with at most so many steps.
    steps: u64,
    longest_execution: u64,
    /// That an execution meets a bug of this depth, and that one of them all does, at least.
    probability_each: f64,
    probability: f64,
}

impl Sample {
    /// Of executions that were sampled; none if all were explored.
    pub(super) fn of(explored: &Explored) -> Option<Self> {
        let GoodTuring { executions, classes, once } = explored.variety;
        let bound = |promise: Promise| Bound {
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

    /// In words, a line each.
    pub(super) fn text(&self) -> String {
        let mut text = match self.is_a_part {
            true => format!("In the first {} executions ", grouped(self.executions_classified)),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "{} orders of dependent steps were seen, {} of them once: about {} of further \
             executions would show a new one, at most {} (95 % confidence)",
            grouped(self.classes),
            grouped(self.classes_seen_once),
            percent(self.new_class_probability),
            percent(self.new_class_probability_at_most)
        );
        if let Some(bound) = &self.pct {
            let Bound { depth, threads, steps, longest_execution, .. } = bound;
            let _ = writeln!(
                text,
                "A bug of depth {depth} is met with a probability of at least \
                 1/({threads} threads * ({steps} steps)^{}) in each, {} in all; if executions have \
                 at most {steps} steps (the longest had {longest_execution})",
                depth - 1,
                percent(bound.probability)
            );
        }
        text
    }
}
