//! Formats of others: results for CI systems ([`junit`], [`sarif`], [`annotations`]), traces for viewers
//! ([`perfetto`], [`shiviz`]).

mod annotations;
mod junit;
mod perfetto;
mod protobuf;
mod sarif;
mod shiviz;

pub use annotations::annotations;
pub use junit::junit;
pub use perfetto::perfetto;
pub use sarif::sarif;
pub use shiviz::shiviz;

use everypath_trace::{Frame, Trace, Verdict};

/// The result of one check, as far as these formats can say it.
#[derive(Clone, Debug)]
pub struct CheckResult<'a> {
    /// What was checked.
    pub target: &'a str,
    /// What was concluded.
    pub verdict: Verdict,
    /// How much was explored, or why there is no conclusion, in words.
    pub text: &'a str,
    /// How long it took.
    pub seconds: f64,
    /// The counterexample.
    pub trace: Option<&'a Trace>,
    /// Where that was written.
    pub trace_file: &'a str,
}

/// The innermost frame of a stack whose source line is known.
fn known_line(stack: &[Frame]) -> Option<(&str, u32)> {
    stack.iter().find_map(|frame| Some((frame.file.as_deref()?, frame.line?)))
}

/// Where a violation is: the places that it names, or else its last step with a source line.
fn violation_lines(trace: &Trace) -> Vec<(&str, u32, &str)> {
    let places = trace.violation.places.iter();
    let mut found: Vec<(&str, u32, &str)> = places
        .filter_map(|place| {
            let (file, line) = known_line(&place.stack)?;
            Some((file, line, place.actor.as_str()))
        })
        .collect();
    if found.is_empty() {
        let last = trace.steps.iter().rev().find_map(|step| {
            let (file, line) = known_line(&step.stack)?;
            Some((file, line, step.actor.as_str()))
        });
        found.extend(last);
    }
    found
}

#[cfg(test)]
mod perfetto_ui;
#[cfg(test)]
mod tests;
