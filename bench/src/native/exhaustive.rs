//! All schedules of small programs: what they cost, beside loom and beside JPF's published figures,
//! and whether late executions cost more than early ones.

use super::goals::Goals;
use super::libraries::{Tool, algorithms, on_loom};
use super::programs::Programs;
use super::{Cost, Scale, cost, on_one_core, peers};
use crate::table::grouped;
use anyhow::{Result, ensure};
use everypath_native::{Environment, Explored};
use everypath_schedules::reduction::Reduction;
use std::path::Path;

/// Searches are stopped here.
const MOST: u64 = 200_000;
/// So many are enough to see how fast loom is.
const LOOM_MOST: u64 = 20_000;
/// Of a search that is longer than that, for the cost of early and late executions.
const LONG: u64 = 20_000;

/// Explores all schedules, or the first ones.
fn explore(program: &Path, arguments: &[&str], executions: Option<u64>) -> Result<Explored> {
    explore_with(1, program, arguments, executions)
}

/// The same with so many threads.
fn explore_with(
    threads: usize,
    program: &Path,
    arguments: &[&str],
    executions: Option<u64>,
) -> Result<Explored> {
    let extent = (Reduction::Optimal, executions, threads);
    peers::explore(program, arguments, Environment::default(), extent)
}

/// Prints everything.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    beside_loom(programs, scale, goals)?;
    println!();
    rates_beside_loom(programs, scale, goals)?;
    println!();
    alphabet(programs, scale, goals)?;
    println!();
    early_and_late(programs, scale, goals)
}

/// The algorithms of the other tables, to the end.
fn beside_loom(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| algorithm | tool | executions | redundant | seconds |");
    println!("|---|---|--:|--:|--:|");
    let most = scale.of(MOST);
    for algorithm in algorithms() {
        let program = programs.algorithm(algorithm.name)?;
        let [mut ours, mut loom]: [Tool; 2] = Default::default();
        let mut explored = Explored::default();
        for _ in 0..scale.rounds {
            ours.add(|| {
                explored = explore(&program, &[], Some(most))?;
                Ok(explored.executions)
            })?;
            loom.add(|| Ok(on_loom(algorithm.loom, most)))?;
        }
        let in_vain = grouped(explored.redundant);
        for (name, tool, in_vain, cut) in [
            ("Everypath", &ours, in_vain.as_str(), !explored.complete),
            ("loom", &loom, "–", is_cut(&loom, most)),
        ] {
            let executions = count(tool.executions, cut);
            let seconds = tool.seconds();
            println!("| {} | {name} | {executions} | {in_vain} | {seconds:.3} |", algorithm.name);
        }
        let (mine, theirs) = (ours.executions as f64, loom.executions as f64);
        let goal = format!("no more executions than loom, {}: share", algorithm.name);
        goals.at_most(goal, mine / theirs, 1.0);
    }
    Ok(())
}

/// So many executions, or more if the search was cut.
fn count(executions: u64, cut: bool) -> String {
    format!("{}{}", if cut { "> " } else { "" }, grouped(executions))
}

/// Whether loom was stopped. It looks at the maximum after having run one execution less.
fn is_cut(loom: &Tool, most: u64) -> bool {
    loom.executions + 1 >= most
}

