//! Random programs over plain variables, atomics and mutexes: a search finds the endings, and the data
//! races, that an interpreter finds which interleaves single accesses.
//!
//! `EVERYPATH_RANDOM_PROGRAMS` says how many programs of each kind are compared, and
//! `EVERYPATH_RANDOM_SEED` which ones.

mod interpreter;
mod script;
mod source;

use crate::common::launching::launch;
use crate::common::{Compiled, compile_text};
use everypath_native::{Exhaustive, Explored, Launch, Outcome, Races, Setup, explore};
use everypath_schedules::Reduction;
use everypath_trace::Control;
use interpreter::{Behaviour, Ending, interpret};
use script::Script;
use std::collections::BTreeSet;

/// How many scripts are compiled into one program.
const TOGETHER: u64 = 50;
/// No script ends with this code, so that every ending is counted.
const NO_ENDING: i32 = 255;

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says how many there are")]
fn wanted(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |given| given.parse().expect("a number"))
}

/// A compiler and its options; the source is C++ if it ends so.
struct Kind {
    file: &'static str,
    options: &'static [&'static str],
    /// Those of the scripts, in turn.
    reductions: &'static [Reduction],
}

impl Kind {
    fn reduction(&self, script: usize) -> Reduction {
        self.reductions[script % self.reductions.len()]
    }
}

fn explored(launch: Launch, reduction: Reduction, keep_going: bool) -> Explored {
    let exhaustive = Exhaustive {
        launch,
        reduction,
        preemptions: None,
        executions: Some(100_000),
        keep_going,
        workers: 1,
        early_timeouts: 1,
        cross_check: None,
    };
    explore(&exhaustive, &Control::default()).expect("it can be controlled")
}

fn launched(compiled: &Compiled, number: usize, races: Races) -> Launch {
    let launch = launch(compiled, &[&number.to_string()]);
    let setup = Setup { memory: true, exit_code: NO_ENDING, ..launch.setup };
    Launch { setup, races, ..launch }
}

/// Compares many scripts in programs of one kind.
fn compare(kind: &Kind, judge: impl Fn(&Compiled, usize, &Behaviour) -> Result<(), String>) {
    let (seed, count) =
        (wanted("EVERYPATH_RANDOM_SEED", 1), wanted("EVERYPATH_RANDOM_PROGRAMS", 100));
    let mut wrong = Vec::new();
    for first in (0..count).step_by(TOGETHER as usize) {
        let scripts: Vec<Script> =
            (first..count.min(first + TOGETHER)).map(|number| Script::new(seed, number)).collect();
        let compiled = compile_text(&source::source(&scripts), kind.file, kind.options);
        for (number, script) in scripts.iter().enumerate() {
            if let Err(difference) = judge(&compiled, number, &interpret(script)) {
                let global = first + number as u64;
                wrong.push(format!("seed {seed}, script {global}: {difference}\n{script:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Compares endings.
fn endings_agree(kind: &Kind) {
    compare(kind, |compiled, number, behaviour| {
        let found =
            explored(launched(compiled, number, Races::Explore), kind.reduction(number), true);
        let endings: BTreeSet<String> = found.endings.into_keys().collect();
        let expected: BTreeSet<String> = behaviour
            .endings
            .iter()
            .map(|ending| match ending {
                Ending::Exit(code) => format!("{:?} {code}", Outcome::Exited),
                Ending::Deadlock => format!("{:?} 0", Outcome::Deadlock),
            })
            .collect();
        match found.complete && endings == expected {
            true => Ok(()),
            false => Err(format!(
                "complete: {}, {} executions; missed: {:?}; not possible: {:?}",
                found.complete,
                found.executions,
                expected.difference(&endings).collect::<Vec<_>>(),
                endings.difference(&expected).collect::<Vec<_>>()
            )),
        }
    });
}

#[test]
fn endings_of_unoptimised_programs_are_those_of_an_interpreter() {
    endings_agree(&Kind { file: "random.c", options: &["-O0"], reductions: &[Reduction::Optimal] });
}

#[test]
fn endings_of_optimised_programs_are_those_of_an_interpreter() {
    endings_agree(&Kind { file: "random.c", options: &["-O2"], reductions: &[Reduction::Optimal] });
}

#[test]
fn endings_do_not_depend_on_the_reduction() {
    endings_agree(&Kind { file: "random.c", options: &["-O1"], reductions: &[Reduction::Source] });
}

/// C++ has functions for atomic accesses, so debug information tells which accesses are plain. Every reduction
/// meets every race.
#[test]
fn data_races_are_those_of_an_interpreter() {
    let kind = Kind {
        file: "random.cpp",
        options: &["-std=c++20", "-O1", "-g"],
        reductions: &[Reduction::Optimal, Reduction::Source, Reduction::SleepSets],
    };
    compare(&kind, |compiled, number, behaviour| {
        let found =
            explored(launched(compiled, number, Races::Violation), kind.reduction(number), true);
        let race = format!("{:?} ", Outcome::DataRace);
        let races = found.endings.keys().any(|ending| ending.starts_with(&race));
        match races == behaviour.races {
            true => Ok(()),
            false => {
                Err(format!("races: {races} instead of {}; {:?}", behaviour.races, found.endings))
            }
        }
    });
}
