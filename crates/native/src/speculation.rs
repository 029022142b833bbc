//! Speculative execution: workers that run ahead of one search.
//!
//! A search over schedules requests one execution after the other, and each may change the next
//! request. But most pending branches of the search tree will be requested as they are now. So a worker
//! gets several executions at once, and runs the likely next ones while the search analyses the last
//! one; further workers run further ahead. A result is used if exactly its execution is requested. An
//! execution depends on nothing but its request, so neither the result nor any count depends on the
//! number of workers.

use crate::detector::Detector;
use crate::error::Error;
use crate::execution::Execution;
use crate::exercised::Exercised;
use crate::exhaustive::{Again, Exhaustive};
use crate::messages::messages;
use crate::planned::PlannedExecution;
use crate::runner::{Performed, Runner, Stop};
use crate::worker::{Modules, Worker};
use everypath_schedules::{Alternative, Executed, Executor, Run};
use everypath_shim_abi::{
    Choice, EnabledStep, Event, MAX_ORDERS, Notice, OperationKind, Outcome, TIMEOUT,
};
use everypath_trace::{Control, Progress};
use std::collections::BTreeSet;
use std::thread;

/// A search that is shorter is done before other workers have started.
const SHORT: u64 = 300;
/// A worker that others wait for is asked for so many executions at once.
const FEW: usize = 8;
/// So many executions are kept that nobody has asked for.
const KEPT: usize = 256;

/// What runs the executions of a search.
pub(crate) struct Speculation<'a> {
    exhaustive: &'a Exhaustive,
    control: &'a Control,
    modules: Modules,
    members: Vec<Runner<'a>>,
    /// Whether workers run while the search thinks.
    overlaps: bool,
    /// The execution that will be asked for next.
    next: Option<PlannedExecution>,
    /// What will probably be asked for after that, and nobody runs.
    likely: Vec<PlannedExecution>,
    /// What was run ahead.
    done: Vec<(PlannedExecution, Performed)>,
    runs: u64,
    hits: u64,
    last: (Outcome, Option<Execution>),
    /// Why the next execution cannot be run.
    trouble: Option<Stop>,
    /// The steps of the last execution. The next one begins with those that are known of it.
    path: Vec<Event>,
    notices: BTreeSet<Notice>,
    spins: bool,
    /// Which faults have happened, if some are allowed.
    exercised: Option<Exercised>,
    /// Whether time-outs are taken to fire only when no thread can go on, and one did not, or threads spin.
    is_restless: bool,
    /// Whether a thread was created: nobody else accesses the memory of one that is alone.
    is_concurrent: bool,
    /// Looks for conflicting memory accesses, if these are recorded.
    detector: Option<Detector>,
}

