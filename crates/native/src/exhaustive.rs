//! Exhaustive search: every schedule of a program, up to equivalence.

use crate::cross_check::{Comparison, CrossCheck, coarsely};
use crate::error::Error;
use crate::execution::{Execution, Explored, is_final};
use crate::launch::Launch;
use crate::memory::Conflict;
use crate::runner::Stop;
use crate::speculation::Speculation;
use everypath_schedules::{Reduction, ScheduleSearch, SearchEnd};
use everypath_shim_abi::{EnabledStep, Outcome, Setup, TimeMode};
use everypath_trace::Control;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What to explore.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// The program.
    pub launch: Launch,
    /// What is left out because it can make no difference.
    pub reduction: Reduction,
    /// How many preemptions an execution may have, if that is bounded; then nothing is left out.
    pub preemptions: Option<u32>,
    /// How many executions at most.
    pub executions: Option<u64>,
    /// Whether to go on after the first one that is not as expected.
    pub keep_going: bool,
    /// How many workers run them. The result does not depend on it.
    pub workers: usize,
    /// How often in a row timeouts fire early, if executions end only because nothing but time passes.
    pub early_timeouts: u16,
    /// Which sample a search that finds nothing is compared with, if any.
    pub cross_check: Option<CrossCheck>,
}

/// Explores until an execution is not as expected, all were run, or somebody stops it. If memory accesses
/// are recorded, those that conflict become scheduling points, and the search begins again. So it does
/// if an execution ends only because nothing but time passes: timers could fire early without end then,
/// so that is bounded.
pub fn explore(exhaustive: &Exhaustive, control: &Control) -> Result<Explored, Error> {
    let mut exhaustive = exhaustive.clone();
    exhaustive.launch.setup.patient = may_be_patient(&exhaustive.launch.setup);
    loop {
        let (explored, again) = explore_once(&exhaustive, control)?;
        // What a search that goes on has found is found again.
        let is_found = explored.unexpected > 0 && !exhaustive.keep_going;
        if !is_found && exhaustive.needs_bound(&explored) {
            exhaustive.launch.setup.early_timeouts = exhaustive.early_timeouts;
            continue;
        }
        if again.is_unnecessary() || is_found {
            let Launch { armed, setup, .. } = match explored.is_coarse {
                true => coarsely(&exhaustive.launch),
                false => exhaustive.launch,
            };
            let early_timeouts = setup.early_timeouts;
            return Ok(Explored { armed, early_timeouts, ..explored });
        }
        let armed = Arc::make_mut(&mut exhaustive.launch.armed);
        again.unarmed.iter().for_each(|conflict| armed.arm(conflict));
        exhaustive.launch.setup.patient &= !again.is_restless;
    }
}

impl Exhaustive {
    /// Whether timers may fire early without end, as far as is known.
    fn needs_bound(&self, explored: &Explored) -> bool {
        let setup = &self.launch.setup;
        explored.quiet && setup.early_timeouts == 0 && setup.time != TimeMode::Quiescent
    }
}

/// Whether time-outs may be taken to fire only when no thread can go on: nothing happens by itself then
/// but time-outs. Whether threads spin, which can go on and yet let others go first, only executions tell.
fn may_be_patient(setup: &Setup) -> bool {
    let nothing_else_happens =
        setup.kills == 0 && setup.partitions.most == 0 && setup.spurious == 0;
    setup.time == TimeMode::Quiescent && nothing_else_happens && !setup.joint
}

/// Why a search has to begin again.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// The conflicts whose accesses are no scheduling points.
    pub(crate) unarmed: BTreeSet<Conflict>,
    /// Whether time-outs were taken to fire only when no thread can go on, and did not.
    pub(crate) is_restless: bool,
}

impl Again {
    fn is_unnecessary(&self) -> bool {
        self.unarmed.is_empty() && !self.is_restless
    }
}

