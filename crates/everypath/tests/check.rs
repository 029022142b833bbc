//! `everypath check` and `replay` on real programs, through the command line.

use crate::support::endings::{compare_searches, endings, executions, property};
use crate::support::{Programs, skip};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, Stdio};

#[test]
fn reduction_and_plain_search_find_the_same_endings() {
    let compared = compare_searches("scripts.c", SCRIPTS);
    assert!(compared >= SCRIPTS.len() - 2, "only {compared} were small enough");
}

#[test]
fn reduction_and_plain_search_agree_about_sockets() {
    assert_eq!(compare_searches("talks.c", TALKS), TALKS.len());
}

/// Whether a descriptor is still open when it is used depends on who was faster to close it.
const DESCRIPTORS: &[&str] = &[
    "C0 W0",
    "C0 F0",
    "C1 R1",
    "C1 W1",
    "C1 N1",
    "C1 O1",
    "C2 R2",
    "C2 S2",
    "C2 D2",
    "C2 Q2",
    "C3 W3",
    "C3 S3",
    "C3 C3",
    "22 R2",
    "21 R1",
    "R2 R2",
    "S2 R2R2",
    "R3 R3",
    "S3R3 R3",
    "N4 R4",
    "T4 R4",
    "R1 N1R1",
    "23 S3",
    "22C2 R2",
    "R4 N4",
    "R4 T4",
    "R4R2 N0N4",
];

#[test]
fn reduction_and_plain_search_agree_about_descriptors() {
    assert_eq!(compare_searches("descriptors.c", DESCRIPTORS), DESCRIPTORS.len());
}

/// What somebody finds who looks depends on what others did until then.
const WATCHES: &[&str] = &[
    "V0W0 A0",
    "A0W0 V0",
    "A1W0 S0",
    "A0D0 W0",
    "P0 V0",
    "P1 H0",
    "P2 C2",
    "P1 C1",
    "W0 C4",
    "A0 C0",
    "A0W0 C0",
    "Q1 S1",
    "Q1 C1",
    "T1 t0",
    "k3 C3",
    "k3 a3",
    "a3 C3",
    "E1 C1",
    "N3 C3",
    "R1 S1",
    "u0 U0",
    "c0U0 u0",
    "u0 c0U0",
    "u0O1 L1",
    "u0O1C1 P1",
    "O0C0 L0",
    "u0O1 Q1",
    "u0 O0A0W0",
];

#[test]
fn reduction_and_plain_search_agree_about_what_is_watched() {
    assert_eq!(compare_searches("watches.c", WATCHES), WATCHES.len());
}

/// A socket may be named, connected, used and closed by several threads, and a queue may be full.
const CONNECTS: &[&str] = &[
    "K0 P0",
    "K0 S0",
    "K0 R0",
    "K0 H0",
    "K0 N0",
    "K0 C0",
    "K1 K1",
    "K1 C2",
    "K1 S1",
    "B0 K0",
    "B0 B0",
    "B0 C0",
    "K0 A2",
    "F0F0 K1S1",
    "A2 K1P1",
    "K0 S0A2",
    "F0F0F0 A2P1",
    "T0 F0F0",
];

#[test]
fn reduction_and_plain_search_agree_about_connecting() {
    assert_eq!(compare_searches("connects.c", CONNECTS), CONNECTS.len());
}

/// Whether a file is there depends on who was faster to make or to remove it.
const NAMES: &[&str] =
    &["c0 s0", "c0 a0", "c0 o0", "c0 c0", "c0 u0", "c0u0 s0", "c0r0 s1", "m0 s0", "U0 M0"];

#[test]
fn reduction_and_plain_search_agree_about_names_of_files() {
    assert_eq!(compare_searches("names.c", NAMES), NAMES.len());
}

/// What is in a file, and who has locked it.
const CONTENTS: &[&str] = &[
    "W0 R0",
    "w0 p0",
    "W1 R1",
    "T0 S0",
    "A0 F0",
    "A0 E0",
    "O0 R0",
    "w0 M0",
    "L0 L0",
    "L0U0 L0",
    "B0 B0",
    "B0U0 B0U0",
    "s0 s0",
    "s0L0 s0",
    "B0Z0 L0",
    "L1 L1",
];

