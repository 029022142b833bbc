//! Programs under control that talk to real processes: what the papers count, exactly.
//!
//! A miss is a byte that was read from a peer; a connection is a physical one, or the start of a
//! client (Artho et al., 2009, table IV).

use crate::support::Programs;
use serde_json::{Value, json};
use std::net::TcpListener;

/// A port that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Checks a program with peers, each of them a command; the exit code and the result.
fn check(programs: &Programs, peers: &[String], arguments: &str) -> (i32, Value) {
    let peers: String = peers.iter().map(|peer| format!("--peer '{peer}' ")).collect();
    programs.check(&format!("{peers}{arguments}"))
}

/// The verdict, with its reason if there is one, and how many connections and misses there were.
fn counted((_, result): &(i32, Value)) -> Value {
    let cache = &result["stats"]["cache"];
    let verdict = match &result["reason"] {
        Value::Null => result["verdict"].clone(),
        reason => json!([result["verdict"], reason]),
    };
    json!([verdict, cache["connections"], cache["misses"]])
}

#[test]
fn daytime_clients_read_thirty_bytes_each() {
    let programs = Programs::new(&["tcp/daytime_server.rs", "tcp/daytime_client.rs"]);
    let port = free_port();
    let server = [format!("./daytime_server {port} 1000 fixed")];
    let result = check(&programs, &server, &format!("-- ./daytime_client {port} 2"));
    assert_eq!(counted(&result), json!(["holds", 2, 60]));
}

#[test]
fn servers_that_answer_all_alike_need_one_tree() {
    let programs = Programs::new(&["tcp/alphabet_server.c", "tcp/alphabet_client.c"]);
    let port = free_port();
    let server = [format!("./alphabet_server {port}")];
    let client = format!("-- ./alphabet_client {port} 3 2");
    let result = check(&programs, &server, &format!("--peer-tree destination {client}"));
    assert_eq!(counted(&result), json!(["holds", 1, 2]));
    let assumed = result.1["assumptions"].as_array().unwrap();
    let about_peers = assumed.iter().find(|assumption| assumption["id"] == "peers").unwrap();
    let assumption = about_peers["text"].as_str().unwrap();
    assert!(assumption.contains("answers all connections to it alike"), "{assumption}");
    let verified = "--peer-tree destination --verify-peers";
    let result = check(&programs, &server, &format!("{verified} {client}"));
    assert_eq!(counted(&result), json!(["holds", 1, 2]));
}

#[test]
fn every_letter_of_the_alphabet_is_asked_for_once() {
    let programs = Programs::new(&["tcp/alphabet_server.c", "tcp/alphabet_client.c"]);
    let port = free_port();
    for (sessions, messages) in [(1, 3), (2, 2), (3, 5)] {
        let server = [format!("./alphabet_server {port}")];
        let command = format!("-- ./alphabet_client {port} {sessions} {messages}");
        let result = check(&programs, &server, &command);
        assert_eq!(counted(&result), json!(["holds", sessions, sessions * messages]));
        let clients = vec![format!("./alphabet_client {port} 1 {messages}"); sessions];
        let result = check(&programs, &clients, &format!("-- ./alphabet_server {port} {sessions}"));
        assert_eq!(counted(&result), json!(["holds", sessions, sessions * messages]));
    }
}

#[test]
fn a_chat_has_every_order_of_messages() {
    let programs = Programs::new(&["tcp/chat_server.rs", "tcp/chat_client.rs"]);
    let port = free_port();
    let server = format!("-- ./chat_server {port} 2");
    let full = ["a", "b"].map(|name| format!("./chat_client {port} 2 {name}"));
    assert_eq!(counted(&check(&programs, &full, &server)), json!(["holds", 4, 4]));
    let linear = check(&programs, &full, &format!("--cache linear {server}"));
    assert_eq!(linear.0, 3, "{}", linear.1);
    let reason = linear.1["reason"].as_str().unwrap();
    assert!(reason.contains("use the branching cache"), "{reason}");
    let abstracted = full.map(|client| format!("{client} anonymous"));
    for cache in ["linear", "branching"] {
        let result = check(&programs, &abstracted, &format!("--cache {cache} {server}"));
        assert_eq!(counted(&result), json!(["holds", 2, 2]), "{cache}");
    }
}

