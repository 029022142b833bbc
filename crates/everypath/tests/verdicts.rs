//! Small programs that had a wrong verdict.

use crate::support::Programs;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn programs(names: &[&str]) -> Programs {
    let paths: Vec<String> = names
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/verdicts/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

fn verdict(result: &Value) -> &str {
    result["verdict"].as_str().unwrap()
}

/// A load through a pointer is no step, so the search took two schedules for equivalent that are not,
/// and said *holds*.
#[test]
fn a_random_schedule_contradicts_the_search() {
    let programs = programs(&["pointer.c"]);
    for options in ["--memory off", "--memory off --reduction source-dpor"] {
        let (code, result) = programs.check(&format!("{options} -- ./pointer"));
        assert_eq!((code, verdict(&result)), (70, "inconclusive"), "{options}: {result}");
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.contains("found no violation"), "{reason}");
        assert!(reason.contains("a random schedule violates assertion"), "{reason}");
        assert_eq!(result["violation"]["property"], "assertion");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    }
    let (code, result) = programs.check("-- ./pointer");
    assert_eq!((code, verdict(&result)), (1, "violated"), "{result}");
    let said = programs.everypath("check --memory off -- ./pointer");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.starts_with("INCONCLUSIVE: ./pointer: internal error: "), "{said}");
    assert!(said.contains("Found by random choice with seed 1."), "{said}");
}

