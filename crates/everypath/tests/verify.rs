//! What programs can tell the checker by the library `everypath-verify`.

use crate::support::Programs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const C: &str = "../crates/everypath/tests/programs/verify.c";

fn verdict(result: &Value) -> &str {
    result["verdict"].as_str().unwrap()
}

fn count(result: &Value, what: &str) -> u64 {
    result["stats"][what].as_u64().unwrap()
}

/// Runs a case of the program in C; its exit code and its result.
fn check(programs: &Programs, options: &str, case: &str) -> (i32, Value) {
    programs.check(&format!("{options} -- ./verify {case}"))
}

#[test]
fn without_the_checker_nothing_happens() {
    let programs = Programs::new(&[C]);
    for case in ["choose", "choose-many", "always", "assume", "early", "ends-nothing", "nested"] {
        let status =
            Command::new(programs.folder.path().join("verify")).arg(case).status().unwrap();
        assert_eq!(status.code(), Some(0), "{case}");
    }
}

#[test]
fn every_value_is_chosen() {
    let programs = Programs::new(&[C]);
    for reduction in ["dpor", "none"] {
        let options = format!("--keep-going --exit-code 255 --reduction {reduction}");
        let (_, result) = check(&programs, &options, "choose");
        let endings = result["stats"]["endings"].as_array().unwrap();
        let names: Vec<&str> =
            endings.iter().map(|ending| ending["ending"].as_str().unwrap()).collect();
        let codes = [0, 10, 11, 20, 21, 22].map(|code| format!("Exited {code}"));
        assert_eq!(names, codes);
        assert_eq!(count(&result, "executions"), 6);
    }
    let (code, result) = check(&programs, "", "choose-many");
    assert_eq!(code, 3);
    assert!(result["reason"].as_str().unwrap().contains("among 70000 values"), "{result}");
    let (code, result) = check(&programs, "", "early");
    assert_eq!(code, 3);
    assert!(result["reason"].as_str().unwrap().contains("was called before main"), "{result}");
}

#[test]
fn an_assertion_is_violated_and_replayed() {
    let programs = Programs::new(&[C]);
    for strategy in ["dfs", "random"] {
        let (code, result) = check(&programs, &format!("--strategy {strategy}"), "always");
        assert_eq!(code, 1, "{result}");
        assert_eq!(result["violation"]["property"], "assertion");
        assert_eq!(result["violation"]["message"], "main: forty-two \u{fffd}");
        assert_eq!(result["violation"]["depth"], 1);
        let replay = programs.everypath("replay everypath-trace.json");
        let text = String::from_utf8(replay.stdout).unwrap();
        assert_eq!(replay.status.code(), Some(1), "{text}");
        // The line is the program's, not the library's.
        assert!(text.contains("main  chooses 42 of 100, main at "), "{text}");
    }
}

#[test]
fn what_does_not_meet_an_assumption_does_not_count() {
    let programs = Programs::new(&[C]);
    for (strategy, executions) in [("dfs", 10), ("random --max-executions 200", 200)] {
        let (code, result) = check(&programs, &format!("--strategy {strategy}"), "assume");
        assert_eq!((code, verdict(&result)), (3, "inconclusive"), "{result}");
        assert!(result["reason"].as_str().unwrap().starts_with("nothing was checked"), "{result}");
        assert_eq!(count(&result, "abandoned_executions"), executions);
    }
    let (code, result) = check(&programs, "", "some");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    // A search that has to begin anew counts what it did before as redundant.
    let new = count(&result, "executions") - count(&result, "redundant_executions");
    assert_eq!((new, count(&result, "abandoned_executions")), (4, 1), "{result}");
}

#[test]
fn nobody_moves_during_an_atomic_section() {
    let programs = Programs::new(&[C]);
    for reduction in ["dpor", "none"] {
        let options = format!("--reduction {reduction}");
        let (code, result) = check(&programs, &options, "no-sections");
        assert_eq!(code, 1, "{result}");
        assert_eq!(result["violation"]["message"], "main: paid for what is not there");
        let shown = programs.everypath("show everypath-trace.json");
        assert!(String::from_utf8(shown.stdout).unwrap().contains("thread 1  notes: pays, buy at"));
        for case in ["sections", "nested"] {
            let (code, result) = check(&programs, &options, case);
            assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
        }
    }
    for (case, why) in [
        (
            "waits-inside",
            "mutex-lock would block inside an atomic section (in thread 1: waits_inside",
        ),
        ("spins-inside", "livelock inside an atomic section"),
        ("ends-inside", "a thread exits inside an atomic section"),
        ("ends-nothing", "everypath_atomic_end without everypath_atomic_begin"),
    ] {
        let (code, result) = check(&programs, "", case);
        assert_eq!(code, 3, "{case}: {result}");
        assert!(result["reason"].as_str().unwrap().contains(why), "{case}: {result}");
    }
}

