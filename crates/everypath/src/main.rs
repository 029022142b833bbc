//! The `everypath` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    everypath::run(everypath::built_in())
}
