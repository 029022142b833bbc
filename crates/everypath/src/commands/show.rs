//! `everypath show`: print or draw a recorded counterexample, from the trace alone.

use super::{read_trace, replay_command};
use crate::cli::ShowArgs;
use crate::output::OutputFile;
use crate::usage::Usage;
use crate::{HOLDS, output};
use everypath_report::{dot, html, mermaid, plantuml, quoted, svg, text};
use std::path::PathBuf;

/// Shows a trace in every form that is asked for; as text if none is.
pub(crate) fn run(args: &ShowArgs) -> Result<u8, Usage> {
    let ShowArgs { trace: path, forms } = args;
    let trace = read_trace(path)?;
    if forms.html.is_some() && forms.html == forms.svg {
        return Err(Usage::new("--html and --svg name the same file; choose two"));
    }
    // Both are checked before either is written.
    let file = |option, file: &Option<PathBuf>| {
        file.as_deref().map(|file| OutputFile::new(option, file)).transpose()
    };
    let (page, drawing) = (file("--html", &forms.html)?, file("--svg", &forms.svg)?);
    let words = text(&trace, &replay_command(), &path.display().to_string());
    if let Some(file) = &page {
        let replay = format!("{} {}", replay_command(), quoted(&path.display().to_string()));
        file.write_or_say(html(&trace, &words, &replay).as_bytes())?;
    }
    if let Some(file) = &drawing {
        file.write_or_say(svg(&trace).as_bytes())?;
    }
    let diagrams = [
        forms.mermaid.then(|| mermaid(&trace)),
        forms.plantuml.then(|| plantuml(&trace)),
        forms.dot.then(|| dot(&trace)),
    ];
    let is_default = page.is_none() && drawing.is_none() && diagrams.iter().all(Option::is_none);
    let words = (forms.text || is_default).then_some(words);
    let printed: Vec<String> = [words].into_iter().chain(diagrams).flatten().collect();
    output::print_or_fail(&printed.join("\n"))?;
    Ok(HOLDS)
}
