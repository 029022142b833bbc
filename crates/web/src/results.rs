//! The traces and results in folders.

use everypath_trace::{Trace, file};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that are larger are not looked at.
const MAX_SIZE: u64 = 256 << 20;
/// So many files of a folder are looked at.
const MAX_FILES: usize = 2000;

/// The files with JSON among what was named, by the names that the page shows.
pub(crate) fn files(named: &[PathBuf]) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for path in named {
        let inside = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let candidates: Vec<PathBuf> =
            if path.is_dir() { inside.take(MAX_FILES).collect() } else { vec![path.clone()] };
        for file in candidates {
            let is_json = file.extension().is_some_and(|extension| extension == "json");
            let is_file = fs::metadata(&file).is_ok_and(|about| about.is_file());
            if is_file && (is_json || file == *path) {
                found.insert(file.display().to_string(), file);
            }
        }
    }
    found
}

/// What there is to say of a file; none if it is neither a trace nor a result.
pub(crate) fn about(name: &str, path: &Path) -> Option<Value> {
    let bytes = read(path).ok()?;
    if let Ok(trace) = file::from_bytes(&bytes) {
        return Some(json!({
            "file": name, "kind": "trace", "title": everypath_report::heading(&trace),
            "verdict": if trace.is_passing() { "holds" } else { "violated" }, "property": trace.violation.property,
            "steps": trace.steps.len(), "messages": trace.messages.len(),
        }));
    }
    let result: Value = serde_json::from_slice(&bytes).ok()?;
    (result["tool"] == "everypath").then(|| {
        json!({
            "file": name, "kind": "result", "title": result["target"],
            "verdict": result["verdict"], "coverage": result["coverage"]["kind"],
            "reason": result["reason"], "executions": result["stats"]["executions"],
            "states": result["stats"]["states"], "seconds": result["stats"]["seconds"],
        })
    })
}

/// The trace in a file, or why there is none.
pub(crate) fn trace(path: &Path) -> Result<Trace, String> {
    let bytes = read(path).map_err(|error| error.to_string())?;
    file::from_bytes(&bytes).map_err(|error| error.to_string())
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, mut bytes) = (File::open(path)?, Vec::new());
    if file.metadata()?.len() > MAX_SIZE {
        return Err(std::io::Error::other(format!("it is larger than {} MiB", MAX_SIZE >> 20)));
    }
    file.take(MAX_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}
