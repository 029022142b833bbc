//! Closed systems: several programs under one scheduler, in all schedules of all of them.

use crate::support::Programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

const FIRST_PORT: u16 = 7000;

/// Runs the command line with other programs beside the one that is named last.
fn run(programs: &Programs, with: &[&str], arguments: &str) -> Output {
    let (options, program) = arguments.split_once("-- ").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    command.arg("check").args(options.split_whitespace());
    for other in with {
        command.args(["--with", other]);
    }
    command.arg("--").args(program.split_whitespace());
    command.current_dir(programs.folder.path()).env_remove("RUST_BACKTRACE").output().unwrap()
}

/// Checks a system; the result.
fn check(programs: &Programs, with: &[&str], arguments: &str) -> Value {
    let output = run(programs, with, &format!("--json - {arguments}"));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{with:?} {arguments}: {error}: {output:?}"))
}

/// Asserts that a system holds in all schedules.
fn assert_holds(programs: &Programs, with: &[&str], arguments: &str) {
    let result = check(programs, with, arguments);
    assert_eq!(result["verdict"], "holds", "{arguments}: {result}");
    assert_eq!(result["coverage"]["kind"], "exhaustive", "{arguments}: {result}");
}

/// Asserts that a system violates a property, and that it says so with these words.
fn assert_violates(programs: &Programs, with: &[&str], arguments: &str, what: (&str, &str)) {
    let result = check(programs, with, arguments);
    assert_eq!(result["violation"]["property"], what.0, "{arguments}: {result}");
    let message = result["violation"]["message"].as_str().unwrap();
    assert!(message.contains(what.1), "{arguments}: {message}");
}

/// The endings of all schedules: no execution ends with code 255, so every one is told.
fn endings(programs: &Programs, with: &[&str], reduction: &str, program: &str) -> Vec<Value> {
    let codes = "--exit-code 255 --with-exit-code any";
    let options = format!("--reduction {reduction} --keep-going {codes}");
    let result = check(programs, with, &format!("{options} -- {program}"));
    let endings = result["stats"]["endings"].as_array().unwrap();
    endings.iter().map(|ending| ending["ending"].clone()).collect()
}

fn times_ten() -> Programs {
    Programs::new(&["closed/times_ten_server.c", "closed/times_ten_client.c"])
}

#[test]
fn dummy_and_lucky_hold_and_buggy_waits_for_ever() {
    let programs = times_ten();
    assert_holds(&programs, &["./times_ten_server 7000"], "-- ./times_ten_client 7000");
    assert_holds(&programs, &["./times_ten_server 7000"], "-- ./times_ten_client 7000 lucky");
    let waits = ("deadlock", "times_ten_client: main waits on condition signalled");
    let buggy = ["./times_ten_server 7000 buggy"];
    assert_violates(&programs, &buggy, "-- ./times_ten_client 7000 lucky", waits);
}

#[test]
fn the_second_port_first_is_a_deadlock_of_the_system() {
    let programs = Programs::new(&["closed/two_ports_server.c", "closed/two_ports_client.c"]);
    let server = ["./two_ports_server 7000"];
    assert_holds(&programs, &server, "-- ./two_ports_client 7000 ordered");
    let waits = ("deadlock", "two_ports_server: main waits for a connection to accept");
    assert_violates(&programs, &server, "-- ./two_ports_client 7000", waits);
}

#[test]
fn the_same_question_gets_another_answer() {
    let programs = Programs::new(&["closed/visits_server.c", "closed/visits_client.c"]);
    let server = ["./visits_server 7000"];
    assert_holds(&programs, &server, "-- ./visits_client 7000 once");
    assert_violates(&programs, &server, "-- ./visits_client 7000", ("assertion", "'b'"));
}

#[test]
fn an_impatient_backup_makes_two_registers() {
    let programs = Programs::new(&[
        "closed/register_primary.c",
        "closed/register_backup.c",
        "closed/register_client.c",
    ]);
    let backup = "./register_backup 7001 7002";
    let client = "-- ./register_client 7000 7001";
    let both = ["./register_primary 7000 7002", backup];
    assert_violates(&programs, &both, client, ("assertion", "register_client: main"));
    let fenced = ["./register_primary 7000 7002 fenced", backup];
    let sample = "--strategy random --max-executions 300 -- ./register_client 7000 7001";
    assert_eq!(check(&programs, &fenced, sample)["verdict"], "holds");
}

