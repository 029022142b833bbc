//! Depth-first search over schedules, each of them executed from the start.
//!
//! Patrice Godefroid: Partial-Order Methods for the Verification of Concurrent Systems, 1996 (sleep
//! sets); Model checking for programming languages using VeriSoft, POPL 1997.

use super::happens_before::HappensBefore;
use super::source_dpor::{self, Reversal};
use super::{Footprint, Reduction};
use std::ops::ControlFlow;

/// What was chosen at one point: which actor, and which outcome of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The actor's number.
    pub actor: u16,
    /// Which outcome.
    pub outcome: u16,
}

/// A step that can be taken.
#[derive(Clone, Debug)]
pub struct Alternative<F> {
    /// The actor's number.
    pub actor: u16,
    /// An outcome that happens by itself, beside the actor's own step: a time-out. Its number.
    pub by_itself: Option<u16>,
    /// How many outcomes the step has.
    pub outcomes: u16,
    /// What it would touch.
    pub footprint: F,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken<F> {
    /// What was chosen.
    pub choice: Choice,
    /// What it touched.
    pub footprint: F,
    /// The actor that it created.
    pub creates: Option<u16>,
    /// The step without which this one could not have been taken.
    pub after: Option<usize>,
}

/// How an execution ended, as far as the search is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Complete,
    /// In the middle of a step: other actors might still have done something.
    Cut,
    /// Because all that could be done sleeps.
    Redundant,
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Executed<F> {
    /// The steps, those of the schedule included.
    pub steps: Vec<Taken<F>>,
    /// For each step after those of the schedule, what could have been taken.
    pub alternatives: Vec<Vec<Alternative<F>>>,
    /// How it ended.
    pub ended: Ended,
}

/// What runs executions.
pub trait Executor {
    /// What steps touch.
    type Footprint: Footprint;
    /// Why an execution cannot be run.
    type Error;

    /// Runs an execution that follows `schedule` and then goes on without any step in `sleep`,
    /// until something happens on which that step depends.
    fn run(
        &mut self,
        schedule: &[Choice],
        sleep: &[Alternative<Self::Footprint>],
    ) -> Result<Executed<Self::Footprint>, Self::Error>;
}

/// An actor's step, or something that happens to the actor by itself.
type Key = (u16, Option<u16>);

impl<F> Alternative<F> {
    fn key(&self) -> Key {
        (self.actor, self.by_itself)
    }
}

struct Frame<F> {
    alternatives: Vec<Alternative<F>>,
    /// What must be explored from here.
    backtrack: Vec<Key>,
    /// What has been.
    done: Vec<Key>,
    /// What has been from an equivalent state.
    sleep: Vec<Alternative<F>>,
    taken: Key,
    outcome: u16,
    outcomes: u16,
}

impl<F: Footprint> Frame<F> {
    fn choice(&self) -> Choice {
        Choice { actor: self.taken.0, outcome: self.taken.1.unwrap_or(self.outcome) }
    }

    fn require(&mut self, key: Key) {
        if !self.backtrack.contains(&key) {
            self.backtrack.push(key);
        }
    }

    fn require_all(&mut self) {
        for key in self.alternatives.iter().map(Alternative::key).collect::<Vec<_>>() {
            self.require(key);
        }
    }

    /// Goes on to the next thing to explore from here; false if there is none.
    fn advance(&mut self) -> bool {
        if self.taken.1.is_none() && self.outcome + 1 < self.outcomes {
            self.outcome += 1;
            return true;
        }
        self.done.push(self.taken);
        let next = self.backtrack.iter().copied().find(|key| {
            !self.done.contains(key) && !self.sleep.iter().any(|sleeping| sleeping.key() == *key)
        });
        let Some(key) = next else { return false };
        let alternative = self.alternatives.iter().find(|alternative| alternative.key() == key);
        self.outcomes = alternative.map_or(1, |alternative| alternative.outcomes);
        self.taken = key;
        self.outcome = 0;
        true
    }

    /// What sleeps after a step from here.
    fn sleep_after(&self, footprint: &F) -> Vec<Alternative<F>> {
        let explored =
            self.alternatives.iter().filter(|alternative| self.done.contains(&alternative.key()));
        self.sleep
            .iter()
            .chain(explored)
            .filter(|sleeping| sleeping.key() != self.taken)
            .filter(|sleeping| sleeping.footprint.commutes(footprint))
            .cloned()
            .collect()
    }
}

/// A search over all schedules.
pub struct Stateless<F: Footprint> {
    reduction: Reduction,
    frames: Vec<Frame<F>>,
    order: HappensBefore<F::Part>,
    actors: Vec<u16>,
    /// How many executions were run.
    pub executions: u64,
    /// How many of them ended because all that could be done slept.
    pub redundant: u64,
}

impl<F: Footprint> Stateless<F> {
    /// A search with a reduction.
    pub fn new(reduction: Reduction) -> Self {
        Stateless {
            reduction,
            frames: Vec::new(),
            order: HappensBefore::default(),
            actors: Vec::new(),
            executions: 0,
            redundant: 0,
        }
    }

