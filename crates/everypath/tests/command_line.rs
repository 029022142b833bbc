//! The command-line contract: exit codes, the JSON result, traces, limits, interruption.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    command.args(arguments.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

fn everypath(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Runs `everypath model … --json -`, checks the exit code and returns the result.
fn model(arguments: &str, code: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), &format!("model {arguments} --json -"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert_eq!(output.stderr, b"");
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON object")
}

#[test]
fn a_violation_has_everything_the_contract_names() {
    let result = model("arq --bug unchecked-ack --strategy bfs --max-depth 10", 1);
    assert_eq!(result["tool"], "everypath");
    assert_eq!(result["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["command"], "model");
    assert_eq!(result["target"], "arq");
    assert_eq!(result["verdict"], "violated");
    assert_eq!(result["coverage"]["kind"], "bounded");
    assert_eq!(result["violation"]["property"], "delivery");
    assert_eq!(result["violation"]["depth"], 8);
    assert_eq!(result["violation"]["trace"], "everypath-trace.json");
    assert!(result["violation"]["message"].as_str().unwrap().contains("4 distinct"));
    assert_eq!(result["violations"], 1);
    for number in ["states", "events", "executions", "transitions", "peak_rss_bytes"] {
        assert!(result["stats"][number].as_u64().is_some_and(|n| n > 0), "{number}");
    }
    assert!(result["stats"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
}

#[test]
fn the_correct_protocol_holds_to_depth_30() {
    let result = model("arq --strategy bfs --max-depth 30", 0);
    assert_eq!(result["verdict"], "holds");
    assert_eq!(result["coverage"], serde_json::json!({"kind": "bounded", "depth": 30}));
    assert_eq!(result["violation"], Value::Null);
    assert_eq!(result["violations"], 0);
    assert_eq!(result["stats"]["states"], 24_847);
    assert_eq!(result["stats"]["events"], 97_911);
}

/// The depths of figures B.1 and C.1, and the protocols without those faults.
#[test]
fn the_shortest_counterexamples_of_the_papers_are_found() {
    let aodv = model("aodv --nodes 3 --bug reboot-forgets --strategy bfs --max-depth 10", 1);
    assert_eq!((&aodv["verdict"], &aodv["violation"]["depth"]), (&"violated".into(), &9.into()));
    let diffusion = model("diffusion --nodes 4 --bug cache-timeout --max-depth 15", 1);
    assert_eq!(diffusion["violation"]["depth"], 13);
    model("aodv --nodes 3 --max-depth 9", 0);
    model("diffusion --nodes 4 --max-depth 13", 0);
}

/// The reboot fault is gone only with waiting: with announcements alone it is still found.
#[test]
fn the_fixed_protocol_holds_to_the_depth_of_the_counterexample() {
    let fixed = "aodv --nodes 3 --feature rerr --feature hello --feature wait --max-depth 9";
    let result = model(fixed, 0);
    assert_eq!(result["coverage"], serde_json::json!({"kind": "bounded", "depth": 9}));
    // Features are named in the model's order, and each once.
    assert_eq!(result["parameters"]["features"], serde_json::json!(["wait", "hello", "rerr"]));
    let announcing = model("aodv --nodes 3 --feature rerr --feature hello --max-depth 9", 1);
    assert_eq!(announcing["violation"]["depth"], 9);
    assert_eq!(announcing["parameters"]["features"], serde_json::json!(["hello", "rerr"]));
}

#[test]
fn a_trace_carries_its_network_and_is_replayed_without_the_file_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| everypath(folder.path(), arguments);
    fs::write(folder.path().join("links.txt"), "0 1\n1 2\n2 0\n").unwrap();
    let search = "model aodv --bug reboot-forgets --topology file:links.txt --feature rerr \
                  --duplicate --max-depth 9";
    let found = run(search);
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));
    fs::remove_file(folder.path().join("links.txt")).unwrap();
    let replayed = run("replay everypath-trace.json");
    let text = String::from_utf8(replayed.stdout).unwrap();
    assert_eq!(replayed.status.code(), Some(1));
    let built =
        "Built with features: rerr; 3 nodes, links: 0-1, 0-2, 1-2; packets may be duplicated.";
    assert!(text.contains(built), "{text}");
    let shown = String::from_utf8(run("show everypath-trace.json").stdout).unwrap();
    assert!(text.starts_with(&shown), "{shown}");

    let trace = fs::read_to_string(folder.path().join("everypath-trace.json")).unwrap();
    let mut trace: Value = serde_json::from_str(&trace).unwrap();
    trace["trace"]["target"]["links"][2] = serde_json::json!([1, 9]);
    fs::write(folder.path().join("damaged.json"), trace.to_string()).unwrap();
    let refused = run("replay damaged.json");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "error: cannot replay damaged.json: link 3: there is no node 9; the nodes are 0 to 2\n"
    );
}

#[test]
fn the_topology_and_duplicates_change_what_is_explored() {
    let states = |options: &str, code| {
        let result = model(&format!("aodv --bug reboot-forgets --max-depth 6 {options}"), code);
        result["stats"]["states"].as_u64().unwrap()
    };
    assert_eq!(states("--topology chain", 0), states("", 0));
    let (chain, ring) = (states("--nodes 4", 0), states("--nodes 4 --topology ring", 0));
    assert!(chain < ring, "{chain} {ring}");
    let random = |seed| states(&format!("--nodes 4 --topology random --seed {seed}"), 0);
    assert!((2..9).any(|seed| random(seed) != random(1)), "the seed matters");
    // With the relation, a state with a copy more is never simulated by one without.
    let (once, often) = (states("", 0), states("--duplicate", 0));
    assert!(once < often, "{once} {often}");
}

#[test]
fn the_bad_rank_needs_more_events_than_bfs_and_the_good_one_fewer() {
    let events = |options: &str| {
        let options = format!("arq --bug unchecked-ack --max-depth 10 --strategy {options}");
        model(&options, 1)["stats"]["events"].as_u64().unwrap()
    };
    let (bfs, good, bad) = (events("bfs"), events("befs --rank 1"), events("befs --rank 2"));
    assert!(good < bfs && bfs < bad, "{good} {bfs} {bad}");
}

#[test]
fn all_fourteen_strategies_find_the_violation() {
    let mut count = 0;
    for strategy in ["bfs", "dfs", "befs", "dfs-recursive"] {
        for add in ["next", "current"] {
            for shuffle in ["", "--shuffle --seed 3"] {
                if (strategy, add) == ("dfs-recursive", "current") {
                    continue;
                }
                let options = format!("--strategy {strategy} --add {add} {shuffle}");
                model(&format!("arq --bug unchecked-ack --max-depth 10 {options}"), 1);
                count += 1;
            }
        }
    }
    assert_eq!(count, 14);
}

#[test]
fn keeping_going_counts_what_the_paper_counts() {
    let result = model("arq --bug unchecked-ack --max-depth 30 --keep-going", 1);
    assert_eq!(result["stats"]["events"], 68_060);
    let share = result["stats"]["safe_events"].as_f64().unwrap() / 68_060.0;
    assert_eq!(format!("{share:.6}"), "0.923905");
    assert_eq!(result["violations"], result["stats"]["unsafe_events"]);
    assert_eq!(result["violation"]["depth"], 8);
}

#[test]
fn equality_and_hash_explore_the_same_and_hash_states_its_risk() {
    let exact = model("arq --max-depth 25 --visited equality", 0);
    let hash = model("arq --max-depth 25 --visited hash", 0);
    assert_eq!(exact["stats"]["states"], hash["stats"]["states"]);
    assert_eq!(exact["stats"]["events"], hash["stats"]["events"]);
    assert_eq!(exact["coverage"]["omission_probability"], Value::Null);
    assert!(hash["coverage"]["omission_probability"].as_f64().is_some_and(|p| p < 1e-20));
}

#[test]
fn replications_print_minimum_maximum_and_average() {
    let options = "arq --bug unchecked-ack --max-depth 10 --strategy dfs --shuffle";
    let result = model(&format!("{options} --replications 20"), 1);
    let replications = &result["replications"];
    assert_eq!(replications["count"], 20);
    assert_eq!(replications["violated"], 20);
    for what in ["seconds", "stored", "events"] {
        let number = |which: &str| replications[what][which].as_f64().unwrap();
        assert!(number("min") <= number("average") && number("average") <= number("max"));
    }
    assert!(replications["events"]["min"] != replications["events"]["max"], "seeds differ");
}

#[test]
fn the_same_search_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, options: &str| {
        let search = "model arq --bug unchecked-ack --max-depth 10 --shuffle --quiet";
        everypath(folder.path(), &format!("{search} --trace {name} {options}"));
        fs::read(folder.path().join(name)).unwrap()
    };
    for strategy in ["bfs", "dfs", "befs", "dfs-recursive"] {
        let one = run("one", &format!("--strategy {strategy} --seed 7 --threads 1"));
        let two = run("two", &format!("--strategy {strategy} --seed 7 --threads 4"));
        assert_eq!(one, two, "{strategy}");
    }
    assert_ne!(run("one", "--seed 7"), run("two", "--seed 8"));
}