#[test]
fn reduction_and_plain_search_agree_about_contents_of_files() {
    assert_eq!(compare_searches("contents.c", CONTENTS), CONTENTS.len());
}

/// Who takes a signal, who handles it, and whether an alarm rings before it is taken back.
const SIGNALLED: &[&str] =
    &["W0 K0", "S0 k0", "u0X0 X0K0", "D0D0 K0", "b0u0 k0X0", "b0u0 k0", "A1D0", "S0 A1", "k0 X0"];

#[test]
fn reduction_and_plain_search_agree_about_signals() {
    assert_eq!(compare_searches("signalled.c", SIGNALLED), SIGNALLED.len());
}

const TALKS: &[&str] = &[
    "w0 q0",
    "w0 w0q0",
    "w0 r0",
    "w0h0 q0q0",
    "k0 p0q0",
    "w0E0 K0",
    "w0 f0",
    "w0 p0",
    "w0 e0",
    "x0 w0e0",
    "i0i0 o0",
    "i0 i0o0",
    "c0 a0",
    "a0 s0",
    "c0 s0",
    "c0 c0a0",
    "d0 g0",
    "d0 D0g0",
    "D0 n0g0",
    "m0 t0",
    "w0w1 q1q0",
];

const SCRIPTS: &[&str] = &[
    "X0V0 K0",
    "t0X0t0X1 X1K0X0",
    "L0C0U0X0 S0K0",
    "d1X0d0X1t0 X0K0X1",
    "a1X0X1 X1K0X0",
    "X0V0X1 X0K0K0",
    "L0X0V0U0 L0X0U0 K0",
    "L0X0U0 L0X0U0",
    "X0X1 X1X0",
    "L0L1U1U0 L1L0U0U1",
    "T0X0 L0X0U0",
    "L0C0U0 S0",
    "L0C0U0 L0S0U0",
    "L0C0X0U0 B0X0",
    "V0X0 X0P0",
    "V0X0 P0X0",
    "T0 T0",
    "P0V0 V0P0",
    "P0P0X0 V0X0V0",
    "P2X0V2 V2X0P2",
    "P0X0P0 v0v0",
    "P2G2 V2G2",
    "D0X0 X0P0",
    "D0X0 P0V0X0",
    "L0X0U0 T0T0",
    "[0X0X1]0 X1X0",
    "[0X0X1]0 [0X1X0]0",
    "X0[0X0L0U0X1]0 X1X0L1U1",
    "?3X0 X0",
    "?2X0?2 X0?2X0",
    "X0!2X1 X0X1",
    "?3!1X0 X0!0X0",
    "[0?2X0X1]0 X1X0",
    "X0 Y1X0",
    "X0 Y3X0",
    "X0U0X1 L0X0X1U0",
    "X0u0X1 l0X0X1u0",
    "o0 o0",
    "X0o0 o0X0",
];

/// Whoever yields need not wait for others: a thread that yielded was taken to come after whatever
/// the others could do next, and if that had been explored, it was not explored at all.
#[test]
fn who_yields_again_and_again_may_still_be_first() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/scripts.c"]);
    // Who yields nine times waits for others, or goes on, but not two of them in one execution.
    for (command, count) in
        [("scripts X0 Y1X0", 2), ("scripts X0 Y9X0", 4), ("scripts X0Y9 Y9X0", 6)]
    {
        let found = endings(&programs, "dpor", command).unwrap();
        assert_eq!(found, ["Exited 1", "Exited 62"], "{command}");
        assert_eq!(executions(&programs, command), count, "{command}");
    }
}

