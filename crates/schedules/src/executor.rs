//! What the search over schedules asks for, and what it is told of an execution.

use everypath_dependence::{Choice, Enabled, Footprint};

/// A step of a thread, or that its time-out fires: the search tells these apart, but not the outcomes
/// of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The thread's number.
    pub thread: u16,
    /// The outcome that stands for a time-out, if it is one.
    pub timeout: Option<u16>,
}

/// A step that is enabled, with all of its outcomes.
#[derive(Clone, Debug)]
pub struct Alternative<E> {
    /// The thread's number.
    pub thread: u16,
    /// The outcome that stands for a time-out, if it is one: that is beside the thread's own step.
    pub timeout: Option<u16>,
    /// How many outcomes the step has.
    pub outcomes: u16,
    /// The step itself.
    pub step: E,
}

impl<E> Alternative<E> {
    /// Which step it is.
    pub fn key(&self) -> Key {
        Key { thread: self.thread, timeout: self.timeout }
    }
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
    /// The step that enabled this one: the thread was blocked before.
    pub after: Option<usize>,
    /// The step without which this one would not have got what it asked for: it would have got
    /// something else, or blocked.
    pub provided_by: Option<usize>,
    /// Whether the thread resumes after having blocked: it gets what its step before asked for.
    pub resumes: bool,
    /// Whether it was enabled only because nothing else was
    /// ([`Enabled::comes_last`](everypath_dependence::Enabled)).
    pub comes_last: bool,
}

/// How an execution ended, as far as the search is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionEnd {
    /// By itself: no thread had a step left.
    Complete,
    /// In the middle of a step: other threads might still have done something.
    Cut,
    /// All enabled steps were in the sleep set: it would have repeated an equivalent execution.
    SleepSetBlocked,
    /// The next step of the schedule was not enabled, although that was foreseen.
    Diverged,
}

impl ExecutionEnd {
    /// Whether the execution shows nothing that others do not.
    pub fn is_redundant(self) -> bool {
        matches!(self, ExecutionEnd::SleepSetBlocked | ExecutionEnd::Diverged)
    }
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Executed<E> {
    /// How many steps at the beginning are left out: all that were known, but for the last, may be.
    pub left_out: usize,
    /// The other steps, those of the schedule included.
    pub steps: Vec<Taken>,
    /// For each step after those that were known, the steps that were enabled.
    pub alternatives: Vec<Vec<Alternative<E>>>,
    /// How it ended.
    pub ended: ExecutionEnd,
}

/// What runs executions.
pub trait Executor {
    /// A step that is enabled.
    type Step: Enabled;
    /// Why an execution cannot be run.
    type Error;

    /// Runs an execution that follows `schedule` and then takes no step in `sleep`, until a step is
    /// taken that does not commute with it.
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
    /// The sleep set where the schedule ends.
    pub sleep: Vec<Alternative<E>>,
}
