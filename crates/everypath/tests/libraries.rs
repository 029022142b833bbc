//! Libraries that a program loads while it runs.

use crate::support::Programs;
use crate::support::endings::property;
use std::process::Command;

fn programs() -> Programs {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/libraries");
    let programs = Programs::new(&["../crates/everypath/tests/programs/libraries/loads.c"]);
    for name in ["account", "other"] {
        let output = programs.folder.path().join(format!("{name}.so"));
        let source = format!("{folder}/{name}.c");
        let cc = Command::new("cc")
            .args(["-g", "-O1", "-shared", "-fPIC", "-o"])
            .args([output.as_os_str(), source.as_ref()])
            .status();
        assert!(cc.unwrap().success());
    }
    programs
}

/// They are loaded before `main` of another start, so that what their functions do is seen.
#[test]
fn libraries_that_are_loaded_later_are_under_control() {
    let programs = programs();
    for options in ["", "--reduction none", "--state-matching", "--memory off", "--verify"] {
        let (code, result) = programs.check(&format!("{options} -- ./loads locked"));
        assert_eq!(code, 0, "{options}: {result}");
        assert_eq!(result["coverage"]["kind"], "exhaustive", "{options}: {result}");
    }
    for options in ["", "--reduction none", "--strategy random", "--threads 2"] {
        let (code, result) = programs.check(&format!("{options} -- ./loads racy"));
        assert_eq!((code, property(&result)), (1, "assertion"), "{options}: {result}");
        let replayed = programs.everypath("replay everypath-trace.json");
        let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert_eq!(replayed.status.code(), Some(1), "{options}: {text}");
        assert!(text.contains("racy"), "{text}");
    }
}

/// Calls of such a library would reach libc behind our back, so it is loaded as others are.
#[test]
fn libraries_that_prefer_their_own_symbols_are_under_control() {
    let programs = programs();
    let (code, result) = programs.check("-- ./loads deep locked");
    assert_eq!(code, 0, "{result}");
    let (code, result) = programs.check("-- ./loads deep racy");
    assert_eq!((code, property(&result)), (1, "assertion"), "{result}");
}

/// A list of them that is given is not found out, and one that cannot be read is an error.
#[test]
fn libraries_can_be_given() {
    let programs = programs();
    let given = "--library 2:./account.so --library 2:./other.so -- ./loads locked";
    assert_eq!(programs.check(given).0, 0);
    let output = programs.everypath("check --library account.so -- ./loads locked");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("flags of dlopen"), "{output:?}");
}

/// The file of such a library was not found, and nothing of it was patched.
#[test]
fn libraries_with_a_relative_path_are_under_control() {
    let programs = programs();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/libraries/linked.c");
    let mut cc = Command::new("cc");
    cc.current_dir(programs.folder.path());
    let cc = cc.args(["-g", "-O1", "-pthread", "-o", "linked", source, "./account.so"]).status();
    assert!(cc.unwrap().success());
    assert_eq!(programs.check("-- ./linked").0, 0);
    let (code, result) = programs.check("-- ./linked racy");
    assert_eq!((code, property(&result)), (1, "assertion"), "{result}");
}
