//! Scripts: what is checked is the interpreter that the first line names.

use crate::host::Host;
use everypath_native::{Program, ProgramError};
use everypath_trace::CheckConfig;
use std::ffi::OsString;

/// The configuration with the interpreter in the place of the script, as the kernel starts it: with the
/// argument of the first line, if there is one, the script, and the script's own arguments.
pub(crate) fn with_interpreter(host: &Host, config: &CheckConfig) -> Option<CheckConfig> {
    let opened = Program::open(&config.program, &host.folders);
    let Err(ProgramError::Script { path, interpreter }) = opened else { return None };
    // The kernel hands over what follows the interpreter as one argument.
    let (program, argument) = match interpreter.split_once(' ') {
        Some((program, argument)) => (program, Some(argument)),
        None => (interpreter.as_str(), None),
    };
    let own = argument.map(OsString::from).into_iter().chain([path.into_os_string()]);
    let arguments = own.chain(config.arguments.iter().cloned()).collect();
    Some(CheckConfig { program: program.into(), arguments, ..config.clone() })
}
