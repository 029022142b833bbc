//! Datagrams: what the network may do to them is what definition 5 of Sebih et al. (2015) says, each
//! delivery once, and nothing is decided before somebody looks.

use crate::support::Programs;
use everypath_perturb::{Budget, Deliveries, Multiplicities, Rules};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;

fn packets() -> Programs {
    Programs::new(&["../crates/everypath/tests/programs/packets.c"])
}

/// What a program prints in all of its executions, and how many there are.
fn outputs(programs: &Programs, options: &str) -> (u64, BTreeSet<String>) {
    let folder = programs.folder.path();
    let (collect, collected) = (folder.join("collect"), folder.join("collected"));
    fs::write(&collect, format!("#!/bin/sh\ncat >> {}\n", collected.display())).unwrap();
    fs::set_permissions(&collect, Permissions::from_mode(0o755)).unwrap();
    fs::write(&collected, "").unwrap();
    let (code, result) = programs.check(&format!("--oracle {} {options}", collect.display()));
    assert_eq!(code, 0, "{options}: {result}");
    let lines = fs::read_to_string(&collected).unwrap();
    (result["stats"]["executions"].as_u64().unwrap(), lines.lines().map(Into::into).collect())
}

/// All deliveries of so many packets, as digits.
fn deliveries(packets: usize, rules: Rules) -> BTreeSet<String> {
    let digits = |delivery: Vec<u32>| delivery.iter().map(|packet| packet.to_string()).collect();
    Deliveries::of(packets, rules).unwrap().map(digits).collect()
}

#[test]
fn a_program_sees_every_delivery_once() {
    let programs = packets();
    for (packets, multiply, window, count) in [
        (2, "0,1,2", 2, 19),
        (2, "1,2", 2, 14),
        (2, "0,1", 2, 5),
        (3, "1", 2, 4),
        (3, "0,1", 3, 16),
        (3, "0,1,2", 1, 27),
        (3, "0,1,2", 2, 135),
        (4, "0,1", 3, 59),
        (3, "1", 1, 1),
    ] {
        let multiplicities: Multiplicities = multiply.parse().unwrap();
        let rules = Rules::new(multiplicities, window, Budget::UNLIMITED).unwrap();
        let options = format!("--udp-multiply {multiply} --udp-window {window}");
        let seen = outputs(&programs, &format!("{options} -- ./packets {packets}"));
        assert_eq!(seen, (count, deliveries(packets, rules)), "{packets} packets, {options}");
    }
}

/// The same for more numbers of packets, multiplicities and windows: what is seen is compared with
/// the definition, element by element.
#[test]
fn a_program_sees_what_the_definition_says() {
    let programs = packets();
    for (packets, multiply, window) in [
        (1, "0,1,2,3", 1),
        (2, "2", 2),
        (2, "0,3", 2),
        (3, "1,2", 1),
        (3, "2", 2),
        (3, "0,2", 3),
        (4, "1", 3),
        (4, "1", 4),
        (4, "1,0", 2),
        (5, "1", 2),
        (6, "0,1", 1),
    ] {
        let rules = Rules::new(multiply.parse().unwrap(), window, Budget::UNLIMITED).unwrap();
        let expected = deliveries(packets, rules);
        let options = format!("--udp-multiply {multiply} --udp-window {window}");
        let seen = outputs(&programs, &format!("{options} -- ./packets {packets}"));
        assert_eq!(seen, (expected.len() as u64, expected), "{packets} packets, {options}");
    }
}

#[test]
fn whoever_looks_sees_the_same() {
    let programs = packets();
    for how in ["recv", "poll", "select", "epoll"] {
        let (executions, seen) = outputs(
            &programs,
            &format!("--udp-multiply 1,0,2 --udp-window 2 -- ./packets 2 {how}"),
        );
        assert_eq!((executions, seen.len()), (19, 19), "{how}");
    }
}

#[test]
fn packets_that_nobody_reads_cause_no_choices() {
    let (executions, _) =
        outputs(&packets(), "--udp-multiply 1,0,2 --udp-window 2 -- ./packets 3 never");
    assert_eq!(executions, 1);
}