#[test]
fn philosophers_deadlock_unless_one_is_left_handed() {
    let programs = Programs::new(&["philosophers.c"]);
    for count in 2..=6 {
        let (code, result) = programs.check(&format!("-- ./philosophers {count}"));
        assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
        let message = result["violation"]["message"].as_str().unwrap();
        assert_eq!(message.matches("held by thread").count(), count, "{message}");
        let (code, result) = programs.check(&format!("-- ./philosophers {count} fixed"));
        assert_eq!(
            (code, result["coverage"]["kind"].as_str()),
            (0, Some("exhaustive")),
            "{result}"
        );
    }
    // Three forks, each asked for in one of two orders; not all by the second hand first.
    let (_, result) = programs.check("--keep-going -- ./philosophers 3");
    assert_eq!(result["stats"]["executions"], 7);
    assert_eq!(result["violations"], 1);
}

#[test]
fn counterexamples_have_as_few_preemptions_as_possible() {
    let programs = Programs::new(&["philosophers.c", "bank.rs"]);
    let cost = |arguments: &str| {
        let (code, result) = programs.check(arguments);
        assert_eq!(code, 1, "{result}");
        let number = |name: &str| result["violation"][name].as_u64().unwrap();
        (number("preemptions"), number("switches"))
    };
    for strategy in ["dfs", "random --seed 3", "random --seed 4"] {
        // One customer is interrupted between looking and taking, and goes on when the other one has
        // ended.
        assert_eq!(cost(&format!("--strategy {strategy} -- ./bank")), (1, 2));
        let replay = programs.everypath("replay everypath-trace.json");
        assert_eq!(replay.status.code(), Some(1));
        let text = String::from_utf8(replay.stdout).unwrap();
        assert!(text.contains(" steps, 2 context switches, 1 of them a preemption (*)"), "{text}");
        assert!(text.contains("* thread "), "the step is marked: {text}");
        for count in 2..=6 {
            // One waits with one fork in its hand; the others come in the right order.
            let (preemptions, switches) =
                cost(&format!("--strategy {strategy} -- ./philosophers {count}"));
            assert_eq!((preemptions, switches), (1, count + 1), "{count} philosophers");
        }
    }
}

#[test]
fn the_steps_whose_order_decides_are_named() {
    let programs = Programs::new(&["philosophers.c", "bank.rs"]);
    for strategy in ["dfs", "random", "pos"] {
        let (_, result) = programs.check(&format!("--strategy {strategy} -- ./bank"));
        let violation = &result["violation"];
        assert_eq!(violation["exact"], true, "{result}");
        // One customer looks before the other one takes: from then on both are served.
        for (step, line) in [(0, "bank.rs:9"), (1, "bank.rs:11")] {
            let racing = &violation["race"][step];
            assert!(racing["text"].as_str().unwrap().ends_with(line), "{strategy}: {result}");
            let stack = racing["stack"].as_array().unwrap();
            assert!(stack[0].as_str().unwrap().starts_with("bank::withdraw at "), "{result}");
            assert!(stack[1].as_str().unwrap().starts_with("bank::main"), "{result}");
        }
        assert_eq!(violation["race"][0]["number"], violation["critical_step"]);
        let replay = programs.everypath("replay everypath-trace.json");
        let text = String::from_utf8(replay.stdout).unwrap();
        let step = &violation["critical_step"];
        assert!(
            text.contains(&format!("Critical step {step}: every continuation fails.")),
            "{text}"
        );
        assert!(text.contains("\nReversing the pair avoids the failure.\n"), "{text}");
    }
    let (_, result) = programs.check("-- ./philosophers 4");
    let fork = |step: usize| {
        let text = result["violation"]["race"][step]["text"].as_str().unwrap();
        text.split_once("forks").unwrap().1.split([',', ' ']).next().unwrap().to_string()
    };
    assert_eq!(fork(0), fork(1), "{result}");
    // An ending that every schedule has is no step's fault.
    let (_, result) = programs.check("--exit-code 3 -- ./philosophers 2 fixed");
    assert_eq!(result["violation"]["critical_step"], 0, "{result}");
    let shown = programs.everypath("show everypath-trace.json").stdout;
    assert!(String::from_utf8(shown).unwrap().contains("\nEvery schedule fails.\n"));
}

