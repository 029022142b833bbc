//! `everypath simulate` with faults and sweeps, as a person would use it.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn everypath(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn simulate(arguments: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = everypath(folder.path(), &format!("simulate {arguments} --json -"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON object")
}

fn mean(result: &Value, metric: &str) -> Option<f64> {
    result["metrics"][metric]["mean"].as_f64()
}

/// Each fault happens exactly as often as it was asked for, and costs what it must.
#[test]
fn faults_happen_as_often_as_asked() {
    let whole = simulate("arq --replications 3");
    assert_eq!((mean(&whole, "packets-lost"), mean(&whole, "crashes")), (Some(0.0), None));
    let lossy = simulate("arq --replications 3 --faults loss=7,duplicate=4");
    assert_eq!(mean(&lossy, "packets-lost"), Some(7.0));
    assert_eq!(mean(&lossy, "packets-duplicated"), Some(4.0));
    assert!(mean(&lossy, "delivered") < mean(&whole, "delivered"), "time-outs take their time");
    assert_eq!(lossy["parameters"]["faults"], serde_json::json!({"duplicate": 4, "loss": 7}));
    let broken = "aodv --nodes 9 --topology grid --faults crash=3,partition=2,reboot=1";
    let broken = simulate(broken);
    assert_eq!(mean(&broken, "crashes"), Some(3.0));
    assert_eq!(mean(&broken, "partitions"), Some(2.0));
    assert_eq!(mean(&broken, "reboots"), Some(1.0));
    let whole = simulate("aodv --nodes 9 --topology grid");
    assert!(mean(&broken, "delivery-ratio") < mean(&whole, "delivery-ratio"));
    assert!(mean(&broken, "packets-lost") > mean(&whole, "packets-lost"));
    // Who crashes takes no part: with all nodes gone at some time, nothing is delivered after it.
    let gone = simulate("arq --faults crash=2");
    assert!(mean(&gone, "delivered") < mean(&simulate("arq"), "delivered"));
}

/// What the log of a simulation with faults says is a path of the model with the same faults.
#[test]
fn logs_with_faults_are_paths_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| everypath(folder.path(), line);
    let faults = "--faults loss=2,duplicate=2";
    let said =
        run(&format!("simulate arq --duration 2 {faults} --replications 1 --log log --quiet"));
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log.matches("is duplicated").count(), 2, "{log}");
    assert_eq!(log.matches("is lost").count(), 2, "{log}");
    assert_eq!(run(&format!("model arq --validate log {faults}")).status.code(), Some(0));
    let fewer = run("model arq --validate log --faults loss=2,duplicate=1");
    assert_eq!(fewer.status.code(), Some(1), "{fewer:?}");
}

#[test]
fn faults_that_cannot_happen_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, reason) in [
        ("arq --faults crash=3", "there are 2 nodes"),
        ("arq --faults reboot=1", "its nodes cannot lose their state"),
        ("aodv --nodes 99 --faults partition=1", "it must have at most 64 nodes"),
        ("arq --faults crush=1", "crash"),
        ("arq --faults loss", "FAULT=N"),
    ] {
        let output = everypath(folder.path(), &format!("simulate {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        assert!(stderr(&output).contains(reason), "{arguments}: {}", stderr(&output));
    }
}

/// Each point of a sweep is the simulation with that value; the plots have a curve for each value of
/// the second setting.
#[test]
fn a_sweep_is_many_simulations() {
    let folder = tempfile::tempdir().unwrap();
    let line = "simulate arq --replications 2 --duration 20 --sweep loss=0,0.2 --sweep delay=5,50,80 \
                --json result --plot plots";
    let output = everypath(folder.path(), line);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("delay = 50\n") && text.contains("sweep       loss, each"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let result: Value =
        serde_json::from_slice(&fs::read(folder.path().join("result")).unwrap()).unwrap();
    let points = result["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    assert_eq!(points[3]["values"], serde_json::json!([0.2, 50.0]));
    let alone = simulate("arq --replications 2 --duration 20 --loss 0.2 --delay 50");
    assert_eq!(points[3]["metrics"], alone["metrics"]);
    assert!(mean(&points[1], "throughput") < mean(&points[0], "throughput"));
    let plot = fs::read_to_string(folder.path().join("plots/throughput.svg")).unwrap();
    assert_eq!((plot.matches("<polyline").count(), plot.matches("<circle").count()), (3, 6));
}

#[test]
fn sweeps_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, reason) in [
        ("--sweep loss", "NAME=VALUE"),
        ("--sweep loss=0,x", "not a number"),
        ("--sweep loss=0,2", "expected a probability"),
        ("--sweep lost=1", "loss"),
        ("--sweep loss=0 --sweep loss=1", "given twice"),
        ("--sweep loss=0 --sweep delay=1 --sweep jitter=1", "twice at most"),
        ("--sweep traffic=1,2", "sends as fast as it can"),
        ("--sweep loss=0 --log log", "does not go with --sweep"),
    ] {
        let output = everypath(folder.path(), &format!("simulate arq {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        assert!(stderr(&output).contains(reason), "{arguments}: {}", stderr(&output));
    }
}
