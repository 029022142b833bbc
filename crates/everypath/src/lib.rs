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
//! The map: `cli` (the options), `commands` (one file a command), `catalog` (the models),
//! `simulated` (those that can be simulated), `network` (topologies that people describe),
//! `scenario` (options in a file), `beacon` (progress, for whoever asks), `watch` (limits of time and memory, Ctrl-C, the progress line),
//! `output` (files and standard output), `exit` (exit codes). Only this crate prints, reads clocks
//! and the environment, and exits.

mod beacon;
mod catalog;
mod cli;
mod commands;
mod exit;
mod network;
mod output;
mod result;
mod scenario;
mod simulated;
mod suggest;
mod usage;
mod watch;

pub use catalog::Catalog;
pub use everypath_explore::{
    Bug, Canonical, Config, EventKind, Feature, Line, Model, NodeRange, Property, Rank, Reuse,
    SimulationRelation, Step, System, Ties, canonical,
};
pub use exit::{DEFECT, HOLDS, INCONCLUSIVE, USAGE, VIOLATED};

use everypath_explore::panic_capture;
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

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
    panic::set_hook(Box::new(|info| {
        // A panic in a model's code is caught and reported as a violation of the model.
        if !panic_capture::caught(info) {
            output::error(&format!("internal error: {info}"));
        }
    }));
    if let Some(why) = everypath_native::doctor::stack_shortage() {
        output::error(&why);
        return ExitCode::from(INCONCLUSIVE);
    }
    let command = AssertUnwindSafe(|| match commands::run(catalog, &words) {
        Ok(code) => code,
        Err(usage) => {
            output::error(&usage.to_string());
            USAGE
        }
    });
    let code = panic::catch_unwind(command);
    ExitCode::from(code.unwrap_or(DEFECT))
}
