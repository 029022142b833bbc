//! Cross-check: a search that found no violation is compared with a small sample of schedules that
//! no reduction has thinned out.
//!
//! A reduction leaves executions out because they are equivalent to others. If it is wrong about
//! that, be it by a defect or because threads share data in ways that it does not see, a random
//! schedule may show what the search did not.

use crate::error::Error;
use crate::execution::{Execution, Explored};
use crate::launch::Launch;
use crate::verdict::{Decision, decide};
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, Outcome, Policy, Request, Setup};
use everypath_trace::Control;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which sample a search is compared with.
#[derive(Clone, Copy, Debug)]
pub struct CrossCheck {
    /// Its seed: execution number `n` depends on it and `n` only.
    pub seed: u64,
    /// Tells the time, which bounds the sample if executions are slow.
    pub clock: fn() -> Instant,
}

/// The sample has no more executions than this.
const MOST: u64 = 500;
/// It has as many as this even if the search had fewer.
const LEAST: u64 = 100;
/// Samples that help a search that is not done yet, one after the other: how schedules are chosen, and
/// how many executions.
const HELP: [(Policy, u64); 3] =
    [(Policy::Random, 500), (Policy::Pos, 20_000), (Policy::Pct, 2_000)];
/// The sample in which memory accesses are no scheduling points.
const COARSE: (Policy, u64) = (Policy::Pos, 20_000);
/// How long a thread may run there without a scheduling point, in tenths of a second.
const COARSE_WATCHDOG: u32 = 2;
/// The bug depth of the last.
const PCT_DEPTH: u32 = 3;
/// For each execution of the search, it has so many.
const FACTOR: u64 = 2;
/// No more executions are run between two looks at the clock.
const BATCH: u64 = 64;
/// The sample takes no longer than the search did, or than this.
const MOMENT: Duration = Duration::from_secs(1);

impl CrossCheck {
    /// How many executions are sampled after a search of so many, which may be limited.
    fn size(executions: u64, limit: Option<u64>) -> u64 {
        let wanted = executions.saturating_mul(FACTOR).clamp(LEAST, MOST);
        wanted.min(limit.map_or(wanted, |most| most.saturating_sub(executions)))
    }
}

/// A search that came to its end, and the sample that it is compared with.
pub(crate) struct Comparison<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) check: CrossCheck,
    /// When the search began.
    pub(crate) began: Instant,
    /// How many executions there may be, search and sample together.
    pub(crate) limit: Option<u64>,
    pub(crate) control: &'a Control,
}

impl Comparison<'_> {
    /// Samples executions until one contradicts the search. If somebody stops that, the search
    /// counts as stopped, too.
    pub(crate) fn run(&self, worker: &mut Worker, explored: &mut Explored) -> Result<(), Error> {
        let size = CrossCheck::size(explored.executions, self.limit);
        let sampled = self.sample(size, Policy::Random, worker, explored)?;
        let Some(met) = sampled else { return Ok(()) };
        // Two threads that spin let each other go on: more spins give up so than the search has
        // explored, which is a violation, and no contradiction. A data race that the search has not met (it
        // meets all, docs/soundness.md) is one all the same.
        if explored.spins || met.outcome == Outcome::DataRace {
            explored.complete = false;
            explored.keep(met);
        } else {
            explored.contradiction = Some(met);
        }
        Ok(())
    }

    /// Helps a search that is not done yet: random schedules are far from each other, and meet common
    /// mistakes soon. Returns whether they did.
    pub(crate) fn help(&self, worker: &mut Worker, explored: &mut Explored) -> Result<bool, Error> {
        for (policy, size) in HELP {
            let met = self.sample(size, policy, worker, explored)?;
            explored.cross_checked = 0;
            if let Some(execution) = met {
                explored.keep(execution);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same with schedules in which memory accesses are no scheduling points, if they are in the
    /// search: there are so many of them that a random schedule seldom preempts where it matters.
    pub(crate) fn help_coarsely(&self, explored: &mut Explored) -> Result<bool, Error> {
        if !self.launch.setup.memory {
            return Ok(false);
        }
        // Who spins on memory that is not seen spins for ever: that is known soon enough, and says nothing.
        let watchdog = self.launch.watchdog.min(COARSE_WATCHDOG);
        let launch = Launch { watchdog, ..coarsely(self.launch) };
        let mut worker = Worker::start(&launch, &Modules::default())?;
        let (policy, size) = COARSE;
        let (executions, steps) = (explored.executions, explored.steps);
        let mut sampled = Explored { executions, steps, ..Explored::default() };
        let comparison = Comparison { launch: &launch, ..*self };
        let met = comparison.sample(size, policy, &mut worker, &mut sampled)?;
        let is_violation =
            |of: &Execution| matches!(decide(of, &launch.setup), Decision::Violated(_));
        if let Some(execution) = met.filter(is_violation) {
            explored.keep(execution);
            explored.is_coarse = true;
        }
        Ok(explored.is_coarse)
    }

    /// Samples executions until one ends as the search has found none to end.
    fn sample(
        &self,
        size: u64,
        policy: Policy,
        worker: &mut Worker,
        explored: &mut Explored,
    ) -> Result<Option<Execution>, Error> {
        let horizon = (explored.steps / explored.executions.max(1)).max(1) as u32;
        let schedules = Command { policy, depth: PCT_DEPTH, horizon, ..Command::default() };
        let now = (self.check.clock)();
        let end = now + (now - self.began).max(MOMENT);
        while explored.cross_checked < size && (self.check.clock)() < end {
            let (first, seed) = (explored.cross_checked, self.check.seed);
            let count = first.clamp(1, BATCH).min(size - first);
            let command = Command { request: Request::Run, seed, first, count, ..schedules };
            let Some(reply) = worker.ask_unless(command, self.control)? else {
                explored.complete = false;
                return Ok(None);
            };
            explored.cross_checked += reply.executions;
            let expected = self.launch.setup.expects(reply.outcome, reply.detail);
            if !expected && contradicts(reply.outcome, explored) {
                let number = explored.cross_checked - 1;
                return Ok(Some(Execution::of(worker, &reply, number)));
            }
            // All executions of a program that is alone, and has nothing to choose, are the same.
            if explored.executions == 1 && worker.counters().threads <= 1 {
                break;
            }
        }
        Ok(None)
    }
}

/// A launch in which memory accesses are not seen, and so are no scheduling points.
pub fn coarsely(launch: &Launch) -> Launch {
    let setup = Setup { memory: false, ..launch.setup };
    Launch { setup, armed: Arc::default(), ..launch.clone() }
}

/// Whether a search that found no violation would have found such an end of an execution.
fn contradicts(outcome: Outcome, explored: &Explored) -> bool {
    match outcome {
        // A random schedule may be unfair for long; a search over states comes back to a state.
        Outcome::TooLong => false,
        Outcome::Livelock => explored.cycles == 0,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::CrossCheck;

    #[test]
    fn a_sample_is_small_and_obeys_the_limit() {
        for (executions, limit, size) in [
            (1, None, 100),
            (70, None, 140),
            (1_000_000, None, 500),
            (1, Some(3), 2),
            (10, Some(10), 0),
            (10, Some(1_000_000), 100),
        ] {
            assert_eq!(CrossCheck::size(executions, limit), size);
        }
    }
}
