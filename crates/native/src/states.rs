//! Explores the states of a program: a visited state is not explored again.
//!
//! To go back to a state on the path, the nearest snapshot before it is restored, and the choices from
//! there are made again: a step costs far less than a copy.

use crate::cross_check::{Comparison, CrossCheck};
use crate::dependence::alternative;
use crate::detector::learnt;
use crate::error::Error;
use crate::execution::{Execution, Explored, is_final};
use crate::launch::Launch;
use crate::worker::{From, Modules, Worker};
use everypath_schedules::stateful::{Reached, Sleep, StateSearch, Walker};
use everypath_shim_abi::{Choice, Enabled, EnabledStep, Outcome, Reply};
use everypath_trace::Control;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What to explore.
#[derive(Clone, Debug)]
pub struct StateSpace {
    /// The program.
    pub launch: Launch,
    /// Whether steps are left out that only lead to states which are reached anyway.
    pub sleep: Sleep,
    /// How many states at most.
    pub states: Option<u64>,
    /// How many executions at most may come to their end.
    pub executions: Option<u64>,
    /// Whether to go on after the first execution that is not as expected.
    pub keep_going: bool,
    /// Which sample a search that finds nothing is compared with, if any.
    pub cross_check: Option<CrossCheck>,
}

/// A state is saved if so many steps lie between it and the one saved before it.
const FAR: u32 = 32;
/// How many states can be saved, by number, beside the first.
const SLOTS: std::ops::Range<u32> = 1..32;
/// How many bytes saved states may take.
const ROOM: u64 = 1 << 30;

/// A worker on its way through the states.
struct Path<'a> {
    worker: Worker,
    control: &'a Control,
    reply: Reply,
    /// How many steps led to each state on the path.
    steps: Vec<u32>,
    /// Whether the worker stands at the last of them.
    stands: bool,
    /// Which of them are saved, and where.
    saved: Vec<(usize, u32)>,
    free: Vec<u32>,
    /// Whether a thread has spun.
    spins: bool,
}

/// Why a state cannot be reached.
enum Stop {
    Stopped,
    Failed(Error),
}

impl<'a> Path<'a> {
    fn new(worker: Worker, control: &'a Control) -> Self {
        let most = (ROOM / worker.counters().restored.max(1)).clamp(1, u64::from(SLOTS.end) - 1);
        let free = SLOTS.take(most as usize).rev().collect();
        let (steps, saved) = (Vec::new(), Vec::new());
        let (reply, stands, spins) = (Reply::default(), false, false);
        Path { worker, control, reply, steps, stands, saved, free, spins }
    }

    /// Where the worker got to.
    fn arrive(&mut self, reply: Option<Reply>) -> Result<Reached<EnabledStep>, Stop> {
        self.reply = reply.ok_or(Stop::Stopped)?;
        self.stands = self.reply.outcome == Outcome::Paused;
        if !self.stands {
            return Ok(Reached::End);
        }
        self.steps.push(self.reply.steps);
        let pending = self.worker.pending().map_err(Stop::Failed)?;
        self.spins |= pending.iter().any(|step| step.stands_back || step.spins());
        Ok(Reached::State {
            fingerprint: self.reply.hash,
            alternatives: pending
                .into_iter()
                .filter(|step| !step.stands_back)
                .map(alternative)
                .collect(),
            complete: self.reply.detail == 0,
        })
    }

    /// Where to go on from to get to the last state of the path, the nearest first.
    fn nearest(&mut self) -> Result<From, Error> {
        if !self.stands {
            return Ok(self.saved.last().map_or(From::Start, |&(_, slot)| From::Saved(slot)));
        }
        let depth = self.steps.len() - 1;
        let before = self.saved.last().map_or(0, |&(depth, _)| self.steps[depth]);
        if self.steps[depth] - before >= FAR {
            let slot = self.free.pop().unwrap_or_else(|| self.saved.remove(self.dispensable()).1);
            self.worker.save(slot)?;
            self.saved.push((depth, slot));
        }
        Ok(From::Here)
    }