#[test]
fn a_search_that_holds_is_compared_with_a_sample() {
    let programs = Programs::new(&["classics/counter.c"]);
    let compared = |options: &str| {
        let (code, result) = programs.check(&format!("{options} -- ./counter fixed"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
        result["stats"]["cross_checked_executions"].as_u64()
    };
    assert_eq!(compared(""), Some(124));
    assert_eq!(compared("--reduction none"), None);
    assert_eq!(compared("--strategy random"), None);
    // The search has 62 executions.
    assert_eq!(compared("--max-executions 63"), Some(1));
}

/// A thread that spins was blocked until another one moved, so it never gave up.
#[test]
fn spins_give_up() {
    let programs = programs(&["looks.c"]);
    for program in ["./looks 3", "./looks 3 yield", "./looks 6 yield", "./looks 40"] {
        for strategy in [
            "",
            "--reduction none",
            "--reduction source-dpor",
            "--state-matching",
            "--preemptions 1",
            "--spins 2",
            "--strategy random --max-executions 200",
            "--strategy pos --max-executions 200",
            "--strategy pct --pct-depth 3 --max-executions 2000",
        ] {
            let (code, result) = programs.check(&format!("{strategy} -- {program}"));
            assert_eq!((code, verdict(&result)), (1, "violated"), "{program} {strategy}: {result}");
            assert_eq!(result["violation"]["property"], "assertion");
            let replayed = programs.everypath("replay everypath-trace.json");
            assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
        }
    }
}

/// The fourth look in a row that found nothing waited for others, so nobody gave up after seven.
#[test]
fn who_looks_at_sockets_in_vain_gives_up() {
    let programs = programs(&["looks_at_sockets.c"]);
    for how in ["", "poll", "epoll"] {
        for strategy in ["", "--reduction none", "--state-matching", "--strategy random"] {
            for looks in [1, 4, 7, 20] {
                let arguments = format!("{strategy} -- ./looks_at_sockets {looks} {how}");
                // That nobody else moves for so long is rare.
                if strategy == "--strategy random" && looks > 7 {
                    continue;
                }
                let (code, result) = programs.check(&arguments);
                assert_eq!((code, verdict(&result)), (1, "violated"), "{arguments}: {result}");
            }
        }
    }
    let (code, result) = programs.check("-- ./looks_at_sockets 200");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    assert_eq!(result["coverage"]["looks_in_vain"], 64, "{result}");
}

/// A sample without memory accesses helps a search after 2,000 executions: a thread that spins on what
/// is not seen there is no reason to end the search.
#[test]
fn a_sample_that_cannot_see_a_spin_does_not_end_the_search() {
    let programs = programs(&["spins_on_heap.c"]);
    let (_, result) = programs.check("--max-executions 3000 -- ./spins_on_heap");
    assert_eq!(result["reason"], "the limit of 3,000 executions was reached", "{result}");
}

/// A search bounds how many spins of an execution give up; a sample does not.
#[test]
fn as_many_spins_give_up_as_allowed() {
    let programs = programs(&["looks_twice.c"]);
    for (options, expected) in [
        ("--spins 0", (0, "holds")),
        ("", (0, "holds")),
        ("--spins 2", (1, "violated")),
        ("--spins 2 --reduction none", (1, "violated")),
        ("--strategy random --max-executions 500", (1, "violated")),
        ("--strategy random --spins 1 --max-executions 500", (0, "holds")),
    ] {
        let (code, result) = programs.check(&format!("{options} -- ./looks_twice"));
        assert_eq!((code, verdict(&result)), expected, "{options}: {result}");
    }
}

/// The search ended with "more than 100000 steps" if a thread was never preempted that looked at
/// something by locking a mutex, or that tried to lock one.
#[test]
fn unfair_spins_end() {
    let programs = programs(&["spins.c"]);
    for how in ["exchange", "mutex", "trylock"] {
        let (code, result) = programs.check(&format!("-- ./spins {how}"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{how}: {result}");
        assert_eq!(result["coverage"]["kind"], "exhaustive");
        assert_eq!(result["coverage"]["looks_in_vain"], 64, "{how}: {result}");
        assert_eq!(result["coverage"]["spins"], 1, "{how}: {result}");
    }
    let said = programs.everypath("check -- ./spins exchange");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("looks at most 64 times in vain before others move"), "{said}");
}

/// A thread that counts is in another state each time that it locks, and yet it has to let others go.
#[test]
fn a_search_is_bounded_by_locks_in_a_row() {
    let programs = programs(&["counts.c"]);
    for (arguments, expected, kind) in [
        ("90 91", "holds", "exhaustive"),
        ("500 100", "violated", "partial"),
        ("500 300", "violated", "partial"),
        ("500 450", "holds", "bounded"),
    ] {
        let (_, result) = programs.check(&format!("-- ./counts {arguments}"));
        assert_eq!(verdict(&result), expected, "{arguments}: {result}");
        assert_eq!(result["coverage"]["kind"], kind, "{arguments}: {result}");
        let assumptions = result["assumptions"].as_array().unwrap();
        let is_said = assumptions.iter().any(|each| each["id"] == "repeated-locks");
        assert!(kind == "partial" || is_said == (kind == "bounded"), "{result}");
    }
}

/// Blocks that were freed twice, addresses that were none and writes behind the end of a block went
/// unnoticed; libc aborts at most of these.
#[test]
fn the_heap_is_checked() {
    let programs = programs(&["heap.c"]);
    for (how, property) in [
        ("threads", "double free"),
        ("realloc", "double free"),
        ("aligned", "double free"),
        ("stack", "invalid free"),
        ("static", "invalid free"),
        ("constant", "invalid free"),
        ("inside", "invalid free"),
        ("behind", "heap overflow"),
        ("kept", "heap overflow"),
        ("next", "heap overflow"),
        ("poison", "crash"),
    ] {
        for options in ["", "--state-matching", "--strategy random", "--backend threads"] {
            let (code, result) = programs.check(&format!("{options} -- ./heap {how}"));
            assert_eq!(
                (code, result["violation"]["property"].as_str()),
                (1, Some(property)),
                "{how} {options}: {result}"
            );
        }
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    }
    let (code, result) = programs.check("-- ./heap");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let said = programs.everypath("check -- ./heap threads");
    let said = String::from_utf8_lossy(&said.stdout);
    let line = |start: &str| said.lines().position(|line| line.trim_start().starts_with(start));
    let allocated = line("allocated  by main").unwrap_or_else(|| panic!("{said}"));
    let freed = line("freed      by thread 2").unwrap_or_else(|| panic!("{said}"));
    let after = |at: usize| said.lines().nth(at + 1).unwrap_or_default();
    assert!(after(allocated).contains("make at "), "{said}");
    assert!(after(freed).contains("release at "), "{said}");
}

/// What `getrandom` gives is a matter of the seed, and of the streams that are explored; the verdict says which.
#[test]
fn random_values_are_those_of_a_seed_or_of_several_streams() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/random.c"]);
    let holds = |options: &str| {
        let (code, result) = programs.check(&format!("{options} -- ./random once"));
        (code, result["stats"]["executions"].as_u64().unwrap(), result)
    };
    let codes: BTreeSet<u32> = (1..=12)
        .flat_map(|seed| (0..4).map(move |code| (seed, code)))
        .filter(|(seed, code)| holds(&format!("--seed {seed} --exit-code {code}")).0 == 0)
        .map(|(_, code)| code)
        .collect();
    assert!(codes.len() > 1, "all seeds give the same value: {codes:?}");
    let (code, executions, result) = holds("--random 8 --keep-going --exit-code 0");
    assert_eq!((code, executions), (1, 8), "{result}");
    let assumptions = result["assumptions"].to_string();
    assert!(assumptions.contains("8 streams"), "{assumptions}");
    let (code, trace) = (holds("--random 8 --exit-code 0").0, "everypath-trace.json");
    assert_eq!((code, programs.everypath(&format!("replay {trace}")).status.code()), (1, Some(1)));
    let (code, result) =
        programs.check("--random 3 --keep-going --exit-code 9 -- ./random threads");
    assert_eq!((code, &result["stats"]["executions"]), (1, &json!(3)), "{result}");
    let refused = programs.everypath("check --random 0 -- ./random once");
    assert_eq!(refused.status.code(), Some(2));
}
