//! The commands, one file each.

mod check;
mod doctor;
mod experiments;
mod mcp;
mod replay;
mod serve;
mod shell;
mod show;
mod test;

use crate::cli::{Cli, Command};
use crate::output;
use crate::scenario::{self, Expanded};
use crate::usage::Usage;
use crate::{HOLDS, USAGE};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use everypath_model::Catalog;
use everypath_model::commands::{model, read_trace, replay_command, simulate, with_models};
use std::ffi::OsString;

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
        Command::Check(args) => check::run(&catalog, args),
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
    with_models(Cli::command(), catalog)
}
