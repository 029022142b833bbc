//! The same small algorithms under Shuttle and loom.
//!
//! Both need the program's code ported to their types; `build.rs` does that. Everypath runs the
//! compiled std program.

use super::goals::Goals;
use super::programs::Programs;
use super::{Cost, IN_PROCESS, Scale, cost, explore, median, on_one_core};
use crate::table::grouped;
use anyhow::Result;
use everypath_trace::Control;
use shuttle::scheduler::RandomScheduler;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// For Everypath and Shuttle.
const EXECUTIONS: u64 = 50_000;
/// Loom explores all executions, less what it knows to be equivalent; it is stopped here.
const LOOM_EXECUTIONS: u64 = 20_000;

/// An algorithm with its ports.
pub(super) struct Algorithm {
    pub(super) name: &'static str,
    shuttle: fn(),
    pub(super) loom: fn(),
    pub(super) loom_long: fn(),
}

macro_rules! algorithm {
    ($name:ident) => {{
        mod on_shuttle {
            include!(concat!(env!("OUT_DIR"), "/shuttle_", stringify!($name), ".rs"));
        }
        mod on_loom {
            include!(concat!(env!("OUT_DIR"), "/loom_", stringify!($name), ".rs"));
        }
        mod long_on_loom {
            include!(concat!(env!("OUT_DIR"), "/loom_long_", stringify!($name), ".rs"));
        }
        Algorithm {
            name: stringify!($name),
            shuttle: on_shuttle::main,
            loom: on_loom::main,
            loom_long: long_on_loom::main,
        }
    }};
}

pub(super) fn algorithms() -> [Algorithm; 4] {
    [algorithm!(bank), algorithm!(queue), algorithm!(readers), algorithm!(counter)]
}

/// A tool's executions and what they cost in each round.
#[derive(Default)]
pub(super) struct Tool {
    pub(super) executions: u64,
    costs: Vec<Cost>,
}

impl Tool {
    pub(super) fn add(&mut self, run: impl FnOnce() -> Result<u64>) -> Result<()> {
        on_one_core(|| self.add_on_all_cores(run))
    }

    pub(super) fn add_on_all_cores(&mut self, run: impl FnOnce() -> Result<u64>) -> Result<()> {
        let (executions, cost) = cost(run)?;
        self.executions = executions;
        self.costs.push(cost);
        Ok(())
    }

    pub(super) fn seconds(&self) -> f64 {
        median(self.costs.iter().map(Cost::wall))
    }

    pub(super) fn rate(&self, seconds: fn(&Cost) -> f64) -> f64 {
        self.executions as f64 / median(self.costs.iter().map(seconds))
    }
}

/// Prints a row for each algorithm and tool.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| algorithm | tool | executions | executions/s | executions/CPU s |");
    println!("|---|---|--:|--:|--:|");
    for algorithm in algorithms() {
        let program = programs.algorithm(algorithm.name)?;
        let [mut ours, mut shuttle, mut loom]: [Tool; 3] = Default::default();
        for _ in 0..scale.rounds {
            ours.add(|| {
                let executions = scale.of(EXECUTIONS);
                Ok(explore(&program, IN_PROCESS, executions, &Control::default())?.executions)
            })?;
            shuttle.add(|| Ok(on_shuttle(algorithm.shuttle, scale.of(EXECUTIONS))))?;
            loom.add(|| Ok(on_loom(algorithm.loom, scale.of(LOOM_EXECUTIONS))))?;
        }
        for (name, tool) in [("Everypath", &ours), ("Shuttle", &shuttle), ("loom", &loom)] {
            println!(
                "| {} | {name} | {} | {} | {} |",
                algorithm.name,
                grouped(tool.executions),
                grouped(tool.rate(Cost::wall) as u64),
                grouped(tool.rate(Cost::cpu) as u64),
            );
        }
        let ratio = ours.rate(Cost::wall) / shuttle.rate(Cost::wall);
        goals.at_least(format!("as fast as Shuttle, {}", algorithm.name), ratio, 1.0);
    }
    Ok(())
}

/// Random schedules, as many as asked for.
fn on_shuttle(algorithm: fn(), executions: u64) -> u64 {
    let scheduler = RandomScheduler::new_from_seed(1, executions as usize);
    shuttle::Runner::new(scheduler, shuttle::Config::new()).run(algorithm) as u64
}

/// All executions that loom tells apart, or fewer than asked for if it is stopped.
pub(super) fn on_loom(algorithm: fn(), executions: u64) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let mut model = loom::model::Builder::new();
    model.max_permutations = Some(executions as usize);
    // It looks at the maximum at these intervals only.
    model.checkpoint_interval = executions as usize;
    model.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        algorithm();
    });
    count.load(Ordering::Relaxed)
}
