//! Runs the machines of tests along schedules, as the shim runs programs.

use everypath_schedules::{Alternative, Executed, ExecutionEnd, Executor, Taken};
use everypath_shim_abi::{Choice, Enabled};
use std::convert::Infallible;

/// A program in the middle of an execution.
pub(crate) trait Machine: Clone {
    /// A step that is enabled.
    type Step: Enabled;

    /// The enabled steps.
    fn alternatives(&self) -> Vec<Alternative<Self::Step>>;

    /// Takes a step.
    fn take(&mut self, choice: Choice) -> Taken;

    /// What can be seen at the end.
    fn end(&self) -> String;
}

/// Executes a program from its start, again and again.
pub(crate) struct Interpreter<M> {
    start: M,
    /// What could be seen at the end of the last execution.
    pub(crate) end: String,
}

impl<M: Machine> Interpreter<M> {
    pub(crate) fn new(start: M) -> Self {
        Interpreter { start, end: String::new() }
    }
}

impl<M: Machine> Executor for Interpreter<M> {
    type Step = M::Step;
    type Error = Infallible;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<M::Step>],
    ) -> Result<Executed<M::Step>, Infallible> {
        let mut machine = self.start.clone();
        let mut sleep = sleep.to_vec();
        let (mut steps, mut alternatives) = (Vec::new(), Vec::new());
        let mut ended = ExecutionEnd::Complete;
        let mut current = 0;
        loop {
            let can = machine.alternatives();
            if can.is_empty() {
                break;
            }
            let choice = match schedule.get(steps.len()) {
                Some(&choice) if !can.iter().any(|a| offers(a, choice)) => {
                    ended = ExecutionEnd::Diverged;
                    break;
                }
                Some(&choice) => choice,
                None => {
                    let Some(first) = first_awake(&can, &sleep, current) else {
                        ended = ExecutionEnd::SleepSetBlocked;
                        break;
                    };
                    let taken = first.step.footprint();
                    sleep.retain(|s| s.step.footprint().commutes(&taken));
                    Choice { thread: first.thread, outcome: first.timeout.unwrap_or(0) }
                }
            };
            if steps.len() >= known {
                alternatives.push(can);
            }
            current = choice.thread;
            steps.push(machine.take(choice));
        }
        self.end = machine.end();
        Ok(Executed { left_out: 0, steps, alternatives, ended })
    }
}

/// Whether a choice is one of an alternative's.
fn offers<E>(alternative: &Alternative<E>, choice: Choice) -> bool {
    alternative.thread == choice.thread
        && match alternative.timeout {
            Some(outcome) => choice.outcome == outcome,
            None => choice.outcome < alternative.outcomes,
        }
}

/// The step that is taken where the schedule ends.
fn first_awake<'a, E: Enabled>(
    can: &'a [Alternative<E>],
    sleep: &[Alternative<E>],
    current: u16,
) -> Option<&'a Alternative<E>> {
    let key = |a: &Alternative<E>| (a.thread, a.timeout);
    let misses = |a: &Alternative<E>| a.step.footprint().misses_at().is_some();
    can.iter()
        .filter(|a| !sleep.iter().any(|s| key(s) == key(a)))
        .min_by_key(|a| (a.timeout.is_some(), misses(a), a.thread != current, a.thread))
}