#[test]
fn faults_are_limited_in_number_and_to_a_part_of_the_program() {
    let programs = packets();
    let budget = |text: &str| -> Budget { text.parse().unwrap() };
    for (options, multiply, window) in [
        ("loss=1", "1,0", 1),
        ("dup=1", "1,2", 1),
        ("loss=1,dup=1", "1,0,2", 1),
        ("reorder=1", "1", 2),
        ("total=1", "1,0,2", 2),
    ] {
        let rules = Rules::new(multiply.parse().unwrap(), window, budget(options)).unwrap();
        let expected = deliveries(3, rules);
        let seen = outputs(&programs, &format!("--udp-budget {options} -- ./packets 3"));
        assert_eq!(seen, (expected.len() as u64, expected), "{options}");
    }
    let (executions, seen) = outputs(&programs, "--udp-multiply 1,0 -- ./packets 2 switch");
    assert_eq!((executions, seen.len()), (4, 4), "the first packet, before, is not lost");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let programs = packets();
    for options in [
        "--udp-multiply 1,1",
        "--udp-multiply some",
        "--udp-window 0",
        "--udp-direction up",
        "--udp-budget luck=1",
        "--udp-multiply 2 --udp-budget loss=1",
        "--udp-at multiply=1",
        "--udp-at 7000",
        "--udp-at '7000 luck=1'",
        "--udp-at '7000 multiply=1,1'",
        "--udp-at '7000 multiply=2 budget=loss=1'",
        "--udp-at '7000 window=2' --udp-at '7000 window=3'",
        "--udp-at '1 window=2' --udp-at '2 window=2' --udp-at '3 window=2' --udp-at '4 window=2' \
         --udp-at '5 window=2'",
    ] {
        let output = programs.everypath(&format!("check {options} -- ./packets 1"));
        assert_eq!(output.status.code(), Some(2), "{options}: {output:?}");
    }
}

/// What is said of a port holds for the socket there, and for whoever exchanges datagrams with it.
#[test]
fn ports_have_settings_of_their_own() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    let seen = |options: &str| {
        let options = format!("--idle ok {options} -- ./alphabet_client {port} 1 2 unchecked");
        let (code, result) = check(&programs, "alphabet_server", port, &options);
        assert_eq!(code, 0, "{options}: {result}");
        result["stats"]["executions"].as_u64().unwrap()
    };
    let lossy = seen("--udp-multiply 1,0");
    let reliable = seen("");
    assert!(lossy > reliable, "{lossy} {reliable}");
    assert_eq!(seen(&format!("--udp-at '{port} multiply=1,0'")), lossy);
    assert_eq!(seen(&format!("--udp-multiply 1,0 --udp-at '{port} multiply=1'")), reliable);
    let elsewhere = if port == 9 { 10 } else { 9 };
    assert_eq!(seen(&format!("--udp-at '{elsewhere} multiply=1,0'")), reliable);
    let budget = seen("--udp-multiply 1,0 --udp-budget loss=1");
    assert_eq!(seen(&format!("--udp-at '{port} multiply=1,0 budget=loss=1'")), budget);
    let sent = seen("--udp-multiply 1,0 --udp-direction send");
    assert_eq!(seen(&format!("--udp-at '{port} multiply=1,0 direction=send'")), sent);
    fs::write(
        programs.folder.path().join("scenario.toml"),
        format!(
            "program = './alphabet_client'\narguments = ['{port}', '1', '2', 'unchecked']\n\
             peer = ['./alphabet_server {port}']\nidle = 'ok'\n\
             udp-at = ['{port} multiply=1,0', '{elsewhere} multiply=1,2']\n"
        ),
    )
    .unwrap();
    let (code, result) = programs.check("scenario.toml");
    assert_eq!(code, 0, "{result}");
    assert_eq!(result["stats"]["executions"].as_u64(), Some(lossy));
}

