//! What a worker and the checker hold after few executions and after many.

use super::goals::Goals;
use super::programs::Programs;
use super::{IN_PROCESS, Scale, explore_as};
use crate::table::grouped;
use anyhow::{Context, Result, ensure};
use everypath_native::Setup;
use everypath_trace::Control;
use std::fs;
use std::thread;
use std::time::Duration;

const EXECUTIONS: u64 = 1_000_000;
/// How often we look.
const TICK: Duration = Duration::from_millis(5);

/// What is held after some number of executions.
#[derive(Clone, Copy, Debug)]
struct Held {
    executions: u64,
    worker: Process,
    checker: Process,
}

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Process {
    resident: u64,
    descriptors: usize,
    mappings: usize,
}

/// Looks at both processes while one runs the other.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    run_as(programs, Setup::default(), scale, goals)
}

/// The same, set up in some way.
pub fn run_as(programs: &Programs, setup: Setup, scale: Scale, goals: &mut Goals) -> Result<()> {
    let executions = scale.of(EXECUTIONS);
    let control = Control::default();
    // The first hundredth may touch memory for the first time. Only two are kept: a longer list
    // would grow itself.
    let mut seen: Option<(Held, Held)> = None;
    thread::scope(|scope| {
        let search =
            scope.spawn(|| explore_as(&programs.small, IN_PROCESS, setup, (executions, &control)));
        while !search.is_finished() {
            if let Some(now) = look(&control).filter(|now| now.executions >= executions / 100) {
                seen = Some((seen.map_or(now, |(early, _)| early), now));
            }
            thread::park_timeout(TICK);
        }
        search.join().expect("sampling does not panic")
    })?;
    let (early, late) = seen.context("it ended before it was looked at")?;
    ensure!(late.executions > early.executions, "it ended before it was looked at twice");
    println!("| executions | process | resident KiB | descriptors | mappings |");
    println!("|--:|---|--:|--:|--:|");
    for Held { executions, worker, checker } in [early, late] {
        for (name, process) in [("worker", worker), ("checker", checker)] {
            println!(
                "| {} | {name} | {} | {} | {} |",
                grouped(executions),
                grouped(process.resident >> 10),
                process.descriptors,
                process.mappings
            );
        }
    }
    let same = |a: Process, b: Process| {
        (a.descriptors, a.mappings) == (b.descriptors, b.mappings) && b.resident <= a.resident
    };
    let met = same(early.worker, late.worker) && same(early.checker, late.checker);
    let grown = |a: Process, b: Process| (b.resident as i64 - a.resident as i64) >> 10;
    let worker = grown(early.worker, late.worker);
    let checker = grown(early.checker, late.checker);
    let reached = format!("worker {worker:+} KiB, checker {checker:+} KiB");
    goals.add(format!("nothing grows over {} executions", grouped(executions)), reached, met);
    Ok(())
}

/// What is held now, if the worker can be seen.
fn look(control: &Control) -> Option<Held> {
    let executions = control.progress().executions;
    let worker = only_child()?;
    Some(Held { executions, worker: process(&worker)?, checker: process("self")? })
}

/// The one child of this process.
fn only_child() -> Option<String> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    let children =
        tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    let children: String = children.collect();
    children.split_whitespace().next().map(Into::into)
}

fn process(name: &str) -> Option<Process> {
    const PAGE: u64 = 4096;
    let folder = format!("/proc/{name}");
    let pages = fs::read_to_string(format!("{folder}/statm")).ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(Process {
        resident: resident * PAGE,
        descriptors: fs::read_dir(format!("{folder}/fd")).ok()?.count(),
        mappings: fs::read_to_string(format!("{folder}/maps")).ok()?.lines().count(),
    })
}