impl<'a> Speculation<'a> {
    /// Starts the first worker.
    pub(crate) fn start(exhaustive: &'a Exhaustive, control: &'a Control) -> Result<Self, Error> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let overlaps = exhaustive.workers.min(processors) > 1;
        let mut team = Speculation {
            exhaustive,
            control,
            modules: Modules::default(),
            members: Vec::new(),
            overlaps,
            next: None,
            likely: Vec::new(),
            done: Vec::new(),
            runs: 0,
            hits: 0,
            last: (Outcome::default(), None),
            trouble: None,
            path: Vec::new(),
            notices: BTreeSet::new(),
            spins: false,
            exercised: Exercised::of(&exhaustive.launch),
            is_restless: false,
            is_concurrent: false,
            detector: Detector::of(&exhaustive.launch),
        };
        team.members.push(team.another()?);
        Ok(team)
    }

    /// Starts a worker.
    fn another(&self) -> Result<Runner<'a>, Error> {
        Runner::join(&self.exhaustive.launch, self.control, &self.modules, self.overlaps)
    }

    /// A worker without work.
    pub(crate) fn into_worker(mut self) -> Result<Worker, Error> {
        match self.members.swap_remove(0).into_worker() {
            Some(worker) => Ok(worker),
            None => Worker::start(&self.exhaustive.launch, &self.modules),
        }
    }

    /// A worker beside those of the search.
    pub(crate) fn extra_worker(&self) -> Result<Worker, Error> {
        Worker::start(&self.exhaustive.launch, &self.modules)
    }

    /// How many atomic instructions are patched.
    pub(crate) fn sites(&self) -> usize {
        self.members.first().map_or(0, |runner| runner.worker().sites())
    }

    /// What accesses memory that nobody sees, although accesses are recorded: functions, and steps that
    /// access too much.
    pub(crate) fn unseen(&self) -> Vec<String> {
        if !self.is_concurrent {
            return Vec::new();
        }
        let functions = self.members.iter().take(1).flat_map(|runner| runner.worker().unseen());
        functions.chain(self.detector.as_ref().and_then(Detector::unseen)).collect()
    }

    /// Functions of libc that the program may call, and whose memory accesses are not known.
    pub(crate) fn unsummarised(&self) -> Vec<String> {
        if !self.is_concurrent || self.detector.is_none() {
            return Vec::new();
        }
        self.members.first().map_or(Vec::new(), |runner| runner.worker().unsummarised())
    }

    /// How many messages to peers were answered without asking them.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Whether a thread has spun.
    pub(crate) fn spins(&self) -> bool {
        self.spins
    }

    /// What was strange.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Notice> {
        self.notices.iter().copied()
    }

    /// Says how far the search has come.
    pub(crate) fn publish(&self, progress: &Progress) {
        self.control.publish(*progress);
    }

    /// How the last execution ended, and all of it if it is not as expected; told once.
    pub(crate) fn last(&mut self) -> (Outcome, Option<Execution>) {
        (self.last.0, self.last.1.take())
    }

    /// Faults that are allowed and that no execution had.
    pub(crate) fn unexercised(&self) -> Option<Vec<String>> {
        let exercised = self.exercised.as_ref();
        exercised.map(|exercised| exercised.unexercised(&self.exhaustive.launch, ""))
    }

    /// Notes which faults the last execution had.
    fn see_faults(&mut self, message_events: &[u8]) {
        if let Some(exercised) = self.exercised.as_mut()
            && self.last.0 != Outcome::Abandoned
        {
            let system = &self.members[0].worker().system;
            exercised.see(&self.path, &messages(message_events, system, "a peer"));
        }
    }

    /// How many executions a worker is asked for.
    fn at_once(&self) -> usize {
        if self.overlaps { FEW } else { MAX_ORDERS }
    }

    /// Whether an execution was run, or is about to be.
    fn knows(&self, order: &PlannedExecution) -> bool {
        self.done.iter().any(|(done, _)| done == order)
            || self.members.iter().any(|runner| runner.is_running(order))
    }

    /// An execution that was asked for.
    fn perform(&mut self, order: &PlannedExecution) -> Result<Performed, Stop> {
        loop {
            if let Some(at) = self.done.iter().position(|(done, _)| done == order) {
                return Ok(self.done.remove(at).1);
            }
            let running = self.members.iter().position(|runner| runner.is_running(order));
            match running {
                Some(at) => self.gather(at, order)?,
                None => self.begin(order)?,
            }
            self.use_the_idle()?;
        }
    }

    /// Begins an execution that is asked for, and those that may be after it.
    fn begin(&mut self, order: &PlannedExecution) -> Result<(), Stop> {
        let at = self.free_member(order)?;
        let ahead = (self.at_once() - 1).min(self.likely.len());
        let orders = [order.clone()].into_iter().chain(self.likely.drain(..ahead));
        self.members[at].begin(orders.collect())
    }

    /// A worker that has nothing to do, or soon will.
    fn free_member(&mut self, order: &PlannedExecution) -> Result<usize, Stop> {
        let idle = self.members.iter().position(|runner| !runner.is_busy());
        let at = idle.unwrap_or(0);
        while self.members[at].is_busy() {
            self.members[at].hurry();
            self.gather(at, order)?;
        }
        Ok(at)
    }

    /// Waits for a worker. If it fails at what was only likely to be asked for, another one takes its
    /// place: whoever asks for that will be told why it fails.
    fn gather(&mut self, at: usize, order: &PlannedExecution) -> Result<(), Stop> {
        let present = self.members[at].present().cloned();
        match self.members[at].next() {
            Ok(news) => {
                self.read_logs(at).map_err(Stop::Failed)?;
                self.done.extend(news);
            }
            Err(Stop::Failed(_)) if present.as_ref() != Some(order) => {
                self.members[at] = self.another().map_err(Stop::Failed)?;
            }
            Err(stop) => return Err(stop),
        }
        let superfluous = self.done.len().saturating_sub(KEPT);
        self.done.drain(..superfluous);
        Ok(())
    }

    /// Reads what a worker has told of accesses.
    fn read_logs(&mut self, at: usize) -> Result<(), Error> {
        match &mut self.detector {
            Some(detector) => detector.add(self.members[at].access_logs()),
            None => Ok(()),
        }
    }

    /// Looks for conflicting accesses in the last execution.
    fn look_for_conflicts(&mut self, executed: &Executed<EnabledStep>) -> Result<(), Error> {
        let is_last = self.last.1.is_some() && !self.exhaustive.keep_going;
        let worker = self.members[0].worker();
        if let (Some(detector), Some(spinning)) = (&mut self.detector, &self.last.1)
            && spinning.outcome == Outcome::Hang
        {
            detector.look_at_spin(worker, &self.path, spinning.detail as u16);
        }
        if let Some(detector) = self.detector.as_mut().filter(|_| !is_last) {
            let steps = (executed.left_out, &executed.steps[..]);
            detector.look(worker, &self.path, steps)?;
        }
        Ok(())
    }

    /// Looks for conflicting accesses in a few random schedules, before anything was asked for.
    pub(crate) fn learn(&mut self, seed: u64) -> Result<(), Error> {
        if let Some(detector) = &mut self.detector {
            let launch = &self.exhaustive.launch;
            // Peers would have to answer what the search may never ask.
            if launch.outside.is_empty() && !launch.fresh {
                detector.learn(self.members[0].worker_mut(), seed, self.control)?;
            }
        }
        Ok(())
    }

    /// Why the search has to begin again, if it has.
    pub(crate) fn again(&self) -> Again {
        let unarmed = self.detector.as_ref().map(Detector::unarmed).unwrap_or_default();
        Again { unarmed, is_restless: self.is_restless }
    }

    /// Whether it has.
    pub(crate) fn must_begin_again(&self) -> bool {
        self.is_restless || self.detector.as_ref().is_some_and(Detector::has_unarmed)
    }

    /// Gives workers without work something that will probably be asked for.
    fn use_the_idle(&mut self) -> Result<(), Stop> {
        for runner in self.members.iter_mut().filter(|runner| self.overlaps && !runner.is_busy()) {
            let ahead = FEW.min(self.likely.len());
            if ahead > 0 {
                runner.begin(self.likely.drain(..ahead).collect())?;
            }
        }
        Ok(())
    }
}

