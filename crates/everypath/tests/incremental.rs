//! Graphs on the command line: saving, loading, refusing, verifying.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn everypath(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    let arguments = arguments.split_whitespace();
    command.arg("model").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

/// Runs `everypath model … --json -`, checks the exit code and returns the result.
fn model(folder: &Path, arguments: &str, code: i32) -> Value {
    let output = everypath(folder, &format!("{arguments} --json -"));
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}{errors}");
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON object")
}

/// What was explored, without what it took.
fn explored(result: &Value) -> [&Value; 8] {
    let stats = &result["stats"];
    [
        &result["verdict"],
        &result["violations"],
        &result["violation"],
        &stats["states"],
        &stats["events"],
        &stats["tree_events"],
        &stats["deepest_events"],
        &stats["dead_ends"],
    ]
}

const AODV: &str = "aodv --bug reboot-forgets --must-contain route-timeout --max-depth 9";

/// The three versions of a route's timeout, one after the other, each with the graph of the one
/// before: the same verdicts as from scratch, with fewer events executed.
#[test]
fn versions_of_a_handler_are_explored_with_the_graph_of_the_one_before() {
    for visited in ["relation", "equality", "hash"] {
        for (code, going_on) in [(1, ""), (1, "--keep-going")] {
            let folder = tempfile::tempdir().unwrap();
            let run = |options: &str, code| {
                let search = format!("{AODV} --visited {visited} {going_on}");
                model(folder.path(), &format!("{search} {options}"), code)
            };
            let first = run("--bug delete-route --save-graph g", code);
            assert_eq!(first["incremental"]["mode"], "write-only");
            let versions = [("--bug stale-seqno", code, true), ("", 0, true), ("", 0, false)];
            for (bug, code, modified) in versions {
                let scratch = run(bug, code);
                let result = run(&format!("{bug} --load-graph g --save-graph g --verify"), code);
                assert_eq!(explored(&result), explored(&scratch));
                let incremental = &result["incremental"];
                assert_eq!(incremental["mode"], "read-write");
                assert_eq!(incremental["verified"], true);
                let number = |name: &str| incremental[name].as_u64().unwrap();
                let events = scratch["stats"]["events"].as_u64().unwrap();
                assert_eq!(number("hits") + number("misses") + number("modified"), events);
                assert!(number("executed") < events / 2, "{incremental}");
                let names = incremental["modified_events"].as_array().unwrap().iter();
                let names: Vec<_> = names.map(|change| change["event"].clone()).collect();
                assert_eq!(names.contains(&"route-timeout".into()), modified, "{incremental}");
                for share in ["p", "q", "t", "v", "d"] {
                    let share = incremental[share].as_f64().unwrap();
                    assert!((0.0..=1.0).contains(&share), "{incremental}");
                }
                assert!(incremental["condition"]["right"].as_f64().unwrap() > 0.0);
                assert!(incremental["condition"]["holds"].is_boolean());
            }
        }
    }
}

/// For all strategies that add next, and with the graph of another strategy.
#[test]
fn every_strategy_that_adds_next_can_use_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), &format!("{AODV} --strategy dfs --shuffle --save-graph g"), 0);
    for strategy in ["bfs", "dfs", "dfs-recursive", "befs"] {
        for shuffle in ["", "--shuffle --seed 7"] {
            let search = format!("{AODV} --bug stale-seqno --strategy {strategy} {shuffle}");
            let scratch = model(folder.path(), &search, 1);
            let result = model(folder.path(), &format!("{search} --load-graph g --verify"), 1);
            assert_eq!(explored(&result), explored(&scratch));
            assert_eq!(result["incremental"]["verified"], true);
        }
    }
}

#[test]
fn graphs_that_cannot_be_used_are_refused_and_the_reason_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    model(folder.path(), "aodv --max-depth 5 --save-graph g", 0);
    let bytes = fs::read(file("g")).unwrap();
    fs::write(file("short"), &bytes[..bytes.len() - 7]).unwrap();
    fs::write(file("foreign"), b"{}").unwrap();
    fs::write(file("empty"), b"").unwrap();
    let mut damaged = bytes.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(file("damaged"), damaged).unwrap();
    let mut newer = bytes;
    newer[16] = 200;
    fs::write(file("newer"), newer).unwrap();
    for (arguments, graph, reason) in [
        ("aodv --max-depth 5", "short", "cut short"),
        ("aodv --max-depth 5", "foreign", "not a graph file"),
        ("aodv --max-depth 5", "empty", "not a graph file"),
        ("aodv --max-depth 5", "damaged", "index is damaged"),
        ("aodv --max-depth 5", "newer", "version 200"),
        ("aodv --max-depth 5", "missing", "cannot read missing"),
        ("aodv --max-depth 5 --nodes 4", "g", "the network"),
        ("aodv --max-depth 5 --topology ring", "g", "the network"),
        ("aodv --max-depth 5 --duplicate", "g", "the network"),
        ("diffusion --max-depth 5", "g", "the model"),
    ] {
        let output = everypath(folder.path(), &format!("{arguments} --load-graph {graph}"));
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("--load-graph-or-fresh"), "{message}");
        let scratch = model(folder.path(), arguments, 0);
        let fresh = format!("{arguments} --load-graph {graph} --load-graph-or-fresh");
        let result = model(folder.path(), &fresh, 0);
        assert_eq!(explored(&result), explored(&scratch));
        let why = result["incremental"]["fresh"].as_str().unwrap();
        assert!(why.contains(reason), "{why}");
    }
    let result = model(folder.path(), "aodv --max-depth 5 --load-graph-or-fresh g", 0);
    assert_eq!(result["incremental"]["misses"], 0);
}