#[test]
fn hasty_nodes_elect_two_leaders() {
    let programs = Programs::new(&["closed/election_node.c", "closed/election_watch.c"]);
    let nodes = |how: &str| [1, 2, 3].map(|node| format!("./election_node 7000 {node} 3 {how}"));
    let (hasty, patient) = (nodes("hasty"), nodes(""));
    let watch = "-- ./election_watch 7000 3";
    let leaders = ("assertion", "election_watch: main");
    assert_violates(&programs, &hasty.each_ref().map(String::as_str), watch, leaders);
    let result = check(
        &programs,
        &patient.each_ref().map(String::as_str),
        "--strategy random --max-executions 200 -- ./election_watch 7000 3",
    );
    assert_eq!(result["verdict"], "holds", "{result}");
}

#[test]
fn sessions_with_a_server_of_several_threads() {
    let programs = Programs::new(&["tcp/alphabet_server.c", "tcp/alphabet_client.c"]);
    for (sessions, messages) in [(1, 1), (1, 3), (2, 2), (3, 3)] {
        let server = format!("./alphabet_server {FIRST_PORT} {sessions}");
        let client = format!("-- ./alphabet_client {FIRST_PORT} {sessions} {messages}");
        assert_holds(&programs, &[&server], &client);
        // A server that goes on for ever waits for more, which is as it should be.
        assert_holds(&programs, &[&format!("./alphabet_server {FIRST_PORT}")], &client);
    }
    // Who connects first and who closes first makes a difference, and nothing else.
    let result = check(&programs, &["./alphabet_server 7000"], "-- ./alphabet_client 7000 2 3");
    assert_eq!(result["stats"]["executions"], 16, "{result}");
}

#[test]
fn a_recorded_execution_is_repeated() {
    let programs = times_ten();
    let with = ["./times_ten_server 7000 buggy"];
    let sampled = check(&programs, &with, "--strategy random -- ./times_ten_client 7000 lucky");
    assert_eq!(sampled["violation"]["property"], "deadlock", "{sampled}");
    let replayed = programs.everypath("replay everypath-trace.json");
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(replayed.status.code(), Some(1), "{said}");
    assert!(said.contains("Replayed: every step as recorded, the same violation."), "{said}");
    assert!(said.contains("times_ten_server: thread 1"), "{said}");
}

#[test]
fn a_server_may_be_killed_and_started_again() {
    let programs = Programs::new(&[
        "closed/times_ten_server.c",
        "closed/times_ten_client.c",
        "../crates/everypath/tests/programs/nodes.c",
    ]);
    let server = ["./times_ten_server 7000"];
    let killed = ("exit-code", "exits with code 3");
    assert_violates(&programs, &server, "--kill 1 -- ./times_ten_client 7000", killed);
    let replayed = programs.everypath("replay everypath-trace.json");
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(replayed.status.code(), Some(1), "{said}");
    assert!(said.contains("times_ten_server: fault injection  kills the process"), "{said}");
    let [reduced, plain] = ["dpor", "none"].map(|reduction| {
        let program = "./nodes 1 C0r0";
        let kills = format!("{reduction} --kill 1");
        endings(&programs, &["./nodes 2 L0A0w0"], &kills, program)
    });
    assert_eq!(reduced, plain);
}

#[test]
fn a_partition_makes_two_registers_unless_the_primary_is_fenced() {
    let programs = Programs::new(&[
        "closed/register_primary.c",
        "closed/register_backup.c",
        "closed/register_client.c",
    ]);
    let both = ["./register_primary 7000 7002", "./register_backup 7001 7002"];
    let patient =
        |options: &str| format!("--time quiescent {options} -- ./register_client 7000 7001 late");
    assert_holds(&programs, &both, &patient(""));
    let cut = "--strategy pct --pct-depth 3 --partition register_primary:register_backup";
    let two = ("assertion", "register_client: main");
    assert_violates(&programs, &both, &patient(cut), two);
    let replayed = programs.everypath("replay everypath-trace.json");
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(replayed.status.code(), Some(1), "{said}");
    assert!(said.contains("is partitioned between register_primary and register_backup"), "{said}");
    let fenced = ["./register_primary 7000 7002 fenced", both[1]];
    let sample = patient(&format!("{cut} --max-executions 2000"));
    assert_eq!(check(&programs, &fenced, &sample)["verdict"], "holds");
}