/// A client must be one conversation: one that has two is said to be what it is.
#[test]
fn a_client_that_uses_both_kinds_of_sockets_is_told() {
    let programs = Programs::new(&["udp/file_server.rs", "udp/file_client.rs"]);
    let port = free_port();
    let (code, result) = programs
        .check(&format!("--idle ok --peer './file_client {port} 3' -- ./file_server {port}"));
    assert_eq!(code, 3, "{result}");
    let reason = result["reason"].as_str().unwrap();
    assert!(reason.contains("datagrams beside a connection"), "{reason}");
    // As a closed system they can be explored: a copy of a packet breaks a file.
    let network = "--time quiescent --idle ok --udp-budget dup=1";
    let client = format!("--with './file_client {port} 2 buggy'");
    let (code, result) = programs.check(&format!("{network} {client} -- ./file_server {port}"));
    assert_eq!((code, &result["violation"]["property"]), (1, &"panic".into()), "{result}");
}

/// How executions of `letters` end; none if there are too many of them.
fn endings(programs: &Programs, reduction: &str, options: &str) -> Option<Vec<String>> {
    let limits = "--keep-going --exit-code 255 --idle ok --max-executions 20000";
    let (_, result) = programs.check(&format!("{limits} --reduction {reduction} {options}"));
    let endings = result["stats"]["endings"].as_array().unwrap();
    let names = endings.iter().map(|ending| ending["ending"].as_str().unwrap().to_string());
    (result["stats"]["executions"].as_u64().unwrap() < 20_000).then(|| names.collect())
}

#[test]
fn reduced_and_plain_search_find_the_same_endings() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/letters.c"]);
    for (options, scripts) in [
        ("", "SS RR"),
        ("", "S NP"),
        ("", "s r"),
        ("", "R SNS"),
        ("", "SRS RS"),
        ("--udp-multiply 1,0", "SS RR"),
        ("--udp-multiply 1,0", "SsX xR"),
        ("--udp-multiply 1,2", "SX RXR"),
        ("--udp-multiply 1,0", "s rX"),
        ("--udp-multiply 1,0", "Ss B"),
        ("--udp-multiply 1,2", "S KR"),
        ("--udp-multiply 1 --udp-window 2", "SS RR"),
        ("--udp-multiply 1 --udp-window 2", "SRS RS"),
        ("--udp-multiply 1 --udp-window 2", "RS SSR"),
        ("--udp-multiply 1 --udp-window 2", "SSX RR"),
        ("--udp-multiply 2 --udp-window 2", "SS RR"),
        ("--udp-multiply 1 --udp-window 2 --time quiescent", "sS rRr"),
        ("--udp-multiply 1,0 --udp-window 2", "SS NR"),
        ("--udp-budget loss=1", "Ss Rr"),
        ("--udp-budget loss=1", "SR SR"),
        ("--udp-budget total=1", "SS RP"),
    ] {
        let options = format!("{options} -- ./letters {scripts}");
        let reduced = endings(&programs, "dpor", &options).expect("a reduced search is small");
        let plain = endings(&programs, "none", &options).expect("these are small");
        assert_eq!(reduced, plain, "{options}");
    }
}

/// The server tells what it heard, so an ending tells in which order requests reached it.
#[test]
fn reduced_and_plain_search_find_the_same_endings_with_a_server() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/letters.c"]);
    let port = free_port();
    let peer = format!("--peer './letters serve {port}'");
    for (options, scripts) in [
        ("--udp-direction send --udp-window 2", "SS R"),
        ("--udp-direction send --udp-window 2", "SSX R"),
        ("--udp-direction send --udp-window 2", "SS N"),
        ("--udp-direction send --udp-window 2", "SSSRR"),
        ("--udp-direction send --udp-multiply 1,0 --udp-window 2", "SSRR"),
        ("--udp-direction send --udp-multiply 1,2 --udp-window 2", "S RR"),
        ("--udp-window 2", "SS R"),
        ("--udp-direction receive --udp-window 2", "SSR R"),
        ("--udp-direction receive --udp-window 2", "SXS R"),
        ("--udp-direction receive --udp-window 3", "SSSRRR"),
    ] {
        let options = format!("{peer} {options} -- ./letters @{port} {scripts}");
        let reduced = endings(&programs, "dpor", &options).expect("a reduced search is small");
        let plain = endings(&programs, "none", &options).expect("these are small");
        assert!(reduced == plain && !plain.is_empty(), "{options}: {reduced:?}, {plain:?}");
    }
    // Answers overtake each other, although requests may be lost and are decided about one by one.
    let count = |receiving: &str| {
        let options = format!("--udp-send-multiply 1,0 {receiving} -- ./letters @{port} SSRR");
        endings(&programs, "dpor", &format!("{peer} {options}")).expect("it is small").len()
    };
    assert_eq!((count(""), count("--udp-receive-window 2")), (1, 2));
}