#[test]
fn a_chat_of_n_clients_needs_n_times_n_factorial_connections() {
    let programs = Programs::new(&["tcp/chat_server.c", "tcp/chat_client.rs"]);
    let port = free_port();
    for (clients, connections) in [(2, 4), (3, 18), (4, 96)] {
        let names = ["a", "b", "c", "d"].into_iter().take(clients);
        let peers: Vec<String> =
            names.map(|name| format!("./chat_client {port} {clients} {name}")).collect();
        let result = check(&programs, &peers, &format!("-- ./chat_server {port} {clients}"));
        assert_eq!(counted(&result), json!(["holds", connections, connections]));
    }
}

#[test]
fn states_are_gone_back_to_although_peers_are_not() {
    let programs = Programs::new(&["tcp/chat_server.c", "tcp/chat_client.rs"]);
    let port = free_port();
    let peers = ["a", "b"].map(|name| format!("./chat_client {port} 2 {name}"));
    for reduction in ["sleep", "none"] {
        let options = format!("--state-matching --reduction {reduction}");
        let result = check(&programs, &peers, &format!("{options} -- ./chat_server {port} 2"));
        assert_eq!(counted(&result), json!(["holds", 4, 4]), "{reduction}");
    }
}

#[test]
fn a_timer_that_starts_too_early_runs_out_too_early() {
    let programs = Programs::new(&["tcp/http_server.rs", "tcp/probe.rs"]);
    let port = free_port();
    let server = [format!("./http_server {port}")];
    let (code, result) = check(&programs, &server, &format!("-- ./probe {port} early"));
    let message = result["violation"]["message"].as_str().unwrap_or_default();
    assert!(code == 1 && message.contains("the timer runs"), "{result}");
    let result = check(&programs, &server, &format!("-- ./probe {port}"));
    assert_eq!((result.0, &result.1["verdict"]), (0, &json!("holds")), "{}", result.1);
}

#[test]
fn a_page_counter_branches_what_clients_hear() {
    let programs = Programs::new(&["tcp/http_client.rs", "tcp/http_server.rs"]);
    let port = free_port();
    let clients = vec![format!("./http_client {port} 1"); 2];
    let server = format!("-- ./http_server {port} 2 counter");
    let result = check(&programs, &clients, &server);
    assert_eq!(counted(&result), json!(["holds", 4, 72]));
    assert_eq!(check(&programs, &clients, &format!("--cache linear {server}")).0, 3);
}

#[test]
fn without_a_cache_peers_are_started_for_every_execution() {
    let programs = Programs::new(&["tcp/alphabet_client.c", "tcp/alphabet_server.c"]);
    let port = free_port();
    let server = [format!("./alphabet_server {port}")];
    let options = "--cache none --reduction none --max-executions 20";
    let (code, result) =
        check(&programs, &server, &format!("{options} -- ./alphabet_client {port} 1 2"));
    assert_eq!(code, 3, "{result}");
    assert_eq!(result["stats"]["cache"]["peer_starts"], result["stats"]["executions"], "{result}");
}

#[test]
fn half_a_request_is_not_answered_and_peers_say_the_same_again() {
    let programs = Programs::new(&["tcp/alphabet_client.rs", "tcp/alphabet_server.rs"]);
    let port = free_port();
    let server = [format!("./alphabet_server {port} 9 lines")];
    let command = format!("--verify-peers -- ./alphabet_client {port} 1 1 lines");
    assert_eq!(counted(&check(&programs, &server, &command))[0], json!("holds"));
}

