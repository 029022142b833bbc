//! Everypath against its neighbours and against the physical limit, on one state space.
//!
//! - `model`: the common model, pure logic;
//! - `limit`, `stateright`, `spin`, `ours`: the contenders;
//! - `scale`: ours on all cores, on disk, and with several processes;
//! - `contender`: the list of rows;
//! - `measure`: time and memory of a child process;
//! - `compare`: the rounds and the check of all counts;
//! - `table`: the result;
//! - `liveness`: what must happen eventually, beside an invariant;
//! - `protocols`, `timed`: the case studies, a benchmark of their own;
//! - `native`: native programs, a benchmark of its own.

mod compare;
mod contender;
mod incremental;
mod limit;
mod liveness;
mod measure;
mod model;
mod native;
mod natural;
mod ours;
mod protocols;
mod scale;
mod spin;
mod stateright;
mod table;
mod timed;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use contender::{Contender, StateCounts, Tool};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare model checkers on one state space, against the physical limit.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Options {
    /// Use the model with 6,439 states: a test of the harness, its times mean nothing
    #[arg(long)]
    quick: bool,

    /// Run every tool N times, in turn, and show the medians
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Run only the tools whose name contains NAME; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Write the raw numbers to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(subcommand)]
    child: Option<Child>,
}

/// The other benchmarks, and what the harness starts itself with.
#[derive(Subcommand)]
enum Child {
    /// Measure how fast the case studies are explored and simulated
    Protocols,
    /// Measure how fast native programs are run under control, and compare with Shuttle and loom
    Native {
        /// Run little: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
        /// Measure only all schedules of small programs, beside loom
        #[arg(long)]
        schedules: bool,
    },
    /// Measure programs that talk to real processes, with and without a cache of what those answer
    Peers {
        /// Run little: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
    },
    /// Measure programs that talk to each other: together, each on its own, and with a cache
    Systems {
        /// Run little: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
    },
    /// Measure what the checks of the heap cost
    Heap {
        /// Run little: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
    },
    /// Measure what it costs to see every memory access
    Memory {
        /// Run little: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
    },
    /// Measure how much faster the next version is explored with the graph of the one before
    Incremental,
    /// Measure what it costs to check that something happens eventually, beside an invariant
    Liveness {
        /// Use a small model: a test of the harness, its times mean nothing
        #[arg(long)]
        quick: bool,
    },
    /// Take part in a search by several processes
    #[command(hide = true)]
    Part {
        /// The number of this process
        process: usize,
        /// How many there are
        processes: usize,
        /// Where their sockets are
        folder: PathBuf,
        /// Use the small model
        #[arg(long)]
        quick: bool,
    },
    /// Run one tool in this process and print its counts as JSON
    #[command(hide = true)]
    Run {
        /// The name of the tool
        name: String,
        /// Use the small model
        #[arg(long)]
        quick: bool,
    },
}

/// Ends with 0 if all counts were right, 1 if not and 2 for a bad command line.
fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.child {
        Some(Child::Run { name, quick }) => run_child(name, *quick),
        Some(Child::Part { process, processes, folder, quick }) => {
            scale::part(folder, (*process, *processes), *quick).map(drop)
        }
        Some(Child::Protocols) => protocols::run(),
        Some(Child::Native { quick, schedules }) => native::run(*quick, *schedules),
        Some(Child::Peers { quick }) => native::run_peers(*quick),
        Some(Child::Systems { quick }) => native::run_systems(*quick),
        Some(Child::Heap { quick }) => native::run_heap(*quick),
        Some(Child::Memory { quick }) => native::run_memory(*quick),
        Some(Child::Incremental) => incremental::run(),
        Some(Child::Liveness { quick }) => liveness::run(*quick),
        None => compare_all(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one contender in this process and prints what it found.
fn run_child(name: &str, quick: bool) -> Result<()> {
    let bounds = if quick { model::QUICK } else { model::FULL };
    let nothing = Contender::sequential(compare::BASELINE, |_| StateCounts {
        states: 0,
        transitions: None,
        levels: None,
    });
    let mut contenders = contender::all(contender::cores());
    contenders.push(nothing);
    let run = contenders.iter().find_map(|row| match row.tool {
        Tool::InProcess(run) if row.name == name => Some(run),
        _ => None,
    });
    let Some(run) = run else {
        usage_error(format!("no tool in this binary is called '{name}'"));
    };
    println!("{}", serde_json::to_string(&run(&bounds))?);
    Ok(())
}

/// Runs all contenders that are asked for and prints the table.
#[expect(clippy::disallowed_methods, reason = "this is a command line, with one variable")]
fn compare_all(options: &Options) -> Result<()> {
    let cores = contender::cores();
    let mut json = options.json.as_ref().map(|path| match File::create(path) {
        Ok(file) => (path, file),
        Err(error) => usage_error(format!("cannot write {}: {error}", path.display())),
    });
    let report = compare::run(compare::Plan {
        contenders: selected(&options.only, cores),
        rounds: usize::from(options.rounds),
        quick: options.quick,
        cores,
        require_all: std::env::var_os("EVERYPATH_REQUIRE_ALL").is_some(),
    })?;
    if let Some((path, file)) = &mut json {
        let text = serde_json::to_string_pretty(&report)?;
        writeln!(file, "{text}").with_context(|| format!("failed to write {}", path.display()))?;
    }
    print!("{}{}", report.markdown(), scale::goals(&report));
    Ok(())
}

/// Returns the rows whose names contain one of `filters`, or all rows if there is no filter.
fn selected(filters: &[String], cores: usize) -> Vec<Contender> {
    let all = contender::all(cores);
    for filter in filters {
        if !all.iter().any(|row| row.name.contains(filter)) {
            let names: Vec<_> = all.iter().map(|row| row.name).collect();
            usage_error(format!(
                "no tool has a name with '{filter}'; there are {}",
                names.join(", ")
            ));
        }
    }
    let wanted = |row: &Contender| {
        filters.is_empty() || filters.iter().any(|filter| row.name.contains(filter))
    };
    all.into_iter().filter(wanted).collect()
}

/// Ends the program with a message about its command line and exit code 2.
fn usage_error(message: String) -> ! {
    Options::command().error(ErrorKind::InvalidValue, message).exit()
}
