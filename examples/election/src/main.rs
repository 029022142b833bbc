//! The command line of the election.

use election::Election;
use everypath_model::Catalog;
use std::process::ExitCode;

fn main() -> ExitCode {
    everypath_model::run(Catalog::default().simulated::<Election>())
}
