//! Depth-first search over schedules, each of them executed from the start.
//!
//! Patrice Godefroid: Partial-Order Methods for the Verification of Concurrent Systems, 1996 (sleep
//! sets); Model checking for programming languages using VeriSoft, POPL 1997.

use super::estimate::{Estimate, Ways};
use super::happens_before::{HappensBefore, Race};
use super::wakeup_tree::{self, Branch, Planned, Sequence, Sleeper};
use super::{Reduction, commute, optimal_dpor, source_dpor};
use everypath_dependence::{Choice, Enabled, Footprint};
use std::mem;
use std::ops::ControlFlow;

/// A step that can be taken.
#[derive(Clone, Debug)]
pub struct Alternative<E> {
    /// The thread's number.
    pub thread: u16,
    /// An outcome that happens by itself, beside the thread's own step: a time-out. Its number.
    pub by_itself: Option<u16>,
    /// How many outcomes the step has.
    pub outcomes: u16,
    /// The step itself.
    pub step: E,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What was chosen.
    pub choice: Choice,
    /// What it touched.
    pub footprint: Footprint,
    /// What it might touch at another moment, if that is not the same.
    pub may_touch: Option<Footprint>,
    /// The thread that it created.
    pub creates: Option<u16>,
    /// The step without which this one could not have been taken.
    pub after: Option<usize>,
    /// The step without which this one would not have got what it asked for: it would have got
    /// something else, or waited.
    pub provided_by: Option<usize>,
    /// Whether the thread goes on after having waited: it gets what its step before asked for.
    pub resumes: bool,
}

/// How an execution ended, as far as the search is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Complete,
    /// In the middle of a step: other threads might still have done something.
    Cut,
    /// Because all that could be done sleeps.
    SleepSetBlocked,
    /// Because the next step of the schedule cannot be taken, although that was foreseen.
    Diverged,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// All that makes a difference was explored.
    Complete,
    /// Whoever looked at the executions had seen enough.
    Stopped,
    /// The program is of a kind for which [`Reduction::Optimal`] is not meant: it must be explored
    /// anew with [`Reduction::Source`].
    NeedsSourceSets,
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Executed<E> {
    /// How many steps at the beginning are left out: all that were known, but for the last, may be.
    pub left_out: usize,
    /// The other steps, those of the schedule included.
    pub steps: Vec<Taken>,
    /// For each step after those that were known, what could have been taken.
    pub alternatives: Vec<Vec<Alternative<E>>>,
    /// How it ended.
    pub ended: Ended,
}

/// What runs executions.
pub trait Executor {
    /// A step that is enabled.
    type Step: Enabled;
    /// Why an execution cannot be run.
    type Error;

    /// Runs an execution that follows `schedule` and then goes on without any step in `sleep`,
    /// until something happens on which that step depends.
    ///
    /// The first `known` steps are possible. The others are foreseen, which may be wrong.
    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<Self::Step>],
    ) -> Result<Executed<Self::Step>, Self::Error>;

    /// How many executions it would like to hear of in advance, beyond the next one, which is asked
    /// for after that.
    fn foresight(&mut self, _next: &Run<Self::Step>) -> usize {
        0
    }

    /// Tells of executions that will probably be asked for, the most probable first.
    fn foresee(&mut self, _likely: Vec<Run<Self::Step>>) {}
}

/// An execution to be run, as [`Executor::run`] is told of it.
#[derive(Clone, Debug)]
pub struct Run<E> {
    /// What it follows.
    pub schedule: Vec<Choice>,
    /// How many steps of that are possible.
    pub known: usize,
    /// What sleeps where the schedule ends.
    pub sleep: Vec<Alternative<E>>,
}

/// A thread's step, or something that happens to the thread by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The thread's number.
    pub thread: u16,
    /// The outcome that happens by itself.
    pub by_itself: Option<u16>,
}

impl<E: Enabled> Alternative<E> {
    fn key(&self) -> Key {
        Key { thread: self.thread, by_itself: self.by_itself }
    }

