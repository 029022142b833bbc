//! Runs every contender in every round and collects the numbers.

use crate::contender::{Contender, StateCounts, Tool};
use crate::measure::{self, Finished};
use crate::model::{Bounds, Expected, FULL, FULL_SIZE, QUICK, QUICK_SIZE};
use crate::spin::{self, Spin};
use crate::table::{Report, Row, Sample};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// The name of the child that does nothing; its memory is subtracted from everyone's.
pub const BASELINE: &str = "nothing";

/// What to measure.
pub struct Plan {
    /// The rows.
    pub contenders: Vec<Contender>,
    /// Runs of each row.
    pub rounds: usize,
    /// Whether to use the small model.
    pub quick: bool,
    /// Cores of the machine.
    pub cores: usize,
    /// Whether a row that cannot be run is a failure.
    pub require_all: bool,
}

impl Plan {
    /// Returns the model and its size.
    fn model(&self) -> (&'static Bounds, &'static Expected) {
        if self.quick { (&QUICK, &QUICK_SIZE) } else { (&FULL, &FULL_SIZE) }
    }

    /// Returns the command that runs the in-process contender `name` in a child.
    fn child(&self, name: &str) -> Result<Command> {
        let program = std::env::current_exe().context("failed to find the own binary")?;
        let mut command = Command::new(program);
        command.args(["run", name]);
        if self.quick {
            command.arg("--quick");
        }
        Ok(command)
    }
}

/// Measures all rows of `plan`, round by round, because the machine may be noisy for a while.
pub fn run(mut plan: Plan) -> Result<Report> {
    measure::adopt_orphans()?;
    let (bounds, size) = plan.model();
    let (spin, spin_version) = prepare_spin(&mut plan)?.unzip();
    let baseline = measure::run(&mut plan.child(BASELINE)?)?;
    let mut rows: Vec<Row> = plan.contenders.iter().map(empty_row).collect();
    for round in 1..=plan.rounds {
        for (contender, row) in plan.contenders.iter().zip(&mut rows) {
            let (outcome, finished) = run_one(&plan, contender, spin.as_ref())?;
            check(contender, &outcome, size, row)?;
            let sample = sample(round, outcome, &finished);
            eprintln!(
                "round {round} of {}: {} {:.2} s CPU, {:.2} s wall",
                plan.rounds, contender.name, sample.cpu_seconds, sample.wall_seconds
            );
            row.samples.push(sample);
        }
    }
    Ok(Report {
        bounds: *bounds,
        cores: plan.cores,
        spin: spin_version,
        baseline_rss: baseline.peak_rss,
        rows,
    })
}

/// Builds SPIN's verifiers, or removes SPIN's rows from the plan if that is impossible.
fn prepare_spin(plan: &mut Plan) -> Result<Option<(Spin, String)>> {
    let variants: Vec<_> = plan
        .contenders
        .iter()
        .filter_map(|contender| match contender.tool {
            Tool::Spin(variant) => Some(variant),
            Tool::InProcess(_) => None,
        })
        .collect();
    if variants.is_empty() {
        return Ok(None);
    }
    let version = match spin::find_or_install() {
        Ok(version) => version,
        Err(missing) if plan.require_all => return Err(missing.context("SPIN cannot be run")),
        Err(missing) => {
            eprintln!("SPIN is skipped: {missing}");
            plan.contenders.retain(|contender| !matches!(contender.tool, Tool::Spin(_)));
            return Ok(None);
        }
    };
    let (bounds, size) = plan.model();
    let spin = Spin::generate(bounds, size)?;
    for variant in variants {
        spin.compile(variant)?;
    }
    Ok(Some((spin, version)))
}

/// Runs one contender once, in a process of its own.
fn run_one(
    plan: &Plan,
    contender: &Contender,
    spin: Option<&Spin>,
) -> Result<(StateCounts, Finished)> {
    let name = contender.name;
    match contender.tool {
        Tool::InProcess(_) => {
            let finished = measure::run(&mut plan.child(name)?)?;
            let outcome = serde_json::from_str(&finished.stdout)
                .with_context(|| format!("failed to read what {name} printed"))?;
            Ok((outcome, finished))
        }
        Tool::Spin(variant) => {
            let spin = spin.context("SPIN has not been built")?;
            let finished = measure::run(&mut spin.command(variant))?;
            let outcome = spin::parse(variant, &finished.stdout)?;
            Ok((outcome, finished))
        }
    }
}

/// Compares counts with what they must be.
///
/// Only SPIN's parallel searches, which promise less, may be wrong; their rows are then marked.
fn check(contender: &Contender, found: &StateCounts, size: &Expected, row: &mut Row) -> Result<()> {
    if found.agrees_with(size) {
        return Ok(());
    }
    let name = contender.name;
    if contender.parallel && matches!(contender.tool, Tool::Spin(_)) {
        eprintln!("{name} is inexact: {found:?} instead of {size:?}");
        row.exact = false;
        return Ok(());
    }
    bail!("{name} found {found:?} instead of {size:?}")
}

/// Makes a row without samples.
fn empty_row(contender: &Contender) -> Row {
    Row {
        name: contender.name,
        exact: true,
        several_processes: contender.parallel
            && (matches!(contender.tool, Tool::Spin(_)) || contender.name.contains("timely")),
        samples: Vec::new(),
    }
}

/// Makes a sample.
fn sample(round: usize, outcome: StateCounts, finished: &Finished) -> Sample {
    Sample {
        round,
        outcome,
        cpu_seconds: finished.cpu.as_secs_f64(),
        wall_seconds: finished.wall.as_secs_f64(),
        peak_rss: finished.peak_rss,
    }
}