#[test]
fn reduction_and_plain_search_agree() {
    let programs = Programs::new(&["philosophers.c"]);
    for arguments in ["2", "2 fixed"] {
        let run = |reduction: &str| {
            programs.check(&format!(
                "--keep-going --reduction {reduction} -- ./philosophers {arguments}"
            ))
        };
        let ((plain_code, plain), (code, reduced)) = (run("none"), run("dpor"));
        assert_eq!((plain_code, property(&plain)), (code, property(&reduced)));
        let executions = |result: &Value| result["stats"]["executions"].as_u64().unwrap();
        assert!(executions(&reduced) * 100 < executions(&plain), "{plain} {reduced}");
        let (code, sleeping) = run("sleep");
        assert_eq!((plain_code, property(&plain)), (code, property(&sleeping)));
        // A class is completed once, but executions are begun in vain.
        assert!(executions(&sleeping) * 10 < executions(&plain), "{plain} {sleeping}");
        assert!(executions(&sleeping) > executions(&reduced), "{reduced} {sleeping}");
    }
}

#[test]
fn waking_one_waiter_may_wake_the_wrong_one() {
    let programs = Programs::new(&["buffer.c"]);
    let (code, result) = programs.check("-- ./buffer");
    assert_eq!((code, result["verdict"].as_str()), (0, Some("holds")), "{result}");
    let (code, result) = programs.check("-- ./buffer one");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
}

#[test]
fn a_race_behind_uncontended_locks_is_found_and_repeated() {
    let programs = Programs::new(&["bank.rs"]);
    let run = Command::new(programs.folder.path().join("bank")).status().unwrap();
    assert!(run.success(), "without control the program does not fail");
    for seed in 1..=5 {
        let random = format!("--strategy random --max-executions 2000 --seed {seed} -- ./bank");
        let (code, result) = programs.check(&random);
        assert_eq!((code, property(&result)), (1, "panic"), "{result}");
        assert_eq!(result["coverage"]["kind"], "sampled");
        for _ in 0..3 {
            let replay = programs.everypath("replay everypath-trace.json");
            let text = String::from_utf8(replay.stdout).unwrap();
            assert_eq!(replay.status.code(), Some(1), "{text}");
            assert!(text.contains("bank::withdraw at "), "{text}");
            assert!(text.ends_with("Replayed: every step as recorded, the same violation.\n"));
        }
    }
    let (code, _) = programs.check("-- ./bank");
    assert_eq!(code, 1);
    let (code, result) = programs.check("-- ./bank fixed");
    assert_eq!((code, result["coverage"]["kind"].as_str()), (0, Some("exhaustive")), "{result}");
}

#[test]
fn a_lock_that_is_asked_for_in_vain_times_out() {
    let programs = Programs::new(&["impatient.c"]);
    for reduction in ["dpor", "source-dpor", "none"] {
        let (code, result) = programs.check(&format!("--reduction {reduction} -- ./impatient"));
        assert_eq!((code, property(&result)), (1, "abort"), "{reduction}: {result}");
    }
}

#[test]
fn the_number_of_workers_does_not_change_the_result() {
    let programs = Programs::new(&["philosophers.c"]);
    for strategy in ["random", "pct", "pos"] {
        let run = |threads| {
            let options = format!("--strategy {strategy} --threads {threads} -- ./philosophers");
            let (_, result) = programs.check(&format!("{options} 3"));
            let trace = std::fs::read(programs.folder.path().join("everypath-trace.json")).unwrap();
            let (_, fixed) = programs.check(&format!("{options} 4 fixed"));
            assert_eq!(fixed["verdict"], "holds", "{fixed}");
            (result["stats"]["executions"].clone(), trace, fixed["coverage"].clone())
        };
        assert_eq!(run(1), run(3), "{strategy}");
    }
}