#[test]
fn what_is_sent_into_a_partition_is_late_or_lost() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    // A stream brings everything in the end; a datagram is gone.
    assert_holds(&programs, &["./nodes 2 C0w0"], "--partition 1 --exit-code 5 -- ./nodes 1 L0A0r0");
    let lost = ("idle", "nodes 1: main waits to receive");
    assert_violates(
        &programs,
        &["./nodes 2 S0"],
        "--partition 1 --exit-code 5 --idle violation -- ./nodes 1 B0R0",
        lost,
    );
    let given_up = ("exit-code", "");
    assert_violates(
        &programs,
        &["./nodes 2 L0"],
        "--partition 1 --exit-code 1 -- ./nodes 1 C0",
        given_up,
    );
    for (first, second) in [("./nodes 1 B0R0", "./nodes 2 S0"), ("./nodes 1 C0", "./nodes 2 L0A0")]
    {
        let [reduced, plain] = ["dpor", "none"].map(|reduction| {
            endings(&programs, &[second], &format!("{reduction} --partition 1"), first)
        });
        assert_eq!(reduced, plain, "{first} {second}");
    }
}

#[test]
fn processes_in_each_others_place_are_explored_once() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    let executions = |options: &str, with: &[&str], program: &str| {
        let options = format!("--keep-going --exit-code 255 {options} -- {program}");
        check(&programs, with, &options)["stats"]["executions"].as_u64().unwrap()
    };
    for (program, command) in [
        ("./nodes 1 L0A0w0A0w0", "./nodes 2 C0w0"),
        ("./nodes 1 L0A0A0r0", "./nodes 2 C0"),
        ("./nodes 1 B0R0", "./nodes 2 S0"),
    ] {
        let twins = [command, command];
        let [all, one_each] = ["", "--symmetric"].map(|option| executions(option, &twins, program));
        assert!(one_each <= all / 2 + 3, "{program} {command}: {one_each} of {all}");
        let [once, both] = ["dpor --symmetric", "dpor"]
            .map(|reduction| endings(&programs, &twins, reduction, program));
        assert_eq!(once, both, "{program} {command}");
    }
}

#[test]
fn a_deadlock_is_a_circle_through_processes() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    let circle = "nodes 1: main waits to receive from nodes 2: thread 1 (socket #2); \
                  nodes 2: thread 1 waits to receive from nodes 1: main (socket #3), \
                  which closes the cycle; \
                  nodes 2: main waits for nodes 2: thread 1 to end; \
                  nodes 2: thread 2 waits for mutex mutexes, held by nodes 2: thread 1";
    let with = ["./nodes 2 L0A0l0r0u0 l0w0u0"];
    assert_violates(&programs, &with, "-- ./nodes 1 C0r0w0", ("deadlock", circle));
}

#[test]
fn datagrams_between_processes_are_lost_and_duplicated() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    let [lossless, lossy, doubled] =
        ["", "--udp-multiply 1,0", "--udp-multiply 2"].map(|options| {
            endings(&programs, &["./nodes 2 S0"], &format!("dpor {options}"), "./nodes 1 B0R0R0")
        });
    // Who is left without a message waits for ever, as servers do.
    assert_eq!([lossless.len(), lossy.len()], [0, 0]);
    assert_eq!(doubled, ["Exited 90"]);
    let options = "--udp-multiply 1,0,2 --udp-window 2";
    let [reduced, plain] = ["dpor", "none"].map(|reduction| {
        endings(&programs, &["./nodes 2 S0S0"], &format!("{reduction} {options}"), "./nodes 1 B0R0")
    });
    assert_eq!(reduced, plain);
}

#[test]
fn a_flood_of_messages_is_bounded() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/flood.c"]);
    let result =
        check(&programs, &["./flood 7000 send"], "--max-depth 2000 -- ./flood 7000 receive");
    assert_eq!(result["verdict"], "inconclusive", "{result}");
    let reason = result["reason"].as_str().unwrap();
    assert!(reason.contains("more than 2000 steps; raise --max-depth"), "{reason}");
}

