//! Everything that must hold before a change lands, step by step: `cargo xtask ci`.
//!
//! The steps need what `.ci/run` installs (spin, and the programs of the case studies), and `cc`.

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A step: its name, what it is for, and how it is done in the folder of the project.
pub struct Step {
    /// The name, as an argument of `cargo xtask ci`.
    pub name: &'static str,
    /// What is checked.
    pub about: &'static str,
    run: fn(&Path) -> Result<()>,
}

/// The command of the README that runs all tests.
const TESTS: &str = "cargo test --workspace";
/// A test that hangs is a failure, not a run without an end.
const TEST_LIMIT: &str = "35m";
/// `cargo run` of the release build ends with the exit code of `everypath`: 1 is a violation.
const VIOLATED: i32 = 1;

/// All steps, in order: what fails fast comes first.
pub const STEPS: [Step; 8] = [
    Step { name: "fmt", about: "the format of all sources", run: fmt },
    Step { name: "clippy", about: "lints, none allowed", run: clippy },
    Step { name: "doc", about: "rustdoc, without warnings", run: doc },
    Step { name: "tidy", about: "the rules that no compiler checks", run: tidy },
    Step { name: "readme", about: "the first command of the README finds a deadlock", run: readme },
    Step { name: "bench", about: "comparison with other tools, small version", run: bench },
    Step { name: "faults", about: "what is killed or starved leaves nothing", run: faults },
    Step { name: "test", about: "all tests, within 35 minutes", run: test },
];

impl Step {
    /// Runs the step; an error says which command failed.
    pub fn run(&self) -> Result<()> {
        (self.run)(root()?).with_context(|| format!("step {} failed", self.name))
    }
}

/// The folder of the project.
pub fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")
}

/// Runs a command, words separated by spaces, in the folder.
fn run(root: &Path, command: &str) -> Result<()> {
    run_with(root, command, &[])
}

/// Runs a command with variables in its environment.
fn run_with(root: &Path, command: &str, variables: &[(&str, &str)]) -> Result<()> {
    let code = exit_code(root, command, variables)?;
    ensure!(code == 0, "{command}: exit code {code}");
    Ok(())
}

fn exit_code(folder: &Path, command: &str, variables: &[(&str, &str)]) -> Result<i32> {
    let mut words = command.split(' ');
    let program = words.next().context("a command has a first word")?;
    let status = Command::new(program)
        .args(words)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    status.code().with_context(|| format!("{command}: {status}"))
}

fn fmt(root: &Path) -> Result<()> {
    run(root, "cargo fmt --all --check")?;
    run(root, "cargo fmt --manifest-path bench/Cargo.toml --check")?;
    run(root, "cargo fmt --manifest-path crates/shim/Cargo.toml --check")
}

fn clippy(root: &Path) -> Result<()> {
    run(root, "cargo clippy --workspace --all-targets --locked -- -D warnings")?;
    let shim = "--manifest-path crates/shim/Cargo.toml --workspace --release --locked";
    run(root, &format!("cargo clippy {shim} -- -D warnings"))
}

fn doc(root: &Path) -> Result<()> {
    let command = "cargo doc --workspace --no-deps --locked --quiet";
    run_with(root, command, &[("RUSTDOCFLAGS", "-D warnings")])
}

fn tidy(_: &Path) -> Result<()> {
    let faults = crate::tidy()?;
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn readme(root: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("philosophers");
    run(root, &format!("cc -g -pthread programs/philosophers.c -o {}", program.display()))?;
    let manifest = root.join("Cargo.toml");
    let cargo =
        format!("cargo run --quiet --release --locked --manifest-path {}", manifest.display());
    match exit_code(folder.path(), &format!("{cargo} -- check -- ./philosophers"), &[])? {
        VIOLATED => Ok(()),
        code => bail!("expected exit code {VIOLATED}, a violation; got {code}"),
    }
}

fn faults(root: &Path) -> Result<()> {
    run_faults(root, 100, 1, None)
}

/// Runs so many rounds of faults with a command line, the release build unless one is given.
pub fn run_faults(root: &Path, rounds: u64, seed: u64, given: Option<&Path>) -> Result<()> {
    crate::faults::faults(&built(root, given)?, &root.join("programs"), rounds, seed)
}

/// Measures how fast results can be looked at, with a command line, as above.
pub fn run_speed(root: &Path, given: Option<&Path>) -> Result<()> {
    crate::speed::speed(root, &built(root, given)?)
}

/// Runs the scorecard with a command line, as above: the uses of these names, or all of them.
pub fn run_scorecard(root: &Path, given: Option<&Path>, names: &[&str]) -> Result<()> {
    crate::scorecard::scorecard(root, &built(root, given)?, names)
}

/// The command line that is given, or else the release build.
fn built(root: &Path, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().with_context(|| format!("{}", path.display()));
    }
    run(root, "cargo build --quiet --release --locked --package everypath")?;
    Ok(root.join("target/release/everypath"))
}

fn bench(root: &Path) -> Result<()> {
    let cargo = "cargo run --quiet --release --locked --manifest-path bench/Cargo.toml";
    run(root, &format!("{cargo} -- --quick --rounds 1"))
}

fn test(root: &Path) -> Result<()> {
    run(root, &format!("timeout --verbose {TEST_LIMIT} {TESTS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_are_run_as_the_readme_says() {
        let readme = include_str!("../../README.md");
        assert!(readme.contains(TESTS), "README.md does not say {TESTS}");
    }

    #[test]
    fn a_command_that_fails_is_named() {
        let error = run(Path::new("."), "false really").unwrap_err();
        assert_eq!(error.to_string(), "false really: exit code 1");
    }
}