    /// The saved state without which the way from the one before to the one after is shortest, for
    /// its distance from here: most ways back are short.
    fn dispensable(&self) -> usize {
        let end = self.steps.len();
        let cost = |&index: &usize| {
            let before = index.checked_sub(1).map_or(0, |before| self.saved[before].0);
            let after = self.saved.get(index + 1).map_or(end, |after| after.0);
            (after - before) * 1024 / (end - before)
        };
        (0..self.saved.len()).min_by_key(cost).unwrap_or(0)
    }
}

impl Walker for Path<'_> {
    type Step = EnabledStep;
    type Error = Stop;

    fn start(&mut self) -> Result<Reached<EnabledStep>, Stop> {
        let reply = self.worker.walk(From::Start, None, self.control).map_err(Stop::Failed)?;
        self.arrive(reply)
    }

    fn take(&mut self, depth: usize, choice: Choice) -> Result<Reached<EnabledStep>, Stop> {
        self.stands &= depth + 1 == self.steps.len();
        self.steps.truncate(depth + 1);
        while let Some((_, slot)) = self.saved.pop_if(|saved| saved.0 > depth) {
            self.free.push(slot);
        }
        let next = Some((self.steps[depth], choice));
        let from = self.nearest().map_err(Stop::Failed)?;
        let reply = self.worker.walk(from, next, self.control).map_err(Stop::Failed)?;
        self.arrive(reply)
    }
}

impl Explored {
    fn count(&mut self, search: &StateSearch<EnabledStep>) {
        self.executions = search.ends;
        self.steps = search.steps;
        self.states = Some(search.states() as u64);
        self.cycles = search.cycles;
        self.left = search.left() as u64;
    }
}

/// Explores until an execution is not as expected, all states were met, or somebody stops it.
pub fn explore_states(space: &StateSpace, control: &Control) -> Result<Explored, Error> {
    let seed = space.cross_check.map_or(1, |check| check.seed);
    let mut launch = match learnt(&space.launch, seed, control) {
        Err(Error::Stopped) => return Ok(Explored::default()),
        learnt => learnt?,
    };
    launch.setup.canonical = true;
    let began = space.cross_check.map(|check| (check.clock)());
    let worker = Worker::start(&launch, &Modules::default())?;
    let armed = Arc::clone(&launch.armed);
    let unsummarised = if launch.setup.memory { worker.unsummarised() } else { Vec::new() };
    let sites = worker.sites();
    let mut explored = Explored { sites, armed, unsummarised, ..Explored::default() };
    let mut path = Path::new(worker, control);
    let mut search = StateSearch::new(space.sleep);
    let mut cut = false;
    let result = search.run(&mut path, |search, path, reached| {
        if search.steps.is_multiple_of(256) {
            explored.count(search);
            control.publish(explored.progress());
        }
        if matches!(reached, Reached::End) {
            let reply = &path.reply;
            cut |= reply.outcome == Outcome::TooLong;
            explored.abandoned += u64::from(reply.outcome == Outcome::Abandoned);
            explored.notices.extend(path.worker.notices());
            if !launch.setup.expects(reply.outcome, reply.detail) {
                explored.keep(Execution::of(&path.worker, reply, search.ends - 1));
                if !space.keep_going || is_final(reply.outcome) {
                    return ControlFlow::Break(());
                }
            }
        }
        let too_many = space.states.is_some_and(|most| search.states() as u64 >= most)
            || space.executions.is_some_and(|most| search.ends >= most);
        if too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    explored.count(&search);
    explored.hits = path.worker.counters().cache_hits;
    explored.spins = path.spins;
    match result {
        Ok(complete) => explored.complete = complete && !cut,
        Err(Stop::Stopped | Stop::Failed(Error::Stopped)) => {}
        Err(Stop::Failed(error)) => return Err(error),
    }
    if let (Some(check), Some(began)) = (space.cross_check, began)
        && explored.holds()
    {
        let comparison =
            Comparison { launch: &launch, check, began, limit: space.executions, control };
        comparison.run(&mut path.worker, &mut explored)?;
    }
    Ok(explored)
}