/// Only the look that begins a batch depends on what is sent at the same time: each way to divide
/// requests into batches and to reorder these, with and without a look before the first request.
#[test]
fn packets_that_leave_in_batches_are_explored_once() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    for requests in 1..=5_u32 {
        let client = format!("-- ./alphabet_client {port} 1 {requests} unchecked");
        let options = format!("--udp-direction send --udp-window 2 {client}");
        let (code, result) = check(&programs, "alphabet_server", port, &options);
        let executions = 2 * 3_u64.pow(requests - 1);
        assert_eq!((code, &result["stats"]["executions"]), (0, &executions.into()), "{result}");
    }
}

/// What is sent later, who receives could have got as well; but it makes no difference to what it
/// gets. So each delivery is explored once, however the requests are sent meanwhile.
#[test]
fn packets_that_arrive_out_of_order_are_explored_once() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    for (requests, window) in [(1, 2), (2, 2), (4, 2), (7, 2), (4, 3), (4, 9)] {
        let client = format!("-- ./alphabet_client {port} 1 {requests} unchecked");
        let options = format!("--udp-direction receive --udp-window {window} {client}");
        let (code, result) = check(&programs, "alphabet_server", port, &options);
        let rules = Rules::new("1".parse().unwrap(), window, Budget::UNLIMITED).unwrap();
        let deliveries = Deliveries::of(requests, rules).unwrap().count();
        assert_eq!((code, &result["stats"]["executions"]), (0, &deliveries.into()), "{result}");
    }
}

/// A descriptor that another thread opened anew is looked at while it is decided who goes on.
#[test]
fn reduced_and_plain_search_agree_about_sockets_under_other_numbers() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/watches.c"]);
    for scripts in ["u0O1 L1", "u0O1 P1", "O1L1 u0"] {
        let options = format!("--udp-budget total=1 -- ./watches {scripts}");
        let reduced = endings(&programs, "dpor", &options).expect("a reduced search is small");
        let plain = endings(&programs, "none", &options).expect("these are small");
        assert_eq!(reduced, plain, "{options}");
    }
}

#[test]
fn a_protocol_that_trusts_every_acknowledgement_is_found_out_and_replayed() {
    let programs = Programs::new(&["udp/arq.rs"]);
    let faults = "--time quiescent --udp-budget loss=1,dup=1";
    let (code, result) = programs.check(&format!("{faults} -- ./arq both 0 2 1 unchecked"));
    assert_eq!((code, &result["violation"]["property"]), (1, &"panic".into()), "{result}");
    let replayed = programs.everypath("replay everypath-trace.json");
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert!(said.contains("the network lost a packet"), "{said}");
    assert!(said.contains("from the network again"), "{said}");
    assert!(said.contains("Replayed: every step as recorded"), "{said}");
    for options in ["--udp-multiply 1", "--udp-multiply 1,0"] {
        let (code, result) =
            programs.check(&format!("--time quiescent {options} -- ./arq both 0 2 1"));
        assert_eq!(code, 0, "{result}");
    }
}