    fn leaf(&self, outcome: u16) -> Branch {
        let (key, parts) = (self.key(), self.step.footprint().into_parts().collect());
        Branch { key, outcome, parts, then: Vec::new() }
    }
}

/// A state on the way that is being explored.
struct Frame<E: Enabled> {
    alternatives: Vec<Alternative<E>>,
    /// What has been explored from here, or from an equivalent state.
    sleep: Vec<Alternative<E>>,
    /// What is being explored.
    taken: Branch,
    /// What is to be explored, in this order.
    branches: Vec<Branch>,
    /// How many ways from here were explored.
    done: usize,
    /// Who took the step before.
    before: Option<u16>,
    /// How many more preemptions there may be; none if that does not matter.
    preemptions: Option<u32>,
}

impl<E: Enabled> Frame<E> {
    fn offered(&self, key: Key) -> Option<&Alternative<E>> {
        self.alternatives.iter().find(|alternative| alternative.key() == key)
    }

    fn is_asleep(&self, key: Key) -> bool {
        self.sleep.iter().any(|sleeping| sleeping.key() == key)
    }

    /// Whether a step was explored from here, or will be.
    fn has(&self, key: Key) -> bool {
        let to_come = self.branches.iter().any(|branch| branch.key == key);
        to_come || self.taken.key == key || self.is_asleep(key)
    }

    /// Whether what is being explored can be done.
    fn is_possible(&self) -> bool {
        self.offered(self.taken.key).is_some_and(|of| self.taken.outcome < of.outcomes)
    }

    /// Whether another thread takes a step although the one before could have gone on.
    fn preempts(&self, thread: u16) -> bool {
        self.before.is_some_and(|before| {
            let goes_on = Key { thread: before, by_itself: None };
            let could = self.offered(goes_on).is_some_and(|of| !of.step.yields());
            before != thread && could
        })
    }

    /// How many more preemptions there may be after what is being explored.
    fn preemptions_after(&self) -> Option<u32> {
        let preempts = u32::from(self.preempts(self.taken.key.thread));
        self.preemptions.map(|left| left.saturating_sub(preempts))
    }

    /// Explores whatever is possible from here.
    fn expand(&mut self) {
        let missing = self.alternatives.iter().filter(|alternative| {
            !self.has(alternative.key())
                && !alternative.step.yields()
                && (self.preemptions != Some(0) || !self.preempts(alternative.thread))
        });
        let leaves: Vec<_> = missing.map(|alternative| alternative.leaf(0)).collect();
        self.branches.extend(leaves);
    }

    /// Explores all outcomes of the step that is being explored, next.
    ///
    /// Not while something sleeps that the steps after it shall wake: another outcome might not let
    /// them happen. Whatever slept has been explored before this step with all of its outcomes, and
    /// if one of them lets something happen that wakes it, that race has brought it here.
    fn begin_outcomes(&mut self, then: &[Branch]) {
        let key = self.taken.key;
        if !then.is_empty() && !self.sleep_after().is_empty() {
            return;
        }
        let Some(alternative) = self.offered(key).filter(|of| of.outcomes > 1) else { return };
        let mut outcomes: Vec<Branch> =
            (0..alternative.outcomes).map(|outcome| alternative.leaf(outcome)).collect();
        let (known, others) =
            mem::take(&mut self.branches).into_iter().partition::<Vec<_>, _>(|b| b.key == key);
        for branch in known {
            if let Some(leaf) = outcomes.get_mut(usize::from(branch.outcome)) {
                *leaf = branch;
            }
        }
        outcomes.retain(|branch| branch.outcome != self.taken.outcome);
        self.branches = outcomes.into_iter().chain(others).collect();
    }

    /// Goes on to the next thing to explore from here, if there is one; what to do after it.
    fn advance(&mut self, reduction: Reduction) -> Option<Vec<Branch>> {
        let explored = self.taken.key;
        let more_outcomes = self.branches.first().is_some_and(|next| next.key == explored);
        if self.branches.is_empty() {
            return None;
        }
        self.sleep = self.sleep_before_next(reduction);
        self.taken = self.branches.remove(0);
        self.done += 1;
        let then = mem::take(&mut self.taken.then);
        if !more_outcomes {
            self.begin_outcomes(&then);
        }
        Some(then)
    }

