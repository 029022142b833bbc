//! A worker that runs executions for a search of all schedules.

use crate::dependence::taken_after;
use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::planned::PlannedExecution;
use crate::symmetry::Symmetry;
use crate::worker::{Kept, Modules, Recorded, Worker};
use everypath_schedules::{Alternative, Executed, ExecutionEnd, Executor};
use everypath_shim_abi::{
    AdaptiveSpin, Choice, EnabledStep, Event, MAX_ORDERED, MAX_ORDERS, Notice, Outcome, Record,
    Reply, Setup,
};
use everypath_trace::Control;

/// A worker that runs executions for the search.
pub(crate) struct Runner<'a> {
    worker: Worker,
    control: &'a Control,
    setup: Setup,
    /// How many executions can be asked for at once: what peers are asked belongs to one.
    most: usize,
    reply: Reply,
    symmetry: Symmetry,
    /// Whether steps are told of that are known.
    whole: bool,
    /// Whether the worker runs while the search thinks, each on a processor of its own.
    attentive: bool,
    patience: AdaptiveSpin,
    flight: Option<Flight>,
    /// How many words of the logs of accesses were looked at, by process.
    logs_seen: Vec<usize>,
}

/// Executions that the worker was asked for.
struct Flight {
    orders: Vec<PlannedExecution>,
    /// How many of them were looked at.
    seen: usize,
    kept: Kept,
    /// How many messages to peers had been answered without asking them before.
    hits: u64,
}

/// Why there is no execution.
pub(crate) enum Stop {
    /// Somebody stopped it.
    Stopped,
    /// The worker cannot go on.
    Failed(Error),
}

/// An execution that was run.
pub(crate) struct Performed {
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// The number of the first of its steps that is told of. Those before it were known.
    pub(crate) first: usize,
    /// Its steps from there on.
    pub(crate) events: Vec<Event>,
    /// What could have been taken at each step that was not known.
    pub(crate) alternatives: Vec<Vec<Alternative<EnabledStep>>>,
    /// All of it, if it is not as expected; without its number.
    pub(crate) unexpected: Option<Execution>,
    /// What was strange.
    pub(crate) notices: Vec<Notice>,
    /// How many messages to peers were answered without asking them.
    pub(crate) hits: u64,
    /// The messages between sockets, if they are recorded.
    pub(crate) message_events: Vec<u8>,
}

impl Performed {
    /// The execution as the search sees it, with the steps from the first one on that is told of; `events`
    /// are those before it, and then all of them.
    pub(crate) fn into_executed(
        self,
        known: usize,
        events: &mut Vec<Event>,
        symmetry: &Symmetry,
    ) -> Executed<EnabledStep> {
        events.truncate(self.first);
        events.extend(self.events);
        Executed {
            left_out: self.first,
            steps: taken_after(self.first, events, symmetry),
            alternatives: self.alternatives,
            ended: ended(self.outcome, events.len(), known),
        }
    }
}

/// How an execution of so many steps ended, as far as the search is concerned.
fn ended(outcome: Outcome, steps: usize, known: usize) -> ExecutionEnd {
    match outcome {
        Outcome::SleepSetBlocked => ExecutionEnd::SleepSetBlocked,
        Outcome::Exited | Outcome::Deadlock | Outcome::Idle | Outcome::Quiet => {
            ExecutionEnd::Complete
        }
        Outcome::Diverged if steps >= known => ExecutionEnd::Diverged,
        _ => ExecutionEnd::Cut,
    }
}

impl<'a> Runner<'a> {
    /// Starts a worker.
    pub(crate) fn start(launch: &Launch, control: &'a Control) -> Result<Self, Error> {
        let runner = Runner::join(launch, control, &Modules::default(), false)?;
        Ok(Runner { whole: true, ..runner })
    }

    /// Starts a worker beside others.
    pub(crate) fn join(
        launch: &Launch,
        control: &'a Control,
        modules: &Modules,
        attentive: bool,
    ) -> Result<Self, Error> {
        let worker = Worker::start(launch, modules)?;
        let symmetry = launch.symmetry();
        // Of several executions at once, only the last has its messages.
        let is_batch = launch.outside.is_empty() && !launch.setup.chronicle;
        let most = if is_batch { MAX_ORDERS } else { 1 };
        Ok(Runner {
            worker,
            control,
            setup: launch.setup,
            most,
            reply: Reply::default(),
            symmetry,
            whole: false,
            attentive,
            patience: AdaptiveSpin::new(),
            flight: None,
            logs_seen: Vec::new(),
        })
    }

    /// The worker itself.
    pub(crate) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// The same, to be asked for something else while it has nothing to do.
    pub(crate) fn worker_mut(&mut self) -> &mut Worker {
        &mut self.worker
    }

    /// The worker, without its work; none if it cannot go on.
    pub(crate) fn into_worker(mut self) -> Option<Worker> {
        while self.is_busy() {
            self.hurry();
            self.next().ok()?;
        }
        Some(self.worker)
    }

