//! What a model can say about faults, choices and initial states, from the command line.

use election::Election;
use everypath_model::net::{Faults, Network, Options, Shape, Topology};
use everypath_model::{Verdict, explore};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn election(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_election"));
    command.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

/// The exit code, and what was printed.
fn run(arguments: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = election(folder.path(), arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// The result as JSON.
fn json(arguments: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = election(folder.path(), &format!("{arguments} --json -"));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn states(arguments: &str) -> u64 {
    let result = json(arguments);
    assert_eq!(result["verdict"], "holds", "{arguments}: {result}");
    result["stats"]["states"].as_u64().unwrap()
}

#[test]
fn a_term_has_one_leader() {
    let once = "model election --set terms=1 --faults loss=0,reboot=0";
    let faulty = [
        "model election --set terms=1 --faults loss=0,reboot=1",
        "model election --set terms=1 --faults loss=0,reboot=0,crash=1",
        "model election --set terms=1 --faults loss=0,reboot=0,partition=1",
        "model election --set terms=1 --faults loss=0,reboot=0,duplicate=1",
        "model election --set terms=1 --set spread=1 --faults loss=0,reboot=0",
    ];
    let fewest = states(once);
    for more in faulty {
        assert!(states(more) > fewest, "{more}");
    }
}

/// Every fault that is allowed happens, and no other.
#[test]
fn budgets_bound_what_happens() {
    let result = json("model election --set terms=1 --faults loss=1,reboot=0,crash=1");
    let events = result["event_counts"].as_array().unwrap();
    let count = |event: &str| {
        let found = events.iter().find(|entry| entry["name"] == event).unwrap();
        found["executed"].as_u64().unwrap()
    };
    assert!(count("lose") > 0 && count("crash") > 0 && count("deliver") > 0, "{result}");
    assert_eq!((count("reboot"), count("partition"), count("duplicate")), (0, 0, 0));
}

#[test]
fn a_forgotten_vote_makes_two_leaders_and_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let model = "model election --bug forgetful --set terms=1 --faults loss=0,reboot=1";
    let output = election(folder.path(), model);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("have both been leaders of term 1"), "{text}");
    assert!(text.contains("leaders so far: term 1: node"), "{text}");
    assert!(text.contains("; it chooses 1"), "{text}");
    assert!(text.contains("left: loss 0, reboot 0") || text.contains("left: reboot 0"), "{text}");
    let again = election(folder.path(), "replay everypath-trace.json");
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stdout));
    assert_eq!(run(&model.replace("reboot=1", "reboot=0")).0, 0);
}

#[test]
fn a_rank_says_why() {
    let (code, text) = run(
        "model election --bug forgetful --set terms=1 --faults loss=0,reboot=1 --strategy befs",
    );
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("rank     (0): candidates have 0 votes"), "{text}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, why) in [
        ("model election --set term=1", "did you mean terms?"),
        ("model election --set terms=10", "--set terms=10: it must be from 1 to 9"),
        ("model election --set terms", "give it as NAME=VALUE, with a number"),
        ("model election --set terms=1 --set terms=2", "--set terms is given twice"),
        ("model election --faults los=1", "did you mean loss?"),
        ("model election --faults loss", "give it as FAULT=N, with a number"),
        ("model election --duplicate --faults duplicate=1", "drop one of them"),
    ] {
        let (code, text) = run(arguments);
        assert!(code == 2 && text.contains(why), "{arguments}: {code} {text}");
    }
    let help = run("model --help").1;
    assert!(help.contains("--set terms=N"), "{help}");
}

/// Drawn in a simulation, taken one and all in exploration.
#[test]
fn choices_are_drawn_in_a_simulation() {
    let simulate = |seed: u64| json(&format!("simulate election --set terms=9 --seed {seed}"));
    assert_eq!(simulate(1)["runs"], simulate(1)["runs"]);
    assert_ne!(simulate(1).to_string(), simulate(2).to_string());
}

#[test]
fn budgets_are_options_of_the_library() -> everypath_model::Result<()> {
    let faults = Faults { loss: Some(0), reboot: Some(1), ..Faults::default() };
    let bugs = vec!["forgetful".into()];
    let set = [("terms".into(), 1)].into();
    let mesh = Topology::new(Shape::Mesh, 3);
    let options = Options { faults, bugs, set, ..Options::new(mesh) };
    let explored = explore(&Network::<Election>::new(options)).run()?;
    assert_eq!(explored.verdict, Verdict::Violated);
    Ok(())
}

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/faults.md")
}

#[test]
fn the_sessions_of_the_guide_are_true() {
    xtask::transcript::check(&guide(), Path::new(env!("CARGO_BIN_EXE_election")));
}

/// Five nodes that are alike: at most 1/20 of the states, and the same verdict.
#[test]
fn symmetry_explores_a_fraction() {
    let model = "model election --nodes 5 --set terms=1 --faults loss=0,reboot=0 --visited equality \
                 --max-depth 7";
    let (plain, reduced) = (states(model), states(&format!("{model} --reduction symmetry")));
    assert!(20 * reduced < plain, "{reduced} of {plain}");
    let both = format!("{model} --reduction symmetry,identical");
    assert_eq!(states(&both), reduced);
}

#[test]
fn symmetry_finds_what_a_plain_search_does() {
    let folder = tempfile::tempdir().unwrap();
    let model = "model election --bug forgetful --set terms=1 --faults loss=0,reboot=1";
    let output = election(folder.path(), &format!("{model} --reduction symmetry"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("VIOLATED: one-leader of election with forgetful after 7 steps"));
    let again = election(folder.path(), "replay everypath-trace.json");
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stdout));
}

#[test]
fn symmetry_is_refused_where_it_is_not_sound() {
    for (arguments, why) in [
        ("--topology chain", "nodes 0 and 1 have other neighbours"),
        ("--visited relation", "does not go with --visited relation"),
        ("--strategy random", "needs a search without graphs"),
        ("--save-graph graph", "needs a search without graphs"),
    ] {
        let (code, text) = run(&format!("model election --reduction symmetry {arguments}"));
        assert!(code == 2 && text.contains(why), "{arguments}: {code} {text}");
    }
}

/// What a simulation does is a path of the model, losses included.
#[test]
fn the_log_of_a_simulation_is_a_path_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let simulate = "simulate election --nodes 3 --set terms=3 --loss 0.2 --seed 4 --log log.jsonl";
    assert_eq!(election(folder.path(), simulate).status.code(), Some(0));
    let log = std::fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    assert!(log.lines().count() > 5, "{log}");
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "timeout");
    assert_eq!(first["time"], 1.0);
    assert!(log.lines().any(|line| line.contains("\"event\":\"lose\"")), "{log}");
    let validate = "model election --nodes 3 --set terms=3 --validate log.jsonl";
    let output = election(folder.path(), validate);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    // A vote that nobody has asked for is none.
    let wrong = log.replacen("\"event\":\"timeout\"", "\"event\":\"deliver\"", 1);
    std::fs::write(folder.path().join("log.jsonl"), wrong).unwrap();
    assert_eq!(election(folder.path(), validate).status.code(), Some(1));
}