    /// Runs executions until all that make a difference were, or `visit` breaks.
    ///
    /// Returns whether the search came to its end.
    pub fn run<E: Executor<Footprint = F>>(
        &mut self,
        executor: &mut E,
        mut visit: impl FnMut(&mut E, &Executed<F>) -> ControlFlow<()>,
    ) -> Result<bool, E::Error> {
        let mut sleep = Vec::new();
        loop {
            let schedule: Vec<Choice> = self.frames.iter().map(Frame::choice).collect();
            let executed = executor.run(&schedule, &sleep)?;
            self.executions += 1;
            self.redundant += u64::from(executed.ended == Ended::Redundant);
            self.absorb(&executed);
            if visit(executor, &executed).is_break() {
                return Ok(false);
            }
            match self.backtrack() {
                Some(next) => sleep = next,
                None => return Ok(true),
            }
        }
    }

    /// Takes the steps that are new into the tree, with what they make necessary.
    fn absorb(&mut self, executed: &Executed<F>) {
        let known = self.frames.len();
        // The last step of the schedule was another one before.
        let from = known.saturating_sub(1).min(executed.steps.len());
        self.order.truncate(from);
        self.actors.truncate(from);
        for (number, step) in executed.steps.iter().enumerate().skip(from) {
            if number >= known {
                let alternatives = executed.alternatives[number - known].clone();
                let sleep = self.sleep_at(number, executed);
                self.frames.push(self.frame(step, alternatives, sleep));
            }
            self.actors.push(step.choice.actor);
            if self.reduction == Reduction::Dpor {
                let reversals = source_dpor::extend(&mut self.order, &self.actors, step);
                for reversal in reversals {
                    self.require(&reversal, executed);
                }
            }
        }
        if executed.ended == Ended::Cut
            && let Some(last) = self.frames.last_mut()
        {
            last.require_all();
        }
    }

    fn sleep_at(&self, number: usize, executed: &Executed<F>) -> Vec<Alternative<F>> {
        if number == 0 || self.reduction == Reduction::None {
            return Vec::new();
        }
        self.frames[number - 1].sleep_after(&executed.steps[number - 1].footprint)
    }

    fn frame(
        &self,
        step: &Taken<F>,
        alternatives: Vec<Alternative<F>>,
        sleep: Vec<Alternative<F>>,
    ) -> Frame<F> {
        let by_itself = |a: &&Alternative<F>| {
            a.actor == step.choice.actor && a.by_itself == Some(step.choice.outcome)
        };
        let own = |a: &&Alternative<F>| a.actor == step.choice.actor && a.by_itself.is_none();
        let found = alternatives.iter().find(by_itself).or_else(|| alternatives.iter().find(own));
        let (taken, outcomes) =
            found.map_or(((step.choice.actor, None), 1), |found| (found.key(), found.outcomes));
        let outcome = if taken.1.is_some() { 0 } else { step.choice.outcome };
        let mut frame = Frame {
            backtrack: vec![taken],
            done: Vec::new(),
            alternatives,
            sleep,
            taken,
            outcome,
            outcomes,
        };
        let everything = self.reduction == Reduction::None || step.footprint.is_everything();
        // What happens by itself may happen at any time.
        let necessary: Vec<Key> = frame
            .alternatives
            .iter()
            .filter(|alternative| everything || alternative.footprint.is_everything())
            .map(Alternative::key)
            .collect();
        necessary.into_iter().for_each(|key| frame.require(key));
        frame
    }

    /// Makes sure that one of the initials of a reversal is explored.
    fn require(&mut self, reversal: &Reversal, executed: &Executed<F>) {
        let frame = &mut self.frames[reversal.at];
        let keys: Vec<Key> = reversal
            .initials
            .iter()
            .map(|&step| executed.steps[step].choice)
            .filter_map(|choice| {
                let of = |a: &&Alternative<F>| {
                    a.actor == choice.actor && a.by_itself.is_none_or(|own| own == choice.outcome)
                };
                frame.alternatives.iter().find(of).map(Alternative::key)
            })
            .collect();
        if keys.iter().any(|key| frame.backtrack.contains(key)) {
            return;
        }
        match keys.first() {
            Some(&key) => frame.require(key),
            // The theory says that this does not happen; if it does, nothing is left out.
            None => frame.require_all(),
        }
    }

    /// Goes back to the deepest point with something left to explore; what sleeps after it.
    fn backtrack(&mut self) -> Option<Vec<Alternative<F>>> {
        while let Some(frame) = self.frames.last_mut() {
            if frame.advance() {
                if self.reduction == Reduction::None {
                    return Some(Vec::new());
                }
                let taken = frame.alternatives.iter().find(|a| a.key() == frame.taken);
                let sleep = taken.map(|taken| frame.sleep_after(&taken.footprint));
                return Some(sleep.unwrap_or_default());
            }
            self.frames.pop();
        }
        None
    }
}
