//! `everypath check --state-matching`: the same verdicts and the same endings, by fewer steps.

use crate::support::Programs;
use serde_json::Value;

const MATCHING: [&str; 2] = ["--state-matching --reduction none", "--state-matching"];

fn count(result: &Value, what: &str) -> u64 {
    result["stats"][what].as_u64().unwrap_or_else(|| panic!("no {what}: {result}"))
}

/// How executions end in all the schedules that a search explores; none if there are too many.
fn endings(programs: &Programs, options: &str, program: &str) -> Option<Vec<String>> {
    const MOST: u64 = 20_000;
    // No execution ends with code 255, so every ending is counted.
    let options = format!("{options} --keep-going --exit-code 255 --max-executions {MOST}");
    let (code, result) = programs.check(&format!("{options} -- {program}"));
    assert!(code == 1 || code == 3, "{program}: {result}");
    let endings = result["stats"]["endings"].as_array().unwrap();
    let names = endings.iter().map(|ending| ending["ending"].as_str().unwrap().to_string());
    (count(&result, "executions") < MOST).then(|| names.collect())
}

#[test]
fn the_endings_are_those_of_plain_search() {
    let programs = Programs::new(&[
        "../crates/everypath/tests/programs/scripts.c",
        "../crates/everypath/tests/programs/timed.c",
    ]);
    let scripts = [
        "L0X0U0 L0X0U0",
        "X0X1 X1X0",
        "L0L1U1U0 L1L0U0U1",
        "T0X0 L0X0U0",
        "L0C0U0 L0S0U0",
        "L0C0X0U0 B0X0",
        "V0X0 X0P0",
        "P0V0 V0P0",
    ];
    let mut cases: Vec<String> =
        scripts.iter().map(|script| format!("./scripts {script}")).collect();
    cases.push("./timed".into());
    for program in &cases {
        let plain = ["--reduction none", "--reduction dpor"];
        let plain = plain.iter().find_map(|options| endings(&programs, options, program));
        let plain = plain.expect("one of them is small");
        assert!(!plain.is_empty(), "{program}");
        for options in MATCHING {
            let matched = endings(&programs, options, program);
            assert_eq!(matched.as_ref(), Some(&plain), "{options} {program}");
        }
    }
}

#[test]
fn the_verdicts_are_those_of_other_searches() {
    let programs = Programs::new(&["philosophers.c", "bank.rs"]);
    let property = |result: &Value| result["violation"]["property"].as_str().map(str::to_string);
    for program in ["./philosophers 3", "./philosophers 3 fixed", "./bank"] {
        let (code, reduced) = programs.check(&format!("-- {program}"));
        for options in MATCHING {
            let (matched_code, matched) = programs.check(&format!("{options} -- {program}"));
            assert_eq!(
                (matched_code, property(&matched)),
                (code, property(&reduced)),
                "{options} {program}"
            );
            assert!(matched_code == 1 || matched["coverage"]["kind"] == "exhaustive");
        }
    }
}

#[test]
fn sleep_sets_spare_steps_and_no_states() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/scripts.c"]);
    let script = "--exit-code 0 -- ./scripts L0U0L0U0 L1U1L1U1 L2U2L2U2";
    let [plain, sleeping] = MATCHING.map(|options| programs.check(&format!("{options} {script}")));
    for (code, result) in [&plain, &sleeping] {
        assert_eq!((*code, result["verdict"].as_str()), (0, Some("holds")), "{result}");
    }
    let (plain, sleeping) = (plain.1, sleeping.1);
    assert_eq!(count(&plain, "states"), count(&sleeping, "states"));
    assert!(count(&sleeping, "transitions") * 2 < count(&plain, "transitions") * 3);
    // As many as there are places that three threads and main can be at, or this is not matching.
    assert!(count(&plain, "states") < 1000, "{plain}");
}

#[test]
fn limits_and_options_that_do_not_fit_are_told() {
    let programs = Programs::new(&["philosophers.c"]);
    let (code, result) =
        programs.check("--state-matching --max-states 100 -- ./philosophers 3 fixed");
    assert_eq!((code, result["reason"].as_str()), (3, Some("the limit of 100 states was reached")));
    // How many there are is not known, and nothing is made up.
    let coverage = &result["coverage"];
    assert!(coverage["alternatives_left"].as_u64().unwrap() > 0, "{result}");
    assert!(coverage["executions_at_least"].is_null(), "{result}");
    for (options, said) in [
        ("--state-matching --reduction dpor", "would miss schedules"),
        ("--state-matching --strategy random", "needs --strategy dfs"),
        ("--state-matching --restart fork", "leave --restart out"),
        ("--state-matching --peer true --cache none", "leave --cache none out"),
    ] {
        let output = programs.everypath(&format!("check {options} -- ./philosophers 2"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{message}");
        assert!(message.contains(said), "{message}");
    }
}
