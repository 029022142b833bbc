//! Native programs: executions a second, what a switch costs, what grows, and others' libraries.
//!
//! - `programs`: compiles what is run;
//! - `rates`: executions a second, for every way to put a program back;
//! - `growth`: memory, descriptors and mappings over very many executions;
//! - `libraries`: the same small algorithms under Shuttle and loom;
//! - `memory`: what it costs to see every memory access;
//! - `exhaustive`: all schedules of small programs, under loom as well, and what they cost in time;
//! - `peers`: programs that talk to real processes;
//! - `datagrams`: the same over a network that may do something to packets;
//! - `systems`: programs whose peers are explored, too;
//! - `goals`: what was reached of what we want.

mod datagrams;
mod exhaustive;
mod goals;
mod growth;
mod heap;
mod libraries;
mod memory;
mod peers;
mod programs;
mod rates;
mod systems;

use crate::table::grouped;
use anyhow::{Context, Result, bail};
use everypath_native::{Explored, Launch, Restart, Sampler, Sampling, Setup};
use everypath_trace::Control;
use goals::Goals;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use programs::Programs;
use std::path::Path;
use std::time::Instant;

/// How much is run.
#[derive(Clone, Copy)]
pub struct Scale {
    /// How often each row is measured, in turn; the medians are shown.
    rounds: usize,
    /// Every number of executions is divided by this.
    divisor: u64,
}

impl Scale {
    fn of(self, executions: u64) -> u64 {
        (executions / self.divisor).max(2)
    }
}

const FULL: Scale = Scale { rounds: 3, divisor: 1 };
/// A test of the harness: its times mean nothing.
const QUICK: Scale = Scale { rounds: 1, divisor: 200 };

/// Measures everything and prints the tables.
pub fn run(quick: bool, only_schedules: bool) -> Result<()> {
    let scale = if quick { QUICK } else { FULL };
    let programs = Programs::compile()?;
    let mut goals = Goals::default();
    if !only_schedules {
        executions(&programs, scale, &mut goals)?;
    }
    println!("\n## All schedules\n");
    exhaustive::run(&programs, scale, &mut goals)?;
    println!("\n## Compared with the goals\n");
    goals.print();
    Ok(())
}

/// Measures programs that talk to real processes, and prints the tables.
pub fn run_peers(quick: bool) -> Result<()> {
    let scale = if quick { QUICK } else { FULL };
    let programs = Programs::compile()?;
    let mut goals = Goals::default();
    println!("## Real peers\n");
    peers::run(&programs, scale, &mut goals)?;
    println!("\n## Datagrams\n");
    datagrams::run(&programs, scale, &mut goals)?;
    println!("\n## Compared with the goals\n");
    goals.print();
    Ok(())
}

/// Measures programs whose peers are explored, too, and prints the tables.
pub fn run_systems(quick: bool) -> Result<()> {
    let scale = if quick { QUICK } else { FULL };
    let programs = Programs::compile()?;
    let mut goals = Goals::default();
    println!("## Closed systems and joint states\n");
    systems::run(&programs, scale, &mut goals)?;
    println!("\n## Compared with the goals\n");
    goals.print();
    Ok(())
}

/// Measures what the checks of the heap cost, and prints the tables.
pub fn run_heap(quick: bool) -> Result<()> {
    let scale = if quick { QUICK } else { FULL };
    let programs = Programs::compile()?;
    let mut goals = Goals::default();
    println!("## Checks of the heap\n");
    heap::run(&programs, scale, &mut goals)?;
    println!("\n## Compared with the goals\n");
    goals.print();
    Ok(())
}

/// Measures what it costs to see every memory access, and prints the tables.
pub fn run_memory(quick: bool) -> Result<()> {
    let scale = if quick { QUICK } else { FULL };
    let programs = Programs::compile()?;
    let mut goals = Goals::default();
    println!("## Memory accesses\n");
    memory::run(&programs, scale, &mut goals)?;
    println!("\n## Compared with the goals\n");
    goals.print();
    Ok(())
}

/// Everything about executions at random.
fn executions(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("## Executions\n");
    rates::run(programs, scale, goals)?;
    println!("\n## A switch\n");
    rates::switches(programs, scale, goals)?;
    println!("\n## Memory growth\n");
    growth::run(programs, scale, goals)?;
    println!("\n## The same algorithms under other tools\n");
    libraries::run(programs, scale, goals)
}

/// What one run of something cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    wall: f64,
    /// User and system time of this process and of the children that have ended.
    cpu: f64,
}

impl Cost {
    fn wall(&self) -> f64 {
        self.wall
    }

    fn cpu(&self) -> f64 {
        self.cpu
    }
}

/// Runs something; returns its result and its cost.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
fn cost<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, Cost)> {
    let (start, before) = (Instant::now(), cpu_time()?);
    let result = run()?;
    Ok((result, Cost { wall: start.elapsed().as_secs_f64(), cpu: cpu_time()? - before }))
}

fn cpu_time() -> Result<f64> {
    let mut total = 0;
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        let usage = getrusage(who).context("failed to read resource usage")?;
        total += (usage.user_time() + usage.system_time()).num_microseconds();
    }
    Ok(total as f64 / 1e6)
}

/// How a program is restored, and by how many workers.
#[derive(Clone, Copy, Debug)]
struct Way {
    name: &'static str,
    restart: Restart,
    fresh: bool,
    workers: usize,
}

const IN_PROCESS: Way =
    Way { name: "in process", restart: Restart::Automatic, fresh: false, workers: 1 };

/// Runs a program under control; every execution must end as it should.
fn explore(program: &Path, way: Way, executions: u64, control: &Control) -> Result<Explored> {
    explore_as(program, way, Setup::default(), (executions, control))
}

/// The same, set up in some way.
fn explore_as(
    program: &Path,
    way: Way,
    setup: Setup,
    (executions, control): (u64, &Control),
) -> Result<Explored> {
    let launch = Launch {
        setup: Setup { restart: way.restart, max_steps: 1 << 20, ..setup },
        fresh: way.fresh,
        ..Launch::new(program)
    };
    let workers = way.workers;
    let sampling = Sampling {
        launch,
        sampler: Sampler::Random,
        seed: 1,
        executions,
        workers,
        keep_going: false,
    };
    let sampled = everypath_native::sample(&sampling, control)
        .with_context(|| format!("failed to control {}", program.display()))?;
    if let Some(first) = &sampled.first {
        bail!(
            "{} ended with {:?} {} in execution {}: {}",
            program.display(),
            first.outcome,
            first.detail,
            first.number,
            first.text
        );
    }
    Ok(sampled)
}

/// Runs something on one core only, its threads and children included.
fn on_one_core<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    let this_thread = Pid::from_raw(0);
    let all = sched_getaffinity(this_thread).context("failed to ask for the cores")?;
    let last = (0..CpuSet::count()).rev().find(|&core| all.is_set(core).unwrap_or(false));
    let mut one = CpuSet::new();
    one.set(last.context("there is no core")?).context("failed to choose a core")?;
    sched_setaffinity(this_thread, &one).context("failed to stay on one core")?;
    let result = run();
    sched_setaffinity(this_thread, &all).context("failed to use all cores again")?;
    result
}

/// The median of an odd number of values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A rate for a table.
fn rate(count: f64, seconds: f64) -> String {
    grouped((count / seconds) as u64)
}
