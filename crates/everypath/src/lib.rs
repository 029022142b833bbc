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
//! `scenario` (options in a file), `watch` (limits of time and memory, Ctrl-C, the progress line),
//! `output` (files and standard output), `exit` (exit codes). Only this crate prints, reads clocks
//! and the environment, and exits.

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
use std::panic;
use std::process::ExitCode;

/// Runs the command line over these models and returns the exit code.
pub fn run(catalog: Catalog) -> ExitCode {
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
    let code = panic::catch_unwind(|| match commands::run(&catalog) {
        Ok(code) => code,
        Err(usage) => {
            output::error(&usage.to_string());
            USAGE
        }
    });
    ExitCode::from(code.unwrap_or(DEFECT))
}
