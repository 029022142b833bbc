//! Protocol models of your own: a library to explore them in tests, and a small command line.
//!
//! This crate is all that a crate with models needs; nothing of it is about native programs. Write a
//! protocol as handlers ([`net`], re-exported) or a [`System`] of any kind, and
//!
//! - call [`explore()`] in a test: it returns the verdict, what was covered, and a counterexample;
//! - or give it a command line with [`run`]:
//!
//! ```no_run
//! # use everypath_model::{Bug, Config, EventKind, Line, Model, NodeRange, Property, Step, System};
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
//!     everypath_model::run(everypath_model::Catalog::of::<MyModel>())
//! }
//! ```
//!
//! The map: `library` ([`explore()`]), `cli` (the options), `commands` (one file a command), `catalog`
//! (the models), `simulated` (those that can be simulated), `network` (topologies that people
//! describe), `log` (logs compared with a model), `refinement` (logs of native programs), `beacon` (progress, for whoever asks), `watch` (limits of time and memory, Ctrl-C, the progress line), `output` (files and
//! standard output), `exit` (exit codes). Besides `everypath`, only this crate prints, reads clocks and
//! the environment, and exits.

pub mod beacon;
pub mod catalog;
pub mod cli;
pub mod commands;
mod exit;
mod hosts;
mod library;
mod log;
mod network;
pub mod output;
pub mod refinement;
mod result;
mod simulated;
pub mod suggest;
pub mod usage;
pub mod watch;

pub use catalog::Catalog;
pub use everypath_explore::VisitedKind;
pub use everypath_explore::{
    Bug, Canonical, Config, EventKind, Fairness, Feature, Line, Model, NodeRange, Property, Rank,
    Reuse, SimulationRelation, Step, System, Ties, canonical,
};
pub use everypath_net as net;
pub use everypath_trace::Verdict;
pub use exit::{DEFECT, HOLDS, INCONCLUSIVE, USAGE, VIOLATED};
pub use library::{Explore, ExploreError, Explored, Result, explore};

use everypath_explore::panic_capture;
use std::panic;
use std::process::ExitCode;
use usage::Usage;

/// The page on simulation, whose sample is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/simulation.md")]
struct SimulationGuide;

/// Runs the command line over these models and returns the exit code.
pub fn run(catalog: Catalog) -> ExitCode {
    guarded(|| commands::run(&catalog))
}

/// Runs a command line; a panic of it, and a usage error, become exit codes.
pub fn guarded(command: impl FnOnce() -> std::result::Result<u8, Usage>) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        // A panic in a model's code is caught and reported as a violation of the model.
        // Threads whose connection to another process has broken end so; the loss is reported.
        let of_timely = |name: &str| name.starts_with("timely:");
        let is_of_timely = std::thread::current().name().is_some_and(of_timely);
        if !panic_capture::caught(info) && !is_of_timely {
            output::error(&format!("internal error: {info}"));
        }
    }));
    let code = panic::catch_unwind(panic::AssertUnwindSafe(|| match command() {
        Ok(code) => code,
        Err(usage) => {
            output::error(&usage.to_string());
            USAGE
        }
    }));
    ExitCode::from(code.unwrap_or(DEFECT))
}
