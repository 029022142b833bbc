//! `--sample-traces`: why a program holds.

use crate::support::Programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

fn sentences(result: &Value) -> Vec<&str> {
    let all = result["never_exercised"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|sentence| sentence.as_str().unwrap()).collect()
}

#[test]
fn passing_executions_are_written_shown_and_replayed() {
    let programs = Programs::new(&["buffer.c"]);
    let (code, result) = programs.check("--sample-traces 3 -- ./buffer");
    assert_eq!(code, 0, "{result}");
    let samples = result["sample_traces"].as_array().unwrap();
    assert_eq!(samples.len(), 3, "{result}");
    let mut schedules = BTreeSet::new();
    for sample in samples {
        let file = sample["file"].as_str().unwrap();
        let text = fs::read_to_string(programs.folder.path().join(file)).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let steps = trace["trace"]["steps"].as_array().unwrap();
        assert_eq!(sample["steps"], steps.len());
        schedules.insert(Vec::from_iter(steps.iter().map(|step| step["text"].to_string())));
        let shown = programs.everypath(&format!("show {file} --text --html page.html --svg c.svg"));
        let said = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(said.starts_with("EXECUTION of ./buffer after "), "{said}");
        assert!(!said.contains("VIOLATED"), "{said}");
        let replayed = programs.everypath(&format!("replay {file}"));
        let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert_eq!(replayed.status.code(), Some(0), "{said}");
        assert!(said.ends_with("every step as recorded, and nothing is violated.\n"), "{said}");
    }
    assert_eq!(schedules.len(), 3, "no two of them are the same");
    let said = programs.everypath("check --sample-traces 2 --trace x.json -- ./buffer");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("\n  x-sample-1.json  "), "{said}");
    // Of a violation there is a counterexample instead.
    let (code, result) = programs.check("--sample-traces 2 --trace y.json -- ./buffer one");
    assert_eq!((code, result.get("sample_traces")), (1, None), "{result}");
    assert!(!programs.folder.path().join("y-sample-1.json").exists());
}

#[test]
fn executions_that_do_not_differ_are_written_once() {
    let programs = Programs::new(&[]);
    let (code, result) = programs.check("--sample-traces 5 -- true");
    assert_eq!(code, 0, "{result}");
    assert_eq!(result["sample_traces"].as_array().map(Vec::len), Some(1), "{result}");
}

#[test]
fn faults_that_did_not_happen_are_listed() {
    let programs =
        Programs::new(&["philosophers.c", "../crates/everypath/tests/programs/three_packets.c"]);
    let (code, result) = programs.check("--sample-traces 1 --spurious 1 -- ./philosophers 2 fixed");
    assert_eq!(code, 0, "{result}");
    assert_eq!(sentences(&result), ["no execution had the fault spurious wakeup"]);
    // Known of every search, and of a sample if it is asked for.
    let (_, result) = programs.check("--spurious 1 -- ./philosophers 2 fixed");
    assert_eq!(sentences(&result), ["no execution had the fault spurious wakeup"]);
    let random = "--strategy random --spurious 1 --sample-traces 1 -- ./philosophers 2 fixed";
    let (_, result) = programs.check(random);
    let spurious = "no execution of 200 drawn at random had the fault spurious wakeup";
    assert_eq!(sentences(&result), [spurious]);
    let (code, result) = programs.check("--sample-traces 1 --udp-multiply 1,0 -- ./three_packets");
    assert_eq!(code, 0, "{result}");
    assert_eq!(
        sentences(&result),
        ["no execution lost packet 3 to three_packets :7411"],
        "every execution was looked at: {result}"
    );
    let (code, result) = programs.check("--udp-multiply 1,0 -- ./three_packets");
    assert_eq!((code, sentences(&result)), (0, vec![]), "some packet was lost: {result}");
    let (_, result) = programs.check("--udp-multiply 1,2 -- ./three_packets");
    assert_eq!(sentences(&result).len(), 0, "{result}");
    let (code, result) = programs.check("--sample-traces 1 -- ./philosophers 2 fixed");
    assert_eq!((code, sentences(&result)), (0, vec![]), "nothing was allowed: {result}");
}