#[test]
fn a_trace_that_is_there_survives_a_run_that_holds() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("everypath-trace.json"), "precious").unwrap();
    everypath(folder.path(), "model arq --max-depth 5");
    assert_eq!(fs::read(folder.path().join("everypath-trace.json")).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn results_go_to_devices_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let options = "model arq --bug unchecked-ack --max-depth 10 --trace /dev/null --json /dev/null";
    assert_eq!(everypath(folder.path(), options).status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), "model arq --bug unchecked-ack --max-depth 10")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn limits_of_time_and_memory_make_the_verdict_inconclusive() {
    for (option, reason) in [
        ("--max-seconds 0.2", "the limit of 0.2 seconds was reached"),
        ("--max-memory 30M", "the memory limit of 30 MiB was reached"),
    ] {
        for strategy in ["bfs", "dfs"] {
            let result =
                model(&format!("arq --max-depth 1000000 --strategy {strategy} {option}"), 3);
            assert_eq!(result["verdict"], "inconclusive");
            assert_eq!(result["reason"], reason);
        }
    }
}

/// The memory that a process uses, in KiB; 0 before it runs and after its end.
fn memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let field = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    field.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[test]
fn an_interrupted_search_says_what_it_found_so_far() {
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let options = "model arq --max-depth 1000000 --json result.json --max-memory 4G";
        let mut child = command(folder.path(), options).stdout(Stdio::piped()).spawn().unwrap();
        // Once it holds this much, it is in the middle of the search.
        while memory(&child) < 30_000 {
            assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
            std::thread::yield_now();
        }
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("INCONCLUSIVE: interrupted; so far, delivery of arq"), "{text}");
        let json = fs::read(folder.path().join("result.json")).unwrap();
        let result: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(result["reason"], "interrupted");
        assert!(result["stats"]["states"].as_u64().unwrap() > 1000);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn experiments_print_the_papers_figures_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), "experiments table-6.1 --quick --json -");
    assert_eq!(output.status.code(), Some(0));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = results[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    for row in rows {
        assert_eq!(row["violated"], row["replications"], "{row}");
        let (paper, ours) = (&row["paper"]["events"], &row["ours"]["events"]);
        let ratio = ours.as_f64().unwrap() / paper.as_f64().unwrap();
        assert!((0.5..2.0).contains(&ratio), "{row}");
    }
    for (name, rows) in [("table-4.2", 21), ("table-5.3", 13)] {
        let output = everypath(folder.path(), &format!("experiments {name} --quick --json -"));
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        let results = results[0]["rows"].as_array().unwrap();
        assert_eq!(results.len(), rows);
        assert!(results.iter().all(|row| row["violated"] == 1), "{results:?}");
    }
    let table = everypath(folder.path(), "experiments table-6.1 --quick");
    assert_eq!(String::from_utf8(table.stdout).unwrap().lines().count(), 12);
}

