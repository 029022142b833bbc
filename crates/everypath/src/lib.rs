//! The command line of Everypath, for its own models and for yours.
//!
//! Implement [`System`] and [`Model`] for a model of your own, and one call gives it the same
//! command line as the built-in ones:
//!
//! ```no_run
//! # use everypath::{Bug, Config, EventKind, Line, Model, NodeRange, Property, Step, System};
//! # struct MyModel;
//! # impl System for MyModel {
//! #     type State = u8;
//! #     fn initial(&self) -> u8 { 0 }
//! #     fn enabled(&self, _: &u8, _: &mut Vec<Step>) {}
//! #     fn take(&self, _: &mut u8, _: Step) {}
//! # }
//! # impl Model for MyModel {
//! #     const NAME: &'static str = "mine";
//! #     const ABOUT: &'static str = "";
//! #     const NODES: NodeRange = NodeRange::exactly(1);
//! #     const EVENTS: &'static [EventKind] = &[];
//! #     fn build(_: &Config) -> Self { MyModel }
//! #     fn properties(&self) -> Vec<Property<u8>> { vec![] }
//! #     fn describe_step(&self, _: &u8, _: Step) -> String { String::new() }
//! #     fn describe_state(&self, _: &u8) -> Vec<Line> { vec![] }
//! # }
//! fn main() -> std::process::ExitCode {
//!     everypath::run(everypath::Catalog::of::<MyModel>())
//! }
//! ```
//!
//! A crate that has models and nothing else builds sooner with `everypath-model`, which is the part of
//! this crate without native programs.
//!
//! The map: `cli` (the options), `commands` (one file a command), `scenario` (options in a file), `refinement` (native programs against models). What
//! is about models, and what prints, watches limits and exits, is in `everypath-model`.

mod cli;
mod commands;
mod refinement;
mod scenario;

pub use everypath_model::{
    Bug, Canonical, Catalog, Config, DEFECT, EventKind, Feature, HOLDS, INCONCLUSIVE, Line, Model,
    NodeRange, Property, Rank, Reuse, SimulationRelation, Step, System, Ties, USAGE, VIOLATED,
    canonical,
};

use everypath_model::{beacon, catalog, guarded, output, suggest, usage, watch};
use everypath_protocols::{Aodv, Arq, Diffusion, Echo};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The case studies that come with Everypath.
pub fn built_in() -> Catalog {
    Catalog::default()
        .simulated::<Arq>()
        .simulated::<Aodv>()
        .simulated::<Diffusion>()
        .simulated::<Echo>()
}

/// The words of the command line that a scenario file stands for, with a program: options, `--`, the
/// program and its arguments. An error says what is wrong, and where.
pub fn scenario_words(path: &Path, text: &str) -> Result<Vec<OsString>, String> {
    scenario::words(path, text).map_err(|usage| usage.to_string())
}

/// Runs the command line over these models and returns the exit code.
pub fn run(catalog: Catalog) -> ExitCode {
    run_with(catalog, std::env::args_os().collect())
}

/// The same for `cargo everypath`: cargo passes the word `everypath` on, before all others.
pub fn run_as_cargo_subcommand(catalog: Catalog) -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "everypath") {
        words.remove(1);
    }
    run_with(catalog, words)
}

fn run_with(catalog: Catalog, words: Vec<OsString>) -> ExitCode {
    everypath_model::commands::model::search_together(everypath_distributed::explore);
    guarded(|| match everypath_native::doctor::stack_shortage() {
        Some(why) => {
            output::error(&why);
            Ok(INCONCLUSIVE)
        }
        None => commands::run(catalog, &words),
    })
}