    /// What sleeps here when the next thing is explored.
    fn sleep_before_next(&self, reduction: Reduction) -> Vec<Alternative<E>> {
        let more_outcomes = self.branches.first().is_some_and(|next| next.key == self.taken.key);
        let explored = self.offered(self.taken.key);
        let explored = explored.filter(|_| !more_outcomes && reduction != Reduction::None);
        self.sleep.iter().chain(explored).cloned().collect()
    }

    /// What sleeps after what is being explored.
    fn sleep_after(&self) -> Vec<Alternative<E>> {
        self.sleep.iter().filter(|sleeping| sleeps_on(sleeping, &self.taken)).cloned().collect()
    }
}

/// Whether what sleeps still does after a step.
fn sleeps_on<E: Enabled>(sleeping: &Alternative<E>, taken: &Branch) -> bool {
    sleeping.thread != taken.key.thread
        && commute(sleeping.step.footprint().into_parts(), &taken.parts)
}

/// A search over all schedules.
pub struct Stateless<E: Enabled> {
    reduction: Reduction,
    frames: Vec<Frame<E>>,
    /// What to do after the last frame: its first leaf is followed.
    ahead: Vec<Branch>,
    order: HappensBefore,
    /// The races that may have to be reversed once more: see [`optimal_dpor`].
    open: Vec<Race>,
    takers: optimal_dpor::Takers,
    /// How many executions were absorbed.
    executions: u64,
    /// How many preemptions an execution may have.
    preemptions: Option<u32>,
}

impl<E: Enabled> Stateless<E> {
    /// A search with a reduction.
    pub fn new(reduction: Reduction) -> Self {
        Stateless {
            reduction,
            frames: Vec::new(),
            ahead: Vec::new(),
            order: HappensBefore::default(),
            open: Vec::new(),
            takers: optimal_dpor::Takers::default(),
            executions: 0,
            preemptions: None,
        }
    }

    /// A plain search of the schedules with at most so many preemptions: switches away from a thread
    /// that could have gone on (Madanlal Musuvathi, Shaz Qadeer: Iterative Context Bounding for
    /// Systematic Testing of Multithreaded Programs, PLDI 2007).
    ///
    /// Nothing is reduced. A schedule within the bound may be equivalent to none but such that are
    /// beyond it, in which the races are that lead to it.
    pub fn bounded(preemptions: u32) -> Self {
        Stateless { preemptions: Some(preemptions), ..Stateless::new(Reduction::None) }
    }

    /// Runs executions until all that make a difference were, or `visit` breaks. It sees each of them
    /// before the search does.
    pub fn run<X: Executor<Step = E>>(
        &mut self,
        executor: &mut X,
        mut visit: impl FnMut(&Self, &mut X, &Executed<E>) -> ControlFlow<()>,
    ) -> Result<Finished, X::Error> {
        loop {
            let next = self.next();
            match executor.foresight(&next) {
                0 => {}
                most => executor.foresee(self.likely(most)),
            }
            let executed = executor.run(&next.schedule, next.known, &next.sleep)?;
            let enough = visit(self, executor, &executed).is_break();
            let is_suitable =
                optimal_dpor::is_suitable(&executed) && self.takers.are_alone(&executed.steps);
            if self.reduction == Reduction::Optimal && !is_suitable {
                return Ok(if enough { Finished::Stopped } else { Finished::NeedsSourceSets });
            }
            self.absorb(executed);
            if !self.backtrack() {
                return Ok(Finished::Complete);
            }
            if enough {
                return Ok(Finished::Stopped);
            }
            if !self.frames.last().is_some_and(Frame::is_possible) {
                // Only what was foreseen can turn out not to be.
                return Ok(Finished::NeedsSourceSets);
            }
        }
    }