#[test]
fn a_table_has_no_plot() {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), "experiments table-6.1 --quick --plot plots");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("table-6.1 has no plot; figures are udp-figure-8"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn experiments_that_are_terminated_end_their_checks() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    command.args(["experiments", "table-III"]).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // After its heading and the names of the columns it checks programs.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().take(3).all(|line| line.is_ok()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(lines.count() < 10, "it went on");
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("table-III") && error.contains("left out"), "{error}");
}

#[test]
fn experiments_with_peers_count_as_the_papers_do() {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), "experiments table-IV --quick --json -");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = results[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6 * 6);
    for row in rows.iter().filter(|row| row["cache"] == "branching") {
        assert_eq!(row["outcome"], "holds", "{row}");
        let count = |what: &str| {
            let ours = row["stats"]["cache"][what].to_string();
            let paper = row["paper"][what].as_str().unwrap_or_default().to_string();
            (ours, paper)
        };
        let (connections, theirs) = count("connections");
        assert_eq!(connections, theirs, "{row}");
        // Its HTTP headers are longer than ours.
        let (misses, theirs) = count("misses");
        assert!(misses == theirs || row["program"] == "HTTP server/counter", "{row}");
    }
    let refused = rows.iter().filter(|row| row["outcome"] == "mismatch");
    assert!(refused.clone().all(|row| row["cache"] == "linear"), "{rows:?}");
    assert_eq!(refused.count(), 6, "two chats and the page counter, in two searches each");
}

