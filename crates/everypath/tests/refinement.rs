//! Native programs against protocol models: `check --refines`.

use crate::support::Programs;
use serde_json::Value;
use std::process::Command;

const EVENTS: &str = "../crates/everypath/tests/programs/two_events.c";
const ARQ: &str = "udp/stop_and_wait.c";

fn message(result: &Value) -> &str {
    result["violation"]["message"].as_str().unwrap()
}

/// Stop and wait with one fault of a datagram, two turns of the sender.
fn stop_and_wait(programs: &Programs, how: &str) -> (i32, Value) {
    programs.check(&format!(
        "--refines 'arq --faults duplicate=1' --time quiescent --udp-budget total=1 --with \
         './stop_and_wait receive 7000' -- ./stop_and_wait send 7000 {how}"
    ))
}

#[test]
fn stop_and_wait_refines_its_model_in_every_schedule_and_packet_fate() {
    let programs = Programs::new(&[ARQ]);
    let (code, result) = stop_and_wait(&programs, "1");
    assert_eq!((code, &result["coverage"]["kind"]), (0, &"exhaustive".into()), "{result}");
    assert_eq!(result["refines"]["model"], "arq");
    // One acknowledgement, or a timeout, and duplicates of either: every fate shows in a log.
    assert!(result["refines"]["logs"].as_u64().unwrap() >= 5, "{result}");
}

#[test]
fn a_sender_that_checks_no_number_does_not_refine_the_model() {
    let programs = Programs::new(&[ARQ]);
    let (code, result) = stop_and_wait(&programs, "2 unchecked");
    assert_eq!((code, &result["violation"]["property"]), (1, &"refinement".into()), "{result}");
    let said = message(&result);
    let first = "no path of arq allows event 3 of the log: deliver-ack at sender, receives ACK1, \
                 sends D0; possible there: deliver-ack at sender, receives ACK1, sends D1";
    assert!(said.starts_with(first), "{said}");
    // The replay compares with the model as well.
    let replay = Command::new(env!("CARGO_BIN_EXE_everypath"))
        .args(["replay", "everypath-trace.json"])
        .current_dir(programs.folder.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&replay.stdout).into_owned();
    assert!(replay.status.code() == Some(1) && shown.contains(first), "{shown}");
    // A model with the same bug allows what the program does.
    let (code, result) = programs.check(
        "--refines 'arq --faults duplicate=1 --bug unchecked-ack' --time quiescent --udp-budget \
         total=1 --max-executions 500 --strategy random --with './stop_and_wait receive 7000' -- \
         ./stop_and_wait send 7000 2 unchecked",
    );
    assert_eq!(code, 0, "{result}");
}

#[test]
fn the_order_of_events_of_different_threads_is_explored() {
    let programs = Programs::new(&[EVENTS]);
    for options in ["", "--reduction source-dpor", "--reduction sleep", "--strategy random"] {
        let options = format!("--refines arq --memory off {options}");
        let (code, result) = programs.check(&format!("{options} -- ./two_events"));
        assert_eq!((code, &result["violation"]["property"]), (1, &"refinement".into()), "{result}");
        assert!(message(&result).contains("event 1 of the log: deliver-ack at sender"), "{result}");
    }
    // Nothing else orders them: without a model, there is one execution.
    let (_, result) = programs.check("--memory off -- ./two_events");
    assert_eq!(result["stats"]["executions"], 1);
    let (code, result) = programs.check("--refines arq -- ./two_events ordered");
    assert_eq!((code, &result["refines"]["logs"]), (0, &1.into()), "{result}");
}

#[test]
fn what_cannot_be_compared_is_inconclusive() {
    let programs = Programs::new(&[EVENTS]);
    for (how, reason) in [
        ("silent", "no execution noted an event"),
        ("unknown", "entry 1: unknown event of arq 'deliver-dada' (did you mean deliver-data?)"),
        ("nameless", "it has no \"event\""),
    ] {
        let (code, result) = programs.check(&format!("--refines arq -- ./two_events {how}"));
        assert_eq!(code, 3, "{result}");
        assert!(result["reason"].as_str().unwrap().contains(reason), "{result}");
    }
    let (code, result) =
        programs.check("--refines 'arq --duplicate --hidden deliver-data' -- ./two_events ordered");
    assert_eq!(code, 3, "{result}");
    assert!(result["reason"].as_str().unwrap().contains("more than 100,000 states"), "{result}");
}
