//! Searches of models on disk: killed, out of space, resumed.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A search of a hundred thousand states.
const SEARCH: &str = "model aodv --topology ring --nodes 4 --max-depth 7";
const BUG: &str = "model aodv --bug delete-route --keep-going --max-depth 9";

fn shell(folder: &Path, script: &str) -> Output {
    let everypath = concat!("exec ", env!("CARGO_BIN_EXE_everypath"), " ");
    let mut sh = Command::new("sh");
    sh.stdin(Stdio::null());
    sh.args(["-c", &script.replace("everypath ", everypath)]).current_dir(folder);
    sh.output().unwrap()
}

/// The exit code and the result of a search, without what differs from run to run.
fn run(folder: &Path, script: &str) -> (i32, Value) {
    let output = shell(folder, &format!("{script} --json - --quiet"));
    let mut result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{script}: {error}: {output:?}"));
    result["stats"]["seconds"] = Value::Null;
    result["stats"]["peak_rss_bytes"] = Value::Null;
    (output.status.code().unwrap(), result)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_search_on_disk_gives_what_one_in_memory_gives() {
    let folder = folder();
    for (number, search) in [SEARCH, BUG].iter().enumerate() {
        let memory = run(folder.path(), &format!("everypath {search} --visited hash"));
        let trace = fs::read(folder.path().join("everypath-trace.json")).ok();
        let disk = run(folder.path(), &format!("everypath {search} --checkpoint d{number}"));
        assert_eq!(disk, memory);
        assert_eq!(fs::read(folder.path().join("everypath-trace.json")).ok(), trace);
        // What is over can be asked for again.
        assert_eq!(run(folder.path(), &format!("everypath {search} --resume d{number}")), memory);
    }
}

/// Killed at moments that nobody chooses, until it comes to its end.
#[test]
fn a_search_that_is_killed_goes_on() {
    let folder = folder();
    let memory = run(folder.path(), &format!("everypath {BUG} --visited hash"));
    let trace = fs::read(folder.path().join("everypath-trace.json")).unwrap();
    let search = BUG.split(' ').chain(["--every", "0.0001", "--quiet"]);
    let mut option = "--checkpoint";
    for number in 1..=5 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_everypath"))
            .args(search.clone())
            .args([option, "states"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // So many levels further.
        let reached = |depth: u32| folder.path().join(format!("states/level-{depth}"));
        while !reached(number + 2).exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        option = "--resume";
    }
    assert_eq!(run(folder.path(), &format!("everypath {BUG} --resume states")), memory);
    assert_eq!(fs::read(folder.path().join("everypath-trace.json")).unwrap(), trace);
}

/// Files may not grow beyond a limit, as on a full disk.
#[test]
fn a_full_disk_is_no_verdict_and_the_search_goes_on_later() {
    let folder = folder();
    let memory = run(folder.path(), &format!("everypath {SEARCH} --visited hash"));
    let limited = format!(
        "trap '' XFSZ; ulimit -f 2000; everypath {SEARCH} --checkpoint states --every 0.001 "
    );
    let (code, result) = run(folder.path(), &limited);
    assert_eq!((code, &result["verdict"]), (3, &"inconclusive".into()), "{result}");
    let reason = result["reason"].as_str().unwrap();
    assert!(
        reason.contains("states/") && reason.ends_with("(--resume states goes on)"),
        "{reason}"
    );
    assert_eq!(run(folder.path(), &format!("everypath {SEARCH} --resume states")), memory);
}

#[test]
fn a_limit_can_be_raised() {
    let folder = folder();
    let memory = run(folder.path(), &format!("everypath {SEARCH} --visited hash"));
    let (code, result) =
        run(folder.path(), &format!("everypath {SEARCH} --checkpoint states --max-states 5000"));
    let reason = "the limit of 5,000 stored states was reached (--resume states goes on)";
    assert_eq!((code, &result["reason"]), (3, &reason.into()));
    assert_eq!(run(folder.path(), &format!("everypath {SEARCH} --resume states")), memory);
}

#[test]
fn a_search_that_is_interrupted_goes_on() {
    let folder = folder();
    // It takes far longer than this test.
    let search = SEARCH.replace("depth 7", "depth 12");
    let child = Command::new(env!("CARGO_BIN_EXE_everypath"))
        .args(search.split(' '))
        .args(["--checkpoint", "states"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path().join("states/level-5").exists() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("INCONCLUSIVE: interrupted (--resume states goes on)"), "{text}");
    let resumed = format!("everypath {search} --resume states --max-states 20000");
    let (code, result) = run(folder.path(), &resumed);
    let limit = "the limit of 20,000 stored states was reached (--resume states goes on)";
    assert_eq!((code, &result["reason"]), (3, &limit.into()));
}

/// Of the memory that is left, fingerprints get so little that sorted runs are written.
#[test]
fn fingerprints_that_do_not_fit_go_to_sorted_runs() {
    let folder = folder();
    let search = SEARCH.replace("depth 7", "depth 8");
    let memory = run(folder.path(), &format!("everypath {search} --visited hash"));
    let limits = "--max-memory 300M --threads 1";
    let free = run(folder.path(), &format!("everypath {search} --checkpoint free {limits}"));
    assert_eq!(free, memory);
    let runs = |name: &str| {
        let entries = fs::read_dir(folder.path().join(name)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with("run-")).count()
    };
    assert_eq!(runs("free"), 0);
    // Little more than is used without any states.
    let output = shell(folder.path(), "everypath model arq --max-depth 1 --json - --quiet");
    let least: Value = serde_json::from_slice(&output.stdout).unwrap();
    let least = (least["stats"]["peak_rss_bytes"].as_u64().unwrap() >> 20) + 26;
    let limits = format!("--max-memory {least}M --threads 1");
    let disk = run(folder.path(), &format!("everypath {search} --checkpoint states {limits}"));
    assert_eq!(disk, memory);
    assert!(runs("states") > 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    let refused = |arguments: &str| {
        let output = shell(folder.path(), &format!("everypath {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        said(&output)
    };
    fs::write(folder.path().join("file"), "a file").unwrap();
    for (options, why) in [
        ("--checkpoint file", "file is not a folder"),
        ("--checkpoint file/states", "cannot be made"),
        ("--resume nowhere", "nowhere is not a folder"),
        ("--resume .", ". has no checkpoint"),
        ("--checkpoint .", ". is not empty"),
        ("--every 1", "--every needs --checkpoint or --resume"),
        ("--checkpoint states --every 0", "write a number of minutes above 0"),
        ("--checkpoint states --visited equality", "leave --visited out"),
        ("--checkpoint states --strategy dfs", "a --strategy other than bfs"),
        ("--checkpoint states --add current", "--add current"),
        ("--checkpoint states --save-graph graph", "graphs"),
        ("--checkpoint states --replications 2", "--replications"),
        ("--checkpoint states --interactive", "instead of a search"),
        ("--checkpoint states --resume states", "cannot be used with"),
    ] {
        let said = refused(&format!("model arq {options}"));
        assert!(said.contains(why), "{options}: {said}");
    }
    assert!(!folder.path().join("states").exists());
    assert_eq!(run(folder.path(), "everypath model arq --max-depth 5 --checkpoint states").0, 0);
    for (search, why) in [
        ("arq --max-depth 6", "its depth bound: 5; this one's depth bound: 6"),
        ("arq --max-depth 5 --bug unchecked-ack", "its bugs: none; this one's bugs: unchecked-ack"),
        ("aodv --max-depth 5", "its model: arq; this one's model: aodv"),
    ] {
        let said = refused(&format!("model {search} --resume states"));
        assert!(said.contains(why), "{search}: {said}");
    }
    let said = refused("model arq --max-depth 5 --checkpoint states");
    assert!(said.contains("go on with --resume"), "{said}");
}
