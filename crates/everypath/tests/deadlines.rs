//! Programs that wait for some time only: in every mode of `--time`, the reduced search finds the endings
//! of plain search.

use crate::support::Programs;
use crate::support::endings::{endings_with, executions_with};

const MODES: [&str; 3] = ["quiescent", "ordered", "any"];

/// Scripts that have shown differences between weaker relations and plain search.
const SCRIPTS: [&str; 12] = [
    "D01 D12P00",
    "D11 D01P10",
    "D01 P10 D11",
    "M01 D01 P00",
    "D01 X00N00",
    "D02N00 D11P00",
    "D01P10 D11P00",
    "Z01X00 X00N00",
    "W01 S00 X00",
    "R01X00 s00X00",
    "p01 s00",
    "D01 Y00P00",
];

fn compare(programs: &Programs, scripts: &str) -> usize {
    let command = format!("deadlines {scripts}");
    let is_compared = |mode: &&&str| {
        let all = |reduction: &str| {
            endings_with(programs, &format!("--time {mode} --reduction {reduction}"), &command)
        };
        let Some(plain) = all("none") else { return false };
        assert_eq!(all("dpor"), Some(plain), "{command} --time {mode}");
        true
    };
    MODES.iter().filter(is_compared).count()
}

#[test]
fn time_outs_end_as_in_plain_search() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/deadlines.c"]);
    let compared: usize = SCRIPTS.iter().map(|scripts| compare(&programs, scripts)).sum();
    assert!(compared >= SCRIPTS.len() * 2, "only {compared} were small enough");
}

/// Two or three threads, a few calls each.
fn generated(seed: u64) -> String {
    const WORDS: [&str; 17] = [
        "D01", "D02", "D11", "P00", "P00", "P10", "M01", "M02", "W01", "S00", "R01", "s00", "Z01",
        "Z02", "N00", "X00", "Y00",
    ];
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as usize % limit
    };
    let threads = 2 + below(2);
    let mut thread = || -> String {
        let length = 1 + below(2);
        (0..length).map(|_| WORDS[below(WORDS.len())]).collect()
    };
    (0..threads).map(|_| thread()).collect::<Vec<_>>().join(" ")
}

#[test]
fn generated_time_outs_end_as_in_plain_search() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/deadlines.c"]);
    let seeds = 12;
    let compared: usize = (0..seeds).map(|seed| compare(&programs, &generated(seed))).sum();
    assert!(compared as u64 >= seeds, "only {compared} were small enough");
}

/// A time-out that fires only when no thread can go on races with nothing.
#[test]
fn quiescent_time_outs_cost_no_executions() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/deadlines.c"]);
    let quiescent = |scripts: &str| {
        executions_with(&programs, "--time quiescent", &format!("deadlines {scripts}"))
    };
    assert_eq!(quiescent("D01 D12 X00 X10"), 1);
    assert_eq!(quiescent("D01X00 P00 D12X10 P10"), 1);
    // Either of equal deadlines passes first.
    assert_eq!(quiescent("D01 D11"), 2);
    // Threads that yield could go on, so time-outs are explored against them.
    assert!(quiescent("D01 Y00P00") > 1);
}
