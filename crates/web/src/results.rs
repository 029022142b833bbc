//! The traces and results in folders.

use everypath_report::plain;
use everypath_trace::Trace;
use everypath_trace::file::{self, ReadError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

/// What there is to say of files. A page asks for that every other second, and files are large: each is
/// read once, and again if it changes.
#[derive(Default)]
pub(crate) struct Known {
    files: Mutex<BTreeMap<PathBuf, (Stamp, Option<Value>)>>,
}

/// What changes with a file: its number, its size, and when it was modified.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, (i64, i64));

impl Stamp {
    fn of(about: &Metadata) -> Self {
        Stamp(about.ino(), about.size(), (about.mtime(), about.mtime_nsec()))
    }
}

impl Known {
    /// What there is to say of the traces and results among what was named, the newest first.
    pub(crate) fn about(&self, named: &[PathBuf]) -> Vec<Value> {
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = BTreeMap::new();
        let mut found = Vec::new();
        for (name, path) in files(named) {
            let Ok(stamp) = fs::metadata(&path).map(|about| Stamp::of(&about)) else { continue };
            let old = known.remove(&path).filter(|(of, _)| *of == stamp);
            let (_, said) = old.unwrap_or_else(|| (stamp, about(&name, &path)));
            found.extend(said.clone().map(|said| (stamp.2, said)));
            now.insert(path, (stamp, said));
        }
        *known = now;
        // Those of one time stay in the order of their names.
        found.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        found.into_iter().map(|(_, said)| said).collect()
    }
}

/// What there is to say of a file; none if it is neither a trace nor a result.
fn about(name: &str, path: &Path) -> Option<Value> {
    let bytes = read(path).ok()?;
    match file::from_bytes(&bytes) {
        Ok(trace) => {
            return Some(json!({
                "file": name, "kind": "trace", "title": everypath_report::heading(&trace),
                "verdict": if trace.is_passing() { "holds" } else { "violated" },
                "property": trace.violation.property,
                "steps": trace.steps.len(), "messages": trace.messages.len(),
            }));
        }
        Err(ReadError::Foreign { .. }) => {}
        Err(error) => {
            let reason = plain(&error.to_string());
            return Some(json!({ "file": name, "kind": "unreadable", "reason": reason }));
        }
    }
    let result: Value = serde_json::from_slice(&bytes).ok()?;
    (result["tool"] == "everypath").then(|| {
        json!({
            "file": name, "kind": "result", "title": result["target"].as_str().map(plain),
            "verdict": result["verdict"], "property": result["violation"]["property"].as_str().map(plain),
            "coverage": result["coverage"]["kind"],
            "reason": result["reason"].as_str().map(plain), "executions": result["stats"]["executions"],
            "states": result["stats"]["states"], "seconds": result["stats"]["seconds"],
        })
    })
}

/// The trace in a file, or why there is none.
pub(crate) fn trace(path: &Path) -> Result<Trace, String> {
    let bytes = read(path).map_err(|error| error.to_string())?;
    file::from_bytes(&bytes).map_err(|error| plain(&error.to_string()))
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, mut bytes) = (File::open(path)?, Vec::new());
    if file.metadata()?.len() > MAX_SIZE {
        return Err(std::io::Error::other(format!("it is larger than {} MiB", MAX_SIZE >> 20)));
    }
    file.take(MAX_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}