#[test]
fn executions_are_the_same_however_they_are_carried() {
    let programs = Programs::new(&[C]);
    let random = "--strategy random --max-executions 50 --verify";
    for case in ["some", "sections"] {
        let (code, result) = check(&programs, random, case);
        assert_eq!(code, 0, "{result}");
    }
    let (_, by_fork) = check(&programs, "--strategy random --restart fork", "assume");
    assert_eq!(count(&by_fork, "abandoned_executions"), count(&by_fork, "executions"));
}

/// What the texts of goals begin with; what follows is their place.
fn never_reached(result: &Value) -> Vec<&str> {
    let goals = result["never_reached"].as_array().map(Vec::as_slice).unwrap_or_default();
    goals.iter().map(|goal| goal.as_str().unwrap().split(" (").next().unwrap()).collect()
}

#[test]
fn what_no_execution_reaches_is_listed() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/goals.c"]);
    let missing = [
        "a fourth way",
        "a function that nobody calls",
        "abandoned later",
        "code that is \"dead\"",
        "second is two",
    ];
    for options in [
        "",
        "--threads 1",
        "--reduction none",
        "--restart fork",
        "--preemptions 2",
        "--strategy random --max-executions 500",
    ] {
        let (code, result) = programs.check(&format!("{options} -- ./goals"));
        assert_eq!(code, 0, "{options}: {result}");
        assert_eq!(never_reached(&result), missing, "{options}");
    }
    // A search over states abandons what began in the middle of another execution.
    let (_, result) = programs.check("--state-matching -- ./goals");
    let without = |goal: &&&str| **goal != "abandoned later";
    assert_eq!(never_reached(&result), Vec::from_iter(missing.iter().filter(without).copied()));
    let (code, result) = programs.check("--max-executions 1 -- ./goals");
    assert_eq!(code, 3, "{result}");
    assert!(never_reached(&result).contains(&"the third way"), "{result}");
    let (code, result) = programs.check("-- ./goals violated");
    assert_eq!((code, never_reached(&result)), (1, vec![]), "the search was not over: {result}");
    let said = programs.everypath("check -- ./goals");
    let said = String::from_utf8_lossy(&said.stdout);
    let lines = said.lines().filter(|line| line.starts_with("Never reached: ")).count();
    assert_eq!(lines, missing.len(), "{said}");
    assert!(said.contains("Never reached: second is two ("), "{said}");
    assert!(said.contains("goals.c:31)"), "{said}");
}

/// Compiles the library and the program in Rust that uses it.
fn compile_rust(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rustc = |arguments: &[&str], source: PathBuf| {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-g", "-O"]).args(arguments).arg(source);
        let output = rustc.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let library = ["--crate-type", "rlib", "--crate-name", "everypath_verify"];
    rustc(&library, root.join("../verify/src/lib.rs"));
    let program = ["--extern", "everypath_verify=libeverypath_verify.rlib", "-o", "rusty"];
    rustc(&program, root.join("tests/programs/verify.rs"));
}

#[test]
fn the_library_in_rust() {
    let programs = Programs::new(&[]);
    compile_rust(programs.folder.path());
    let alone = Command::new(programs.folder.path().join("rusty")).status().unwrap();
    assert!(alone.success());
    let (code, result) = programs.check("-- ./rusty");
    assert_eq!(code, 1, "{result}");
    assert_eq!(result["violation"]["message"], "main: paid for what is not there");
    let shown = String::from_utf8(programs.everypath("show everypath-trace.json").stdout).unwrap();
    assert!(shown.contains("main      notes: the amount is 0, verify::main at "), "{shown}");
    let (code, result) = programs.check("-- ./rusty at-once");
    assert_eq!(never_reached(&result), ["a third kind of goods"], "{result}");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    assert_eq!(count(&result, "abandoned_executions"), 1);
}
