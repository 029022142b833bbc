//! Small programs that had a wrong verdict.

use crate::support::Programs;
use serde_json::Value;

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
    for options in ["", "--reduction source-dpor"] {
        let (code, result) = programs.check(&format!("{options} -- ./pointer"));
        assert_eq!((code, verdict(&result)), (70, "inconclusive"), "{options}: {result}");
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.contains("found no violation"), "{reason}");
        assert!(reason.contains("a random schedule violates assertion"), "{reason}");
        assert_eq!(result["violation"]["property"], "assertion");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
    }
    let said = programs.everypath("check -- ./pointer");
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
