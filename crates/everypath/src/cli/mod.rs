//! The options, as `--help` shows them.

mod check;

pub(crate) use check::CheckArgs;

use clap::{Args, Parser, Subcommand};
use everypath_model::cli::{ModelArgs, OutputArgs, SimulateArgs};
use everypath_trace::{Seconds, TimeName};
use std::path::PathBuf;

/// A model checker for networked programs: explores every path, not just the likely ones.
#[derive(Debug, Parser)]
#[command(name = "everypath", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "\
Exit codes: 0 holds, 1 violated, 2 bad usage or input, 3 inconclusive, 70 internal error.

Examples:
  everypath check -- ./program              explore every thread schedule of a program
  everypath model arq --bug unchecked-ack   find a protocol bug and explain it
  everypath model arq --max-depth 30        check the correct protocol up to 30 steps
  everypath simulate arq --loss 0.05        measure the protocol on a lossy link
  everypath show everypath-trace.json       print a recorded counterexample again
  everypath replay everypath-trace.json     re-run it step by step and compare")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explore an unmodified native program.
    Check(Box<CheckArgs>),
    /// Say what this machine supports and what it lacks, or what of a program is supported.
    Doctor(DoctorArgs),
    /// Explore a protocol model.
    Model(Box<ModelArgs>),
    /// Run the papers' experiments and print each table beside the papers' own figures.
    Experiments(ExperimentsArgs),
    /// Simulate a protocol model and measure its performance.
    Simulate(Box<SimulateArgs>),
    /// Replay a recorded counterexample and compare every step.
    Replay(ReplayArgs),
    /// Show a recorded counterexample.
    Show(ShowArgs),
    /// Browse results and traces in a browser, watch explorations, step through models.
    Serve(ServeArgs),
    /// Check, replay, explain and show for coding assistants: an MCP server on stdio.
    Mcp,
    /// Check the tests of a crate, each as a program of its own (cargo everypath test).
    Test(TestArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages, one for each command, into a folder.
    Man {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// A program: its libraries, debug information, and calls in its code that are not modelled;
    /// nothing of it is run
    #[arg(conflicts_with = "syscalls")]
    pub(crate) program: Option<PathBuf>,

    /// List all syscalls: modelled, passed to the kernel, or refused (which is inconclusive) and why
    #[arg(long)]
    pub(crate) syscalls: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  everypath experiments table-6.1 --quick")]
pub(crate) struct ExperimentsArgs {
    /// Which experiments; all, if none is named
    pub(crate) names: Vec<String>,

    /// List the experiments and exit
    #[arg(long)]
    pub(crate) list: bool,

    /// Run small versions
    #[arg(long)]
    pub(crate) quick: bool,

    /// Write the results as JSON (`-` for standard output, which then carries nothing else)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write an SVG plot of each figure into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plot: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  everypath replay everypath-trace.json")]
pub(crate) struct ReplayArgs {
    /// A file written with --trace
    pub(crate) trace: PathBuf,

    /// Stop in gdb at the failure (native programs)
    #[arg(long)]
    pub(crate) gdb: bool,

    /// Replay even if the program has changed since the trace was recorded
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  everypath serve results/ --open
  everypath check --trace results/trace.json -- ./program")]
pub(crate) struct ServeArgs {
    /// Folders with traces and results (--json), or such files [default: this folder]
    #[arg(value_name = "RESULT")]
    pub(crate) results: Vec<PathBuf>,

    /// The port on 127.0.0.1 [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo everypath test
  cargo everypath test queue:: --max-seconds 20
  cargo everypath test --junit results.xml -- --package my-crate")]
pub(crate) struct TestArgs {
    /// Check the tests whose names contain this
    pub(crate) filter: Option<String>,

    /// Stop the check of each test after S seconds
    #[arg(long, value_name = "S", default_value = "10")]
    pub(crate) max_seconds: Seconds,

    /// Sample schedules of each test instead of exploring all
    #[arg(long)]
    pub(crate) random: bool,

    /// When a pending timeout may fire; `quiescent` for tests that sleep until others are done
    #[arg(long, value_enum, default_value_t = TimeName::Ordered)]
    pub(crate) time: TimeName,

    /// The folder of the crate [default: this folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Where counterexamples are written, a file for each test
    #[arg(long, value_name = "FOLDER", default_value = "everypath-traces")]
    pub(crate) traces: PathBuf,

    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Options for `cargo test`, such as --package NAME or --lib
    #[arg(last = true)]
    pub(crate) cargo: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  everypath show everypath-trace.json
  everypath show everypath-trace.json --html page.html --svg chart.svg
  everypath show everypath-trace.json --mermaid")]
pub(crate) struct ShowArgs {
    /// A file written with --trace
    pub(crate) trace: PathBuf,

    #[command(flatten)]
    pub(crate) forms: ShowForms,
}

/// How a counterexample is shown, in one form or several.
#[derive(Debug, Args)]
pub(crate) struct ShowForms {
    /// As text (the default if no other form is asked for)
    #[arg(long)]
    pub(crate) text: bool,

    /// As one page that opens without a network: chart, steps, stacks, sources
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// As a sequence chart: threads or nodes as lanes, messages as arrows
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// As a sequence diagram for Mermaid
    #[arg(long)]
    pub(crate) mermaid: bool,

    /// As a sequence diagram for PlantUML
    #[arg(long)]
    pub(crate) plantuml: bool,

    /// In the Informal Trace Format, for the tools of Apalache and Quint
    #[arg(long, value_name = "FILE")]
    pub(crate) itf: Option<PathBuf>,

    /// As a graph of the happens-before order, for Graphviz
    #[arg(long)]
    pub(crate) dot: bool,

    /// For Perfetto's viewer (ui.perfetto.dev): protobuf, with flows for messages
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,

    /// As a log with vector clocks, for ShiViz
    #[arg(long, value_name = "FILE")]
    pub(crate) shiviz: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_well_formed() {
        Cli::command().debug_assert();
    }
}