#[test]
fn experiments_over_udp_find_what_the_paper_finds() {
    let folder = tempfile::tempdir().unwrap();
    let names = "udp-table-2 udp-table-3 udp-table-4 udp-figure-9 udp-figure-10";
    let arguments = format!("experiments {names} --quick --json - --plot plots");
    let output = everypath(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_dir(folder.path().join("plots")).unwrap().count(), 2);
    let plot = fs::read_to_string(folder.path().join("plots/udp-figure-9.svg")).unwrap();
    assert_eq!((plot.matches("<polyline").count(), plot.matches("<circle").count()), (6, 12));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = |which: usize| results[which]["rows"].as_array().unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|which| rows(which).len()), [2, 8, 14, 12, 6]);
    for row in (0..5).flat_map(rows) {
        let expected = match (&row["checked"], &row["paper"]["fault"]) {
            (Value::Bool(false), _) => "passes",
            (_, fault) if fault == "yes" => "violated",
            _ => "holds",
        };
        assert_eq!(row["outcome"], expected, "{row}");
    }
    // Every request is lost, unanswered or answered, in three connections of two.
    assert_eq!(rows(1)[6]["stats"]["executions"], 3_u64.pow(6));
    let larger = rows(3).iter().filter(|row| row["label"] == "M = {1,0}, c = 1");
    let executions: Vec<&Value> = larger.map(|row| &row["stats"]["executions"]).collect();
    assert_eq!(executions, [2, 4], "a request is lost or not");
}

/// Runs `everypath simulate … --json -` and returns the result.
fn simulate(arguments: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), &format!("simulate {arguments} --json -"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON object")
}

#[test]
fn a_simulation_has_every_metric_with_its_values() {
    let result = simulate("arq --loss 0.1 --replications 4 --seed 9");
    assert_eq!((&result["tool"], &result["command"]), (&"everypath".into(), &"simulate".into()));
    assert_eq!((&result["target"], &result["version"]), (&"arq".into(), &"0.1.0".into()));
    assert_eq!(result["parameters"]["loss"], 0.1);
    assert_eq!(result["parameters"]["seed"], 9);
    let metrics = result["metrics"].as_object().unwrap();
    assert!(metrics.len() >= 15);
    for (name, metric) in metrics {
        let values = metric["values"].as_array().unwrap();
        assert_eq!(values.len(), 4, "{name}");
        let number = |which: &str| metric[which].as_f64();
        let Some(mean) = number("mean") else {
            assert!(values.iter().all(Value::is_null), "{name}");
            continue;
        };
        assert!(number("min") <= Some(mean) && Some(mean) <= number("max"), "{name}");
        assert!(number("ci95") >= Some(0.0), "{name}");
    }
    // Nothing searches for routes here.
    assert_eq!(metrics["discovery-mean"]["mean"], Value::Null);
}

#[test]
fn a_simulation_that_is_stopped_says_so_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let options = "simulate aodv --duration 1000000 --max-seconds 0.2 --json result.json";
    let output = everypath(folder.path(), options);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    let reason = "the limit of 0.2 seconds was reached after 0 of 5 replications";
    assert!(text.starts_with(&format!("INCONCLUSIVE: {reason}\n")), "{text}");
    let json = fs::read(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(result["reason"], reason);
    assert_eq!(
        result["metrics"]["offered"]["values"],
        serde_json::json!([null, null, null, null, null])
    );
}

#[test]
fn a_replication_is_the_run_of_its_seed() {
    let together = simulate("arq --loss 0.1 --replications 4 --seed 9");
    for number in 0..4 {
        let seed = 9 + number as u64;
        let alone = simulate(&format!("arq --loss 0.1 --replications 1 --seed {seed}"));
        for (name, metric) in together["metrics"].as_object().unwrap() {
            assert_eq!(metric["values"][number], alone["metrics"][name]["values"][0], "{name}");
        }
    }
}

/// A trace that cannot be written in full was reported as shown, and a device without end was read.
#[test]
fn show_reports_write_errors_and_bounds_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let script =
            format!("everypath() {{ {} \"$@\"; }}; {script}", env!("CARGO_BIN_EXE_everypath"));
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run("everypath model arq --bug unchecked-ack --quiet");
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = run("everypath show everypath-trace.json > /dev/full");
    assert!(code == Some(2) && said.contains("cannot write to standard output"), "{said}");
    let (code, said) = run("everypath show /dev/zero");
    assert!(code == Some(2) && said.contains("it is larger than 256 MiB"), "{said}");
}