impl Executor for Speculation<'_> {
    type Step = EnabledStep;
    type Error = Stop;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<EnabledStep>],
    ) -> Result<Executed<EnabledStep>, Stop> {
        self.runs += 1;
        if let Some(stop) = self.trouble.take() {
            return Err(stop);
        }
        let next = self.next.take();
        let order = next.unwrap_or_else(|| PlannedExecution::new(schedule, known, sleep));
        let mut performed = self.perform(&order)?;
        self.hits += performed.hits;
        self.last = (performed.outcome, performed.unexpected.take());
        self.notices.extend(performed.notices.iter().copied());
        self.spins |= performed.events.iter().any(Event::stands_back);
        let is_early = |event: &Event| event.outcome == TIMEOUT && !event.is_last;
        self.is_restless |= self.exhaustive.launch.setup.patient
            && (self.spins || performed.events.iter().any(is_early));
        let creates = |event: &Event| event.kind() == OperationKind::Create;
        self.is_concurrent |= performed.events.iter().any(creates);
        let symmetry = *self.members[0].symmetry();
        let message_events = std::mem::take(&mut performed.message_events);
        let executed = performed.into_executed(order.known, &mut self.path, &symmetry);
        self.see_faults(&message_events);
        self.look_for_conflicts(&executed).map_err(Stop::Failed)?;
        Ok(executed)
    }

    fn foresight(&mut self, next: &Run<EnabledStep>) -> usize {
        let order = PlannedExecution::new(&next.schedule, next.known, &next.sleep);
        let is_unknown = !self.knows(&order);
        self.likely.clear();
        if is_unknown && self.overlaps {
            // It is run while the search thinks of what comes after.
            self.trouble = self.begin(&order).err();
        }
        let has_room = self.overlaps && self.members.iter().any(|runner| !runner.is_busy());
        self.next = Some(order);
        if is_unknown || has_room { self.at_once() } else { 0 }
    }

    fn foresee(&mut self, likely: Vec<Run<EnabledStep>>) {
        // One processor is the search's.
        let members = self.exhaustive.workers.saturating_sub(1).max(1);
        if self.runs >= SHORT && self.members.len() < members {
            // Who does not start is not needed.
            self.members.extend(self.another());
        }
        let orders =
            likely.iter().map(|run| PlannedExecution::new(&run.schedule, run.known, &run.sleep));
        let orders = orders.filter(|order| !self.knows(order) && self.next.as_ref() != Some(order));
        self.likely = orders.collect();
    }
}
