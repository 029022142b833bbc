//! What a simulation relation may prune, from the command line of a model of one's own.

use std::process::Command;

fn run(arguments: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_asker"));
    command.current_dir(folder.path()).arg("model").arg("asker").args(arguments.split_whitespace());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Pruned by the relation, the states in which nothing is in flight would never be checked.
#[test]
fn a_property_of_packets_is_checked_by_equality() {
    let (code, text) = run("");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("VIOLATED: heard of asker after 2 steps"), "{text}");
    assert!(text.contains("asked, and nothing is in flight"), "{text}");
}

#[test]
fn the_relation_is_refused_for_a_property_of_packets() {
    let (code, text) = run("--visited relation");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--visited relation prunes states that property heard"), "{text}");
    let (code, text) = run("--visited relation --property asked-twice-at-most");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_relation_that_is_no_simulation_is_inconclusive() {
    let (code, text) = run("--bug anything --property asked-twice-at-most");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.starts_with("INCONCLUSIVE"), "{text}");
}
