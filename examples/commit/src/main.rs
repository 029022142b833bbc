//! The command line of the two-phase commit.

use commit::TwoPhaseCommit;
use everypath_model::Catalog;
use std::process::ExitCode;

fn main() -> ExitCode {
    everypath_model::run(Catalog::default().simulated::<TwoPhaseCommit>())
}
