//! Sampling: executions with randomly chosen schedules.

use crate::detector::learnt;
use crate::error::Error;
use crate::execution::{Execution, Explored, is_final};
use crate::good_turing::{self, GoodTuring, Promise};
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, MAX_BATCH, Policy, Request};
use everypath_trace::Control;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// How schedules are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// Every choice is made at random.
    Random,
    /// By priorities at random that change a few times (Burckhardt et al. 2010).
    Pct {
        /// How many steps must come in a certain order for the bugs that are looked for.
        depth: u32,
    },
    /// By priorities of steps, drawn again for those that race (Yuan et al. 2018).
    Pos,
}

/// What to sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The program.
    pub launch: Launch,
    /// How its schedules are chosen.
    pub sampler: Sampler,
    /// The seed of the search: execution number `n` depends on it and `n` only.
    pub seed: u64,
    /// How many executions.
    pub executions: u64,
    /// How many processes run them.
    pub workers: usize,
    /// Whether to go on after the first one that is not as expected.
    pub keep_going: bool,
}

/// How many executions a worker takes at a time.
const BATCH: u64 = MAX_BATCH as u64;
/// From so many executions at random is known how long executions are.
const PILOTS: u64 = 32;

/// Shared by the threads that drive workers.
struct Search<'a> {
    sampling: &'a Sampling,
    control: &'a Control,
    modules: Modules,
    /// What each worker is asked for, but for the numbers of the executions.
    command: Command,
    next: AtomicU64,
    /// The smallest number of an execution that was not as expected.
    found: AtomicU64,
    sum: Mutex<Explored>,
    classes: Mutex<Vec<u64>>,
}

/// Samples schedules until one is not as expected, all are run, or somebody stops it.
///
/// Which execution is reported does not depend on the number of workers.
pub fn sample(sampling: &Sampling, control: &Control) -> Result<Explored, Error> {
    let launch = match learnt(&sampling.launch, sampling.seed, control) {
        Err(Error::Stopped) => return Ok(Explored::default()),
        learnt => learnt?,
    };
    let armed = Arc::clone(&launch.armed);
    let sampled = sample_learnt(&Sampling { launch, ..sampling.clone() }, control)?;
    Ok(Explored { armed, ..sampled })
}

/// Samples schedules of a program whose conflicting accesses are known, as far as they are.
fn sample_learnt(sampling: &Sampling, control: &Control) -> Result<Explored, Error> {
    let (request, seed) = (Request::Run, sampling.seed);
    let command = Command { request, seed, ..Command::default() };
    match sampling.sampler {
        Sampler::Random => run(sampling, command, control),
        Sampler::Pos => run(sampling, Command { policy: Policy::Pos, ..command }, control),
        Sampler::Pct { depth } => {
            let pilots = Sampling { executions: PILOTS, keep_going: false, ..sampling.clone() };
            let pilot = run(&pilots, command, control)?;
            if pilot.first.is_some() {
                return Ok(pilot);
            }
            let horizon = pilot.longest.max(1) as u32;
            let policy = Policy::Pct;
            let command = Command { policy, depth, horizon, ..command };
            let mut sampled = run(sampling, command, control)?;
            let (threads, steps) = (sampled.threads.max(1), u64::from(horizon));
            sampled.promise = Some(Promise { depth, threads, steps });
            Ok(sampled)
        }
    }
}

fn run(sampling: &Sampling, command: Command, control: &Control) -> Result<Explored, Error> {
    let search = Search {
        command,
        sampling,
        control,
        modules: Modules::default(),
        next: AtomicU64::new(0),
        found: AtomicU64::new(u64::MAX),
        sum: Mutex::default(),
        classes: Mutex::new(good_turing::room()),
    };
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..sampling.workers.max(1)).map(|_| scope.spawn(|| search.drive())).collect();
        // A program that cannot be controlled is the same for every worker: the first one says so.
        let results: Vec<_> = workers
            .into_iter()
            .map(|worker| worker.join().expect("driving a worker does not panic"))
            .collect();
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    })?;
    let mut sampled = search.sum.into_inner().expect("nobody panics while holding it");
    sampled.variety =
        GoodTuring::of(search.classes.into_inner().expect("nobody panics while holding it"));
    if let Some(first) = sampled.first.as_ref().filter(|_| !sampling.keep_going) {
        // Other workers may have gone a little further: that is not part of the result.
        sampled.executions = first.number + 1;
        sampled.unexpected = 1;
    }
    Ok(sampled)
}

impl Search<'_> {
    fn drive(&self) -> Result<(), Error> {
        let result = match self.drive_worker() {
            Err(Error::Stopped) => Ok(()),
            result => result,
        };
        if result.is_err() {
            self.found.store(0, Ordering::Relaxed);
        }
        result
    }

    fn drive_worker(&self) -> Result<(), Error> {
        let mut kept = None;
        while let Some((first, end)) = self.take_batch() {
            let worker = match kept.take().filter(|_| !self.sampling.launch.fresh) {
                Some(worker) => kept.insert(worker),
                None => kept.insert(Worker::start(&self.sampling.launch, &self.modules)?),
            };
            self.run_batch(worker, first, end)?;
        }
        Ok(())
    }

    /// The next executions to run; none if there is nothing left to find.
    fn take_batch(&self) -> Option<(u64, u64)> {
        if self.control.stopped() {
            return None;
        }
        let launch = &self.sampling.launch;
        let batch = if launch.fresh || launch.outside.forgets() { 1 } else { BATCH };
        let first = self.next.fetch_add(batch, Ordering::Relaxed);
        let end = (first + batch).min(self.sampling.executions);
        (first < end && first < self.found.load(Ordering::Relaxed)).then_some((first, end))
    }

    fn run_batch(&self, worker: &mut Worker, mut first: u64, end: u64) -> Result<(), Error> {
        while first < end && !self.control.stopped() {
            let before = worker.counters();
            let command = Command { first, count: end - first, ..self.command };
            let Some(reply) = worker.ask_unless(command, self.control)? else { return Ok(()) };
            let expected = self.sampling.launch.setup.expects(reply.outcome, reply.detail);
            let last = first + reply.executions - 1;
            first = last + 1;
            let mut sum = self.sum.lock().expect("nobody panics while holding it");
            sum.sites = worker.sites();
            if sum.executions == 0 && self.sampling.launch.setup.memory {
                sum.unsummarised = worker.unsummarised();
            }
            sum.executions += reply.executions;
            let after = worker.counters();
            sum.steps += after.steps - before.steps;
            sum.quiet |= after.quiet > before.quiet;
            sum.abandoned += after.abandoned - before.abandoned;
            // A fork counts its own only, and forgets them.
            sum.switches += after.switches.saturating_sub(before.switches);
            sum.hits += after.cache_hits.saturating_sub(before.cache_hits);
            sum.restored = after.restored;
            sum.notices.extend(worker.notices());
            sum.longest = sum.longest.max(after.longest);
            sum.threads = sum.threads.max(after.threads);
            let mut classes = self.classes.lock().expect("nobody panics while holding it");
            good_turing::keep(
                &mut classes,
                last + 1 - reply.executions,
                &worker.classes(reply.executions),
            );
            drop(classes);
            self.control.publish(sum.progress());
            if expected {
                continue;
            }
            sum.keep(Execution::of(worker, &reply, last));
            if !self.sampling.keep_going || is_final(reply.outcome) {
                self.found.fetch_min(last, Ordering::Relaxed);
                return Ok(());
            }
        }
        Ok(())
    }
}
