//! The tools of the MCP server. Each runs this program again, as a person would, with bounded output.

use everypath_report::printable;
use everypath_trace::Trace;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// So many characters are returned at most; what is left out is left out in the middle.
const MAX_TEXT: usize = 16_000;
/// A check ends after so many seconds, unless its options say otherwise.
const MAX_SECONDS: &str = "30";

/// The tools, as `tools/list` describes them.
pub(super) fn list() -> Value {
    let trace = json!({ "type": "string", "description": "path of a trace file" });
    let folder = json!({ "type": "string", "description": "folder to run in" });
    json!([
        {
            "name": "check",
            "description": "Explore the thread schedules of a native program. Says holds, violated \
                            (with a minimised counterexample) or inconclusive, with the coverage.",
            "inputSchema": { "type": "object", "required": ["program"], "properties": {
                "program": { "type": "string", "description": "path of the program" },
                "arguments": { "type": "array", "items": { "type": "string" } },
                "options": { "type": "array", "items": { "type": "string" },
                    "description": "options of everypath check, such as --peer './server 7000'" },
                "trace": { "type": "string", "description": "where to write the counterexample" },
                "folder": folder,
            } },
        },
        {
            "name": "replay",
            "description": "Run a recorded counterexample again and compare every step.",
            "inputSchema": { "type": "object", "required": ["trace"],
                "properties": { "trace": trace, "folder": folder } },
        },
        {
            "name": "explain",
            "description": "Why a counterexample fails: the violation, the critical step, the racing \
                            pair, who holds and waits for what, with source lines.",
            "inputSchema": { "type": "object", "required": ["trace"],
                "properties": { "trace": trace, "folder": folder } },
        },
        {
            "name": "show",
            "description": "A recorded counterexample, step by step, as text or as a diagram.",
            "inputSchema": { "type": "object", "required": ["trace"], "properties": {
                "trace": trace,
                "form": { "type": "string", "enum": ["text", "mermaid", "plantuml", "dot"] },
                "folder": folder,
            } },
        },
    ])
}

/// Calls a tool; an error is one of the request.
pub(super) fn call(parameters: &Value) -> Result<Value, String> {
    let given = &parameters["arguments"];
    let folder = given["folder"].as_str().unwrap_or(".");
    let trace = || given["trace"].as_str().ok_or("the argument trace is missing".to_string());
    match parameters["name"].as_str().unwrap_or_default() {
        "check" => {
            let program = given["program"].as_str().ok_or("the argument program is missing")?;
            let mut words = vec!["check".to_string(), "--max-seconds".into(), MAX_SECONDS.into()];
            let options = strings(&given["options"])?;
            // What is said twice is refused, so an own limit takes the place of ours.
            if options.iter().any(|word| word.starts_with("--max-seconds")) {
                words.truncate(1);
            }
            words.extend(options);
            if let Some(trace) = given["trace"].as_str() {
                words.push(format!("--trace={trace}"));
            }
            words.extend(["--".into(), program.into()]);
            words.extend(strings(&given["arguments"])?);
            Ok(run(&words, folder))
        }
        "replay" => Ok(run(&["replay".into(), "--".into(), trace()?.into()], folder)),
        "show" => {
            let form = given["form"].as_str().unwrap_or("text");
            if !["text", "mermaid", "plantuml", "dot"].contains(&form) {
                return Err(format!("there is no form {form}"));
            }
            let form = format!("--{form}");
            Ok(run(&["show".into(), form, "--".into(), trace()?.into()], folder))
        }
        "explain" => {
            let path = Path::new(folder).join(trace()?);
            Ok(match crate::commands::read_trace(&path) {
                Ok(trace) => said(&printable(&explanation(&trace)), false),
                Err(usage) => said(&printable(&usage.to_string()), true),
            })
        }
        name => Err(format!("there is no tool {name:?}: choose check, replay, explain or show")),
    }
}

fn strings(list: &Value) -> Result<Vec<String>, String> {
    let texts = list.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let text = |value: &Value| value.as_str().map(Into::into).ok_or("expected strings".into());
    texts.map(text).collect()
}

/// Runs this program with these words. Bad usage and internal errors are errors of the tool; a
/// violation is a result.
fn run(words: &[String], folder: &str) -> Value {
    let output = std::env::current_exe()
        .and_then(|program| Command::new(program).args(words).current_dir(folder).output());
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code().unwrap_or(-1);
            said(&format!("{text}{errors}(exit code {code})"), !matches!(code, 0 | 1 | 3))
        }
        Err(error) => said(&format!("cannot run in {folder}: {error}"), true),
    }
}

fn said(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": bounded(text) }], "isError": is_error })
}

fn bounded(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_TEXT {
        return text.into();
    }
    let half = MAX_TEXT / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}\n… {} characters are left out …\n{tail}", count - 2 * half)
}

/// Why a counterexample fails, with the lines of the sources.
fn explanation(trace: &Trace) -> String {
    let mut text = format!("{}\n{}\n", everypath_report::heading(trace), trace.violation.message);
    if let Some(known) = &trace.explanation {
        text += &format!("\nCritical step {}: every continuation fails.\n", known.critical_step);
        for step in &known.race {
            let number = step.number.map(|number| format!("step {number}: ")).unwrap_or_default();
            text += &format!("  racing: {number}{} {}\n", step.actor, step.text);
        }
    }
    for place in &trace.violation.places {
        text += &format!("\n{}: {}\n", place.actor, place.text);
        for frame in &place.stack {
            let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
            let file = frame.file.as_deref().unwrap_or("?");
            text += &format!("  {} at {file}{line}\n", frame.function);
            if let Some(source) = frame.line.and_then(|line| source_line(trace, file, line)) {
                text += &format!("    {}\n", source.trim());
            }
        }
    }
    let open = trace.spans.iter().filter(|span| span.to.is_none());
    for span in open {
        let verb = match span.kind {
            everypath_trace::SpanKind::Hold => "holds",
            everypath_trace::SpanKind::Wait => "waits for",
        };
        text += &format!("{} {verb} {} since step {}\n", span.actor, span.object, span.from);
    }
    text
}

fn source_line<'a>(trace: &'a Trace, file: &str, line: u32) -> Option<&'a str> {
    let excerpts = trace.sources.iter().filter(|excerpt| excerpt.file == file);
    let line = |first: u32| usize::try_from(line.checked_sub(first)?).ok();
    excerpts.filter_map(|of| of.lines.get(line(of.first)?)).next().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn what_is_long_is_cut_in_the_middle() {
        let long = "ä".repeat(40_000);
        let said = bounded(&long);
        assert!(said.chars().count() < 17_000 && said.contains("24000 characters are left out"));
        assert_eq!(bounded("short"), "short");
    }
}