#[test]
fn options_that_do_not_go_together_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, reason) in [
        ("arq --verify", "--load-graph"),
        ("arq --pilot", "--load-graph"),
        ("arq --modified timeout", "--load-graph"),
        ("arq --load-graph-or-fresh", "--load-graph"),
        ("arq --add current --save-graph g", "--add next"),
        ("arq --shuffle --replications 2 --save-graph g", "--replications"),
        ("arq --save-graph everypath-trace.json", "choose another"),
        ("arq --save-graph no/such/folder/g", "cannot write"),
        ("arq --load-graph g --modified timeuot", "timeout"),
    ] {
        let output = everypath(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(reason), "{arguments}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Saying that nothing was modified when it was is found out before a verdict is given.
#[test]
fn a_graph_that_lies_gives_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), &format!("{AODV} --keep-going --visited hash --save-graph g"), 0);
    let changed = format!("{AODV} --keep-going --visited hash --bug delete-route --load-graph g");
    let result = model(folder.path(), &format!("{changed} --modified none --save-graph h"), 3);
    assert!(result["reason"].as_str().unwrap().contains("route-timeout"), "{result}");
    assert!(!folder.path().join("h").exists(), "what was learnt from it must not be passed on");
    model(folder.path(), &format!("{changed} --modified route-timeout"), 1);
    model(folder.path(), &changed, 1);
}

#[test]
fn a_known_counterexample_is_tried_first() {
    let folder = tempfile::tempdir().unwrap();
    let search = "aodv --bug reboot-forgets --max-depth 10";
    let first = model(folder.path(), &format!("{search} --save-graph g"), 1);
    let again = model(folder.path(), &format!("{search} --load-graph g --stop-if-known"), 1);
    assert_eq!(again["violation"]["depth"], first["violation"]["depth"]);
    assert_eq!(again["incremental"]["known"]["still_violates"], "loop-free");
    assert_eq!(again["stats"]["events"], 0);
    let full = model(folder.path(), &format!("{search} --load-graph g"), 1);
    assert_eq!(explored(&full), explored(&first));
    // It is not forgotten if a limit ends the search before it gets there.
    let limited = format!("{search} --load-graph g --max-states 10");
    assert_eq!(model(folder.path(), &limited, 1)["violation"]["depth"], 9);
    let fixed = model(folder.path(), "aodv --max-depth 8 --load-graph g --stop-if-known", 0);
    assert_eq!(fixed["incremental"]["known"]["still_violates"], Value::Null);
    let text = everypath(folder.path(), &format!("{search} --load-graph g"));
    assert!(String::from_utf8_lossy(&text.stdout).starts_with("STILL VIOLATED: loop-free"));
}

/// The paper's ARQ: hardly anything of version B is in version A, and the tool says so.
#[test]
fn where_nothing_can_be_gained_the_tool_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let search = "arq --visited hash --keep-going --max-depth 30";
    model(folder.path(), &format!("{search} --bug unchecked-ack --save-graph g"), 1);
    let scratch = model(folder.path(), search, 0);
    let result = model(folder.path(), &format!("{search} --load-graph g --verify"), 0);
    assert_eq!(explored(&result), explored(&scratch));
    assert_eq!(result["incremental"]["abandoned"], true);
    let output = everypath(folder.path(), &format!("{search} --load-graph g"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("small: "), "{text}");
}

#[test]
fn a_pilot_tells_what_operations_cost() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), "diffusion --max-depth 11 --save-graph g", 0);
    let output = everypath(folder.path(), "diffusion --max-depth 11 --load-graph g --pilot");
    let text = String::from_utf8_lossy(&output.stdout);
    for wanted in ["execute an event", "F/(p(1-q)) + L/p < H + Y + (1-t)X", "times as fast"] {
        assert!(text.contains(wanted), "{text}");
    }
}

/// At most twenty bytes a transition on file, and sixteen in memory.
#[test]
fn graphs_are_small() {
    let folder = tempfile::tempdir().unwrap();
    for search in [
        "arq --max-depth 35 --visited hash",
        "aodv --bug reboot-forgets --max-depth 10 --visited hash --keep-going",
        "diffusion --bug reboot --max-depth 11 --visited hash --keep-going",
    ] {
        let code = i32::from(search.starts_with("aodv"));
        let result = model(folder.path(), &format!("{search} --threads 1 --save-graph g"), code);
        let saved = &result["incremental"]["saved"];
        let transitions = saved["transitions"].as_u64().unwrap();
        assert!(saved["bytes"].as_u64().unwrap() <= 20 * transitions, "{search}: {saved}");
        let extra = result["incremental"]["extra_bytes"].as_u64().unwrap();
        assert!(extra <= 16 * transitions, "{search}: {extra} bytes, {transitions} transitions");
        let search = format!("{search} --threads 1 --load-graph g");
        let extra = model(folder.path(), &search, code)["incremental"]["extra_bytes"].as_u64();
        assert!(extra.unwrap() <= 2 * transitions, "{search}: {extra:?}");
    }
}