    /// How much of the search is done, by the executions that were absorbed; nothing is known before
    /// the first.
    pub fn estimate(&self) -> Option<Estimate> {
        let ways = |frame: &Frame<E>| Ways { done: frame.done, left: frame.branches.len() };
        (self.executions > 0).then(|| match self.frames.as_slice() {
            [] => Estimate::complete(),
            frames => Estimate::new(frames.iter().rev().map(ways)),
        })
    }

    /// The execution to be run now.
    fn next(&self) -> Run<E> {
        let sleep = self.frames.last().map_or_else(Vec::new, Frame::sleep_after);
        let path: Vec<_> = wakeup_tree::to_first_leaf(&self.ahead).collect();
        self.run_through(self.frames.len(), &path, sleep)
    }

    /// Executions that will be run, unless those before them bring up something else: from each
    /// state, the deepest first, what is to be explored next.
    fn likely(&self, most: usize) -> Vec<Run<E>> {
        let next = |(depth, frame): (usize, &Frame<E>)| {
            let next = frame.branches.first()?;
            let then = wakeup_tree::to_first_leaf(&next.then);
            let path: Vec<_> = std::iter::once(next).chain(then).collect();
            let run = self.run_through(depth, &path, frame.sleep_before_next(self.reduction));
            Some(Run { known: depth + 1, ..run })
        };
        self.frames.iter().enumerate().rev().filter_map(next).take(most).collect()
    }

    /// The execution that follows the first `known` steps of this one and then a path.
    fn run_through(
        &self,
        known: usize,
        path: &[&Branch],
        mut sleep: Vec<Alternative<E>>,
    ) -> Run<E> {
        let taken = self.frames[..known].iter().map(|frame| frame.taken.choice());
        let schedule = taken.chain(path.iter().map(|step| step.choice())).collect();
        sleep.retain(|sleeping| path.iter().all(|step| sleeps_on(sleeping, step)));
        Run { schedule, known, sleep }
    }

    /// Takes the steps that are new into the tree, with what they make necessary.
    fn absorb(&mut self, executed: Executed<E>) {
        self.executions += 1;
        // The last step that was known was another one before.
        let left_out = executed.left_out;
        let length = left_out + executed.steps.len();
        let from = self.frames.len().saturating_sub(1).min(length);
        self.open.retain(|race| self.order.step_of(race.later) < from);
        self.order.truncate(from);
        let mut alternatives = executed.alternatives.into_iter();
        for (number, step) in (left_out..).zip(&executed.steps).skip(from - left_out) {
            match self.frames.get_mut(number) {
                // What it does now is known.
                Some(known) => known.taken.parts = step.footprint.parts().collect(),
                None => self.enter(step, alternatives.next().unwrap_or_default()),
            }
            if self.reduction != Reduction::None {
                self.order.push(step);
            }
        }
        self.ahead.clear();
        self.reverse_races(from);
        if executed.ended == Ended::Cut && self.reduction != Reduction::None {
            self.expect_what_was_cut_off();
        }
    }

    /// An execution ended in the middle: what was still to come raced with what was there.
    fn expect_what_was_cut_off(&mut self) {
        let races = |of: &Alternative<E>| of.step.conflicts_with_all();
        let (last, before) = match self.frames.split_last_mut() {
            Some(frames) => frames,
            None => return,
        };
        last.expand();
        before.iter_mut().filter(|it| it.alternatives.iter().any(races)).for_each(Frame::expand);
    }

    /// Makes sure that races are explored in the other order, too, those of steps from `from` on.
    fn reverse_races(&mut self, from: usize) {
        let mut races = mem::take(&mut self.open);
        match self.reduction {
            Reduction::None => {}
            Reduction::Source => {
                races.extend(self.order.races_from(from));
                races.into_iter().for_each(|race| self.require_initial(race));
            }
            Reduction::Optimal => {
                races.extend(self.order.races_from(from));
                races.retain(|&race| !self.require_sequence(race));
                self.open = races;
            }
        }
    }

