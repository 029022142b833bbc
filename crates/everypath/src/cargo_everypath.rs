//! `cargo everypath`: cargo runs this program for it, with the word `everypath` first.

use std::process::ExitCode;

fn main() -> ExitCode {
    everypath::run_as_cargo_subcommand(everypath::built_in())
}