#[test]
fn the_number_of_workers_does_not_change_a_search_of_all_schedules() {
    let scripts = "../crates/everypath/tests/programs/scripts.c";
    let programs = Programs::new(&["philosophers.c", scripts]);
    for (command, least) in [
        // All classes, the same up to a limit, and a violation that comes late.
        ("--keep-going --exit-code 255 -- ./scripts X0X1X2X0X1 X1X2X0X1 X2X0X1", 700),
        ("--reduction none --max-executions 1000 -- ./philosophers 3 fixed", 1000),
        ("--reduction none -- ./philosophers 2", 400),
    ] {
        let run = |threads| {
            let (code, mut result) = programs.check(&format!("--threads {threads} {command}"));
            assert!(result["stats"]["executions"].as_u64() >= Some(least), "{result}");
            for measured in ["seconds", "peak_rss_bytes"] {
                result["stats"][measured].take();
            }
            let trace = std::fs::read(programs.folder.path().join("everypath-trace.json")).ok();
            (code, result, trace)
        };
        assert_eq!(run(1), run(3), "{command}");
    }
}

#[test]
fn a_large_sample_shows_the_classes_that_the_search_explores() {
    let scripts = "../crates/everypath/tests/programs/scripts.c";
    let programs = Programs::new(&["philosophers.c", "buffer.c", scripts]);
    for program in ["./philosophers 3 fixed", "./buffer", "./scripts P2P0P2V2 V0V2P2 V2P2V2 P0"] {
        let (_, searched) = programs.check(&format!("-- {program}"));
        let count = |name: &str| searched["stats"][name].as_u64().unwrap();
        let classes = count("executions") - count("redundant_executions");
        for strategy in ["random", "pos"] {
            let options = format!("--strategy {strategy} --max-executions 40000");
            let (_, result) = programs.check(&format!("{options} -- {program}"));
            let sample = &result["coverage"]["sample"];
            let seen = sample["classes"].as_u64().unwrap();
            assert!((classes * 9 / 10..=classes).contains(&seen), "{program}: {result}");
            assert!(sample["new_class_probability"].as_f64().unwrap() < 0.001, "{result}");
        }
        let (_, result) =
            programs.check(&format!("--strategy pos --max-executions 9 -- {program}"));
        let sample = &result["coverage"]["sample"];
        assert!(sample["new_class_probability"].as_f64().unwrap() > 0.1, "{program}: {result}");
    }
}

#[test]
fn partial_order_sampling_meets_what_random_choices_do_not() {
    let programs = Programs::new(&["philosophers.c"]);
    let code = |strategy: &str| {
        let options = format!("--strategy {strategy} --max-executions 2000");
        programs.check(&format!("{options} -- ./philosophers 12")).0
    };
    assert_eq!((code("random"), code("pos")), (0, 1));
    assert_eq!(programs.everypath("replay everypath-trace.json").status.code(), Some(1));
}

#[test]
fn executions_are_the_same_however_they_are_carried() {
    let programs = Programs::new(&["buffer.c", "bank.rs"]);
    for program in ["./buffer", "./bank fixed"] {
        let (code, result) = programs
            .check(&format!("--strategy random --max-executions 200 --verify -- {program}"));
        assert_eq!(code, 0, "{result}");
        assert_eq!(result["stats"]["verified_executions"], 200);
    }
}

#[test]
fn a_changed_program_is_not_replayed_unless_forced() {
    let programs = Programs::new(&["philosophers.c"]);
    programs.check("-- ./philosophers 3");
    let program = programs.folder.path().join("philosophers");
    let mut bytes = std::fs::read(&program).unwrap();
    bytes.push(0);
    std::fs::write(&program, bytes).unwrap();
    let refused = programs.everypath("replay everypath-trace.json");
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("has changed since the trace was recorded"), "{message}");
    assert_eq!(programs.everypath("replay --force everypath-trace.json").status.code(), Some(1));
}

