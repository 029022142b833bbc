//! The `everypath` command.

use everypath::Catalog;
use std::process::ExitCode;

fn main() -> ExitCode {
    everypath::run(Catalog::built_in())
}