#[test]
fn a_peer_that_cannot_be_asked_is_no_verdict() {
    let programs = Programs::new(&["tcp/alphabet_client.c"]);
    let port = free_port();
    // Which of its faults is seen first depends on the machine.
    for peer in ["./nowhere", "true"] {
        let (code, result) =
            check(&programs, &[peer.to_string()], &format!("-- ./alphabet_client {port} 1 1"));
        let reason = result["reason"].as_str().unwrap_or_default();
        assert!(code == 3 && reason.contains(&format!("the peer {peer}")), "{peer}: {result}");
        let ready = format!("--peer-ready {port} -- ./alphabet_client {port} 1 1");
        let (code, result) = check(&programs, &[peer.to_string()], &ready);
        let reason = result["reason"].as_str().unwrap_or_default();
        assert!(code == 3 && reason.contains(&format!("the peer {peer}")), "{peer}: {result}");
    }
}

/// An answer may be late wherever the program can tell, and only there.
#[test]
fn answers_are_late_where_the_program_can_tell() {
    const LATE: &str = "../crates/everypath/tests/programs/late.c";
    let programs = Programs::new(&["tcp/alphabet_server.c", LATE]);
    let port = free_port();
    let server = [format!("./alphabet_server {port}")];
    let late = |options: &str, what: &str| {
        check(&programs, &server, &format!("{options} -- ./late {port} {what}"))
    };
    for what in ["nothing", "first", "second", "both", "old", "alarm"] {
        assert_eq!(late("", what).0, 1, "{what}");
        let (code, result) = late("--peer-answers prompt", what);
        assert_eq!(code, i32::from(what == "both"), "{what}: {result}");
        let assumed = result["assumptions"].as_array().unwrap();
        let is_said = assumed.iter().any(|assumption| assumption["id"] == "prompt-answers");
        assert!(is_said || code == 1, "{result}");
    }
    let (code, result) = late("", "blocked");
    assert_eq!((code, &result["stats"]["executions"]), (0, &json!(1)), "{result}");
    assert_eq!(result["assumptions"], json!([]));
    // It cannot be late for ever, and the verdict says so.
    let (code, result) = late("", "often");
    assert_eq!((code, &result["stats"]["executions"]), (0, &json!(4)), "{result}");
    let text = result["assumptions"][0]["text"].as_str().unwrap();
    assert!(text.contains("late three times in a row"), "{result}");
}

/// What a server answers that counts over its connections depends on more than is cached.
#[test]
fn servers_that_remember_are_found_out() {
    const COUNTER: &str = "../crates/everypath/tests/programs/remembers.c";
    let programs = Programs::new(&[COUNTER]);
    let port = free_port();
    let server = [format!("./remembers serve {port}")];
    let code = |how: &str, options: &str| {
        let (code, result) =
            check(&programs, &server, &format!("{options} -- ./remembers {how} {port}"));
        let assumed = result["assumptions"].as_array().unwrap().iter();
        let said = assumed.filter(|assumed| assumed["id"] == "peer-histories").count();
        (code, said, result)
    };
    // A history for each connection is not enough: they are explored once more, with one for each process.
    for (how, expected) in [("holds", 0), ("fails", 0), ("first", 1)] {
        let closed = format!("--with './remembers serve {port}' -- ./remembers {how} {port}");
        assert_eq!(check(&programs, &[], &closed).0, expected, "{how}");
        let (alone, said, result) = code(how, "--cache none");
        assert_eq!((alone, said), (expected, 0), "{how}: {result}");
        let (learnt, said, result) = code(how, "");
        assert_eq!(learnt, expected, "{how}: {result}");
        // Which of the two connects first in the first execution tells whether it is a violation at once.
        assert!(said == 1 || expected == 1, "{how}: {result}");
    }
    let (linear, _, result) = code("holds", "--cache linear");
    let reason = result["reason"].as_str().unwrap_or_default();
    assert!(linear == 3 && reason.contains("fresh peers"), "{result}");
    // One connection after the other is counted alike in every execution.
    let (code, result) = check(&programs, &server, &format!("-- ./remembers twice {port}"));
    assert_eq!(code, 0, "{result}");
}

