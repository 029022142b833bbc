//! What executions leave behind is judged: `--expect-stdout`, `--oracle`, `--file`; and scenario
//! files, which say all this in TOML.

use crate::support::Programs;
use serde_json::Value;
use std::fs;
use std::process::Command;

const WRITERS: &str = "../crates/everypath/tests/programs/writers.c";

fn writers() -> Programs {
    let programs = Programs::new(&[WRITERS]);
    for (name, contents) in [("one-two", "one\ntwo\n"), ("three", "three\n")] {
        fs::write(programs.folder.path().join(name), contents).unwrap();
    }
    programs
}

/// Runs a check with words that may hold spaces; its exit code and its result.
fn check(programs: &Programs, words: &[&str]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_everypath"))
        .args(["check", "--json", "-"])
        .args(words)
        .current_dir(programs.folder.path())
        .output()
        .unwrap();
    let result = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), result.unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

fn violation(result: &Value) -> (&str, &str) {
    let part = |name: &str| result["violation"][name].as_str().unwrap_or("none");
    (part("property"), part("message"))
}

#[test]
fn every_order_of_output_is_compared() {
    let programs = writers();
    for strategy in ["dfs", "random"] {
        let options = format!("--strategy {strategy} --expect-stdout one-two");
        let (code, result) = programs.check(&format!("{options} -- ./writers"));
        let said = "standard output differs from one-two in line 1: `two` instead of `one`";
        assert_eq!((code, violation(&result)), (1, ("stdout", said)));
        let replay = programs.everypath("replay everypath-trace.json");
        assert_eq!(replay.status.code(), Some(1), "{replay:?}");
        let (code, result) = programs.check(&format!("{options} -- ./writers sorted"));
        assert_eq!((code, result["verdict"].as_str()), (0, Some("holds")), "{result}");
    }
    // What another execution left behind is told from this one, however the program was restored.
    for restart in ["copy", "tracked", "fork", "exec"] {
        let options = format!("--strategy random --restart {restart} --max-executions 60");
        let (code, result) =
            programs.check(&format!("{options} --keep-going --expect-stdout one-two -- ./writers"));
        assert_eq!(code, 1, "{restart}: {result}");
        let wrong = result["violations"].as_u64().unwrap();
        assert!((1..60).contains(&wrong), "{restart}: {result}");
        assert_eq!(result["stats"]["endings"][0]["ending"], "wrong stdout");
    }
}

#[test]
fn an_oracle_sees_output_and_files() {
    let programs = writers();
    let both = "sort | tr '\\n' ' ' > said; sort out.txt | tr '\\n' ' ' | cmp - said";
    let (code, result) = check(&programs, &["--oracle", both, "--", "./writers"]);
    assert_eq!((code, result["coverage"]["kind"].as_str()), (0, Some("exhaustive")), "{result}");
    for strategy in ["dfs", "random"] {
        let oracle = "head -1 out.txt; test $(head -1 out.txt) = one";
        let words = ["--strategy", strategy, "--oracle", oracle, "--", "./writers"];
        let (code, result) = check(&programs, &words);
        let said = format!("the oracle `{oracle}` ends with code 1: two");
        assert_eq!((code, violation(&result)), (1, ("oracle", said.as_str())));
        assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
    }
    let elsewhere = "test $(cat ../outside/tmp/never-there) = elsewhere";
    let (code, result) = check(&programs, &["--oracle", elsewhere, "--", "./writers", "outside"]);
    assert_eq!(code, 0, "{result}");
    let (code, result) = check(&programs, &["--oracle", "no-such-command", "--", "./writers"]);
    assert_eq!(code, 3);
    assert!(result["reason"].as_str().unwrap().contains("cannot be run"), "{result}");
    assert!(!programs.folder.path().join("out.txt").exists());
}

#[test]
fn each_content_is_judged_once() {
    let programs = writers();
    let log = programs.folder.path().join("asked");
    let oracle = format!("echo asked >> '{}'", log.display());
    let random = ["--strategy", "random", "--max-executions", "500", "--threads", "2"];
    let words = [&random[..], &["--oracle", &oracle, "--", "./writers"]].concat();
    let (code, result) = check(&programs, &words);
    assert_eq!((code, result["stats"]["executions"].as_u64()), (0, Some(500)), "{result}");
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 2, "two orders of two words");
}

#[test]
fn files_are_put_where_the_program_finds_them() {
    let programs = writers();
    let file = ["--file", "three:data/word.txt"];
    let run = |oracle: &str, how: &str| {
        check(&programs, &[&file[..], &["--oracle", oracle, "--", "./writers", how]].concat())
    };
    let (code, result) = run("grep -q three && grep -q three data/word.txt", "");
    assert_eq!(code, 0, "{result}");
    let (code, result) = run("grep -q three && test ! -e data/word.txt", "remove");
    assert_eq!(code, 0, "{result}");
    assert!(!programs.folder.path().join("data").exists(), "the machine's files stay as they are");
}