/// A port that nobody receives at.
fn free_port() -> u16 {
    UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Checks a program with a server that it talks to over UDP; the exit code and the result.
fn check(programs: &Programs, server: &str, port: u16, arguments: &str) -> (i32, Value) {
    let script = programs.folder.path().join("peer");
    fs::write(&script, format!("#!/bin/sh\nexec ./{server} {port}\n")).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    programs.check(&format!("--peer ./peer {arguments}"))
}

/// Table 3 of Sebih et al. (2015): with loss, the alphabet client fails as soon as it sends two
/// requests. Without its assertion every request is lost, unanswered or answered, independently.
#[test]
fn the_alphabet_client_does_not_survive_loss() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    let run = |options: &str| check(&programs, "alphabet_server", port, options);
    for requests in 1..=3 {
        let client = format!("-- ./alphabet_client {port} 2 {requests}");
        let (code, result) = run(&client);
        assert_eq!((code, &result["stats"]["executions"]), (0, &1.into()), "{result}");
        assert_eq!(result["stats"]["cache"]["connections"], 2);
        assert_eq!(result["stats"]["cache"]["misses"], 2 * requests);
        let (code, result) = run(&format!("--udp-multiply 1,0 --idle ok {client}"));
        assert_eq!(code, if requests == 1 { 0 } else { 1 }, "{requests}: {result}");
        let client = format!("-- ./alphabet_client {port} 1 {requests} unchecked");
        let (code, result) = run(&format!("--udp-multiply 1,0 --idle ok {client}"));
        let executions = 3_u64.pow(requests);
        assert_eq!((code, &result["stats"]["executions"]), (0, &executions.into()), "{result}");
    }
}

/// Table 4: a copy of a packet of the first file becomes a part of the second.
#[test]
fn the_file_client_survives_everything_but_duplicates() {
    let programs = Programs::new(&["udp/file_server.rs", "udp/file_client.rs"]);
    let port = free_port();
    for (multiply, is_found) in [("1", false), ("2", true), ("1,2", true)] {
        for window in [1, 2] {
            for (version, is_buggy) in [("", false), ("buggy", true)] {
                let options = format!(
                    "--time quiescent --udp-direction receive --udp-multiply {multiply} \
                     --udp-window {window} -- ./file_client {port} 3 {version}"
                );
                let (code, result) = check(&programs, "file_server", port, &options);
                let expected = i32::from(is_found && is_buggy);
                assert_eq!(code, expected, "{options}: {result}");
            }
        }
    }
    let shown = programs.everypath("show everypath-trace.json");
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("from the network again"), "{shown}");
}

/// In either direction, and in both: what reaches the server is what it answers.
#[test]
fn directions_are_apart() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    for (options, executions) in [
        ("--udp-multiply 1,0 --udp-direction send", 4),
        ("--udp-multiply 1,0 --udp-direction receive", 4),
        ("--udp-multiply 1,0", 9),
        ("--udp-send-multiply 1,0", 4),
    ] {
        let options = format!("--idle ok {options} -- ./alphabet_client {port} 1 2 unchecked");
        let (code, result) = check(&programs, "alphabet_server", port, &options);
        assert_eq!(code, 0, "{options}: {result}");
        assert_eq!(result["stats"]["executions"], executions, "{options}");
    }
}

/// A server that repeats its answer is heard before the program gives up.
#[test]
fn servers_that_wait_for_some_time_only_are_waited_for() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/repeats.c"]);
    let port = free_port();
    let lossy = |faults: &str| {
        let options =
            format!("--peer-answers prompt --udp-direction receive --udp-budget {faults}");
        check(&programs, "repeats serve", port, &format!("{options} -- ./repeats ask {port}"))
    };
    let (code, result) = lossy("loss=1");
    assert_eq!((code, &result["stats"]["executions"]), (0, &2.into()), "{result}");
    assert_eq!(lossy("loss=2").0, 1, "the second answer may be lost, too");
    let late = check(&programs, "repeats serve", port, &format!("-- ./repeats ask {port}"));
    assert_eq!(late.0, 1, "both answers may be late");
}

