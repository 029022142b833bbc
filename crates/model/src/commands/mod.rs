//! The commands over models, one file each.

pub mod model;
pub mod plot_folder;
pub mod replay;
pub mod simulate;

use crate::catalog::Catalog;
use crate::cli::{Cli, Command};
use crate::output;
use crate::usage::Usage;
use crate::{HOLDS, USAGE};
use clap::{CommandFactory, FromArgMatches};
use everypath_trace::{Trace, file};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Parses the command line and runs the command; returns the exit code.
pub(crate) fn run(catalog: &Catalog) -> Result<u8, Usage> {
    let matches = with_models(Cli::command(), catalog).try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // Printing fails only if nobody listens.
            let _ = error.print();
            return Ok(USAGE);
        }
        Err(help) => {
            output::print(&help.render().to_string());
            return Ok(HOLDS);
        }
    };
    match &cli.command {
        Command::Model(args) => model::run(catalog, args),
        Command::Simulate(args) => simulate::run(catalog, args),
        Command::Replay(args) => replay::run(catalog, args),
    }
}

/// A command line with the models of this catalog in its help text.
#[must_use]
pub fn with_models(command: clap::Command, catalog: &Catalog) -> clap::Command {
    let command = command.mut_subcommand("model", |model| {
        let examples = model.get_after_help().map(ToString::to_string).unwrap_or_default();
        model.after_help(format!("{}\n{examples}", catalog.overview()))
    });
    command.mut_subcommand("simulate", |simulate| simulate.hide(!catalog.simulates()))
}

/// The command that replays traces, with the name under which this program was started.
pub fn replay_command() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "everypath".into()) + " replay"
}

/// No trace is larger: the longest executions have some hundred thousand steps.
const MAX_TRACE: u64 = 256 << 20;

/// Reads a trace file.
pub fn read_trace(path: &Path) -> Result<Trace, Usage> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match File::open(path)?.take(MAX_TRACE + 1).read_to_end(&mut bytes)? as u64 {
            0..=MAX_TRACE => Ok(bytes),
            _ => Err(io::Error::other(format!("it is larger than {} MiB", MAX_TRACE >> 20))),
        }
    };
    let bytes =
        read().map_err(|error| Usage::new(format!("cannot read {}: {error}", path.display())))?;
    file::from_bytes(&bytes)
        .map_err(|error| Usage::new(format!("cannot read {}: {error}", path.display())))
}
