//! Programs that talk to each other, each explored on its own.

use crate::support::Programs;
use serde_json::{Value, json};
use std::process::Command;

/// Checks a program jointly with others, each the words of its command.
fn jointly(programs: &Programs, options: &str, others: &[&str], command: &str) -> (i32, Value) {
    let mut everypath = Command::new(env!("CARGO_BIN_EXE_everypath"));
    everypath.args(["check", "--json", "-", "--joint"]).args(options.split_whitespace());
    for other in others {
        everypath.args(["--with", other]);
    }
    everypath.arg("--").args(command.split_whitespace()).current_dir(programs.folder.path());
    let output = everypath.output().unwrap();
    let result = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{others:?} {command}: {error}: {output:?}"));
    (output.status.code().unwrap(), result)
}

/// Verdict, coverage, the property that is violated, and whether all programs together show that.
fn verdict((_, result): &(i32, Value)) -> Value {
    let violation = &result["violation"];
    let (property, confirmed) = (&violation["property"], &violation["confirmed"]);
    json!([result["verdict"], result["coverage"]["kind"], property, confirmed])
}

fn holds() -> Value {
    json!(["holds", "exhaustive", null, null])
}

fn violates(property: &str) -> Value {
    json!(["violated", "partial", property, true])
}

fn reason((code, result): &(i32, Value)) -> String {
    assert_eq!((code, &result["verdict"]), (&3, &json!("inconclusive")), "{result}");
    result["reason"].as_str().unwrap_or_default().to_string()
}

fn messages((_, result): &(i32, Value)) -> Vec<String> {
    let messages = result["violation"]["messages"].as_array().into_iter().flatten();
    messages.map(|message| message.as_str().unwrap().to_string()).collect()
}

/// Threads share memory. What orders them may be another program, so that no thread stands before a race in
/// any execution of all programs, although one does in executions of this one.
#[test]
fn memory_is_seen() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/races/through_server.c"]);
    let check = |options: &str, how: &str| {
        let client = format!("./through_server client 7000 {how}");
        jointly(&programs, options, &["./through_server server 7000"], &client)
    };
    let right = check("", "right");
    assert_eq!(verdict(&right), holds(), "{right:?}");
    assert_eq!(right.1["assumptions"], json!([]), "{right:?}");
    let note = right.1["findings"][0]["text"].as_str().unwrap();
    assert!(note.contains("nothing in their program orders them"), "{note}");
    assert_eq!(verdict(&check("", "wrong")), violates("assertion"));
    let replayed = programs.everypath("replay everypath-trace.json");
    assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    assert_eq!(verdict(&check("", "update")), violates("assertion"));
    let replayed = programs.everypath("replay everypath-trace.json");
    assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    assert_eq!(verdict(&check("--memory off", "update")), holds());
}

const TALKER: &str = "../crates/everypath/tests/programs/talker.c";

#[test]
fn a_branch_that_the_other_side_never_takes_is_not_reported() {
    let programs = Programs::new(&["closed/times_ten_client.c", "closed/times_ten_server.c"]);
    let check = |client: &str, server: &str| {
        jointly(&programs, "", &[server], &format!("./times_ten_client {client}"))
    };
    assert_eq!(verdict(&check("7000", "./times_ten_server 7000")), holds());
    assert_eq!(verdict(&check("7000 lucky", "./times_ten_server 7000")), holds());
    let buggy = check("7000 lucky", "./times_ten_server 7000 buggy");
    assert_eq!(verdict(&buggy), violates("deadlock"));
    let messages = messages(&buggy);
    assert_eq!(messages.last().unwrap(), "times_ten_client receives \"7\" on connection 1");
    assert_eq!(messages.len(), 7, "{messages:?}");
    let replay = programs.everypath("replay everypath-trace.json");
    let text = String::from_utf8(replay.stdout).unwrap();
    assert_eq!(replay.status.code(), Some(1), "{text}");
    assert!(text.contains("Replayed: every step as recorded, the same violation."), "{text}");
}