#[test]
fn all_processes_end_with_the_checker() {
    let programs = times_ten();
    assert_holds(&programs, &["./times_ten_server 7000"], "-- ./times_ten_client 7000");
    let left = fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(|entry| {
        fs::read_link(entry.path().join("exe"))
            .is_ok_and(|program| program.starts_with(programs.folder.path()))
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn what_cannot_be_started_is_said() {
    let programs = times_ten();
    let said = |with: &[&str], arguments: &str| {
        let output = run(&programs, with, arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let client = "-- ./times_ten_client 7000";
    assert!(said(&["./missing"], client).contains("--with './missing'"));
    assert!(said(&["'half"], client).contains("a quotation mark is missing"));
    let server = ["./times_ten_server 7000"];
    let peers = said(&server, "--peer ./times_ten_server -- ./times_ten_client 7000");
    assert!(peers.contains("--with") && peers.contains("--peer"), "{peers}");
    let strangers = said(&server, "--partition times_ten_client:backup -- ./times_ten_client 7000");
    assert!(
        strangers.contains("no process backup; the processes are times_ten_client"),
        "{strangers}"
    );
    let itself = said(&server, "--partition 0 -- ./times_ten_client 7000");
    assert!(itself.contains("primary:backup"), "{itself}");
    let unlike = said(&server, "--symmetric -- ./times_ten_client 7000");
    assert!(unlike.contains("no two programs have the same command"), "{unlike}");
    let two = ["./times_ten_server 7000", "./times_ten_server 7000"];
    let some = said(&two, "--symmetric --partition a:b -- ./times_ten_client 7000");
    assert!(some.contains("--symmetric: programs are not in each other's place"), "{some}");
    let states = said(&server, "--state-matching -- ./times_ten_client 7000");
    assert!(states.contains("leave --with out"), "{states}");
}

/// What the result says of a system beside its verdict.
fn notices(result: &Value) -> Vec<String> {
    let notices = result["notices"].as_array().into_iter().flatten();
    notices.map(|notice| notice.as_str().unwrap().to_string()).collect()
}

#[test]
fn nobody_at_a_port_refuses_and_a_second_listener_is_told() {
    let programs = times_ten();
    let elsewhere = check(&programs, &["./times_ten_server 7001"], "-- ./times_ten_client 7000");
    let (_, alone) = programs.check("-- ./times_ten_client 7000");
    for result in [&elsewhere, &alone] {
        assert_eq!(result["violation"]["property"], "exit-code", "{result}");
    }
    let refused =
        "connect of times_ten_client to port 7000 was refused: no process ever listens there";
    assert_eq!(notices(&elsewhere), [refused]);
    let two = ["./times_ten_server 7000", "./times_ten_server 7000"];
    // One of them cannot bind, and says so.
    let result = check(&programs, &two, "-- ./times_ten_client 7000");
    assert_eq!(result["violation"]["property"], "exit-code", "{result}");
    let result = check(&programs, &two, "--with-exit-code any -- ./times_ten_client 7000");
    assert_eq!(result["verdict"], "holds", "{result}");
    for server in ["times_ten_server 1", "times_ten_server 2"] {
        let notice = format!("bind of {server} to port 7000 failed with EADDRINUSE");
        assert!(notices(&result).contains(&notice), "{result}");
    }
}

/// Who looks a few times without waiting may be too early every time, or only the first times.
#[test]
fn who_looks_a_few_times_finds_something_sooner_or_later_or_never() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/talker.c"]);
    for (looks, connections) in [("k1 k1", "c7000 c7000"), ("k1 k1 k1", "c7000")] {
        let [reduced, plain] = ["dpor", "none"].map(|reduction| {
            let options = format!(
                "--reduction {reduction} --keep-going --exit-code 255 --with-exit-code any"
            );
            let client = format!("./talker % {connections}");
            let server = format!("{options} -- ./talker % l7000 a {looks}");
            let result = check(&programs, &[&client], &server);
            let codes = result["stats"]["exit_codes"].as_array().unwrap();
            codes.iter().map(|each| each["codes"].clone()).collect::<Vec<_>>()
        });
        assert_eq!(reduced, plain, "{looks} with {connections}");
        assert!(plain.len() > 3, "{plain:?}");
    }
}

/// Scripts for `nodes.c`: the endings of all schedules are the same with and without reduction.
#[test]
fn scripts_of_several_processes_end_in_every_way() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    for system in [
        ["./nodes 1 C0w0t0", "./nodes 2 L0A0r0"],
        ["./nodes 1 C0t0x0", "./nodes 2 L0A0w0"],
        ["./nodes 1 L0A0p0r0", "./nodes 2 C0w0h0"],
        ["./nodes 1 C0x0", "./nodes 2 L0A0w0w0"],
        ["./nodes 1 B0R0", "./nodes 2 S0S0"],
    ] {
        let [first, second] = system;
        let [reduced, plain] =
            ["dpor", "none"].map(|reduction| endings(&programs, &[second], reduction, first));
        assert_eq!(reduced, plain, "{system:?}");
        assert!(!reduced.is_empty(), "{system:?}");
    }
}

/// Numbers at random, always the same.
struct Dice(u64);

impl Dice {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        all[(self.0 >> 33) as usize % all.len()]
    }

    /// Two processes that talk over a stream or by datagrams, a few calls each.
    fn system(&mut self) -> [String; 2] {
        const WORDS: [&str; 8] = ["", "w0", "r0", "t0", "p0", "h0", "x0", "w0r0"];
        if self.one_of(&[true, false, false]) {
            let receiver = self.one_of(&["B0R0", "B0R0R0"]);
            return [format!("./nodes 1 {receiver}"), "./nodes 2 S0".into()];
        }
        let server = format!("L0A0{}", self.one_of(&WORDS));
        let client = format!("C0{}", self.one_of(&WORDS));
        let (first, second) = self.one_of(&[(&server, &client), (&client, &server)]);
        [format!("./nodes 1 {first}"), format!("./nodes 2 {second}")]
    }
}

/// Endings, if there are no more executions than that.
fn endings_within(
    programs: &Programs,
    with: &[&str],
    options: &str,
    (program, most): (&str, u64),
) -> Option<BTreeSet<String>> {
    let limits =
        format!("--keep-going --exit-code 255 --with-exit-code any --max-executions {most}");
    let result = check(programs, with, &format!("{options} {limits} -- {program}"));
    let ending = |ending: &Value| ending["ending"].as_str().unwrap().to_string();
    let endings = result["stats"]["endings"].as_array().unwrap().iter().map(ending).collect();
    (result["stats"]["executions"].as_u64() < Some(most)).then_some(endings)
}

/// Generated systems: what may befall processes and the network makes no difference between the
/// reduced and the plain search, and neither do processes that are explored in one order only.
#[test]
fn generated_systems_end_in_every_way_whatever_befalls_them() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/nodes.c"]);
    let mut compared = 0;
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let [first, second] = dice.system();
        let time = dice.one_of(&["ordered", "quiescent"]);
        let idle = dice.one_of(&["ok", "violation"]);
        for fault in ["--kill 1", "--partition 1"] {
            let all = |reduction: &str, most: u64| {
                let options =
                    format!("--reduction {reduction} {fault} --time {time} --idle {idle}");
                endings_within(&programs, &[&second], &options, (&first, most))
            };
            let Some(reduced) = all("dpor", 400) else { continue };
            let Some(plain) = all("none", 4000) else { continue };
            assert_eq!(reduced, plain, "{first} with {second} {fault} --time {time}");
            compared += 1;
        }
        // As many servers' sessions as there are clients.
        let server = dice.one_of(&["L0A0A0", "L0A0r0A0", "L0A0w0A0w0", "L0A0A0t0"]);
        let client = format!("./nodes 2 C0{}", dice.one_of(&["", "w0", "r0", "x0", "h0"]));
        let twins = [&client[..], &client];
        let once = |option: &str| {
            let options = format!("{option} --time {time} --idle {idle}");
            let server = format!("./nodes 1 {server}");
            endings_within(&programs, &twins, &options, (&server, 1000))
        };
        let (Some(one), Some(all)) = (once("--symmetric"), once("")) else { continue };
        assert_eq!(one, all, "{server} with {client} twice --time {time}");
        compared += 1;
    }
    assert!(compared >= 6, "{compared}");
}

