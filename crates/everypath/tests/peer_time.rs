//! Peers that take their time: whoever waits with a timeout may still say something when it expires.

use crate::support::Programs;
use serde_json::{Value, json};
use std::net::TcpListener;

/// The two programs of these tests, and a port that nobody listens at.
fn prepared() -> (Programs, u16) {
    let programs = Programs::new(&[
        "../crates/everypath/tests/programs/peers/takes_its_time.c",
        "../crates/everypath/tests/programs/peers/lets_time_pass.c",
    ]);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    (programs, listener.local_addr().unwrap().port())
}

/// The verdict, what is violated, and the exit codes that there are.
fn seen(programs: &Programs, port: u16, (peer, how): (&str, &str), options: &str) -> Value {
    let (role, rest) = peer.split_once(' ').unwrap();
    let arguments = format!(
        "{options} --keep-going --peer './takes_its_time {role} {port} {rest}' \
         -- ./lets_time_pass {port} {how}"
    );
    let (_, result) = programs.check(&arguments);
    json!([result["verdict"], result["violation"]["property"], result["reason"]])
}

/// Exit code 1 says that the program saw the answer, and 0 that it did not; both are explored where it can
/// tell.
#[test]
fn what_a_peer_says_after_a_timed_wait_is_received() {
    let (programs, port) = prepared();
    for wait in ["poll", "select", "epoll", "futex", "timerfd", "nanosleep"] {
        let found = seen(&programs, port, (&format!("server {wait}"), "block"), "");
        assert_eq!(found, json!(["violated", "exit-code", null]), "{wait}");
    }
    for (peer, how) in [
        ("server poll 3", "block"),
        ("closes poll", "block"),
        ("client poll", "serve"),
        ("datagrams poll", "datagram"),
    ] {
        let options =
            if how == "serve" || peer.starts_with("closes") { "" } else { "--exit-code 1" };
        let found = seen(&programs, port, (peer, how), options);
        let expected = match (peer, how) {
            ("client poll", _) => json!(["violated", "exit-code", null]),
            _ => json!(["holds", null, null]),
        };
        assert_eq!(found, expected, "{peer} {how}");
    }
}

#[test]
fn however_time_passes_for_a_program_it_passes_for_its_peer() {
    let (programs, port) = prepared();
    for how in ["sleep", "alarm", "timeout"] {
        for code in [0, 1] {
            let options = format!("--exit-code {code}");
            let found = seen(&programs, port, ("server poll", how), &options);
            assert_eq!(found, json!(["violated", "exit-code", null]), "{how} {code}");
        }
    }
    for peer in ["server poll", "server nanosleep"] {
        let found = seen(&programs, port, (peer, "short"), "");
        assert_eq!(found, json!(["holds", null, null]), "a tenth of a second is not enough");
    }
}

/// The program may be slower than its peer, by a little.
#[test]
fn a_look_may_find_what_a_peer_says_soon() {
    let (programs, port) = prepared();
    for wait in ["poll", "nanosleep"] {
        let soon = format!("soon {wait}");
        for code in [0, 1] {
            let found = seen(&programs, port, (&soon, "look"), &format!("--exit-code {code}"));
            assert_eq!(found, json!(["violated", "exit-code", null]), "{wait} {code}");
        }
        let found = seen(&programs, port, (&soon, "look"), "--time quiescent");
        assert_eq!(found, json!(["holds", null, null]), "{wait}");
    }
}

/// If time passes only when nothing else can happen, answers are there when it has passed.
#[test]
fn answers_are_not_late_after_time_has_passed() {
    let (programs, port) = prepared();
    for wait in ["poll", "nanosleep"] {
        for (how, code) in [("sleep", 1), ("alarm", 1), ("timeout", 1), ("short", 0)] {
            let options = format!("--time quiescent --exit-code {code}");
            let found = seen(&programs, port, (&format!("server {wait}"), how), &options);
            assert_eq!(found, json!(["holds", null, null]), "{wait} {how}");
        }
    }
}

#[test]
fn a_peer_that_waits_before_it_listens_is_waited_for() {
    let (programs, port) = prepared();
    for wait in ["poll", "nanosleep"] {
        let found = seen(&programs, port, (&format!("late {wait}"), "block"), "--exit-code 1");
        assert_eq!(found, json!(["holds", null, null]), "{wait}");
    }
}

#[test]
fn a_peer_that_waits_again_and_again_says_nothing_more() {
    let (programs, port) = prepared();
    let found = seen(&programs, port, ("loops poll", "twice"), "");
    assert_eq!(found, json!(["violated", "idle", null]));
    let reason = seen(&programs, port, ("server poll", "block"), "--peer-patience 0.1");
    let reason = reason[2].as_str().unwrap();
    assert!(reason.contains("raise --peer-patience"), "{reason}");
}