#[test]
fn two_ports_in_the_wrong_order_stop_both_programs() {
    let programs = Programs::new(&["closed/two_ports_client.c", "closed/two_ports_server.c"]);
    let server = ["./two_ports_server 7000"];
    let stuck = jointly(&programs, "", &server, "./two_ports_client 7000");
    assert_eq!(verdict(&stuck), violates("deadlock"));
    let messages = messages(&stuck);
    let ends = &messages[messages.len() - 2..];
    let waits = [
        "two_ports_server waits for ever for a connection to port 7000",
        "two_ports_client waits for ever to receive on connection 1",
    ];
    assert!(waits.iter().all(|wait| ends.iter().any(|end| end == wait)), "{messages:?}");
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
    let ordered = jointly(&programs, "", &server, "./two_ports_client 7000 ordered");
    assert_eq!(verdict(&ordered), holds());
}

#[test]
fn the_same_question_is_answered_differently_the_second_time() {
    let programs = Programs::new(&["closed/visits_client.c", "closed/visits_server.c"]);
    let server = ["./visits_server 7000"];
    let twice = jointly(&programs, "", &server, "./visits_client 7000");
    assert_eq!(verdict(&twice), violates("assertion"));
    assert_eq!(messages(&twice).last().unwrap(), "visits_client receives \"c\" on connection 1");
    assert_eq!(verdict(&jointly(&programs, "", &server, "./visits_client 7000 once")), holds());
}

#[test]
fn cost_is_the_sum_of_the_programs() {
    let programs = Programs::new(&["tcp/alphabet_client.c", "tcp/alphabet_server.c"]);
    for (sessions, letters) in [(1, 1), (2, 2), (3, 3)] {
        let server = format!("./alphabet_server 7000 {sessions}");
        let client = format!("./alphabet_client 7000 {sessions} {letters}");
        let result = jointly(&programs, "", &[&server], &client);
        assert_eq!(verdict(&result), holds());
        let joint = &result.1["stats"]["joint"];
        for program in joint["programs"].as_array().unwrap() {
            assert_eq!(program["last_executions"], json!(1), "{joint}");
        }
    }
}

#[test]
fn three_programs_are_explored_jointly() {
    let programs = Programs::new(&[TALKER]);
    let silent = programs.check("--joint --with ./talker --with ./talker -- ./talker");
    assert_eq!(verdict(&silent), holds());
    let relay = "./talker l7001 a r1 x c7002 sq r1 =z";
    let last = "./talker l7002 a r1 =q ?yz x u";
    let client = "./talker c7001 sq r1 =";
    // The program that is checked ends well, another one does not.
    let found = jointly(&programs, "", &[relay, last], client);
    assert_eq!(verdict(&found), violates("exit-code"));
    let found = jointly(&programs, "--with-exit-code any", &[relay, last], client);
    assert_eq!(verdict(&found), holds());
    let relay = "./talker l7001 / a r1 c7002 sq r1 +z sz x";
    let found = jointly(&programs, "", &[relay, last], "./talker c7001 sq");
    assert_eq!(verdict(&found), holds());
    let both = "./talker l7001 c7002 sq r1 +z c7003";
    let found = jointly(&programs, "--idle violation", &[both, last], "./talker l7003 a");
    assert_eq!(verdict(&found), violates("idle"));
    let replay = programs.everypath("replay everypath-trace.json");
    assert_eq!(replay.status.code(), Some(1), "{replay:?}");
}

#[test]
fn what_all_programs_together_do_not_show_is_unconfirmed() {
    let programs = Programs::new(&[TALKER]);
    let mut others = vec!["./talker"; 15];
    others.push("./talker l7000 a sb x u");
    let found = jointly(&programs, "", &others, "./talker c7000 r1 =a");
    assert_eq!(verdict(&found), json!(["violated", "partial", "exit-code", false]));
    let reason = &found.1["violation"]["unconfirmed"];
    assert_eq!(reason, "at most 16 programs can run together");
    // The program that fails can be watched all the same.
    let replay = programs.everypath("replay everypath-trace.json");
    let text = String::from_utf8(replay.stdout).unwrap();
    assert_eq!(replay.status.code(), Some(1), "{text}");
    assert!(text.contains("Replayed: every step as recorded, the same violation."), "{text}");
}

