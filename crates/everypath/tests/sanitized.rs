//! Programs built with `-fsanitize=thread`: they are accepted as they are, and what is found in them is
//! what is found without.

use crate::support::{Programs, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources, and what is wrong with each if data races are explored; with `fixed` nothing is.
const SOURCES: [(&str, &str); 7] = [
    ("claim.c", "assertion"),
    ("double_checked.cpp", "assertion"),
    ("handle.c", "assertion"),
    ("reorder.c", "assertion"),
    ("snapshot.cpp", "assertion"),
    ("stealing.c", "assertion"),
    ("wrong_lock.c", "assertion"),
];

/// Those that race: all but the one whose accesses are all atomic.
fn races(source: &str) -> bool {
    source != "claim.c"
}

/// Compiles a classic; whether that is possible.
fn compile(source: &str, options: &[&str], to: &Path) -> bool {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../programs/classics/memory"].iter().collect();
    let compiler = if source.ends_with(".cpp") { "c++" } else { "cc" };
    let mut compiler = Command::new(compiler);
    compiler.args(["-g", "-pthread"]).args(options).arg("-o").arg(to).arg(folder.join(source));
    compiler.output().unwrap().status.success()
}

fn found(programs: &Programs, arguments: &str) -> (i32, String, Value) {
    let (code, result) = programs.check(arguments);
    let property = result["violation"]["property"].as_str().unwrap_or("none").to_string();
    (code, property, result)
}

#[test]
fn both_ways_of_building_agree() {
    let programs = Programs::new(&[]);
    let at = |name: &str| programs.folder.path().join(name);
    for (source, property) in SOURCES {
        for level in ["-O0", "-O2"] {
            assert!(compile(source, &[level], &at("plain")), "{source}");
            if !compile(source, &[level, "-fsanitize=thread"], &at("sanitized")) {
                return skip("cc has no -fsanitize=thread");
            }
            for program in ["./plain", "./sanitized"] {
                let arguments = format!("--races explore -- {program}");
                let (code, what, result) = found(&programs, &arguments);
                assert_eq!((code, what.as_str()), (1, property), "{source} {level} {result}");
                let replayed = programs.everypath("replay everypath-trace.json");
                assert_eq!(replayed.status.code(), Some(1), "{source} {level} {replayed:?}");
                let (code, what, result) = found(&programs, &format!("-- {program} fixed"));
                assert_eq!((code, what.as_str()), (0, "none"), "{source} {level} {result}");
                assert!(result["coverage"]["unseen_code"].is_null(), "{source} {result}");
            }
            // Which accesses are atomic is known, also in C.
            let (code, what, result) = found(&programs, "-- ./sanitized");
            let expected = if races(source) { "data race" } else { property };
            assert_eq!((code, what.as_str()), (1, expected), "{source} {level} {result}");
        }
    }
}

/// Nothing of the real runtime runs: it would say so.
#[test]
fn the_runtime_of_the_sanitizer_is_not_loaded() {
    let programs = Programs::new(&[]);
    if !compile("claim.c", &["-fsanitize=thread"], &programs.folder.path().join("sanitized")) {
        return skip("cc has no -fsanitize=thread");
    }
    let loud = "--env TSAN_OPTIONS=verbosity=2 --exit-code 3 -- ./sanitized";
    let (code, what, _) = found(&programs, loud);
    assert_eq!((code, what.as_str()), (1, "exit-code"));
    let shown = programs.everypath("replay everypath-trace.json");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(!shown.contains("ThreadSanitizer"), "{shown}");
}

/// Compiles a program for ThreadSanitizer as a nightly compiler does; its runtime is that of gcc.
fn compile_rust(source: &str, to: &Path) -> bool {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/programs/races"].iter().collect();
    let mut compiler = Command::new("rustc");
    compiler
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["--edition", "2021", "-g", "-O", "-Zsanitizer=thread", "-Zexternal-clangrt"])
        .arg("-Cunsafe-allow-abi-mismatch=sanitizer")
        // Gcc's runtime has no functions for `memcpy` and its kin; ours has.
        .args(
            ["no-as-needed", "unresolved-symbols=ignore-all"]
                .map(|it| format!("-Clink-arg=-Wl,--{it}")),
        )
        .args(["-Clink-arg=-ltsan", "-o"])
        .arg(to)
        .arg(folder.join(source));
    compiler.output().unwrap().status.success()
}

/// What Rust's own libraries access is not known to be plain: they are not instrumented.
#[test]
fn rust_programs_agree_as_well() {
    let programs = Programs::new(&[]);
    for (source, property) in [
        ("lucky.rs", "data race"),
        ("scoped.rs", "data race"),
        ("check_then_act.rs", "panic"),
        ("merged.rs", "none"),
    ] {
        if !compile_rust(source, &programs.folder.path().join("sanitized")) {
            return skip("rustc has no -Zsanitizer=thread, or there is no libtsan");
        }
        let (code, what, result) = found(&programs, "-- ./sanitized");
        assert_eq!((code, what.as_str()), (i32::from(property != "none"), property), "{result}");
    }
}
