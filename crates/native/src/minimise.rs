//! Minimising a counterexample: fewer preemptions, context switches and steps.

use crate::error::Error;
use crate::execution::{Execution, is_final};
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_schedules::minimise::{self, Cost, Failing, Trials};
use everypath_shim_abi::{Choice, GOES_ON, Outcome, Phase, Setup};

/// How many executions are tried at most, and how many steps they may have together: a second or
/// two.
const MAX_ATTEMPTS: u64 = 10_000;
const MAX_STEPS: u64 = 10_000_000;
/// Longer executions are not minimised.
pub(crate) const MAX_LENGTH: u64 = 20_000;
/// How many are tried if each takes a process of its own.
const MAX_PROCESSES: u64 = 300;
/// How many more steps than the original a simpler execution may have.
const SLACK: u32 = 1000;

/// Looks for a simpler execution that fails in the same way; its schedule.
///
/// Which one is found depends on the execution only. A program that hangs is left as it is: every
/// attempt would take as long as the watchdog. So is one that spins without end: what matters of it is
/// the cycle.
pub fn minimise(launch: &Launch, failing: &Execution) -> Result<Vec<Choice>, Error> {
    let steps = failing.schedule.len() as u64;
    if failing.outcome == Outcome::Hang || steps == 0 || steps > MAX_LENGTH {
        return Ok(failing.schedule.clone());
    }
    let most = if launch.fresh { MAX_PROCESSES } else { MAX_ATTEMPTS };
    let attempts = (MAX_STEPS / steps).clamp(100, most);
    let max_steps = launch.setup.max_steps.min((steps as u32).saturating_add(SLACK));
    let setup = Setup { max_steps, ..launch.setup };
    let launch = Launch { setup, ..launch.clone() };
    let mut attempts_of =
        Attempts { launch, failing, modules: Modules::default(), worker: None, stuck: false };
    let best = minimise::minimise(&mut attempts_of, as_failing(failing), attempts)?;
    let outcome = |outcome| if outcome == GOES_ON { 0 } else { outcome };
    let choice = |choice: &Choice| Choice { outcome: outcome(choice.outcome), ..*choice };
    Ok(best.schedule.iter().map(choice).collect())
}

/// Attempts at failing like an execution.
struct Attempts<'a> {
    launch: Launch,
    failing: &'a Execution,
    modules: Modules,
    worker: Option<Worker>,
    /// Whether an attempt ended so that more would be pointless.
    stuck: bool,
}

impl Trials for Attempts<'_> {
    type Error = Error;

    fn attempt(&mut self, schedule: &[Choice]) -> Result<Option<Failing>, Error> {
        if self.stuck {
            return Ok(None);
        }
        let worker = match self.worker.take().filter(|_| !self.launch.fresh) {
            Some(worker) => self.worker.insert(worker),
            None => self.worker.insert(Worker::start(&self.launch, &self.modules)?),
        };
        let reply = worker.attempt(schedule)?;
        self.stuck = is_final(reply.outcome);
        let execution = Execution::of(worker, &reply, 0);
        Ok(execution.fails_like(self.failing).then(|| as_failing(&execution)))
    }
}

fn as_failing(execution: &Execution) -> Failing {
    let mut schedule = execution.schedule.clone();
    let cost = Cost::of(&schedule, &execution.preempts());
    // In another order, who waited may not have to: then there is no such step.
    for (choice, event) in schedule.iter_mut().zip(&execution.events) {
        if event.phase == Phase::Resume && choice.outcome == 0 {
            choice.outcome = GOES_ON;
        }
    }
    Failing { schedule, cost }
}