    /// How the last execution ended.
    pub(crate) fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Begins to run executions, one after the other as long as they are as expected: the first of
    /// them, and as many of the others as can be asked for at once.
    pub(crate) fn begin(&mut self, mut orders: Vec<PlannedExecution>) -> Result<(), Stop> {
        if self.control.stopped() {
            return Err(Stop::Stopped);
        }
        let mut choices = 0;
        let fitting = orders.iter().take(self.most).take_while(|order| {
            choices += order.schedule.len();
            choices <= MAX_ORDERED
        });
        let fitting = fitting.count().max(1);
        orders.truncate(fitting);
        let hits = self.worker.counters().cache_hits;
        self.logs_seen.clear();
        self.worker.explore(&orders, self.attentive);
        self.flight = Some(Flight { orders, seen: 0, kept: Kept::default(), hits });
        Ok(())
    }

    /// Whether executions are under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.flight.is_some()
    }

    /// Whether an execution is under way.
    pub(crate) fn is_running(&self, order: &PlannedExecution) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.orders[flight.seen..].contains(order))
    }

    /// The execution that is being run.
    pub(crate) fn present(&self) -> Option<&PlannedExecution> {
        self.flight.as_ref().and_then(|flight| flight.orders.get(self.worker.recorded()))
    }

    /// Runs nothing of this any more; the present execution is broken off.
    pub(crate) fn hurry(&self) {
        self.worker.hurry();
    }

    /// Waits for the next executions that are done.
    pub(crate) fn next(&mut self) -> Result<Vec<(PlannedExecution, Performed)>, Stop> {
        let Some(mut flight) = self.flight.take() else { return Ok(Vec::new()) };
        if self.has_news(flight.seen) {
            let news = self.look_at(&mut flight).map_err(Stop::Failed)?;
            self.flight = Some(flight);
            return Ok(news);
        }
        let reply = self.worker.finish(self.control).map_err(Stop::Failed)?;
        let reply = reply.ok_or(Stop::Stopped)?;
        self.reply = reply;
        let mut news = self.look_at(&mut flight).map_err(Stop::Failed)?;
        if reply.executions as usize > flight.seen {
            let order = flight.orders.swap_remove(flight.seen);
            let hits = self.worker.counters().cache_hits - flight.hits;
            let performed = Performed { hits, ..self.last(&order).map_err(Stop::Failed)? };
            news.push((order, performed));
        }
        Ok(news)
    }

    /// Whether more than the given number of executions are done while others are under way; looks
    /// for a while if that is worth it.
    fn has_news(&mut self, seen: usize) -> bool {
        if !self.attentive {
            return false;
        }
        let is_done = || self.worker.recorded() > seen || self.worker.has_paused();
        let is_done = self.patience.wait(is_done);
        is_done && !self.worker.has_paused()
    }

    /// What came of executions that were not looked at.
    fn look_at(&self, flight: &mut Flight) -> Result<Vec<(PlannedExecution, Performed)>, Error> {
        let mut news = Vec::new();
        for number in flight.seen..self.worker.recorded() {
            let order = flight.orders[number].clone();
            let recorded = self.worker.record(number, order.known, &mut flight.kept)?;
            let Recorded { outcome, first, events, alternatives } = recorded;
            let performed = Performed {
                outcome,
                first,
                events,
                alternatives,
                unexpected: None,
                notices: Vec::new(),
                hits: 0,
                message_events: Vec::new(),
            };
            news.push((order, performed));
        }
        flight.seen += news.len();
        Ok(news)
    }

    /// The last execution of all, of which the worker still has everything; it is kept if it is not as
    /// expected.
    fn last(&self, order: &PlannedExecution) -> Result<Performed, Error> {
        let Reply { outcome, detail, steps, .. } = self.reply;
        let first = if self.whole { 0 } else { Record::first_kept(order.known) };
        let ended = ended(outcome, steps as usize, order.known);
        let expected = ended.is_redundant() || self.setup.expects(outcome, detail);
        Ok(Performed {
            outcome,
            first: first.min(steps as usize),
            events: self.worker.events_from(first),
            alternatives: self.worker.alternatives(order.known)?,
            unexpected: (!expected).then(|| Execution::of(&self.worker, &self.reply, 0)),
            notices: self.worker.notices(),
            hits: 0,
            message_events: self.worker.output(3),
        })
    }

    /// Logs of accesses that nobody has looked at, by process; and whether some were lost.
    pub(crate) fn access_logs(&mut self) -> (Vec<(usize, Vec<u64>)>, bool) {
        self.worker.access_logs(&mut self.logs_seen)
    }

    /// Which processes are just like each other.
    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }
}

impl Executor for Runner<'_> {
    type Step = EnabledStep;
    type Error = Stop;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<EnabledStep>],
    ) -> Result<Executed<EnabledStep>, Stop> {
        self.begin(vec![PlannedExecution::new(schedule, known, sleep)])?;
        let news = self.next()?;
        let (_, performed) = news.into_iter().next().expect("an execution was asked for");
        Ok(performed.into_executed(known, &mut Vec::new(), &self.symmetry))
    }
}
