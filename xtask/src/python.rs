//! Readers of formats that others wrote, in Python, for tests of what we write.

use crate::browser::skip;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter of the environment that `.ci/run` makes, or the one on the search path.
fn interpreter() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let own = root.join("target/python/bin/python3");
    if own.exists() { own } else { "python3".into() }
}

/// Runs a script with arguments; what it printed. None, after a line that says so, if a package that
/// it needs is not installed.
///
/// # Panics
///
/// If the script fails, or if a package is missing and `EVERYPATH_REQUIRE_ALL` is set.
pub fn run(packages: &[&str], script: &str, arguments: &[&Path]) -> Option<String> {
    let imports = packages.iter().map(|name| format!("import {name}\n")).collect::<String>();
    let is_there = Command::new(interpreter()).args(["-c", &imports]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        let packages = packages.join(" ").replace("google.protobuf", "protobuf");
        skip(&format!("python3 has no {packages}: pip install {packages} to run this test"));
        return None;
    }
    let output = Command::new(interpreter())
        .args(["-c", script])
        .args(arguments)
        .output()
        .expect("it could be run just now");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Some(said)
}
