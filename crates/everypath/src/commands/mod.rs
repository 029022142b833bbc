//! The commands, one file each.

mod check;
mod doctor;
mod experiments;
mod mcp;
mod model;
mod plot_folder;
mod replay;
mod serve;
mod shell;
mod show;
mod simulate;
mod test;

use crate::catalog::Catalog;
use crate::cli::{Cli, Command};
use crate::output;
use crate::scenario::{self, Expanded};
use crate::usage::Usage;
use crate::{HOLDS, USAGE};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use everypath_trace::{Trace, file};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Parses the command line and runs the command; returns the exit code.
pub(crate) fn run(catalog: Catalog, words: &[OsString]) -> Result<u8, Usage> {
    let parse = |words: &[OsString]| -> Result<(Cli, ArgMatches), clap::Error> {
        let matches = command(&catalog).try_get_matches_from(words)?;
        Ok((Cli::from_arg_matches(&matches)?, matches))
    };
    let cli = match parse(words) {
        Ok((cli, matches)) => match scenario::expand(words, &cli, &matches)? {
            None => cli,
            Some(Expanded { words, folder }) => {
                // Each of the file's words was looked at before, but not what they need together.
                let wrong = |error: clap::Error| {
                    Usage::new(error.to_string().trim_start_matches("error: ").to_string())
                };
                let (mut cli, _) = parse(&words).map_err(wrong)?;
                if let Command::Check(args) = &mut cli.command {
                    args.config.folder = folder;
                }
                cli
            }
        },
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
        Command::Check(args) => check::run(args),
        Command::Doctor(args) => Ok(doctor::run(args)),
        Command::Experiments(args) => experiments::run(args),
        Command::Model(args) => model::run(&catalog, args),
        Command::Simulate(args) => simulate::run(&catalog, args),
        Command::Replay(args) => replay::run(&catalog, args),
        Command::Show(args) => show::run(args),
        Command::Serve(args) => serve::run(catalog, args),
        Command::Mcp => mcp::run(),
        Command::Test(args) => test::run(args),
        Command::Completions { shell } => shell::completions(command(&catalog), *shell),
        Command::Man { folder } => shell::man(command(&catalog), folder),
    }
}

/// The options, with the models of this catalog in the help text.
fn command(catalog: &Catalog) -> clap::Command {
    let command = Cli::command().mut_subcommand("model", |model| {
        let examples = model.get_after_help().map(ToString::to_string).unwrap_or_default();
        model.after_help(format!("{}\n{examples}", catalog.overview()))
    });
    command.mut_subcommand("simulate", |simulate| simulate.hide(!catalog.simulates()))
}

/// The command that replays traces, with the name under which this program was started.
fn replay_command() -> String {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "everypath".into()) + " replay"
}

/// No trace is larger: the longest executions have some hundred thousand steps.
const MAX_TRACE: u64 = 1 << 30;

/// Reads a trace file.
fn read_trace(path: &Path) -> Result<Trace, Usage> {
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
