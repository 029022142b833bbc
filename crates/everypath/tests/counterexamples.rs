//! What a reader sees of counterexamples on the terminal.

use crate::support::Programs;

fn programs(names: &[&str]) -> Programs {
    let paths: Vec<String> = names
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/counterexamples/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

fn text(programs: &Programs, check: &str) -> String {
    let output = programs.everypath(&format!("check {check}"));
    assert_eq!(output.status.code(), Some(1), "{check}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Steps and frames of the language's runtime are folded, names are those of the program, reference
/// counts are no racing pair, and blocks of the heap are told by where they were allocated.
#[test]
fn a_panic_is_told_by_the_steps_of_the_program() {
    let programs = programs(&["lost_update.rs"]);
    let text = text(&programs, "-- ./lost_update");
    assert!(text.contains("  'main' panicked at "), "{text}");
    assert!(text.contains("runtime steps\n"), "{text}");
    assert!(text.contains("(everypath show everypath-trace.json prints all steps)"), "{text}");
    for internal in ["catch_unwind", "lang_start", "__rust_try", "/rustc/", "libeverypath"] {
        assert!(!text.contains(internal), "{internal}: {text}");
    }
    assert!(text.contains("thread 1 (worker-0)  locks mutex #1"), "{text}");
    let pair: Vec<&str> = text.lines().filter(|line| line.starts_with("  step ")).collect();
    assert_eq!(pair.len(), 2, "{text}");
    assert!(pair.iter().all(|step| step.contains("locks mutex #1")), "{text}");
    let block = "mutex #1  is in a block that main allocated, lost_update::main at ";
    assert!(text.contains(block), "{text}");
    let shown = programs.everypath("show everypath-trace.json");
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("modifies reference count #"), "{shown}");
}

#[test]
fn asking_for_a_lock_and_getting_it_are_two_things() {
    let programs = programs(&["heap_locks.c"]);
    let text = text(&programs, "-- ./heap_locks");
    assert!(text.contains("thread 1 (forward)  locks mutex #1, forward at "), "{text}");
    assert!(text.contains("requests mutex #2 and blocks, forward at "), "{text}");
    assert!(text.contains("creates thread 2, main at "), "{text}");
    assert!(
        text.contains("mutex #2            is in a block that main allocated, new_account at ")
    );
}

#[test]
fn of_a_livelock_the_cycle_is_told() {
    let programs = programs(&["livelock.c"]);
    let text = text(&programs, "-- ./livelock");
    assert!(text.contains(" repeat without end:\n"), "{text}");
    assert!(text.contains("yields, wait_for_other at "), "{text}");
    assert!(text.contains(" more rounds\n"), "{text}");
    assert!(text.lines().count() < 60, "{text}");
}

/// Options that would help are suggested.
#[test]
fn what_to_try_next_is_suggested() {
    let programs = programs(&["heap_locks.c"]);
    let check = "check --keep-going --max-executions 1 -- ./heap_locks ordered";
    let output = programs.everypath(check);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("Try --preemptions 2: "), "{text}");
    assert!(text.contains("Try --state-matching: "), "{text}");
}
