//! Executions a second, and the cost of a switch.

use super::goals::Goals;
use super::programs::Programs;
use super::{Cost, IN_PROCESS, Scale, Way, cost, explore, median, on_one_core, rate};
use crate::table::grouped;
use anyhow::{Context, Result};
use everypath_native::{Explored, Restart};
use everypath_trace::Control;
use std::path::Path;
use std::process::Command;

const TWO_WORKERS: Way = Way { name: "in process, two workers", workers: 2, ..IN_PROCESS };
const FORK: Way = Way { name: "fork", restart: Restart::Fork, ..IN_PROCESS };
const EXEC: Way = Way { name: "exec", fresh: true, ..IN_PROCESS };
/// Each with as many executions as take some seconds: starting a worker must not count.
const WAYS: [(Way, u64); 4] =
    [(IN_PROCESS, 50_000), (TWO_WORKERS, 100_000), (FORK, 5_000), (EXEC, 500)];

/// A way and what it cost in each round.
struct Row {
    way: Way,
    sampled: Explored,
    costs: Vec<Cost>,
}

impl Row {
    fn rate(&self, seconds: fn(&Cost) -> f64) -> f64 {
        self.sampled.executions as f64 / median(self.costs.iter().map(seconds))
    }
}

/// Prints a row for each program and way.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    let columns = ["program", "restore", "executions", "points each", "executions/s"];
    println!("| {} | executions/CPU s | bytes restored |", columns.join(" | "));
    println!("|---|---|--:|--:|--:|--:|--:|");
    // Each with the rate that is wanted on one core: programs with more points need not reach it.
    let subjects = [
        ("C", &programs.c_turns, Some(45_000.0)),
        ("C, larger", &programs.c_workers, None),
        ("Rust std", &programs.rust_turns, Some(25_000.0)),
        ("Rust std, larger", &programs.rust_workers, None),
    ];
    for (name, program, wanted) in subjects {
        let rows = measure(program, scale)?;
        rows.iter().for_each(|row| print(name, row));
        let [in_process, two, fork, exec] = [0, 1, 2, 3].map(|at: usize| rows[at].rate(Cost::wall));
        if let Some(wanted) = wanted {
            let goal = format!("{} executions/s on one core, {name}", grouped(wanted as u64));
            goals.at_least(goal, in_process, wanted);
        }
        goals.at_least(format!("two workers 1.8 times as fast, {name}"), two / in_process, 1.8);
        goals.at_least(format!("6 times fork, {name}"), in_process / fork, 6.0);
        goals.at_least(format!("25 times exec, {name}"), in_process / exec, 25.0);
    }
    Ok(())
}

/// All ways in every round, because the machine may be noisy for a while.
fn measure(program: &Path, scale: Scale) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> =
        WAYS.map(|(way, _)| Row { way, sampled: Explored::default(), costs: Vec::new() }).into();
    for _ in 0..scale.rounds {
        for (row, (way, executions)) in rows.iter_mut().zip(WAYS) {
            let run = || cost(|| explore(program, way, scale.of(executions), &Control::default()));
            let (sampled, cost) = if way.workers == 1 { on_one_core(run)? } else { run()? };
            row.sampled = sampled;
            row.costs.push(cost);
        }
    }
    Ok(rows)
}

fn print(program: &str, row: &Row) {
    let Explored { executions, steps, restored, .. } = row.sampled;
    let put_back = !row.way.fresh && row.way.restart != Restart::Fork;
    println!(
        "| {program} | {} | {} | {:.0} | {} | {} | {} |",
        row.way.name,
        grouped(executions),
        steps as f64 / executions as f64,
        grouped(row.rate(Cost::wall) as u64),
        grouped(row.rate(Cost::cpu) as u64),
        if put_back { grouped(restored) } else { "–".into() },
    );
}

/// Points, switches and seconds of executions that are made of nothing else.
struct Points {
    sampled: Explored,
    seconds: f64,
}

impl Points {
    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.sampled.steps as f64
    }

    /// The share of points at which another thread goes on.
    fn switching(&self) -> f64 {
        self.sampled.switches as f64 / self.sampled.steps as f64
    }
}

/// Prints what a point costs, and what it costs more if another thread goes on.
pub fn switches(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    let subjects = [
        ("yields", &programs.yields),
        ("locks, alternating", &programs.alternating_locks),
        ("locks, one after the other", &programs.locks),
    ];
    let mut costs = subjects.map(|_| Vec::new());
    let mut sampled = subjects.map(|_| Explored::default());
    for _ in 0..scale.rounds {
        for (i, (_, program)) in subjects.iter().enumerate() {
            let run = || explore(program, IN_PROCESS, scale.of(200), &Control::default());
            let (found, cost) = on_one_core(|| cost(run))?;
            sampled[i] = found;
            costs[i].push(cost);
        }
    }
    println!("| program | points | switches | points/s | ns a point |");
    println!("|---|--:|--:|--:|--:|");
    let points: Vec<Points> = sampled
        .into_iter()
        .zip(&costs)
        .map(|(sampled, costs)| Points { sampled, seconds: median(costs.iter().map(Cost::wall)) })
        .collect();
    for ((name, _), points) in subjects.iter().zip(&points) {
        println!(
            "| {name} | {} | {} | {} | {:.1} |",
            grouped(points.sampled.steps),
            grouped(points.sampled.switches),
            rate(points.sampled.steps as f64, points.seconds),
            points.nanoseconds(),
        );
    }
    println!(
        "\nOf a switch, the processor takes {} ns to set the base of thread-local storage.",
        {
            let output = Command::new(&programs.processor).output();
            let output = output.context("failed to measure the processor")?;
            String::from_utf8_lossy(&output.stdout).trim().to_string()
        }
    );
    let [_, alternating, one_by_one] = &points[..] else { unreachable!("one for each subject") };
    let switch = (alternating.nanoseconds() - one_by_one.nanoseconds())
        / (alternating.switching() - one_by_one.switching());
    goals.at_most("a switch under 40 ns, the point itself not counted".into(), switch, 40.0);
    let yields = &points[0];
    let whole = yields.nanoseconds() / yields.switching();
    goals.at_most("a switch under 40 ns, points included".into(), whole, 40.0);
    Ok(())
}
