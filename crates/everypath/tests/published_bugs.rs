//! Bugs in published crates (`studies/published-bugs`): those that take a few seconds.

use crate::support::Programs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of which there is no correction that is explored to the end within seconds.
const BEFORE: [&str; 4] = ["--bin", "dashmap", "--bin", "event_listener"];

/// Builds the programs with the versions before, or after, the bugs were mended.
fn build(versions: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published-bugs").join(versions);
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/published-bugs");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--bin", "parking_lot", "--bin", "tokio"])
        .args(if versions == "before" { &BEFORE[..] } else { &[] })
        .arg("--target-dir")
        .arg(&target)
        .arg("--manifest-path")
        .arg(study.join(versions).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    target.join("debug")
}

#[test]
fn bugs_are_found_and_corrections_are_not_accused() {
    let (before, after) = (build("before"), build("after"));
    let programs = Programs::new(&[]);
    for name in ["parking_lot", "tokio", "dashmap"] {
        let (code, result) = programs.check(&format!("-- {}", before.join(name).display()));
        let property = result["violation"]["property"].as_str();
        assert_eq!((code, property), (1, Some("deadlock")), "{name}: {result}");
        let fixed = match name {
            "dashmap" => format!("{} fixed", before.join(name).display()),
            _ => after.join(name).display().to_string(),
        };
        let (code, result) = programs.check(&format!("-- {fixed}"));
        let kind = result["coverage"]["kind"].as_str();
        assert_eq!((code, kind), (0, Some("exhaustive")), "{name}: {result}");
    }
}

/// Random schedules of all memory accesses seldom preempt where it takes to.
#[test]
fn a_bug_among_many_memory_accesses_is_found_by_schedules_without_them() {
    let program = build("before").join("event_listener");
    let programs = Programs::new(&[]);
    let (code, result) = programs.check(&format!("-- {}", program.display()));
    let property = result["violation"]["property"].as_str();
    assert_eq!((code, property), (1, Some("deadlock")), "{result}");
    let output = programs.everypath("replay everypath-trace.json");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
