//! `cargo xtask`: checks of the project itself.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command-line tool")]

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitCode;
use xtask::ci::{STEPS, Step, root, run_faults, run_scorecard, run_speed};

const USAGE: &str = "\
usage: cargo xtask tidy         the rules that no compiler checks
       cargo xtask ci [STEP…]   all that must hold before a change lands, or these steps of it
       cargo xtask ci --list    the steps
       cargo xtask faults [ROUNDS [SEED [EVERYPATH]]]
                                checks that are killed, signalled, flooded and starved, by
                                the release build or the given one
       cargo xtask speed [EVERYPATH]
                                how fast results can be looked at: pages, live progress
       cargo xtask scorecard [PATH/TO/EVERYPATH] [NAME…]
                                programs that others wrote, from xtask/scorecard.toml; all of
                                them, if none is named, and docs/compatibility.md is written";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["tidy"] => named("tidy").and_then(Step::run),
        ["ci", "--list"] => {
            STEPS.iter().for_each(|step| println!("{:8}{}", step.name, step.about));
            Ok(())
        }
        ["ci"] => ci(STEPS.iter()),
        ["ci", ref names @ ..] => names
            .iter()
            .map(|name| named(name))
            .collect::<Result<Vec<_>>>()
            .and_then(|steps| ci(steps.into_iter())),
        ["faults"] => faults("100", "1", None),
        ["faults", rounds] => faults(rounds, "1", None),
        ["faults", rounds, seed] => faults(rounds, seed, None),
        ["faults", rounds, seed, everypath] => faults(rounds, seed, Some(everypath)),
        ["speed"] => root().and_then(|root| run_speed(root, None)),
        ["speed", everypath] => root().and_then(|root| run_speed(root, Some(Path::new(everypath)))),
        ["scorecard", everypath, ref names @ ..] if everypath.contains('/') => {
            root().and_then(|root| run_scorecard(root, Some(Path::new(everypath)), names))
        }
        ["scorecard", ref names @ ..] => root().and_then(|root| run_scorecard(root, None, names)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn faults(rounds: &str, seed: &str, everypath: Option<&str>) -> Result<()> {
    let number = |text: &str| text.parse().with_context(|| format!("{text} is no number"));
    run_faults(root()?, number(rounds)?, number(seed)?, everypath.map(Path::new))
}

fn named(name: &str) -> Result<&'static Step> {
    match STEPS.iter().find(|step| step.name == name) {
        Some(step) => Ok(step),
        None => bail!("no step is called {name}; cargo xtask ci --list"),
    }
}

/// Runs steps in order, up to the first that fails.
fn ci(steps: impl Iterator<Item = &'static Step>) -> Result<()> {
    for step in steps {
        println!("\n== {}: {}", step.name, step.about);
        step.run()?;
    }
    Ok(())
}
