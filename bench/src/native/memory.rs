//! What it costs to see every memory access: recording, comparing, and the schedules that are added.

use super::goals::Goals;
use super::growth;
use super::libraries::algorithms;
use super::programs::Programs;
use super::{Cost, IN_PROCESS, Scale, cost, explore_as, median, on_one_core, peers};
use crate::table::grouped;
use anyhow::{Context, Result, ensure};
use everypath_native::{Environment, Exhaustive, Explored, Launch, Setup};
use everypath_schedules::reduction::Reduction;
use everypath_trace::Control;
use std::path::Path;

/// Executions at random of a program that computes.
const EXECUTIONS: u64 = 1000;
/// Searches are stopped here.
const MOST: u64 = 20_000;
/// How many times as long instructions of a program may take.
const SLOWER: f64 = 8.0;
/// How many times as long an execution of a search may take.
const LONGER: f64 = 1.5;

/// Prints everything.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    searches(programs, scale, goals)?;
    println!();
    instructions(programs, scale, goals)?;
    println!();
    growth::run_as(programs, Setup { memory: true, ..Setup::default() }, scale, goals)
}

/// The median cost of two things, measured in turn on one core, and their last results.
fn in_turn<T>(rounds: usize, mut run: impl FnMut(bool) -> Result<T>) -> Result<[(T, f64); 2]> {
    let mut costs: [Vec<Cost>; 2] = Default::default();
    let mut last = [None, None];
    for _ in 0..rounds {
        for (at, memory) in [true, false].into_iter().enumerate() {
            let (result, cost) = on_one_core(|| cost(|| run(memory)))?;
            costs[at].push(cost);
            last[at] = Some(result);
        }
    }
    let [with, without] = costs.map(|costs| median(costs.iter().map(Cost::cpu)));
    let [one, other] = last.map(|of| of.context("nothing was measured"));
    Ok([(one?, with), (other?, without)])
}

/// The first schedules of the algorithms that other tools explore, too. Loads that are no scheduling points
/// without memory accesses are some with them, so there may be more schedules: what counts is an
/// execution.
fn searches(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| search | executions | µs each | `--memory off` | µs each | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    for algorithm in algorithms() {
        let program = programs.long_algorithm(algorithm.name)?;
        let most = scale.of(MOST);
        let explored = in_turn(scale.rounds, |memory| search(&program, memory, most))?;
        let executions = explored.each_ref().map(|(of, _)| of.executions);
        let [with, without] = explored.map(|(of, time)| time / of.executions as f64 * 1e6);
        let [seen, unseen] = executions.map(grouped);
        let (name, ratio) = (algorithm.name, with / without);
        println!("| {name} | {seen} | {with:.1} | {unseen} | {without:.1} | {ratio:.2} |");
        goals.at_most(format!("an execution with memory, {name}: times"), ratio, LONGER);
    }
    Ok(())
}

fn search(program: &Path, memory: bool, most: u64) -> Result<Explored> {
    let launch = peers::launch(program, &[""; 0], Environment::default());
    let launch = Launch { setup: Setup { memory, ..launch.setup }, ..launch };
    let exhaustive = Exhaustive {
        launch,
        reduction: Reduction::Optimal,
        executions: Some(most),
        keep_going: false,
        preemptions: None,
        workers: 1,
        cross_check: None,
        early_timeouts: 0,
    };
    let explored = everypath_native::explore(&exhaustive, &Control::default())
        .with_context(|| format!("failed to control {}", program.display()))?;
    ensure!(explored.first.is_none(), "{} is not as expected: {explored:?}", program.display());
    Ok(explored)
}

/// A program that computes: its own instructions are nearly all that is executed.
fn instructions(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    let program = programs.computes()?;
    let (executions, control) = (scale.of(EXECUTIONS), Control::default());
    let [(_, with), (_, without)] = in_turn(scale.rounds, |memory| {
        let setup = Setup { memory, ..Setup::default() };
        explore_as(&program, IN_PROCESS, setup, (executions, &control))
    })?;
    let ratio = with / without;
    println!("| instructions | executions | CPU time | `--memory off` | ratio |");
    println!("|---|--:|--:|--:|--:|");
    let executions = grouped(executions);
    println!("| computes.c | {executions} | {with:.3} s | {without:.3} s | {ratio:.2} |");
    goals.at_most("instructions with memory, computes.c: times".into(), ratio, SLOWER);
    Ok(())
}