#[test]
fn a_server_may_answer_on_another_connection() {
    const ELSEWHERE: &str = "../crates/everypath/tests/programs/peers/elsewhere.c";
    let programs = Programs::new(&[ELSEWHERE]);
    let port = free_port();
    let server = [format!("./elsewhere serve {port}")];
    for options in ["", "--cache none"] {
        let ask = format!("{options} -- ./elsewhere ask {port}");
        let (code, result) = check(&programs, &server, &ask);
        assert_eq!(code, 0, "{result}");
    }
}

/// Only a program that waits for clients may wait for ever.
#[test]
fn a_program_is_not_idle_while_its_peer_waits() {
    const WAITS: &str = "../crates/everypath/tests/programs/waits.c";
    const REPEATS: &str = "../crates/everypath/tests/programs/repeats.c";
    let programs = Programs::new(&[WAITS, REPEATS, "tcp/alphabet_client.c"]);
    let port = free_port();
    let server = [format!("./repeats serve {port}")];
    // It is ready when it receives.
    let lost = format!("--peer-ready {port} --udp-multiply 1,0 -- ./waits lost {port}");
    let (code, result) = check(&programs, &server, &lost);
    assert_eq!((code, &result["violation"]["property"]), (1, &json!("idle")), "{result}");
    let serve = format!("-- ./waits serve {port}");
    let caller = [format!("./waits call {port}")];
    let (code, result) = check(&programs, &caller, &serve);
    assert_eq!((code, &result["violation"]["property"]), (1, &json!("idle")), "{result}");
    let (code, result) = check(&programs, &[], &format!("--with './waits call {port}' {serve}"));
    assert_eq!(code, 1, "{result}");
    // It waits for the next client.
    let client = [format!("true {port}")];
    let (_, result) = check(&programs, &client, &serve);
    assert_ne!(result["verdict"], "violated", "{result}");
}

#[test]
fn options_about_peers_are_refused_without_peers() {
    let programs = Programs::new(&["tcp/alphabet_client.c"]);
    for option in [
        "--tcp-faults reset=1",
        "--chunks",
        "--cache linear",
        "--verify-peers",
        "--peer-answers prompt",
    ] {
        let command = "--with './alphabet_client 7000 1 1' -- ./alphabet_client 7000 1 1";
        let output = programs.everypath(&format!("check {option} {command}"));
        let said = String::from_utf8_lossy(&output.stderr);
        let name = option.split(' ').next().unwrap();
        assert!(output.status.code() == Some(2) && said.contains(name), "{option}: {said}");
    }
}

/// A server that aborts because of an order of messages is a finding, with the schedule that leads there.
#[test]
fn a_peer_that_fails_because_of_what_it_was_sent_is_a_violation() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/peers/fragile.c"]);
    let port = free_port();
    let server = [format!("./fragile serve {port}")];
    let ask = format!("-- ./fragile ask {port}");
    let (code, result) = check(&programs, &server, &ask);
    let violation = &result["violation"];
    assert_eq!((code, &violation["property"]), (1, &json!("peer-failure")), "{result}");
    let message = violation["message"].as_str().unwrap();
    assert!(message.contains("was ended by signal 6 because of what"), "{message}");
    let replayed = programs.everypath("replay everypath-trace.json");
    assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    let (code, result) = check(&programs, &server, &format!("--peer-failure inconclusive {ask}"));
    assert_eq!((code, &result["verdict"]), (3, &json!("inconclusive")), "{result}");
    let (code, _) = check(&programs, &server, &format!("-- ./fragile ends {port}"));
    assert_eq!(code, 1);
    // One that fails before anything was sent is no finding.
    let (code, _) = check(&programs, &["false".to_string()], &ask);
    assert_eq!(code, 3);
}