#[test]
fn bytes_arrive_as_they_were_sent_or_together() {
    let programs = Programs::new(&[TALKER]);
    let server = ["./talker l7000 a sab scd x u"];
    for (client, expected) in [
        ("./talker c7000 r9 =ab", violates("exit-code")),
        ("./talker c7000 r9 =abcd", violates("exit-code")),
        ("./talker c7000 r9 +ab r9 r1 =", holds()),
        ("./talker c7000 w4 =abcd r1 =", holds()),
        ("./talker c7000 r2 =ab r2 =cd r1 =", holds()),
    ] {
        assert_eq!(verdict(&jointly(&programs, "", &server, client)), expected, "{client}");
    }
}

#[test]
fn connections_end_and_break() {
    let programs = Programs::new(&[TALKER]);
    for (server, client, expected) in [
        // Whoever leaves bytes behind breaks the connection.
        ("./talker l7000 a r1 x u", "./talker c7000 sab r1 =!", holds()),
        ("./talker l7000 a r2 x u", "./talker c7000 sab r1 =", holds()),
        // The end of what is sent is no end of what is received.
        ("./talker l7000 a r9 r1 = sz x u", "./talker c7000 sab h r1 =z r1 =", holds()),
        ("./talker l7000 a x u", "./talker c7000 sa r1 r1 =", holds()),
        // A process that ends closes what it has.
        ("./talker l7000 a r1", "./talker c7000 sa r1 =", holds()),
        ("./talker l7000 a sa r1 =b", "./talker c7000 r1 =a", holds()),
        // Who closes a connection knows that nobody waits at it.
        ("./talker l7000 a", "./talker c7000 / r1 v / t x", holds()),
        // Nobody is connected to after that, but those who wait are told.
        ("./talker l7000", "./talker c7000 r1 =", violates("exit-code")),
    ] {
        let result = jointly(&programs, "--with-exit-code any", &[server], client);
        assert_eq!(verdict(&result), expected, "{server}, {client}: {}", result.1);
    }
}

#[test]
fn unix_sockets_are_streams_on_one_machine() {
    let programs = Programs::new(&[TALKER]);
    for (server, client, expected) in [
        ("./talker ldoor a r2 sc x u", "./talker cdoor sab r1 =c r1 =", holds()),
        ("./talker ldoor a r1 x u", "./talker cdoor sab r1 =!", holds()),
        ("./talker ldoor a r9 r1 = sz x u", "./talker cdoor sab h r1 =z r1 =", holds()),
        // Who sends too late finds out at once, and breaks nothing.
        ("./talker ldoor a x u", "./talker n cdoor q-1 sa r1 =", holds()),
        (
            "./talker ldoor a x u",
            "./talker c7000 r1",
            json!(["inconclusive", "partial", null, null]),
        ),
        ("./talker ldoor a", "./talker cdoor r1 =a", violates("exit-code")),
    ] {
        let result = jointly(&programs, "", &[server], client);
        assert_eq!(verdict(&result), expected, "{server}, {client}: {}", result.1);
    }
    let twice = ["./talker ldoor", "./talker ldoor"];
    let reason = reason(&jointly(&programs, "", &twice, "./talker cdoor"));
    assert!(reason.contains("both listen on socket door; give each a name"), "{reason}");
}