/// Each program of a system exits with a code of its own.
#[test]
fn exit_codes_of_all_programs_are_judged() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/exits.c"]);
    // What the client sends, with which code it exits, and with what code each wrong one is told of.
    for (options, client, wrong) in [
        ("", "0 0", None),
        ("", "5 0", Some("exits 2: the program exits with code 5 instead of 0")),
        ("", "5 3", Some("the program exits with code 3 instead of 0")),
        ("--exit-code 5", "5 5", Some("exits 2: the program exits with code 5 instead of 0")),
        ("--with-exit-code 5", "5 0", None),
        ("--with-exit-code 5", "0 0", Some("exits 2: the program exits with code 0 instead of 5")),
        ("--with-exit-code any", "5 0", None),
    ] {
        for mode in ["", "--joint"] {
            let arguments = format!("{mode} {options} -- ./exits 7001 {client}");
            let result = check(&programs, &["./exits 7001"], &arguments);
            let expected = wrong.map_or("holds", |_| "violated");
            assert_eq!(result["verdict"], expected, "{arguments}: {result}");
            let message = result["violation"]["message"].as_str();
            // Which of two wrong ones comes first is for the schedule to say.
            let is_either =
                client == "5 3" && message.is_some_and(|text| text.contains("exits with"));
            assert!(is_either || message == wrong, "{arguments}: {result}");
        }
    }
    let output = programs.everypath("check --with './exits 7001' -- ./exits 7001 5 0");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("VIOLATED: exit-code of ./exits after"), "{text}");
    let output = programs.everypath("replay everypath-trace.json");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
