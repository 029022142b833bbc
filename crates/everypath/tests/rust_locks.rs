//! Locks and conditions of Rust's standard library.

use crate::support::Programs;
use crate::support::endings::{compare_searches, endings, executions, executions_with, property};
use std::process::Command;

#[test]
fn reduction_and_plain_search_agree_about_locks_of_rust() {
    assert_eq!(compare_searches("guards.rs", GUARDS), GUARDS.len());
}

/// What a waiter finds of a condition decides whether it sleeps for ever, and whoever tries twice may
/// fail twice.
const GUARDS: &[&str] = &[
    "L0U0 L0U0",
    "T0 L0U0",
    "t0T0 L0U0",
    "L0C0 B0",
    "L0C0U0 S0",
    "L0C0U0 L0S0U0",
    "L0C0X0U0 B0X0",
    "L0W0U0 S0",
    "L0W0 L0U0",
    "X0L0X0 L0X0",
    "T0 t0",
    "M0 R0",
    "r0r0 M0",
    "r0p0 M0",
    "q0 q0",
    "q0 M0",
    "w0d0 R0",
];

/// Who finds a static variable of C++ initialised, or what a `OnceLock` of Rust guards, looks at it by a
/// plain instruction, and was never tried first.
#[test]
fn who_initialises_is_explored() {
    let folder = "../crates/everypath/tests/programs";
    let programs =
        Programs::new(&[&format!("{folder}/statics.cpp"), &format!("{folder}/guards.rs")]);
    let reduced = endings(&programs, "dpor", "statics").unwrap();
    assert_eq!(reduced, ["Exited 11", "Exited 22"]);
    let reduced = endings(&programs, "dpor", "guards O0 O0").unwrap();
    assert_eq!(reduced, ["Exited 32", "Exited 64"]);
}

#[test]
fn a_condition_of_rust_is_one_like_those_of_pthreads() {
    let folder = "../crates/everypath/tests/programs";
    let programs = Programs::new(&[&format!("{folder}/guards.rs"), &format!("{folder}/scripts.c")]);
    for scripts in ["L0C0U0 S0", "L0C0U0 L0C0U0 B0", "L0C0U0 L0C0U0 L0S0S0U0"] {
        let [rust, c] = ["guards", "scripts"]
            .map(|program| executions(&programs, &format!("{program} {scripts}")));
        assert_eq!(rust, c, "{scripts}");
    }
    let (code, result) = programs.check("--exit-code 8 -- ./guards L0C0 L0L1");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    let message = result["violation"]["message"].as_str().unwrap();
    assert!(message.contains("waits on condition guards::PLACES"), "{message}");
}

/// Without symbols no function of the standard library is known, and what it finds in a condition
/// before it waits still decides.
#[test]
fn a_notification_that_comes_too_early_is_found_without_symbols() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/guards.rs"]);
    let status = Command::new("strip").arg(programs.folder.path().join("guards")).status().unwrap();
    assert!(status.success());
    let count = executions_with(&programs, "--memory off", "guards L0C0U0 S0");
    assert_eq!(count, 6, "waiting is several steps");
    let (code, result) = programs.check("--exit-code 31 -- ./guards L0C0U0 S0");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
}

#[test]
fn locks_are_recognised_without_optimisation() {
    let programs = Programs::new(&[]);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/guards.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-g", source]).current_dir(programs.folder.path());
    assert!(rustc.status().unwrap().success());
    // Loads of theirs are functions of their own, which are not known to belong to a lock.
    let count = |scripts| executions_with(&programs, "--memory off", scripts);
    assert_eq!(count("guards L0U0L0U0 L0U0"), 3);
    assert_eq!(count("guards L0C0U0 S0"), 2);
    assert_eq!(count("guards M0M0 R0R0"), 6);
    for scripts in ["T0 L0U0", "L0C0U0 L0S0U0", "r0r0 M0", "q0 q0", "r0p0 M0"] {
        let command = format!("guards {scripts}");
        let [reduced, plain] = ["dpor --memory off", "none --memory off"]
            .map(|reduction| endings(&programs, reduction, &command));
        assert!(plain.is_some() && reduced == plain, "{command}: {reduced:?} {plain:?}");
    }
}

#[test]
fn a_mutex_of_rust_is_a_lock_like_any_other() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/guards.rs"]);
    let count = |scripts: &str| executions(&programs, &format!("guards {scripts}"));
    // As many as there are orders in which it is taken: nobody spins, nobody waits at a futex.
    assert_eq!(count("L0U0 L0U0"), 2);
    assert_eq!(count("L0U0L0U0 L0U0"), 3);
    assert_eq!(count("L0U0L0U0 L0U0L0U0"), 6);
    let (code, result) = programs.check("--exit-code 8 -- ./guards L0L1 L1L0");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    let message = result["violation"]["message"].as_str().unwrap();
    assert_eq!(message.matches("held by thread").count(), 2, "{message}");
}

#[test]
fn a_read_write_lock_of_rust_is_a_lock_like_any_other() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/guards.rs"]);
    let count = |scripts: &str| executions(&programs, &format!("guards {scripts}"));
    // As many as there are orders of reading and writing; readers do not see each other.
    assert_eq!(count("M0 R0"), 2);
    assert_eq!(count("M0M0 R0R0"), 6);
    assert_eq!(count("R0R0 R0R0"), 1);
    assert_eq!(count("M0M0 R0R0 R0R0"), 36);
    assert_eq!(count("r0r0u0u0 r0r0u0u0 R1"), 1);
    // Readers do not get in while a writer waits.
    let (code, result) = programs.check("--exit-code 0 -- ./guards r0r0 M0");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    let message = result["violation"]["message"].as_str().unwrap();
    assert!(message.contains("thread 1 waits for rwlock guards::PLACES to read"), "{message}");
    assert!(message.contains("thread 2 waits for rwlock guards::PLACES to write"), "{message}");
    let (_, result) = programs.check("--exit-code 0 -- ./guards w0w0 R1");
    let message = result["violation"]["message"].as_str().unwrap();
    assert!(message.contains("to write, held by thread 1"), "{message}");
}

/// A writer that waits may be seen by who tries in vain to read, and still be overtaken by it.
#[test]
fn who_tried_in_vain_may_be_faster_than_the_writer_it_saw() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/guards.rs"]);
    let found = endings(&programs, "dpor", "guards M0 p0R0 p0R0").unwrap();
    // One tries in vain and reads what was before, the other one gets in at once and reads what
    // comes after.
    for ending in ["Exited 95", "Exited 166"] {
        assert!(found.iter().any(|it| it == ending), "{ending} is not among {found:?}");
    }
}

/// Without symbols, the real lock is explored step by step: it can do nothing that the search does not
/// find where the lock is known.
#[test]
fn a_read_write_lock_does_nothing_that_is_not_explored() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/guards.rs"]);
    let [known, stripped] = ["guards", "stripped"].map(|name| programs.folder.path().join(name));
    let status = Command::new("strip").arg("-o").args([&stripped, &known]).status().unwrap();
    assert!(status.success());
    for scripts in ["M0 R0", "r0p0 M0", "w0d0u0 R0 M0", "q0 q0", "r0 w0 p0", "M0M0 R0q0"] {
        let [all, found] = ["guards", "stripped"]
            .map(|name| format!("{name} {scripts}"))
            .map(|command| endings(&programs, "dpor --memory off", &command).unwrap());
        assert!(found.iter().all(|ending| all.contains(ending)), "{scripts}: {found:?} {all:?}");
    }
}