/// Programs that send each other datagrams, and what comes of it, jointly and as a closed system.
#[test]
fn datagrams_are_queued_as_they_were_sent() {
    let programs = Programs::new(&[TALKER]);
    let echo = "./talker b7001 e9 M";
    let (says_a, says_b) = ("./talker b7001 @7000 ma", "./talker b7002 @7000 mb");
    for (options, others, first, expected) in [
        ("", vec![echo], "./talker b7000 @7001 ma e9 =a", holds()),
        // Its port is chosen, and known to who was sent something from there.
        ("", vec![echo], "./talker b @7001 ma e9 =a", holds()),
        ("", vec![echo], "./talker b O7001 ma e9 =a", holds()),
        ("", vec!["./talker b7001 @7000 ma mb"], "./talker b7000 e9 =a e9 =b", holds()),
        // Who of two was first is open,
        ("", vec![says_a, says_b], "./talker b7000 e9 =a", violates("exit-code")),
        // unless one of them told the other.
        (
            "",
            vec!["./talker b7001 @7000 ma @7002 mb", "./talker b7002 e9 @7000 mc"],
            "./talker b7000 e9 =a e9 =c",
            holds(),
        ),
        // Connected sockets hear one other, but may have heard others before.
        ("", vec![says_a, says_b], "./talker b7000 O7001 e9 =a", violates("exit-code")),
        // Nobody is there any more.
        ("", vec!["./talker b7001 X"], "./talker b7000 @7001 ma", holds()),
        ("", vec![says_a], "./talker b7000 y9 =a", violates("exit-code")),
        ("", vec![says_a], "./talker b7000 p-1 y9 =a", holds()),
        ("", vec![says_a], "./talker b7000 p0 y9 =a", violates("exit-code")),
        ("", vec![says_a], "./talker b7000 / e9 / e9", holds()),
        // A server waits for more connections; a program that waits for one peer does not.
        ("", vec!["./talker b7001 e9"], "./talker b7000", holds()),
        ("", vec!["./talker b7001 O7000 e9"], "./talker b7000", violates("idle")),
        ("", vec!["./talker b7001 e9"], "./talker b7000 O7001 e9", violates("idle")),
        // A stream besides.
        ("", vec!["./talker b7001 l7000 a e9 M"], "./talker b c7000 @7001 ma P-1 e9 =a", holds()),
        ("--udp-multiply 1,0", vec![says_a], "./talker b7000 z9 =a", violates("exit-code")),
        ("--udp-multiply 1,0", vec![says_a], "./talker b7000 p-1 y9 =a", holds()),
        ("--udp-multiply 1,2", vec![says_a], "./talker b7000 e9 z9 = z9 =!", violates("exit-code")),
    ] {
        let joint = jointly(&programs, options, &others, first);
        let case = format!("{others:?}, {first}");
        assert_eq!(verdict(&joint), expected, "{case}: {}", joint.1);
        let with: String = others.iter().map(|other| format!("--with '{other}' ")).collect();
        let (_, closed) = programs.check(&format!("{options} {with} -- {first}"));
        let both = [&joint.1, &closed]
            .map(|result| json!([result["verdict"], result["violation"]["property"]]));
        assert_eq!(both[0], both[1], "{case}");
    }
}

#[test]
fn hasty_nodes_elect_two_leaders() {
    let programs = Programs::new(&["closed/election_node.c", "closed/election_watch.c"]);
    let elect = |how: &str| {
        let nodes = [1, 2, 3].map(|node| format!("./election_node 7000 {node} 3 {how}"));
        jointly(&programs, "", &nodes.each_ref().map(String::as_str), "./election_watch 7000 3")
    };
    assert_eq!(verdict(&elect("hasty")), violates("assertion"));
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
    assert_eq!(verdict(&elect("")), holds());
}

#[test]
fn who_does_not_wait_finds_something_or_nothing() {
    let programs = Programs::new(&[TALKER]);
    let says_a = "./talker l7000 a sa";
    for (server, client, expected) in [
        (says_a, "./talker c7000 k1 =a", violates("exit-code")),
        (says_a, "./talker c7000 o1 =a", violates("exit-code")),
        (says_a, "./talker c7000 q0 k1 =a", violates("exit-code")),
        // Who has seen something finds it.
        (says_a, "./talker c7000 q-1 k1 =a", holds()),
        (says_a, "./talker c7000 S-1 k1 =a", holds()),
        // Connections are seen, too, and those who come are not alone.
        ("./talker l7000 Q-1 j E-1 k1 =b", "./talker n c7000 sb", holds()),
        ("./talker l7000 j r1", "./talker c7000 sb", violates("exit-code")),
        ("./talker c7000 / sb / c7000 x", "./talker l7000 a E-1 k1 =b", violates("exit-code")),
        // Nobody ever says anything.
        ("./talker l7000 a q-1", "./talker c7000 q-1", violates("idle")),
    ] {
        let result = jointly(&programs, "", &[server], client);
        assert_eq!(verdict(&result), expected, "{server}, {client}: {}", result.1);
    }
}

