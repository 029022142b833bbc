//! Compiled programs as the command line starts them.

use crate::common::Compiled;
use everypath_native::{Environment, Launch, Setup};
use std::ffi::OsString;
use std::sync::Arc;

/// Steps that no execution of these programs needs, except those that never end.
const MAX_STEPS: u32 = 100_000;
/// Long enough for a busy machine.
const WATCHDOG: u32 = 100;

/// The program with arguments.
pub(crate) fn launch(compiled: &Compiled, arguments: &[&str]) -> Launch {
    Launch {
        program: compiled.path.clone(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: Vec::new(),
        setup: Setup { max_steps: MAX_STEPS, ..Setup::default() },
        watchdog: WATCHDOG,
        fresh: false,
        folder: None,
        files: Vec::new(),
        judge: None,
        outside: Environment::default(),
        companions: Vec::new(),
        armed: Arc::default(),
    }
}
