//! `everypath show`: draw a recorded run, from the file alone.

use super::{read_trace, replay_command};
use crate::cli::ShowArgs;
use crate::usage::Usage;
use crate::{HOLDS, output};
use everypath_report::text;

/// Shows a trace.
pub(crate) fn run(args: &ShowArgs) -> Result<u8, Usage> {
    // Text is the only form so far, so `--text` changes nothing.
    let ShowArgs { trace: path, text: _ } = args;
    let trace = read_trace(path)?;
    output::print(&text(&trace, &replay_command(), &path.display().to_string()));
    Ok(HOLDS)
}