#[test]
fn peers_of_each_other_connect_both_ways() {
    let programs = Programs::new(&[TALKER]);
    let other = ["./talker l7000 / a r1 =c sd / c7001 sa r1 =b"];
    let both = jointly(&programs, "", &other, "./talker l7001 / a r1 =a sb / c7000 sc r1 =d");
    assert_eq!(verdict(&both), holds());
    // Each waits for the other to speak first.
    let other = ["./talker l7000 c7001 r1"];
    let both = jointly(&programs, "", &other, "./talker l7001 c7000 r1");
    assert_eq!(verdict(&both), violates("idle"));
}

#[test]
fn reduced_and_plain_search_agree() {
    let programs = Programs::new(&[TALKER]);
    for (server, client) in [
        ("./talker l7000 a / sa / sb", "./talker c7000 r1 r1"),
        ("./talker l7000 a / ?ab / r1", "./talker c7000 r1 +a sx"),
        ("./talker l7000 a / r1 v / t sz", "./talker c7000 / r9 =z / sa"),
    ] {
        let result = |reduction: &str| {
            let (_, mut result) = jointly(&programs, reduction, &[server], client);
            let programs = result["stats"]["joint"]["programs"].take();
            let histories = programs.as_array().into_iter().flatten();
            // How far it came when something was found depends on the order of the search.
            let is_whole = result["verdict"] == json!("holds");
            let histories: Vec<Value> = histories
                .filter(|_| is_whole)
                .map(|program| program["histories"].clone())
                .collect();
            json!([result["verdict"], result["violation"]["property"], histories])
        };
        assert_eq!(result("--reduction dpor"), result("--reduction none"), "{server}, {client}");
    }
}

