//! Violations as annotation lines, which GitHub shows beside the source.

use super::{CheckResult, violation_lines};
use everypath_trace::Verdict;

/// An annotation for a result that is not *holds*; nothing for one that is.
pub fn annotations(result: &CheckResult<'_>) -> String {
    let (level, title, message) = match (result.verdict, result.trace) {
        (Verdict::Holds, _) => return String::new(),
        (Verdict::Violated, Some(trace)) => {
            ("error", trace.violation.property.as_str(), trace.violation.message.as_str())
        }
        (Verdict::Violated, None) => ("error", "violated", result.text),
        (Verdict::Inconclusive, _) => ("warning", "inconclusive", result.text),
    };
    let place = result.trace.and_then(|trace| violation_lines(trace).into_iter().next());
    let place = place.map(|(file, line, _)| format!("file={},line={line},", property(file)));
    let title = property(&format!("everypath: {title} in {}", result.target));
    format!("::{level} {}title={title}::{}\n", place.unwrap_or_default(), data(message))
}

/// The text after an annotation.
fn data(text: &str) -> String {
    crate::printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
