//! Results as JUnit XML, which CI systems read.

use super::CheckResult;
use crate::svg::Escaped;
use everypath_trace::Verdict;
use std::fmt::Write;

/// A test case for each result: a violation is a failure, an inconclusive check an error.
pub fn junit(results: &[CheckResult<'_>]) -> String {
    let count = |verdict| results.iter().filter(|result| result.verdict == verdict).count();
    let seconds: f64 = results.iter().map(|result| result.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{seconds:.3}\"",
        results.len(),
        count(Verdict::Violated),
        count(Verdict::Inconclusive)
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"everypath\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"everypath\" {counts}>");
    for result in results {
        case(&mut out, result);
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn case(out: &mut String, result: &CheckResult<'_>) {
    let name = Escaped(result.target);
    let _ = write!(
        out,
        "    <testcase name=\"{name}\" classname=\"everypath\" time=\"{:.3}\">",
        result.seconds
    );
    match (result.verdict, result.trace) {
        (Verdict::Violated, Some(trace)) => {
            let (property, message) = (&trace.violation.property, &trace.violation.message);
            let words = crate::text(trace, "everypath replay", result.trace_file);
            let words: Vec<String> = words.lines().map(|line| Escaped(line).to_string()).collect();
            let _ = write!(
                out,
                "\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    ",
                Escaped(property),
                Escaped(message),
                words.join("\n")
            );
        }
        (Verdict::Violated, None) => {
            let message = Escaped(result.text);
            let _ = write!(out, "\n      <failure type=\"violated\" message=\"{message}\"/>\n    ");
        }
        (Verdict::Inconclusive, _) => {
            let message = Escaped(result.text);
            let _ =
                write!(out, "\n      <error type=\"inconclusive\" message=\"{message}\"/>\n    ");
        }
        (Verdict::Holds, _) => {
            let _ = write!(out, "\n      <system-out>{}</system-out>\n    ", Escaped(result.text));
        }
    }
    out.push_str("</testcase>\n");
}
