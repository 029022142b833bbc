//! The classic mistakes with plain variables, and with atomics behind pointers, at every level of
//! optimisation: all are found, and none in their corrections.

use crate::support::Programs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, and what its mistake leads to.
const CLASSICS: [(&str, &str); 10] = [
    ("claim.c", "assertion"),
    ("double_checked.cpp", "assertion"),
    ("handle.c", "assertion"),
    ("lost_update.rs", "panic"),
    ("once.rs", "panic"),
    ("publication.rs", "panic"),
    ("reorder.c", "assertion"),
    ("snapshot.cpp", "assertion"),
    ("stealing.c", "assertion"),
    ("wrong_lock.c", "assertion"),
];

fn compile(source: &Path, level: &str, to: &Path) {
    let mut compiler = match source.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            let mut rustc = Command::new("rustc");
            rustc.args(["--edition", "2024", "-g"]).arg(format!("-Copt-level={level}"));
            rustc
        }
        extension => {
            let mut cc = Command::new(if extension == Some("cpp") { "c++" } else { "cc" });
            cc.args(["-g", "-pthread"]).arg(format!("-O{level}"));
            cc
        }
    };
    let output = compiler.arg("-o").arg(to).arg(source).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Checks all of them at one level of optimisation.
fn at_level(level: &str) {
    let programs = Programs::new(&[]);
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../programs/classics/memory"].iter().collect();
    for (source, property) in CLASSICS {
        compile(&folder.join(source), level, &programs.folder.path().join("program"));
        let (code, result) = programs.check("--races explore -- ./program");
        let found = result["violation"]["property"].as_str();
        assert_eq!((code, found), (1, Some(property)), "{source} -O{level}: {result}");
        let (code, result) = programs.check("-- ./program");
        assert_eq!(code, 1, "{source} -O{level}: {result}");
        for races in ["violation", "explore"] {
            let (code, result) = programs.check(&format!("--races {races} -- ./program fixed"));
            let kind = result["coverage"]["kind"].as_str();
            assert_eq!((code, kind), (0, Some("exhaustive")), "{source} -O{level}: {result}");
        }
    }
}

#[test]
fn classics_are_found_in_unoptimised_programs() {
    at_level("0");
}

#[test]
fn classics_are_found_in_slightly_optimised_programs() {
    at_level("1");
}

#[test]
fn classics_are_found_in_optimised_programs() {
    at_level("2");
}

#[test]
fn classics_are_found_in_highly_optimised_programs() {
    at_level("3");
}
