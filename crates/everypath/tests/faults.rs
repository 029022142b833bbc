//! What goes wrong with connections to peers, as choices within a budget.

use crate::support::Programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;

const FAULTS: [&str; 5] = ["refuse=1", "reset=1", "short-write=1", "eintr=1", "emfile=1"];

/// The client, its server, and a port that nobody listens at.
fn letters() -> (Programs, u16) {
    let programs = Programs::new(&["tcp/letters.c", "tcp/alphabet_server.c"]);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    (programs, listener.local_addr().unwrap().port())
}

/// Checks the client with options; the exit code and the result.
fn check((programs, port): &(Programs, u16), options: &str, arguments: &str) -> (i32, Value) {
    let peer = format!("--peer './alphabet_server {port}'");
    programs.check(&format!("{peer} {options} -- ./letters {port} {arguments}"))
}

/// How many executions there were in which nothing was wrong.
fn executions(result: &(i32, Value)) -> u64 {
    assert_eq!(result.0, 0, "{}", result.1);
    result.1["stats"]["executions"].as_u64().unwrap()
}

#[test]
fn one_fault_of_each_kind_breaks_who_believes_in_none() {
    let letters = letters();
    for fault in FAULTS {
        let (code, result) = check(&letters, &format!("--tcp-faults {fault}"), "1 3");
        assert_eq!(code, 1, "{fault}: {result}");
    }
    assert_eq!(check(&letters, "--chunks", "1 3").0, 1);
}

#[test]
fn answers_in_parts_are_sampled_and_said() {
    let letters = letters();
    let assumed = |result: &Value| {
        let all = result["assumptions"].as_array().unwrap();
        all.iter().any(|assumption| assumption["id"] == "whole-answers")
    };
    // Natively it gets one letter, two or three.
    let (code, result) = check(&letters, "", "1 3");
    assert_eq!(
        (code, &result["violation"]["property"]),
        (1, &Value::from("exit-code")),
        "{result}"
    );
    // Who reads on holds, and the verdict says what it rests on, unless nothing was divided or all was.
    for (options, arguments, is_assumed) in
        [("", "1 3 careful", true), ("", "1 1 careful", false), ("--chunks", "1 3 careful", false)]
    {
        let result = check(&letters, options, arguments);
        assert!(executions(&result) >= 1);
        assert_eq!(assumed(&result.1), is_assumed, "{options} {arguments}: {}", result.1);
    }
}

#[test]
fn a_reset_is_named_as_such() {
    let (programs, port) = letters();
    let text = |options: &str| {
        let peer = format!("--peer './alphabet_server {port}'");
        let output = programs.everypath(&format!("check {peer} {options} -- ./letters {port} 1 3"));
        String::from_utf8(output.stdout).unwrap()
    };
    let reset = text("--tcp-faults reset=1");
    assert!(reset.contains("the connection is reset (ECONNRESET)"), "{reset}");
    assert!(!reset.contains("a short read"), "{reset}");
    let chart = reset.split("Sent and received:").nth(1).expect("there is a chart");
    assert!(chart.contains("|  connection reset (thread 1)"), "{chart}");
    assert!(text("--chunks").contains("a short read"));
}

#[test]
fn every_placement_is_explored_once() {
    let letters = letters();
    // Nothing, or the fault: of the connection; before sending, or after 0, 1 or 2 of 3 bytes; after
    // 1 or 2 bytes, whose answers then come together or not; in each of three calls; and of the socket.
    for (fault, expected) in FAULTS.into_iter().zip([2, 5, 5, 4, 2]) {
        let result = check(&letters, &format!("--tcp-faults {fault}"), "1 3 careful");
        assert_eq!(executions(&result), expected, "{fault}");
        let said = result.1["coverage"]["kind"].as_str().unwrap();
        assert_eq!(said, "exhaustive", "{}", result.1);
    }
    // One more call that waits is one more that is interrupted.
    for looks in ["poll", "select", "epoll"] {
        let result = check(&letters, "--tcp-faults eintr=1", &format!("1 3 careful {looks}"));
        assert_eq!(executions(&result), 5, "{looks}");
    }
    // As many as there are ways to divide 6 bytes.
    assert_eq!(executions(&check(&letters, "--chunks", "1 6 careful")), 32);
}

#[test]
fn a_server_that_runs_out_of_descriptors_is_explored() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/faults/accepts.c"]);
    let ran = std::process::Command::new(programs.folder.path().join("accepts"))
        .arg("careful")
        .status()
        .unwrap();
    assert!(ran.success(), "{ran}");
    let orders = executions(&programs.check("-- ./accepts careful"));
    assert_eq!(programs.check("-- ./accepts").0, 0);
    let (code, result) = programs.check("--tcp-faults emfile=1 -- ./accepts");
    assert_eq!(code, 1, "{result}");
    // None, or one of three calls fails, whatever the order: both sockets, and accepting.
    let result = programs.check("--tcp-faults emfile=1 -- ./accepts careful");
    assert_eq!(executions(&result), 4 * orders);
}

#[test]
fn the_reduced_search_ends_as_the_plain_one() {
    let letters = letters();
    let all = FAULTS.join(",");
    let endings = |reduction: &str, arguments: &str| -> BTreeSet<String> {
        let options = format!("--tcp-faults {all} --chunks --keep-going --exit-code 255");
        let (_, result) = check(&letters, &format!("{options} --reduction {reduction}"), arguments);
        let all = result["stats"]["endings"].as_array().unwrap_or_else(|| panic!("{result}"));
        all.iter().map(|ending| ending["ending"].to_string()).collect()
    };
    for arguments in ["1 2", "1 2 careful"] {
        let reduced = endings("dpor", arguments);
        assert_eq!(reduced, endings("none", arguments), "{arguments}");
        assert_eq!(reduced.len(), if arguments == "1 2" { 2 } else { 1 }, "{reduced:?}");
    }
    // The budget is one for all threads: never do both fail.
    let (code, result) = check(&letters, "--tcp-faults refuse=1 --keep-going", "2 1");
    assert_eq!(code, 1);
    assert!(!result.to_string().contains("code 2"), "{result}");
    let (_, result) = check(&letters, "--tcp-faults refuse=2 --keep-going", "2 1");
    assert!(result.to_string().contains("Exited 2"), "{result}");
}

#[test]
fn a_counterexample_with_a_fault_is_replayed() {
    let letters = letters();
    for option in FAULTS
        .map(|fault| format!("--tcp-faults {fault}"))
        .iter()
        .map(String::as_str)
        .chain(["--chunks"])
    {
        let (code, result) = check(&letters, option, "1 2");
        assert_eq!(code, 1, "{option}: {result}");
        let replayed = letters.0.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{option}: {replayed:?}");
    }
}

#[test]
fn a_budget_that_is_none_is_refused() {
    let letters = letters();
    for wrong in ["bogus=1", "reset", "reset=many", "reset=256"] {
        let output = letters.0.everypath(&format!("check --tcp-faults {wrong} -- ./letters"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("short-write"), "{said}");
    }
}