/// Lists what a program shows to others, if another one is right; the exit code and the result.
fn emit(programs: &Programs, component: &str, reference: &str, other: &str) -> (i32, Value) {
    let (component, options) = component.split_once(" with ").unwrap_or((component, ""));
    let mut everypath = Command::new(env!("CARGO_BIN_EXE_everypath"));
    everypath.args(["check", "--json", "-", "--joint", "--emit", "failures.json"]);
    everypath.args(["--time", "any"]).args(options.split_whitespace());
    everypath.args(["--reference", reference, "--with", other, "--"]);
    everypath.args(component.split_whitespace()).current_dir(programs.folder.path());
    let output = everypath.output().unwrap();
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

/// The failures that a program shows to others, if another one is right.
fn emitted(
    programs: &Programs,
    component: &str,
    reference: &str,
    other: &str,
) -> (Value, Vec<String>) {
    let (code, result) = emit(programs, component, reference, other);
    let failures = result["failures"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    let word = |value: &Value| value.as_str().unwrap().to_string();
    let bytes =
        |failure: &Value| ["after", "expected", "shown"].map(|name| word(&failure[name])).join(" ");
    let failures = failures.map(|failure| format!("{} {}", word(&failure["kind"]), bytes(failure)));
    (json!([result["verdict"], code]), failures.collect())
}

#[test]
fn failures_that_others_see_are_listed() {
    let programs = Programs::new(&[TALKER]);
    let right = "./talker l7000 a r1 +a sb x u";
    let client = "./talker c7000 sa r1 r1";
    let datagrams =
        emit(&programs, "./talker b7000 e9", "./talker b7000 e9", "./talker b @7000 ma");
    assert!(reason(&datagrams).contains("failures on connections only"), "{datagrams:?}");
    for (component, shown) in [
        // By choice, right or wrong.
        ("./talker l7000 a r1 ?bc x u", vec!["wrong-data 61 62 63"]),
        ("./talker l7000 a r1 sb sc x u", vec!["wrong-data 61  63"]),
        ("./talker l7000 a r1 x u", vec!["early-close 61 62 "]),
        ("./talker l7000 a x u", vec!["early-close   "]),
        ("./talker l7000 u", vec!["early-close   "]),
        ("./talker l7000 a r1 t", vec!["silence 61 62 "]),
        ("./talker l7000 t", vec!["silence   "]),
        // Whether a thread is in time.
        ("./talker l7000 a r1 / sb / sc", vec!["wrong-data 61  63", "wrong-data 61 62 6362"]),
        ("./talker l7000 a r1 sb x u", vec![]),
        // A process that is killed is right until then; calls that are interrupted are not repeated.
        ("./talker l7000 a r1 sb x u with --kill 1", vec!["early-close   ", "early-close 61 62 "]),
        ("./talker l7000 a r1 sb x u with --tcp-faults short-write=1", vec![]),
        // What was sent before a connection breaks arrives, and what is sent after that does not.
        (
            "./talker l7000 a r1 sb x u with --tcp-faults reset=1",
            vec!["early-close   ", "early-close 61 62 "],
        ),
        (
            "./talker l7000 a r1 sb x u with --tcp-faults eintr=1",
            vec!["wrong-data   62", "early-close   ", "early-close 61 62 "],
        ),
    ] {
        let (verdict, failures) = emitted(&programs, component, right, client);
        assert_eq!(failures, shown, "{component}");
        let expected = if shown.is_empty() { ("holds", 0) } else { ("violated", 1) };
        assert_eq!(verdict, json!([expected.0, expected.1]), "{component}");
    }
}

#[test]
fn failures_propagate_or_do_not() {
    let programs = Programs::new(&[TALKER]);
    let right = "./talker l7000 a r1 sb x u";
    let wrong = "./talker l7000 a r1 ?bcd x u";
    let (_, failures) = emitted(&programs, wrong, right, "./talker c7000 sa r1");
    assert_eq!(failures, ["wrong-data 61 62 63", "wrong-data 61 62 64"]);
    let against = |options: &str, others: &[&str], command: &str| {
        let options = format!("--against failures.json {options}");
        let result = jointly(&programs, &options, others, command);
        let failures = result.1["failures"].as_array().into_iter().flatten();
        let propagates: Vec<Value> =
            failures.map(|failure| failure["propagates"].clone()).collect();
        (result.1["verdict"].clone(), json!(propagates))
    };
    assert_eq!(against("", &[], "./talker c7000 sa r1"), (json!("holds"), json!([false, false])));
    let careless = against("", &[], "./talker c7000 sa r1 +d =b");
    assert_eq!(careless, (json!("violated"), json!([false, true])));
    // Somebody else asks something else.
    let other = against("", &[], "./talker c7000 sz r1");
    assert_eq!(other, (json!("inconclusive"), json!([])));
    // Passes on what it hears, but for one mistake that it corrects.
    let relay = "./talker l7001 c7000 sa r1 a +b sb +c sb +d sx x u";
    let behind = against("", &[relay], "./talker c7001 r1 =b");
    assert_eq!(behind, (json!("violated"), json!([false, true])));
}

/// How a program ends in a closed system, in every way; none if there are so many executions.
fn endings_of(
    most: u64,
    programs: &Programs,
    options: &str,
    [other, command]: [&str; 2],
) -> Option<Vec<String>> {
    let mut everypath = Command::new(env!("CARGO_BIN_EXE_everypath"));
    everypath.args(["check", "--json", "-", "--keep-going", "--exit-code", "255"]);
    everypath.args(["--max-executions", &most.to_string()]).args(options.split_whitespace());
    everypath.args(["--with", other, "--"]).args(command.split_whitespace());
    let output = everypath.current_dir(programs.folder.path()).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let endings = result["stats"]["endings"].as_array().unwrap().iter();
    let mut endings: Vec<String> =
        endings.map(|ending| ending["ending"].as_str().unwrap().to_string()).collect();
    endings.sort_unstable();
    (result["stats"]["executions"].as_u64() < Some(most)).then_some(endings)
}

#[test]
fn who_connects_races_with_who_stops_listening() {
    let programs = Programs::new(&[TALKER]);
    for (server, client) in [
        ("./talker l7000 a", "./talker % c7000 c7000 r2"),
        ("./talker l7000 u", "./talker % c7000 x / c7000 r2"),
    ] {
        let run = |reduction| endings_of(20_000, &programs, reduction, [server, client]).unwrap();
        let (reduced, plain) = (run("--reduction dpor"), run("--reduction none"));
        assert_eq!(reduced, plain, "{server}, {client}");
        assert_eq!(plain.len(), 2, "{plain:?}");
    }
}

#[test]
fn what_is_not_modelled_is_said() {
    let programs = Programs::new(&[TALKER]);
    let blocked = "close while another thread may be blocked";
    for (options, others, client, said) in [
        ("", vec!["./talker l7001 a"], "./talker c7000", "port 7000, on which no program listens"),
        (
            "",
            vec!["./talker l7000", "./talker l7000"],
            "./talker c7000",
            "both listen on port 7000",
        ),
        (
            "--time quiescent",
            vec!["./talker l7000 a o1"],
            "./talker c7000 r1",
            "but not with quiescent",
        ),
        (
            "",
            vec!["./talker l7000 a g"],
            "./talker c7000 r1",
            "one poll of connections to other programs and of other descriptors",
        ),
        ("", vec!["./talker l7000 a f"], "./talker c7000 r1", "--max-depth bounds them"),
        // Nothing that others do makes the program be explored again.
        (
            "--idle ok",
            vec!["./talker l7000 a f"],
            "./talker l7001 c7000 r1 a",
            "--max-depth bounds them",
        ),
        ("", vec!["./talker l7000 a"], "./talker c7000 / x / q-1", blocked),
        ("", vec!["./talker l7000 a"], "./talker c7000 / x / r1", blocked),
        ("", vec!["./talker c7000"], "./talker l7000 a / u / a", blocked),
        (
            "",
            vec!["./talker b7001"],
            "./talker b7000 @7005 ma",
            "port 7005, to which no program is",
        ),
        ("", vec!["./talker b7000"], "./talker b7000", "both receive datagrams at port 7000"),
        (
            "",
            vec!["./talker b7001"],
            "./talker b7000 / @7000 ma",
            "datagrams of a program to itself",
        ),
        (
            "",
            vec!["./talker b7001 @7002 ma", "./talker b7002 y9 +a b7005"],
            "./talker b7000 @7005 ma",
            "no socket is bound to it when nothing else can happen",
        ),
        (
            "--idle ok",
            vec!["./talker b7001 X"],
            "./talker b7000 O7001 ma / e9 / ma",
            "which of several threads gets ECONNREFUSED",
        ),
        ("", vec!["./talker b7001 X b7001"], "./talker b7000", "two binds of UDP port 7001"),
        ("--max-executions 3", vec!["./talker l7000 a ?abc"], "./talker c7000 r1", "limit of 3"),
    ] {
        let reason = reason(&jointly(&programs, options, &others, client));
        assert!(reason.contains(said), "{others:?}: {reason}");
    }
    let flood = ["./talker l7000 a f"];
    let bounded = jointly(&programs, "--max-depth 12", &flood, "./talker c7000 r1 =f");
    assert_eq!(verdict(&bounded), json!(["holds", "bounded", null, null]));
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let programs = Programs::new(&[TALKER]);
    for (arguments, said) in [
        ("check --joint -- ./talker", "--joint needs at least two programs"),
        ("check --joint --with ./talker --peer ./talker -- ./talker", "--peer"),
        ("check --joint --with ./nothing -- ./talker", "./nothing"),
        ("check --joint --with \"'\" -- ./talker", "is no command"),
        ("check --joint --emit f --with ./talker -- ./talker", "--reference 'COMMAND'"),
        ("check --joint --reference ./talker --with ./talker -- ./talker", "for --emit FILE"),
        ("check --joint --udp-window 2 --with ./talker -- ./talker", "leave --udp-window and"),
        ("check --joint --udp-budget loss=1 --with ./talker -- ./talker", "leave --udp-window and"),
        ("check --against missing.json -- ./talker", "missing.json"),
        ("check --against talker -- ./talker", "--against talker"),
        ("check --joint --kill 1 --with ./talker -- ./talker", "name a file with --emit"),
        ("check --joint --strategy pct --with ./talker -- ./talker", "leave --strategy out"),
        ("check --joint --state-matching --with ./talker -- ./talker", "leave --with out"),
    ] {
        let output = programs.everypath(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.contains(said), "{arguments}: {error}");
    }
}