#[test]
fn a_scenario_says_what_the_command_line_says() {
    let programs = writers();
    let folder = programs.folder.path().join("scenario");
    fs::create_dir(&folder).unwrap();
    for name in ["writers", "three"] {
        fs::rename(programs.folder.path().join(name), folder.join(name)).unwrap();
    }
    fs::write(folder.join("one-three"), "one\nthree\n").unwrap();
    let scenario = "program = './writers'\narguments = ['']\nfile = ['three:data/word.txt']\n\
                    expect-stdout = 'one-three'\nmax-executions = 1_000\nverify = false\n\
                    environment = { LANG = 'C' }\nstrategy = 'random'\n";
    fs::write(folder.join("scenario.toml"), scenario).unwrap();
    let (code, result) = programs.check("scenario/scenario.toml");
    let said =
        "standard output differs from scenario/one-three in line 1: `three` instead of `one`";
    assert_eq!((code, violation(&result)), (1, ("stdout", said)), "{result}");
    assert_eq!(result["coverage"]["kind"], "sampled");
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
    // What the command line says comes first.
    let (code, result) = programs.check("scenario/scenario.toml --strategy dfs --max-executions 1");
    assert_eq!(code, 3, "{result}");
    assert_eq!(result["stats"]["executions"], 1);
}

#[test]
fn a_variable_is_set_for_the_program_and_for_its_replay() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/variable.c"]);
    let code = |arguments: &str| programs.check(arguments).0;
    assert_eq!(code("--exit-code 0 -- ./variable"), 0);
    // A value may have an equals sign, and the last of several counts.
    assert_eq!(code("--env CODE=1 --env CODE=4=4 --exit-code 4 -- ./variable"), 0);
    assert_eq!(code("--env CODE=4 -- ./variable"), 1);
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
    // What makes Rust programs look up their stacks is not inherited.
    assert_eq!(code("-- printenv RUST_BACKTRACE"), 1);
    assert_eq!(code("--env RUST_BACKTRACE=1 -- printenv RUST_BACKTRACE"), 0);
    let scenario = "program = './variable'\nexit-code = 4\nenvironment = { CODE = '4' }\n";
    fs::write(programs.folder.path().join("s.toml"), scenario).unwrap();
    assert_eq!((code("s.toml"), code("--env CODE=5 s.toml")), (0, 1));
    for wrong in ["CODE", "=4"] {
        let output = programs.everypath(&format!("check --env {wrong} -- ./variable"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("expected a name and a value, such as LANG=C"), "{said}");
    }
}

#[test]
fn nonsense_in_a_scenario_is_located() {
    let programs = writers();
    let cases = [
        ("exit-code = 1\n", "s.toml: no program is named"),
        ("program = 'x'\nprogramm = 'y'\n", "s.toml:2:1: unknown key 'programm' (did you mean"),
        ("program = 3\n", "s.toml:1:11: program: expected a string, found integer"),
        ("program = 'x'\narguments = ['a', 2]\n", "s.toml:2:19: arguments: expected a string"),
        ("program = 'x'\nexit-code = 999\n", "s.toml:2:13: exit-code: invalid value '999'"),
        ("program = 'x'\nquiet = 'yes'\n", "s.toml:2:9: quiet: expected true or false"),
        ("program = 'x'\nexit-code = [1]\n", "s.toml:2:13: exit-code: expected a string or a"),
        ("program = 'x'\nfile = ['a:/b']\n", "s.toml:2:8: file: invalid value"),
        ("program = 'x'\n[environment]\nA = 1\n", "s.toml:3:5: A: expected a string"),
        ("program = 'x'\n[environment]\n'A=B' = ''\n", "s.toml:3:1: not a name of a variable"),
        ("program = 'x'\nenv = ['A=B']\n", "s.toml:2:1: unknown key 'env'"),
        ("program = 'x\n", "s.toml:1:"),
        ("program = 'nowhere-at-all'\n", "nowhere-at-all: no such program"),
        ("program = './writers'\nexpect-stdout = 'gone'\n", "cannot read gone for --expect-stdout"),
        ("program = './writers'\nfile = 'gone:x'\n", "cannot read gone for --file"),
        ("program = './writers'\noracle = ' '\n", "--oracle is empty"),
    ];
    for (text, expected) in cases {
        fs::write(programs.folder.path().join("s.toml"), text).unwrap();
        let output = programs.everypath("check s.toml");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert!(said.contains(expected), "{text}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    for (arguments, expected) in [
        ("check s.toml -- ./writers", "either a scenario file or a program"),
        ("check gone.toml", "cannot read gone.toml"),
        ("check ./writers", "is not a scenario file; to check a program, put -- before it"),
    ] {
        let output = programs.everypath(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}