    /// Adds the state from which a step was taken for the first time.
    fn enter(&mut self, step: &Taken, alternatives: Vec<Alternative<E>>) {
        let Choice { thread, outcome } = step.choice;
        let by_itself = Key { thread, by_itself: Some(outcome) };
        let happened_by_itself = alternatives.iter().any(|of| of.key() == by_itself);
        let (key, outcome) = if happened_by_itself {
            (by_itself, 0)
        } else {
            (Key { thread, by_itself: None }, outcome)
        };
        let parts = step.footprint.parts().collect();
        let taken = Branch { key, outcome, parts, then: Vec::new() };
        let sleep = self.frames.last().map_or_else(Vec::new, Frame::sleep_after);
        let mut branches = mem::take(&mut self.ahead);
        if !branches.is_empty() {
            self.ahead = mem::take(&mut branches.remove(0).then);
        }
        let last = self.frames.last();
        let before = last.map(|last| last.taken.key.thread);
        let preemptions = last.map_or(self.preemptions, Frame::preemptions_after);
        let mut frame =
            Frame { alternatives, sleep, taken, branches, done: 0, before, preemptions };
        frame.begin_outcomes(&self.ahead);
        // A step that depends on everything may end everything, or something may take away from it
        // what makes it possible: then no race tells of what else could have been.
        let disturbed = frame.alternatives.iter().any(|of| of.step.may_disable());
        if self.reduction == Reduction::None || disturbed {
            frame.expand();
        }
        self.frames.push(frame);
    }

    /// Makes sure that a thread goes first with which the second event of a race can come first.
    fn require_initial(&mut self, race: Race) {
        let at = self.order.step_of(race.earlier);
        let initials = source_dpor::initials(&self.order, race);
        let keys: Vec<Key> = initials.iter().map(|&step| self.frames[step].taken.key).collect();
        let frame = &mut self.frames[at];
        if keys.iter().any(|&key| frame.has(key)) {
            return;
        }
        match keys.iter().find_map(|&key| frame.offered(key)) {
            Some(alternative) => {
                let leaf = alternative.leaf(0);
                frame.branches.push(leaf);
            }
            // The theory says that this does not happen; if it does, nothing is left out.
            None => frame.expand(),
        }
    }

    /// Makes sure that a sequence is explored in which the second event of a race comes first.
    /// Returns whether that settles it for all executions that begin as this one does.
    fn require_sequence(&mut self, race: Race) -> bool {
        let at = self.order.step_of(race.earlier);
        let events = optimal_dpor::reversal(&self.order, race).into_iter();
        let planned = events.map(|event| self.planned(event, race)).collect();
        let sequence = Sequence::new(&self.order, planned, race.later);
        let frame = &mut self.frames[at];
        let asleep = frame.sleep.iter();
        let mut sleepers: Vec<Sleeper> = asleep
            .map(|of| Sleeper { key: of.key(), parts: of.step.footprint().into_parts().collect() })
            .collect();
        sleepers.push(Sleeper { key: frame.taken.key, parts: frame.taken.parts.clone() });
        wakeup_tree::insert(&mut frame.branches, sleepers, sequence.clone());
        let asleep = frame.sleep.iter().any(|of| sequence.begins_with(of.key(), None, race.later));
        let to_come =
            |branch: &Branch| sequence.begins_with(branch.key, Some(branch.outcome), race.later);
        asleep || frame.branches.iter().any(to_come)
    }

    /// How an event is repeated.
    fn planned(&self, event: usize, race: Race) -> Planned {
        let step = self.order.step_of(event);
        let Branch { key, outcome, .. } = self.frames[step].taken;
        if event != self.order.first_event(step) {
            // Getting what was asked for, which may become a step of its own.
            return Planned { key: Key { by_itself: None, ..key }, outcome: 0, event };
        }
        // Which outcomes the second event of the race has when it comes first is not known yet.
        let outcome = if event == race.later { 0 } else { outcome };
        Planned { key, outcome, event }
    }

    /// Goes back to the deepest point with something left to explore; false if there is none.
    fn backtrack(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(ahead) = frame.advance(self.reduction) {
                self.ahead = ahead;
                return true;
            }
            self.frames.pop();
        }
        false
    }
}