#[test]
fn names_that_are_not_utf_8_are_recorded_and_replayed() {
    let programs = Programs::new(&["philosophers.c"]);
    let raw = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let folder = programs.folder.path().join(raw(b"at-\xfe"));
    std::fs::create_dir(&folder).unwrap();
    let program = raw(b"./philosophers-\xff");
    std::fs::rename(programs.folder.path().join("philosophers"), folder.join(&program)).unwrap();
    let everypath = |words: &[&OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
        command.args(words).current_dir(&folder).stdin(Stdio::null()).output().unwrap()
    };
    let word = OsStr::new;
    let checked = everypath(&[word("check"), word("--"), &program, &raw(b"3 and \xc3\x28")]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let trace = std::fs::read_to_string(folder.join("everypath-trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let config = &trace["trace"]["target"]["config"];
    assert_eq!(config["program"], serde_json::json!({ "bytes": program.as_bytes() }));
    assert!(config["arguments"][0]["bytes"].is_array(), "{config}");
    let replayed = everypath(&[word("replay"), word("everypath-trace.json")]);
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert_eq!(replayed.status.code(), Some(1), "{said}");
    let shown = everypath(&[word("show"), word("everypath-trace.json")]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
}

#[test]
fn a_search_that_goes_on_after_violations_says_whether_it_came_to_its_end() {
    let programs = Programs::new(&["philosophers.c"]);
    for (options, kind) in [
        ("--keep-going", "exhaustive"),
        ("", "partial"),
        ("--keep-going --max-executions 2", "partial"),
        ("--keep-going --strategy random --max-executions 2000", "sampled"),
    ] {
        let (code, result) = programs.check(&format!("{options} -- ./philosophers 2"));
        assert_eq!((code, &result["coverage"]["kind"]), (1, &kind.into()), "{options}: {result}");
    }
}

#[test]
fn a_panic_that_was_caught_is_not_the_reason_for_a_wrong_code() {
    let programs = Programs::new(&["../crates/native/tests/programs/panics.rs"]);
    let (code, result) = programs.check("--exit-code 3 -- ./panics caught");
    assert_eq!((code, property(&result)), (1, "exit-code"), "{result}");
    let (code, result) = programs.check("--exit-code 3 -- ./panics main");
    assert_eq!((code, property(&result)), (1, "panic"), "{result}");
}

#[test]
fn limits_make_a_search_inconclusive() {
    let programs = Programs::new(&["philosophers.c"]);
    let (code, result) =
        programs.check("--reduction none --max-executions 50 -- ./philosophers 3 fixed");
    assert_eq!((code, result["verdict"].as_str()), (3, Some("inconclusive")));
    assert_eq!(result["reason"], "the limit of 50 executions was reached");
    let coverage = &result["coverage"];
    assert_eq!(coverage["kind"], "partial");
    let least = |coverage: &Value| coverage["executions_at_least"].as_u64();
    let left = coverage["alternatives_left"].as_u64().unwrap();
    assert!(left > 0 && least(coverage) == Some(50 + left), "{result}");
    let (_, whole) = programs.check("--reduction none -- ./philosophers 2 fixed");
    let executions = whole["stats"]["executions"].as_u64().unwrap();
    for most in [1, executions / 4, executions / 2, executions - 1] {
        let options = format!("--reduction none --max-executions {most}");
        let (_, part) = programs.check(&format!("{options} -- ./philosophers 2 fixed"));
        let least = least(&part["coverage"]).unwrap();
        assert!(most < least && least <= executions, "{most}: {part}");
    }
    let (_, all) = programs.check("--max-executions 6 -- ./philosophers 3 fixed");
    assert_eq!((all["verdict"].as_str(), &all["stats"]["executions"]), (Some("holds"), &6.into()));
    assert!(least(&all["coverage"]).is_none(), "nothing is left: {all}");
    let (code, result) = programs.check("--max-depth 5 -- ./philosophers 3 fixed");
    assert_eq!(code, 3, "{result}");
    assert!(result["reason"].as_str().unwrap().contains("more than 5 steps"), "{result}");
}

#[test]
fn few_preemptions_show_most_bugs_and_the_verdict_is_bounded() {
    let programs = Programs::new(&["philosophers.c", "buffer.c"]);
    let (code, result) = programs.check("--preemptions 0 -- ./philosophers 3");
    let bounded = serde_json::json!({
        "kind": "bounded", "preemptions": 0, "memory_model": "sequential consistency"
    });
    assert_eq!((code, &result["coverage"]), (0, &bounded), "{result}");
    let (code, result) =
        programs.check("--preemptions 1 --max-executions 2 -- ./philosophers 3 fixed");
    assert_eq!((code, result["coverage"]["kind"].as_str()), (3, Some("partial")), "{result}");
    let (code, result) = programs.check("--preemptions 1 -- ./philosophers 3");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    let (code, result) = programs.check("--preemptions 0 -- ./buffer one");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    for options in ["--reduction dpor", "--state-matching", "--strategy random"] {
        let refused = programs.everypath(&format!("check --preemptions 1 {options} -- ./buffer"));
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
}

#[test]
fn preemptions_are_allowed_one_by_one_until_a_limit() {
    let programs = Programs::new(&["philosophers.c", "buffer.c"]);
    let executions = |result: &Value| result["stats"]["executions"].as_u64().unwrap();
    let within = |most: u32| {
        let (_, result) =
            programs.check(&format!("--preemptions {most} -- ./philosophers 2 fixed"));
        executions(&result)
    };
    let rising =
        |limit: &str| programs.check(&format!("--strategy icb {limit} -- ./philosophers 2 fixed"));
    let (none, one) = (within(0), within(1));
    // In the middle of the third level, of the second, and of the first.
    for (limit, bound) in [(none + one + 3, Some(1)), (none + 1, Some(0)), (1, None)] {
        let (code, result) = rising(&format!("--max-executions {limit}"));
        let expected = if bound.is_some() { 0 } else { 3 };
        assert_eq!((code, executions(&result)), (expected, limit), "{result}");
        assert_eq!(result["coverage"]["preemptions"].as_u64(), bound, "{result}");
    }
    let (code, result) = rising("");
    let kind = result["coverage"]["kind"].as_str();
    assert_eq!((code, kind), (0, Some("exhaustive")), "{result}");
    let all = programs.check("--reduction none -- ./philosophers 2 fixed").1;
    let levels: Vec<u64> =
        (0..).map(within).take_while(|&level| level < executions(&all)).collect();
    let sum = levels.iter().sum::<u64>() + executions(&all);
    assert_eq!(executions(&result), sum, "the last level leaves nothing out: {levels:?}");
    // What needs no preemption is found first.
    let (code, result) = programs.check("--strategy icb -- ./buffer one");
    assert_eq!((code, property(&result)), (1, "deadlock"), "{result}");
    assert_eq!(result["violation"]["preemptions"].as_u64(), Some(0), "{result}");
    for options in ["--reduction dpor", "--state-matching", "--preemptions 1"] {
        let refused = programs.everypath(&format!("check --strategy icb {options} -- ./buffer"));
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
}

#[test]
fn what_is_no_program_is_refused_with_one_line() {
    let programs = Programs::new(&[]);
    std::fs::write(programs.folder.path().join("text"), "hello").unwrap();
    for (arguments, expected) in
        [("check -- ./missing", 2), ("check -- ./text", 2), ("check -- .", 2), ("check", 2)]
    {
        let output = programs.everypath(arguments);
        assert_eq!(output.status.code(), Some(expected), "{arguments}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// Replays translated the options of a check, lost `--peer-tree` and dropped what they could not read.
#[test]
fn a_trace_contains_the_configuration_of_its_check() {
    let programs = Programs::new(&["philosophers.c"]);
    programs
        .check("--peer-tree destination --watchdog 20 --time any --threads 1 -- ./philosophers 3");
    let path = programs.folder.path().join("everypath-trace.json");
    let recorded = std::fs::read_to_string(&path).unwrap();
    let mut trace: Value = serde_json::from_str(&recorded).unwrap();
    let expected = serde_json::json!({
        "program": "./philosophers", "arguments": ["3"], "peer-tree": "destination",
        "watchdog": 20, "time": "any"
    });
    assert_eq!(trace["trace"]["target"]["config"], expected);
    let refused = |contents: &str, expected: &str| {
        std::fs::write(&path, contents).unwrap();
        let output = programs.everypath("replay everypath-trace.json");
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    };
    refused(&recorded.replace("\"any\"", "\"some\""), "unknown variant `some`");
    refused(&recorded.replace("\"peer-tree\"", "\"peer-bush\""), "unknown field `peer-bush`");
    // Version 2 had some of the options, in a form of its own: such a trace can only be shown.
    trace["version"] = 2.into();
    trace["trace"]["target"] = serde_json::json!({
        "kind": "native", "program": "./philosophers", "hash": "0f", "arguments": ["3"],
        "exit_code": 0, "time": "ordered"
    });
    refused(&trace.to_string(), "recorded by an older everypath");
    let shown = programs.everypath("show everypath-trace.json");
    assert!(shown.status.success(), "{shown:?}");
    assert!(String::from_utf8(shown.stdout).unwrap().contains("deadlock of ./philosophers"));
}

/// gdb has more mappings than were once expected, and was reported as a defect of ours.
#[test]
fn a_program_may_have_many_mappings() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/mappings.c"]);
    for restart in ["automatic", "copy"] {
        for mappings in [2, 400, 4000] {
            let command = format!("--restart {restart} -- ./mappings {mappings}");
            let (code, result) = programs.check(&command);
            assert_eq!(code, 0, "{command}: {result}");
        }
    }
    let (code, result) = programs.check("-- ./mappings 10000");
    let reason = result["reason"].as_str().unwrap_or_default();
    assert_eq!(code, 3, "{result}");
    assert!(reason.contains("has more than 4096 writable mappings"), "{result}");
}

/// The report names the program, so the reason does not name it again.
#[test]
fn the_reason_for_a_static_program_leaves_its_path_out() {
    let programs = Programs::new(&[]);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../native/tests/programs/bare.c");
    let mut cc = Command::new("cc");
    cc.args(["-static", "-nostdlib", "-o", "bare", source]).current_dir(programs.folder.path());
    assert!(cc.status().unwrap().success());
    let output = programs.everypath("check -- ./bare");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("./bare").count(), 1, "{text}");
    assert!(text.contains("is statically linked"), "{text}");
}

/// What an earlier run of a check found was left, although it holds now, as if it had just been found.
#[test]
fn a_stale_trace_is_set_aside() {
    let programs = Programs::new(&[]);
    let trace = programs.folder.path().join("everypath-trace.json");
    assert_eq!(programs.check("-- test -e flag").0, 1);
    let found = std::fs::read(&trace).unwrap();
    std::fs::write(programs.folder.path().join("flag"), "").unwrap();
    // Another check says nothing about it.
    for other in ["-- true", "--preemptions 0 -- test -e flag"] {
        assert_eq!(programs.check(other).0, 0, "{other}");
        assert!(trace.exists(), "{other}");
    }
    let said = programs.everypath("check -- test -e flag");
    assert_eq!(said.status.code(), Some(0));
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("renamed to everypath-trace.json.old"), "{said}");
    assert!(!trace.exists());
    assert_eq!(std::fs::read(trace.with_extension("json.old")).unwrap(), found);
}

/// The loader was blamed for what a sanitizer's runtime did.
#[test]
fn programs_with_a_sanitizer_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.c"), "int main(void) { return 0; }\n").unwrap();
    for (option, name) in [("address", "AddressSanitizer"), ("leak", "LeakSanitizer")] {
        let mut cc = Command::new("cc");
        cc.arg(format!("-fsanitize={option}")).args(["-o", "empty", "empty.c"]);
        if !cc.current_dir(folder.path()).status().unwrap().success() {
            skip(&format!("cc has no -fsanitize={option}"));
            continue;
        }
        let output = Command::new(env!("CARGO_BIN_EXE_everypath"))
            .args(["check", "--", "./empty"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(&format!("is built with {name}")), "{said}");
    }
}

#[test]
fn a_depth_of_pct_needs_pct() {
    let programs = Programs::new(&[]);
    for options in ["", "--strategy random", "--state-matching", "--preemptions 1"] {
        let refused = programs.everypath(&format!("check --pct-depth 3 {options} -- true"));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("--pct-depth is of --strategy pct"), "{said}");
    }
}
