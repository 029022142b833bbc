//! The options of `everypath check`: those of its configuration, and what is done with the result.

use super::OutputArgs;
use crate::usage::Usage;
use clap::Args;
use everypath_trace::CheckConfig;
use std::ffi::OsString;
use std::path::PathBuf;

/// How the command is used.
const USAGE: &str = "everypath check [OPTIONS] -- PROGRAM [ARGS]…
       everypath check [OPTIONS] SCENARIO.toml";

#[derive(Debug, Args)]
#[command(override_usage = USAGE)]
#[command(after_help = "\
What is looked for: crashes, aborts, failed assertions, unexpected exit codes, unhandled panics,
deadlocks, livelocks and threads that never stop.

Examples:
  everypath check -- ./bank                        explore every schedule of a program
  everypath check --strategy random --seed 7 --max-executions 1000000 -- ./bank --accounts 2
  everypath check --peer './server 7000' -- ./client 127.0.0.1 7000
  everypath check --with './server 7000' -- ./client 127.0.0.1 7000
  everypath check --exit-code 3 -- ./bank          the program is expected to fail
  everypath check --oracle 'grep -q balanced' -- ./bank
  everypath check --refines arq -- ./arq           its events are a path of a protocol model
  everypath check scenario.toml --seed 7           options in a file; those given here come first
  everypath replay everypath-trace.json            repeat what went wrong, step by step")]
pub(crate) struct CheckArgs {
    /// A file that describes a check: a key for each option, and the program
    #[arg(value_name = "SCENARIO.toml")]
    pub(crate) scenario: Option<PathBuf>,

    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "PROGRAM [ARGS]…")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) config: CheckConfig,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl CheckArgs {
    /// The check that the words describe.
    pub(crate) fn config(&self) -> Result<CheckConfig, Usage> {
        match self.command.split_first() {
            Some((program, arguments)) => Ok(CheckConfig {
                program: program.into(),
                arguments: arguments.to_vec(),
                ..self.config.clone()
            }),
            None => Err(Usage::new(format!(
                "name a program to check\n\nUsage: {USAGE}\n\n\
                 For more information, try 'everypath check --help'."
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn the_defaults_of_the_options_are_those_of_the_configuration() {
        let Command::Check(args) = Cli::parse_from(["everypath", "check", "--", "x"]).command
        else {
            panic!("it is a check");
        };
        assert_eq!(args.config().unwrap(), CheckConfig::new("x"));
    }
}
