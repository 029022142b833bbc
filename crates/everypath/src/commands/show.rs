//! `everypath show`: print or draw a recorded counterexample, from the trace alone.

use super::{read_trace, replay_command};
use crate::cli::{ShowArgs, ShowForms};
use crate::output::OutputFile;
use crate::usage::Usage;
use crate::{HOLDS, output};
use everypath_report::{dot, html, itf, mermaid, perfetto, plantuml, quoted, shiviz, svg, text};
use everypath_trace::{Target, Trace};
use std::path::Path;

/// Shows a trace in every form that is asked for; as text if none is.
pub(crate) fn run(args: &ShowArgs) -> Result<u8, Usage> {
    let ShowArgs { trace: path, forms } = args;
    let trace = read_trace(path)?;
    if forms.itf.is_some() && !matches!(trace.target, Target::Model { .. }) {
        return Err(Usage::new("--itf is for traces of models: ITF has states, not schedules"));
    }
    let words = text(&trace, &replay_command(), &path.display().to_string());
    let files = files(forms)?;
    for (form, file) in &files {
        file.write_or_say(&form.bytes(&trace, &words, path))?;
    }
    let diagrams = [
        forms.mermaid.then(|| mermaid(&trace)),
        forms.plantuml.then(|| plantuml(&trace)),
        forms.dot.then(|| dot(&trace)),
    ];
    let is_default = files.is_empty() && diagrams.iter().all(Option::is_none);
    let words = (forms.text || is_default).then_some(words);
    let printed: Vec<String> = [words].into_iter().chain(diagrams).flatten().collect();
    output::print_or_fail(&printed.join("\n"))?;
    Ok(HOLDS)
}

/// A form that is a file.
#[derive(Clone, Copy, Debug)]
enum Form {
    Html,
    Svg,
    Perfetto,
    Shiviz,
    Itf,
}

impl Form {
    fn bytes(self, trace: &Trace, words: &str, path: &Path) -> Vec<u8> {
        match self {
            Form::Html => {
                let replay =
                    format!("{} {}", replay_command(), quoted(&path.display().to_string()));
                html(trace, words, &replay).into_bytes()
            }
            Form::Svg => svg(trace).into_bytes(),
            Form::Perfetto => perfetto(trace),
            Form::Shiviz => shiviz(trace).into_bytes(),
            Form::Itf => itf(trace).into_bytes(),
        }
    }
}

/// The files to write: all are checked before one is written.
fn files(forms: &ShowForms) -> Result<Vec<(Form, OutputFile)>, Usage> {
    let named = [
        (Form::Html, "--html", &forms.html),
        (Form::Svg, "--svg", &forms.svg),
        (Form::Perfetto, "--perfetto", &forms.perfetto),
        (Form::Shiviz, "--shiviz", &forms.shiviz),
        (Form::Itf, "--itf", &forms.itf),
    ];
    let asked: Vec<(Form, &str, &Path)> = named
        .into_iter()
        .filter_map(|(form, option, path)| Some((form, option, path.as_deref()?)))
        .collect();
    for (at, (_, one, path)) in asked.iter().enumerate() {
        if let Some((_, other, _)) = asked[..at].iter().find(|(_, _, known)| known == path) {
            return Err(Usage::new(format!("{other} and {one} name the same file; choose two")));
        }
    }
    asked
        .into_iter()
        .map(|(form, option, path)| Ok((form, OutputFile::new(option, path)?)))
        .collect()
}
