//! Results as SARIF 2.1.0, which editors and code hosts show at the source lines.

use super::{CheckResult, known_line, violation_lines};
use crate::text::plain;
use everypath_trace::{Trace, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// So many steps of a counterexample are a code flow; editors show no more.
const MAX_FLOW: usize = 1000;

/// A result for each violation and each check that is inconclusive.
pub fn sarif(results: &[CheckResult<'_>]) -> String {
    let rules: BTreeSet<&str> = results.iter().filter_map(rule).collect();
    let found: Vec<Value> = results.iter().filter_map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "everypath",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| json!({
                    "id": id,
                    "shortDescription": { "text": describe(id) },
                })).collect::<Vec<_>>(),
            } },
            "results": found,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("its keys are strings");
    text.push('\n');
    text
}

/// The rule that a result is of; none if it holds.
fn rule<'a>(result: &CheckResult<'a>) -> Option<&'a str> {
    match (result.verdict, result.trace) {
        (Verdict::Holds, _) => None,
        (Verdict::Violated, Some(trace)) => Some(&trace.violation.property),
        (Verdict::Violated, None) => Some("violated"),
        (Verdict::Inconclusive, _) => Some("inconclusive"),
    }
}

fn describe(rule: &str) -> String {
    match rule {
        "data-race" => {
            "Two threads access the same memory, one writes, nothing orders them.".into()
        }
        "deadlock" => "Threads wait for each other.".into(),
        "assertion" => "An assertion fails in some execution.".into(),
        "inconclusive" => "The check came to no conclusion.".into(),
        other => format!("The property {} is violated.", plain(other)),
    }
}

fn result(result: &CheckResult<'_>) -> Option<Value> {
    let rule = rule(result)?;
    let level = if result.verdict == Verdict::Violated { "error" } else { "warning" };
    let Some(trace) = result.trace.filter(|_| result.verdict == Verdict::Violated) else {
        let text = format!("{}: {}", plain(result.target), plain(result.text));
        return Some(json!({ "ruleId": rule, "level": level, "message": { "text": text } }));
    };
    let mut lines = violation_lines(trace).into_iter();
    let first = lines.next();
    let related: Vec<Value> = lines
        .zip(1..)
        .map(|((file, line, actor), id)| {
            let mut place = location(file, line);
            place["id"] = json!(id);
            place["message"] = json!({ "text": plain(actor) });
            place
        })
        .collect();
    let places: Vec<Value> = first.iter().map(|(file, line, _)| location(file, *line)).collect();
    let mut found = json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": plain(&trace.violation.message) },
        "locations": places,
    });
    if !related.is_empty() {
        found["relatedLocations"] = json!(related);
    }
    let flow = flow(trace);
    if !flow.is_empty() {
        found["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow }] }]);
    }
    Some(found)
}

/// The steps with source lines, in order.
fn flow(trace: &Trace) -> Vec<Value> {
    let last = trace.steps.len().saturating_sub(MAX_FLOW);
    let steps = trace.steps[last..].iter().enumerate();
    let placed = steps.filter_map(|(at, step)| {
        let (file, line) = known_line(&step.stack)?;
        let mut place = location(file, line);
        let text = format!("{}. {} {}", last + at + 1, plain(&step.actor), plain(&step.text));
        place["message"] = json!({ "text": text });
        Some(json!({ "location": place, "executionOrder": last + at + 1 }))
    });
    placed.collect()
}

fn location(file: &str, line: u32) -> Value {
    let place = json!({
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line },
    });
    json!({ "physicalLocation": place })
}

/// A path as a reference: relative if it is, with all that is special percent-encoded.
fn uri(path: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let path: String = path.bytes().map(encoded).collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}
