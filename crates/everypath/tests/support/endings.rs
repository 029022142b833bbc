//! The endings that searches find, and whether they agree.

use crate::support::Programs;
use serde_json::Value;

/// The endings that a search of all schedules finds.
pub(crate) fn endings(programs: &Programs, reduction: &str, command: &str) -> Option<Vec<String>> {
    endings_with(programs, &format!("--reduction {reduction}"), command)
}

/// The same with other options.
pub(crate) fn endings_with(
    programs: &Programs,
    options: &str,
    command: &str,
) -> Option<Vec<String>> {
    // No execution ends with code 255, so every ending is counted.
    let options = format!("--keep-going --exit-code 255 {options}");
    let (code, result) =
        programs.check(&format!("{options} --max-executions 30000 -- ./{command}"));
    assert!(code == 1 || code == 3, "{command}: {result}");
    let executions = result["stats"]["executions"].as_u64().unwrap();
    let endings = result["stats"]["endings"].as_array().unwrap();
    let names = endings.iter().map(|ending| ending["ending"].as_str().unwrap().to_string());
    (executions < 30_000).then(|| names.collect())
}

/// Compares reduced searches with plain search on scripts of a program, and returns how many were small
/// enough for it.
pub(crate) fn compare_searches(source: &str, scripts: &[&str]) -> usize {
    let programs = Programs::new(&[&format!("../crates/everypath/tests/programs/{source}")]);
    let program = source.split('.').next().unwrap();
    let is_compared = |scripts: &&&str| {
        let command = format!("{program} {scripts}");
        let reduced = endings(&programs, "dpor", &command).expect("a reduced search is small");
        let sleeping = endings(&programs, "sleep", &command);
        assert!(sleeping.is_none_or(|sleeping| sleeping == reduced), "{command}");
        let plain = endings(&programs, "none", &command);
        plain.map(|plain| assert_eq!(reduced, plain, "{command}")).is_some()
    };
    scripts.iter().filter(is_compared).count()
}

/// How many executions a program has, whatever they end with.
pub(crate) fn executions(programs: &Programs, command: &str) -> u64 {
    executions_with(programs, "", command)
}

/// The same with other options.
pub(crate) fn executions_with(programs: &Programs, options: &str, command: &str) -> u64 {
    let options = format!("--keep-going --exit-code 255 {options}");
    let (_, result) = programs.check(&format!("{options} -- ./{command}"));
    result["stats"]["executions"].as_u64().unwrap()
}

/// What a violation violates.
pub(crate) fn property(result: &Value) -> &str {
    result["violation"]["property"].as_str().unwrap_or("none")
}
