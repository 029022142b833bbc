//! The critical step of a counterexample, after which every continuation fails, and the step that
//! races with it.

use crate::dependence::taken;
use crate::describe::Names;
use crate::error::Error;
use crate::execution::is_final;
use crate::replay::{Replayed, replay};
use crate::runner::{Runner, Stop};
use crate::symmetry::Symmetry;
use crate::worker::Launch;
use everypath_schedules::critical_step::{Critical, Judgement, critical};
use everypath_shim_abi::{Outcome, Setup};
use everypath_trace::Explanation;

/// How many executions are looked at for each beginning, and how many steps they may have in all.
const MAX_EXECUTIONS: u64 = 1000;
const MAX_STEPS: u64 = 10_000_000;
/// How many more steps than the failing execution others may have.
const SLACK: u32 = 1000;

/// Explains a failing execution. A program that hangs is not explained: that would take as long as
/// the watchdog, again and again.
pub fn explain(launch: &Launch, failing: &Replayed) -> Result<Option<Explanation>, Error> {
    let execution = &failing.execution;
    if execution.outcome == Outcome::Hang || execution.events.is_empty() {
        return Ok(None);
    }
    let steps = execution.events.len() as u64;
    let beginnings = u64::from(steps.ilog2()) + 1;
    let executions = (MAX_STEPS / steps / beginnings).clamp(20, MAX_EXECUTIONS);
    let max_steps = launch.setup.max_steps.min((steps as u32).saturating_add(SLACK));
    let limited = Launch { setup: Setup { max_steps, ..launch.setup }, ..launch.clone() };
    let mut runner = Runner::start(&limited, &launch.control)?;
    let found = critical(
        &mut runner,
        &taken(&execution.events, &Symmetry::of(launch)),
        executions,
        |runner| {
            let reply = runner.reply();
            match reply.outcome {
                Outcome::Abandoned => Judgement::Bad,
                outcome if launch.setup.expects(outcome, reply.detail) => Judgement::Good,
                Outcome::TooLong => Judgement::Unclear,
                outcome if is_final(outcome) => Judgement::Stop,
                _ => Judgement::Bad,
            }
        },
    );
    match found {
        Ok(found) => in_words(launch, failing, &found).map(Some),
        Err(Stop::Stopped | Stop::Failed(Error::Stopped)) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn in_words(launch: &Launch, failing: &Replayed, found: &Critical) -> Result<Explanation, Error> {
    let mut explanation = Explanation {
        critical_step: found.steps,
        exact: found.good.is_some() || found.steps == 0,
        race: Vec::new(),
    };
    let (Some(good), Some(rival)) = (&found.good, found.rival) else { return Ok(explanation) };
    let good = replay(launch, good)?;
    let there = good.execution.events.get(rival.in_good);
    // After the critical step a thread may do something else than it would have.
    let here = rival.in_failing.filter(|&at| {
        let here = failing.execution.events.get(at);
        here.map(|event| (event.kind(), event.object))
            == there.map(|event| (event.kind(), event.object))
    });
    let second = match here {
        Some(at) => Names::new(failing).racing_step(at, Some(at + 1)),
        None => Names::new(&good).racing_step(rival.in_good, None),
    };
    let first = Names::new(failing).racing_step(found.steps - 1, Some(found.steps));
    explanation.race = [first, second].into_iter().flatten().collect();
    Ok(explanation)
}
