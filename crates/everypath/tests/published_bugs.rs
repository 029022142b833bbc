//! Bugs in published crates (`studies/published-bugs`): those that take a few seconds.

use crate::support::Programs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the programs with the versions before, or after, the bugs were mended.
fn build(versions: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published-bugs").join(versions);
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/published-bugs");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--bin", "parking_lot", "--bin", "tokio"])
        .args((versions == "before").then_some(["--bin", "dashmap"]).into_iter().flatten())
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
