//! SPIN: generates a verifier from `arq.pml`, compiles it and reads what it prints.

use crate::contender::{Contender, StateCounts, Tool, cores};
use crate::model::{Bounds, Expected};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The model in Promela.
const PROMELA: &str = include_str!("arq.pml");

/// Megabytes that a verifier may use.
const MEMORY_LIMIT: u32 = 4000;

/// One way to compile and run SPIN's verifier.
#[derive(Debug, PartialEq, Eq)]
pub enum Variant {
    /// Exact depth-first search by one process.
    Dfs,
    /// Exact breadth-first search by one process.
    Bfs,
    /// Exact depth-first search by one process per core.
    DfsCores,
    /// Breadth-first search by one process per core. SPIN stores hashes here unless told
    /// otherwise; storing states made it three times slower and reserved 2 GB.
    BfsCores,
}

/// SPIN's rows.
pub const ROWS: [Contender; 4] = [
    row("spin-bfs", &Variant::Bfs, false),
    row("spin-dfs", &Variant::Dfs, false),
    row("spin-bfs-cores-hash", &Variant::BfsCores, true),
    row("spin-dfs-cores", &Variant::DfsCores, true),
];

/// Makes a row.
const fn row(name: &'static str, variant: &'static Variant, parallel: bool) -> Contender {
    Contender { name, parallel, tool: Tool::Spin(variant) }
}

impl Variant {
    /// Returns the definitions that choose this variant when the verifier is compiled.
    fn definition(&self) -> Option<String> {
        match self {
            Variant::Dfs => None,
            Variant::Bfs => Some("-DBFS".into()),
            Variant::DfsCores => Some(format!("-DNCORE={}", cores())),
            Variant::BfsCores => Some("-DBFS_PAR".into()),
        }
    }

    /// Returns the name of the verifier.
    fn program(&self) -> &'static str {
        match self {
            Variant::Dfs => "pan-dfs",
            Variant::Bfs => "pan-bfs",
            Variant::DfsCores => "pan-dfs-cores",
            Variant::BfsCores => "pan-bfs-cores",
        }
    }
}

/// A temporary directory with everything that SPIN generates; removed when dropped.
pub struct Spin {
    directory: TempDir,
    bounds: Bounds,
    table_bits: u32,
}

impl Spin {
    /// Generates the verifier's source for `bounds`, with a table for the size that is expected.
    pub fn generate(bounds: &Bounds, size: &Expected) -> Result<Spin> {
        let directory = TempDir::with_prefix("everypath-bench-")
            .context("failed to create a temporary directory")?;
        std::fs::write(directory.path().join("arq.pml"), PROMELA)
            .context("failed to write the Promela model")?;
        let spin = Spin {
            directory,
            bounds: *bounds,
            table_bits: size.states.next_power_of_two().ilog2(),
        };
        let mut command = Command::new("spin");
        command.args(spin.model_parameters()).args(["-a", "arq.pml"]);
        spin.build(&mut command)?;
        Ok(spin)
    }

    /// Returns the definitions that carry the bounds into the model.
    fn model_parameters(&self) -> [String; 4] {
        let bounds = &self.bounds;
        [
            format!("-DMESSAGES={}", bounds.messages),
            format!("-DRETRANSMISSIONS={}", bounds.retransmissions),
            format!("-DLOSSES={}", bounds.losses),
            format!("-DCAPACITY={}", bounds.capacity),
        ]
    }

    /// Compiles the verifier of `variant`.
    pub fn compile(&self, variant: &Variant) -> Result<()> {
        let mut command = Command::new("gcc");
        command
            .args(["-O2", "-w", "-DSAFETY", "-DNOREDUCE"])
            .arg(format!("-DMEMLIM={MEMORY_LIMIT}"))
            .args(variant.definition())
            .args(["-o", variant.program(), "pan.c"]);
        self.build(&mut command)
    }

    /// Returns the command that runs the verifier of `variant`.
    pub fn command(&self, variant: &Variant) -> Command {
        let program: PathBuf = self.directory.path().join(variant.program());
        let mut command = Command::new(program);
        command.current_dir(self.directory.path()).arg(format!("-w{}", self.table_bits));
        if *variant == Variant::BfsCores {
            command.arg(format!("-u{}", cores()));
        }
        command
    }

    /// Runs one build step in the temporary directory.
    fn build(&self, command: &mut Command) -> Result<()> {
        let output = command
            .current_dir(self.directory.path())
            .output()
            .with_context(|| format!("failed to start {command:?}"))?;
        ensure!(
            output.status.success(),
            "{command:?} failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }
}

/// Reads the counts from what a verifier printed.
///
/// SPIN counts the initial state as a transition and numbers levels from zero. Its depth is the
/// number of levels for breadth-first searches only.
pub fn parse(variant: &Variant, text: &str) -> Result<StateCounts> {
    ensure!(text.contains("errors: 0"), "SPIN reports an error:\n{text}");
    let states = number_before(text, " states, stored")?;
    let transitions = number_before(text, " transitions (= stored+matched)")?;
    let depth = number_before(text, ", errors: 0")?;
    ensure!(transitions > 0, "SPIN explored nothing:\n{text}");
    Ok(StateCounts {
        states,
        transitions: Some(transitions - 1),
        levels: match variant {
            Variant::Bfs | Variant::BfsCores => Some(depth + 1),
            Variant::Dfs | Variant::DfsCores => None,
        },
    })
}

/// Returns the number that stands directly before `label`.
fn number_before(text: &str, label: &str) -> Result<u64> {
    let before = text.split(label).next().unwrap_or_default();
    let number = before.split_whitespace().next_back().unwrap_or_default();
    number.parse().with_context(|| format!("no number before '{label}' in SPIN's output:\n{text}"))
}

/// Makes sure that SPIN and a C compiler are there; installs SPIN where that is possible.
///
/// Returns SPIN's version, or an error that says how to get what is missing.
pub fn find_or_install() -> Result<String> {
    if !is_found("gcc", "--version") {
        bail!("gcc is not on the PATH (Debian: apt-get install gcc)");
    }
    if !is_found("spin", "-V") && nix::unistd::geteuid().is_root() {
        eprintln!("spin is not on the PATH: trying to install it with apt-get");
        install();
    }
    let Ok(output) = Command::new("spin").arg("-V").output() else {
        bail!("spin is not on the PATH (Debian: apt-get install spin)");
    };
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Tells whether `program` can be started.
fn is_found(program: &str, version_option: &str) -> bool {
    quiet(Command::new(program).arg(version_option))
}

/// Tries to install SPIN from the distribution; whether that worked is seen afterwards.
fn install() {
    let _ = quiet(Command::new("apt-get").arg("update"))
        && quiet(Command::new("apt-get").args(["install", "-y", "spin"]));
}

/// Runs a command without output and tells whether it succeeded.
fn quiet(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
State-vector 44 byte, depth reached 42, errors: 0
     6439 states, stored
    13953 states, matched
    20392 transitions (= stored+matched)
";

    #[test]
    fn counts_are_read() {
        let outcome = parse(&Variant::Bfs, PRINTED).unwrap();
        assert_eq!(outcome, StateCounts::exact(&crate::model::QUICK_SIZE));
        assert_eq!(parse(&Variant::Dfs, PRINTED).unwrap().levels, None);
    }

    #[test]
    fn a_violation_is_an_error() {
        assert!(parse(&Variant::Dfs, &PRINTED.replace("errors: 0", "errors: 1")).is_err());
        assert!(parse(&Variant::Dfs, "pan: out of memory").is_err());
    }
}