/// A client that sends first is started when the program looks for datagrams at a port that it named.
#[test]
fn clients_come_when_the_program_looks() {
    let programs = Programs::new(&["udp/alphabet_server.rs", "udp/alphabet_client.c"]);
    let port = free_port();
    let client =
        |requests: u32| format!("--peer './alphabet_client {port} 1 {requests} unchecked'");
    let (code, result) = programs.check(&format!("{} -- ./alphabet_server {port} 2", client(2)));
    assert_eq!((code, &result["stats"]["cache"]["connections"]), (0, &1.into()), "{result}");
    let both = format!("{} {}", client(1), client(2));
    let (code, result) = programs.check(&format!("{both} -- ./alphabet_server {port} 3"));
    assert_eq!((code, &result["stats"]["cache"]["connections"]), (0, &2.into()), "{result}");
    // One loss, duplicate or late packet among two requests and two answers.
    let faults = "--idle ok --udp-budget total=1";
    let (code, result) =
        programs.check(&format!("{faults} {} -- ./alphabet_server {port}", client(2)));
    assert_eq!((code, &result["stats"]["executions"]), (0, &10.into()), "{result}");
}

#[test]
fn a_peer_that_was_never_met_is_told() {
    let programs =
        Programs::new(&["../crates/everypath/tests/programs/packets.c", "udp/alphabet_server.rs"]);
    let options = format!("--peer './alphabet_server {}' -- ./packets 1", free_port());
    let (code, result) = programs.check(&options);
    let assumed = result["assumptions"].to_string();
    assert_eq!((code, assumed.contains("was never contacted")), (0, true), "{result}");
}

#[test]
fn reduced_and_plain_search_find_the_same_endings_with_clients() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/serves.c"]);
    let port = free_port();
    for (options, clients, server) in [
        ("", &["ab"][..], "door 1 1"),
        ("", &["a", "c"], "door 1 1"),
        ("--udp-budget total=1", &["a"], "door 1 1"),
        ("", &["a"], "own 1 1"),
        ("--udp-multiply 1,2", &["ab"], "own 2"),
        ("--udp-budget total=1", &["ab"], "own 2"),
    ] {
        let peers: String =
            clients.iter().map(|it| format!(" --peer './serves ask {port} {it}'")).collect();
        let options =
            format!("--time quiescent {options}{peers} -- ./serves serve {port} {server}");
        let reduced = endings(&programs, "dpor", &options).expect("a reduced search is small");
        let plain = endings(&programs, "none", &options).expect("these are small");
        assert!(reduced == plain && !plain.is_empty(), "{options}: {reduced:?}, {plain:?}");
    }
}

/// A client that lost its patience is heard although the program would wait for ever.
#[test]
fn clients_that_wait_for_some_time_only_are_waited_for() {
    let programs =
        Programs::new(&["../crates/everypath/tests/programs/insists.c", "udp/alphabet_server.rs"]);
    let port = free_port();
    for how in ["poll", "option", "alarm"] {
        let options = format!(
            "--udp-direction receive --udp-budget loss=1 --peer './insists {port} {how}' -- \
             ./alphabet_server {port} 1"
        );
        let (code, result) = programs.check(&options);
        assert_eq!((code, &result["stats"]["executions"]), (0, &2.into()), "{how}: {result}");
    }
}

/// Four answers, of which the two of one server keep their order.
#[test]
fn answers_of_several_servers_come_in_any_order() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/peers/several.c"]);
    let sockets = [(); 3].map(|()| UdpSocket::bind(("127.0.0.1", 0)).unwrap());
    let [a, b, c] = sockets.map(|socket| socket.local_addr().unwrap().port());
    let peers = [(a, "a"), (b, "b"), (c, "c")]
        .map(|(port, letter)| format!("--peer './several serve {port} {letter}' "))
        .concat();
    for reduction in ["dpor", "none"] {
        let command = format!("--reduction {reduction} {peers} -- ./several ask {a} {b} {c} {a}");
        let (code, result) = programs.check(&command);
        assert_eq!((code, &result["stats"]["executions"]), (0, &json!(12)), "{result}");
        assert!(!result.to_string().contains("never contacted"), "{result}");
    }
    fs::write(programs.folder.path().join("expected"), "acab").unwrap();
    let command = format!("--expect-stdout expected {peers} -- ./several ask {a} {b} {c} {a}");
    let (code, result) = programs.check(&command);
    assert_eq!((code, &result["violation"]["property"]), (1, &json!("stdout")), "{result}");
}
