//! Programs that use widely used crates for concurrency, unmodified, from the registry.

use crate::support::Programs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the programs of `programs/crates`; the folder that they are in.
fn build() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/crates/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--target-dir"])
        .arg(&target)
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    target.join("debug")
}

fn check(programs: &Programs, options: &str, program: &Path, fixed: bool) -> (i32, Value) {
    let argument = if fixed { "fixed" } else { "" };
    programs.check(&format!("{options} -- {} {argument}", program.display()))
}

#[test]
fn mistakes_are_found_and_corrections_hold() {
    let folder = build();
    let programs = Programs::new(&[]);
    // All schedules of the smaller ones can be run, if the loads before a compare-exchange are not seen;
    // those of a thread pool cannot.
    for (name, is_small) in [
        ("locks", true),
        ("channels", true),
        ("stealing", true),
        ("parallel", false),
        ("tasks", false),
    ] {
        let program = folder.join(name);
        let random = "--strategy random --max-executions 1000";
        let (code, result) = check(&programs, random, &program, false);
        let property = result["violation"]["property"].as_str();
        assert_eq!((code, property), (1, Some("panic")), "{name}: {result}");
        let (code, result) = check(&programs, random, &program, true);
        assert_eq!(code, 0, "{name}: {result}");
        if is_small {
            // With memory seen, a sample finds what the search has not found after 2,000 executions.
            for options in ["--memory off", ""] {
                let (code, result) = check(&programs, options, &program, false);
                assert_eq!(code, 1, "{name} {options}: {result}");
                let executions = result["stats"]["executions"].as_u64().unwrap();
                assert!(executions <= 2000, "{name} {options}: {result}");
            }
            let (code, result) = check(&programs, "--memory off", &program, true);
            let coverage = result["coverage"]["kind"].as_str();
            assert_eq!((code, coverage), (0, Some("exhaustive")), "{name}: {result}");
        }
    }
}
