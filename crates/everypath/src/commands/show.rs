//! `everypath show`: print or draw a recorded counterexample, from the trace alone.

use super::{read_trace, replay_command};
use crate::cli::ShowArgs;
use crate::output::OutputFile;
use crate::usage::Usage;
use crate::{HOLDS, output};
use everypath_report::{Chart, html, text};

/// Shows a trace.
pub(crate) fn run(args: &ShowArgs) -> Result<u8, Usage> {
    // Text is what is shown if nothing else is asked for, so `--text` changes nothing.
    let ShowArgs { trace: path, form } = args;
    let trace = read_trace(path)?;
    let words = || text(&trace, &replay_command(), &path.display().to_string());
    match (&form.svg, &form.html) {
        (Some(file), _) => {
            let svg = Chart::new(&trace).svg();
            OutputFile::new("--svg", file)?.write_or_say(svg.as_bytes())?;
        }
        (_, Some(file)) => {
            let page = html(&trace, &words());
            OutputFile::new("--html", file)?.write_or_say(page.as_bytes())?;
        }
        _ if form.mermaid => output::print(&Chart::new(&trace).mermaid()),
        _ if form.plantuml => output::print(&Chart::new(&trace).plantuml()),
        _ if form.dot => output::print(&Chart::new(&trace).dot()),
        _ => output::print(&words()),
    }
    Ok(HOLDS)
}