/// The same algorithms with more to do, so that it does not count what it takes to start a program: on
/// one core, and with two threads where there are two.
fn rates_beside_loom(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| longer algorithm | tool | executions | redundant | executions/s |");
    println!("|---|---|--:|--:|--:|");
    let most = scale.of(MOST);
    let loom_most = scale.of(LOOM_MOST);
    for algorithm in algorithms() {
        let program = programs.long_algorithm(algorithm.name)?;
        let [mut ours, mut two, mut loom]: [Tool; 3] = Default::default();
        let mut explored = Explored::default();
        for _ in 0..scale.rounds {
            ours.add(|| {
                explored = explore(&program, &[], Some(most))?;
                Ok(explored.executions)
            })?;
            two.add_on_all_cores(|| Ok(explore_with(2, &program, &[], Some(most))?.executions))?;
            loom.add(|| Ok(on_loom(algorithm.loom_long, loom_most)))?;
        }
        let in_vain = grouped(explored.redundant);
        for (name, tool, in_vain, cut) in [
            ("Everypath", &ours, in_vain.as_str(), !explored.complete),
            ("… two threads", &two, in_vain.as_str(), !explored.complete),
            ("loom", &loom, "–", is_cut(&loom, loom_most)),
        ] {
            let executions = count(tool.executions, cut);
            let rate = grouped(tool.rate(Cost::wall) as u64);
            println!("| {} | {name} | {executions} | {in_vain} | {rate} |", algorithm.name);
        }
        let loom_rate = loom.rate(Cost::wall);
        for (threads, tool) in [("one core", &ours), ("two threads", &two)] {
            let goal = format!("3 times loom's executions/s, {}, {threads}", algorithm.name);
            goals.at_least(goal, tool.rate(Cost::wall) / loom_rate, 3.0);
        }
    }
    Ok(())
}

/// Sessions, messages, and what is known of JPF: with net-iocache measured on this kind of machine,
/// and published for the largest one (Artho et al. 2009).
const SIZES: [(&str, &str, &str); 4] = [
    ("2", "5", "69 s, 430,032 new states"),
    ("3", "1", "82 s"),
    ("3", "2", "not finished after 531 s"),
    ("3", "5", "16 minutes (branching cache)"),
];

/// The structure of the alphabet client.
fn alphabet(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| sessions | messages | executions | steps | seconds | JPF |");
    println!("|--:|--:|--:|--:|--:|---|");
    for (sessions, messages, jpf) in SIZES {
        let mut tool = Tool::default();
        let mut explored = Explored::default();
        for _ in 0..scale.rounds {
            tool.add(|| {
                explored = explore(&programs.alphabet, &[sessions, messages], Some(MOST))?;
                Ok(explored.executions)
            })?;
        }
        println!(
            "| {sessions} | {messages} | {} | {} | {:.3} | {jpf} |",
            count(explored.executions, !explored.complete),
            grouped(explored.steps),
            tool.seconds(),
        );
        if (sessions, messages) == ("3", "5") {
            let reached = match explored.complete {
                true => format!("{:.3} s", tool.seconds()),
                false => "too many".into(),
            };
            let met = explored.complete && tool.seconds() <= 1.0;
            goals.add("all schedules of 3 sessions x 5 messages in 1 s".into(), reached, met);
        }
    }
    Ok(())
}

/// What the first and the last tenth of a long search cost.
fn early_and_late(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    let program = &programs.pool;
    let all = scale.of(LONG);
    let cpu = |executions: u64| -> Result<f64> {
        let run = || cost(|| explore(program, &["3", "fixed"], Some(executions)));
        let (explored, cost) = on_one_core(run)?;
        ensure!(explored.executions == executions, "the search is shorter than {executions}");
        Ok(cost.cpu())
    };
    let mut tenths = Vec::new();
    for _ in 0..scale.rounds {
        let [first, most, whole] = [all / 10, all - all / 10, all].map(cpu);
        tenths.push((first?, whole? - most?));
    }
    let first = super::median(tenths.iter().map(|tenth| tenth.0));
    let last = super::median(tenths.iter().map(|tenth| tenth.1));
    println!("| of {} executions | CPU s | µs each |\n|---|--:|--:|", grouped(all));
    for (name, seconds) in [("first tenth", first), ("last tenth", last)] {
        println!("| {name} | {seconds:.3} | {:.1} |", seconds * 1e7 / all as f64);
    }
    goals.at_most("late executions cost what early ones do: ratio".into(), last / first, 1.1);
    Ok(())
}
