//! Checks of native programs, each in a process of its own, so that its time and memory are its own.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What a check in a folder says, as JSON.
pub(crate) fn check(
    everypath: &Path,
    folder: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot run a check: {error}");
    let mut command = Command::new(everypath);
    command.args(["check", "--json", "-"]).args(arguments).current_dir(folder);
    let output = command.output().map_err(|error| failed(&error))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(&String::from_utf8_lossy(&output.stderr).trim()))
}

/// The verdict in a word.
pub(crate) fn outcome(result: &Value) -> &str {
    let reason = result["reason"].as_str().unwrap_or_default();
    match result["verdict"].as_str() {
        Some("inconclusive") if reason.contains("linear cache") => "mismatch",
        Some("inconclusive") if reason.contains("limit of") => "unfinished",
        Some(verdict) => verdict,
        None => "unknown",
    }
}

/// Ours, and what the paper has in brackets.
pub(crate) fn beside(ours: &Value, paper: &str) -> String {
    let ours = match ours {
        Value::Null => "–".to_string(),
        number => number.to_string(),
    };
    bracketed(ours, paper)
}

/// Our seconds, and the paper's time in brackets.
pub(crate) fn seconds(stats: &Value, paper: &str) -> String {
    bracketed(format!("{:.2}", stats["seconds"].as_f64().unwrap_or(0.0)), paper)
}

fn bracketed(ours: String, paper: &str) -> String {
    if paper.is_empty() { ours } else { format!("{ours} [{paper}]") }
}
