//! Compiled programs as the command line starts them.

use crate::common::Compiled;
use everypath_native::{Launch, Setup};
use std::ffi::OsString;

/// Steps that no execution of these programs needs, except those that never end.
const MAX_STEPS: u32 = 100_000;
/// Long enough for a busy machine.
const WATCHDOG: u32 = 100;

/// The program with arguments.
pub(crate) fn launch(compiled: &Compiled, arguments: &[&str]) -> Launch {
    Launch {
        arguments: arguments.iter().map(OsString::from).collect(),
        setup: Setup { max_steps: MAX_STEPS, ..Setup::default() },
        watchdog: WATCHDOG,
        ..Launch::new(&compiled.path)
    }
}
