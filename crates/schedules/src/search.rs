//! Depth-first search over schedules, each of them executed from the start.
//!
//! Patrice Godefroid: Model checking for programming languages using VeriSoft. POPL 1997.
//!
//! The search keeps the path of the last execution, a [`Frame`] for each of its states. An execution
//! follows the path up to the deepest state that has a branch left, takes that branch, and goes on as
//! the executor likes. Its new states are put on the path, and the [`Algorithm`] adds the branches
//! that the execution makes necessary, wherever on the path they begin.
//!
//! The search asks for one execution after the other. It also tells which ones it will probably ask
//! for next, so that the executor can run them ahead of time.

use crate::executor::{Alternative, Executed, Executor, Run, Taken};
use crate::frame::Frame;
use crate::reduction::preemption_bound::PreemptionBound;
use crate::reduction::sleep_sets::SleepSet;
use crate::reduction::wakeup_tree::{self, Branch};
use crate::reduction::{Added, Algorithm, Reduction};
use everypath_dependence::Enabled;
use std::mem;
use std::ops::ControlFlow;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// Every schedule was explored, up to equivalence.
    Complete,
    /// The visitor had seen enough.
    Stopped,
    /// The program is of a kind that [`Reduction::Optimal`] does not support: it must be explored
    /// again with [`Reduction::Source`].
    NeedsSourceSets,
}

/// A search over all schedules.
pub struct ScheduleSearch<E> {
    algorithm: Box<dyn Algorithm<E>>,
    /// The states of the last execution, up to the one whose next branch is taken now.
    frames: Vec<Frame<E>>,
    /// What is planned after the last frame: the path to the first leaf is followed.
    ahead: Vec<Branch>,
    /// How many executions were absorbed.
    executions: u64,
}

impl<E: Enabled> ScheduleSearch<E> {
    /// A search with a reduction.
    pub fn new(reduction: Reduction) -> Self {
        ScheduleSearch::with(reduction.algorithm())
    }

    /// A search of the schedules with at most so many preemptions, without a reduction.
    pub fn bounded(preemptions: u32) -> Self {
        ScheduleSearch::with(Box::new(PreemptionBound::new(preemptions)))
    }

    fn with(algorithm: Box<dyn Algorithm<E>>) -> Self {
        ScheduleSearch { algorithm, frames: Vec::new(), ahead: Vec::new(), executions: 0 }
    }

    /// Runs executions until all that are necessary were run, or `visit` breaks. It sees each of them
    /// before the search does.
    pub fn run<X: Executor<Step = E>>(
        &mut self,
        executor: &mut X,
        mut visit: impl FnMut(&Self, &mut X, &Executed<E>) -> ControlFlow<()>,
    ) -> Result<SearchEnd, X::Error> {
        loop {
            let next = self.next();
            match executor.foresight(&next) {
                0 => {}
                most => executor.foresee(self.likely(most)),
            }
            let executed = executor.run(&next.schedule, next.known, &next.sleep)?;
            let enough = visit(self, executor, &executed).is_break();
            if !self.algorithm.supports(&executed) {
                return Ok(if enough { SearchEnd::Stopped } else { SearchEnd::NeedsSourceSets });
            }
            self.absorb(executed);
            if !self.backtrack() {
                return Ok(SearchEnd::Complete);
            }
            if enough {
                return Ok(SearchEnd::Stopped);
            }
            if !self.frames.last().is_some_and(Frame::is_possible) {
                // Only a step that was foreseen can turn out not to be enabled.
                return Ok(SearchEnd::NeedsSourceSets);
            }
        }
    }

    /// How many branches are known that were not explored, each of at least one execution; a reduced
    /// search finds more of them while it goes on.
    pub fn left(&self) -> u64 {
        let left: usize = self.frames.iter().map(|frame| frame.branches.len()).sum();
        // The branch that would be taken next is on the path.
        (left + usize::from(!self.frames.is_empty())) as u64
    }

    /// Whether a bound of preemptions has kept the search from schedules.
    pub fn has_left_out(&self) -> bool {
        self.algorithm.has_left_out()
    }

    /// The execution to be run now.
    fn next(&self) -> Run<E> {
        let path: Vec<_> = wakeup_tree::to_first_leaf(&self.ahead).collect();
        self.run_through(self.frames.len(), &path, self.sleep())
    }

    /// The sleep set after the last frame.
    fn sleep(&self) -> SleepSet<E> {
        self.frames.last().map_or_else(SleepSet::default, Frame::sleep_after)
    }

    /// Executions that will be run, unless those before them make others necessary: the next branch of
    /// each state, the deepest first.
    fn likely(&self, most: usize) -> Vec<Run<E>> {
        let with_sleep_sets = self.algorithm.uses_sleep_sets();
        let next = |(depth, frame): (usize, &Frame<E>)| {
            let next = frame.branches.first()?;
            let then = wakeup_tree::to_first_leaf(&next.then);
            let path: Vec<_> = std::iter::once(next).chain(then).collect();
            let run = self.run_through(depth, &path, frame.sleep_before_next(with_sleep_sets));
            Some(Run { known: depth + 1, ..run })
        };
        self.frames.iter().enumerate().rev().filter_map(next).take(most).collect()
    }

    /// The execution that follows the first `known` steps of this one and then a path.
    fn run_through(&self, known: usize, path: &[&Branch], sleep: SleepSet<E>) -> Run<E> {
        let taken = self.frames[..known].iter().map(|frame| frame.taken.choice());
        let schedule = taken.chain(path.iter().map(|step| step.choice())).collect();
        Run { schedule, known, sleep: sleep.after_all(path) }
    }

    /// Puts the new states of an execution on the path, with the branches that it makes necessary.
    fn absorb(&mut self, executed: Executed<E>) {
        self.executions += 1;
        let Executed { left_out, steps, alternatives, ended } = executed;
        let entered = self.frames.len();
        // The last step that was known was another one before.
        let first = entered.saturating_sub(1).min(left_out + steps.len());
        let steps = &steps[first - left_out..];
        let mut alternatives = alternatives.into_iter();
        for (number, step) in (first..).zip(steps) {
            match self.frames.get_mut(number) {
                // What it touches is known now.
                Some(known) => known.taken.parts = step.footprint.parts().collect(),
                None => self.enter(step, alternatives.next().unwrap_or_default()),
            }
        }
        self.ahead.clear();
        self.algorithm.add_branches(&mut self.frames, Added { first, steps, entered, ended });
    }

    /// Adds the state from which a step was taken for the first time.
    fn enter(&mut self, step: &Taken, alternatives: Vec<Alternative<E>>) {
        let sleep = self.sleep();
        let mut planned = mem::take(&mut self.ahead);
        if !planned.is_empty() {
            self.ahead = mem::take(&mut planned.remove(0).then);
        }
        self.frames.push(Frame::new(step, alternatives, sleep, planned, &self.ahead));
    }

    /// Goes back to the deepest state with a branch left; false if there is none.
    fn backtrack(&mut self) -> bool {
        let with_sleep_sets = self.algorithm.uses_sleep_sets();
        while let Some(frame) = self.frames.last_mut() {
            if let Some(ahead) = frame.advance(with_sleep_sets) {
                self.ahead = ahead;
                return true;
            }
            self.frames.pop();
        }
        false
    }
}