/// Explores; says why that has to begin again, if it has.
fn explore_once(exhaustive: &Exhaustive, control: &Control) -> Result<(Explored, Again), Error> {
    let comparison = exhaustive.cross_check.map(|check| {
        let (launch, limit) = (&exhaustive.launch, exhaustive.executions);
        Comparison { launch, check, began: (check.clock)(), limit, control }
    });
    let mut team = Speculation::start(exhaustive, control)?;
    match team.learn(exhaustive.cross_check.map_or(SEED, |check| check.seed)) {
        Err(Error::Stopped) => return Ok((Explored::default(), Again::default())),
        learned => learned?,
    }
    if team.must_begin_again() {
        return Ok((Explored::default(), team.again()));
    }
    let mut explored = Explored { sites: team.sites(), ..Explored::default() };
    let mut searching = Searching { exhaustive, help: comparison.as_ref() };
    let mut finished = searching.search(exhaustive.reduction, &mut team, &mut explored);
    if matches!(finished, Ok(SearchEnd::NeedsSourceSets)) {
        explored.begin_anew();
        finished = searching.search(Reduction::Source, &mut team, &mut explored);
    }
    match finished {
        Ok(finished) => explored.complete = finished == SearchEnd::Complete,
        Err(Stop::Stopped) => {}
        Err(Stop::Failed(error)) => return Err(error),
    }
    let again = team.again();
    explored.unexercised = team.unexercised();
    explored.unseen = team.unseen();
    explored.unsummarised = team.unsummarised();
    if let Some(comparison) = comparison
        && explored.holds()
        && again.is_unnecessary()
    {
        comparison.run(&mut team.into_worker()?, &mut explored)?;
    }
    Ok((explored, again))
}

/// Which random schedules show conflicts before a search that is compared with none.
const SEED: u64 = 1;

/// A search that has run so many executions is helped by a sample, once.
const HELPED_AFTER: u64 = 2_000;

/// A search, and the sample that may help it.
struct Searching<'a> {
    exhaustive: &'a Exhaustive,
    help: Option<&'a Comparison<'a>>,
}

impl<'a> Searching<'a> {
    /// The sample that helps now, if one does.
    fn help_due(&self, explored: &Explored) -> Option<&'a Comparison<'a>> {
        let is_wanted = !self.exhaustive.keep_going
            && self.exhaustive.executions.is_none_or(|most| most > HELPED_AFTER);
        let is_now = explored.executions == HELPED_AFTER && explored.unexpected == 0;
        self.help.filter(|_| is_wanted && is_now)
    }

    /// Explores with a reduction.
    fn search(
        &mut self,
        reduction: Reduction,
        team: &mut Speculation<'_>,
        explored: &mut Explored,
    ) -> Result<SearchEnd, Stop> {
        let mut cut = false;
        let mut search = match self.exhaustive.preemptions {
            Some(most) => ScheduleSearch::bounded(most),
            None => ScheduleSearch::new(reduction),
        };
        let mut finished = self.run(&mut search, team, explored, &mut cut);
        if let (Ok(SearchEnd::Stopped), Some(help)) = (&finished, self.help_due(explored))
            && !team.must_begin_again()
        {
            self.help = None;
            let mut worker = team.extra_worker().map_err(Stop::Failed)?;
            let is_helped = help.help_coarsely(explored).map_err(Stop::Failed)?
                || help.help(&mut worker, explored).map_err(Stop::Failed)?;
            drop(worker);
            if !is_helped {
                finished = self.run(&mut search, team, explored, &mut cut);
            }
        }
        explored.left = search.left();
        explored.is_bounded = search.has_left_out();
        explored.hits = team.hits();
        explored.spins |= team.spins();
        explored.notices.extend(team.notices());
        match finished {
            Ok(SearchEnd::Complete) if cut => Ok(SearchEnd::Stopped),
            finished => finished,
        }
    }

    /// Goes on until there is a reason to stop.
    fn run(
        &self,
        search: &mut ScheduleSearch<EnabledStep>,
        team: &mut Speculation<'_>,
        explored: &mut Explored,
        cut: &mut bool,
    ) -> Result<SearchEnd, Stop> {
        let exhaustive = self.exhaustive;
        search.run(team, |search, team, executed| {
            explored.executions += 1;
            explored.steps += (executed.left_out + executed.steps.len()) as u64;
            explored.redundant += u64::from(executed.ended.is_redundant());
            let (outcome, unexpected) = team.last();
            let ends_search = unexpected.is_some() && outcome != Outcome::Hang;
            if !ends_search && team.must_begin_again() {
                return ControlFlow::Break(());
            }
            explored.quiet |= outcome == Outcome::Quiet;
            if exhaustive.needs_bound(explored) {
                return ControlFlow::Break(());
            }
            explored.abandoned += u64::from(outcome == Outcome::Abandoned);
            if explored.executions.is_multiple_of(64) {
                explored.left = search.left();
                team.publish(&explored.progress());
            }
            if let Some(execution) = unexpected {
                explored.keep(Execution { number: explored.executions - 1, ..execution });
                if !exhaustive.keep_going || is_final(outcome) {
                    return ControlFlow::Break(());
                }
            }
            *cut |= outcome == Outcome::TooLong;
            match exhaustive.executions {
                Some(most) if explored.executions >= most => ControlFlow::Break(()),
                _ if self.help_due(explored).is_some() => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    }
}
