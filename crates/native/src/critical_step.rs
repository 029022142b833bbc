//! The critical step of a counterexample, after which every continuation fails, and the step that
//! races with it.

use crate::dependence::taken;
use crate::describe::Names;
use crate::error::Error;
use crate::execution::is_final;
use crate::launch::Launch;
use crate::minimise::MAX_LENGTH;
use crate::replay::{Replayed, replay};
use crate::runner::{Runner, Stop};
use crate::symbols::StepOrigin;
use crate::symmetry::Symmetry;
use everypath_schedules::critical_step::{Critical, Judgement, Rival, critical, reversed};
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
    let steps = execution.events.len() as u64;
    if execution.outcome == Outcome::Hang || steps == 0 || steps > MAX_LENGTH {
        return Ok(None);
    }
    let beginnings = u64::from(steps.ilog2()) + 1;
    let executions = (MAX_STEPS / steps / beginnings).clamp(20, MAX_EXECUTIONS);
    let max_steps = launch.setup.max_steps.min((steps as u32).saturating_add(SLACK));
    let limited = Launch { setup: Setup { max_steps, ..launch.setup }, ..launch.clone() };
    let mut runner = Runner::start(&limited, &launch.control)?;
    let found = critical(
        &mut runner,
        &taken(&execution.events, &launch.symmetry()),
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
    let critical = (found.steps - 1, rival);
    let Some((critical, rival)) = pair([failing, &good], &launch.symmetry(), critical) else {
        return Ok(explanation);
    };
    explanation.critical_step = critical + 1;
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
    let first = Names::new(failing).racing_step(critical, Some(critical + 1));
    explanation.race = [first, second].into_iter().flatten().collect();
    Ok(explanation)
}

/// A pair of steps whose order differs between the two executions, by their places in the failing and
/// the good one: those of the critical step, unless one of them counts references. Such counts are
/// modified on the way to whatever matters, and their order decides nothing that a person would look for.
fn pair(
    [failing, good]: [&Replayed; 2],
    symmetry: &Symmetry,
    (critical, rival): (usize, Rival),
) -> Option<(usize, Rival)> {
    let counts = |of: &Replayed, at: usize| {
        of.places.get(at).is_some_and(|place| place.origin == StepOrigin::ReferenceCount)
    };
    if !counts(failing, critical) && !counts(good, rival.in_good) {
        return Some((critical, rival));
    }
    let steps = [failing, good].map(|of| taken(&of.execution.events, symmetry));
    reversed([&steps[0], &steps[1]], critical, |in_failing, in_good| {
        !counts(failing, in_failing) && !counts(good, in_good)
    })
}
