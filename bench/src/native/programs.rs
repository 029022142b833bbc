//! Compiles the programs, as a user would.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The compiled programs; gone when dropped.
pub struct Programs {
    folder: TempDir,
    /// Four threads in C: locks and a condition, about 120 points.
    pub c_turns: PathBuf,
    /// Four threads in C: most of pthreads, two rounds.
    pub c_workers: PathBuf,
    /// Four threads with Rust's std: about as many points as in C.
    pub rust_turns: PathBuf,
    /// Four threads with Rust's std: most of it, two rounds.
    pub rust_workers: PathBuf,
    /// Two threads that only give way.
    pub yields: PathBuf,
    /// Two threads that lock mutexes of their own, one after the other.
    pub locks: PathBuf,
    /// The same, both at a time.
    pub alternating_locks: PathBuf,
    /// What the processor takes for a part of a switch.
    pub processor: PathBuf,
    /// As little as can be scheduled.
    pub small: PathBuf,
    /// Sessions of a producer and a consumer.
    pub alphabet: PathBuf,
    /// The same sessions with a server, and the server.
    pub alphabet_client: PathBuf,
    pub alphabet_server: PathBuf,
    /// The client over UDP, and its server.
    pub udp_alphabet_client: PathBuf,
    pub udp_alphabet_server: PathBuf,
    /// A pool of workers: more schedules than can be run.
    pub pool: PathBuf,
}

impl Programs {
    /// Compiles everything.
    pub fn compile() -> Result<Self> {
        let folder = tempfile::tempdir().context("failed to make a folder for the programs")?;
        let out = folder.path();
        Ok(Programs {
            c_turns: compile(out, "turns.c")?,
            c_workers: compile(out, "workers.c")?,
            rust_turns: compile(out, "turns.rs")?,
            rust_workers: compile(out, "workers.rs")?,
            yields: compile(out, "yields.c")?,
            locks: compile(out, "locks.c")?,
            alternating_locks: compile(out, "alternating_locks.c")?,
            processor: compile(out, "processor.c")?,
            small: compile(out, "small.c")?,
            alphabet: compile(out, "alphabet.c")?,
            alphabet_client: compile(out, "../../programs/tcp/alphabet_client.c")?,
            alphabet_server: compile(out, "../../programs/tcp/alphabet_server.c")?,
            udp_alphabet_client: compile(out, "../../programs/udp/alphabet_client.c")?,
            udp_alphabet_server: compile(out, "../../programs/udp/alphabet_server.rs")?,
            pool: compile(out, "../../programs/classics/pool.rs")?,
            folder,
        })
    }

    /// Two threads that work on data of their own.
    pub fn computes(&self) -> Result<PathBuf> {
        compile(self.folder.path(), "computes.c")
    }

    /// One of the programs of closed systems.
    pub fn closed(&self, name: &str) -> Result<PathBuf> {
        compile(self.folder.path(), &format!("../../programs/closed/{name}.c"))
    }

    /// One of the small algorithms, with std.
    pub fn algorithm(&self, name: &str) -> Result<PathBuf> {
        compile(self.folder.path(), &format!("algorithms/{name}.rs"))
    }

    /// The same with more to do.
    pub fn long_algorithm(&self, name: &str) -> Result<PathBuf> {
        let out = self.folder.path().join("long");
        fs::create_dir_all(&out).context("failed to make a folder for the programs")?;
        compile_as(&out, &format!("algorithms/{name}.rs"), &["--cfg", "long"])
    }
}

/// Compiles `programs/SOURCE` with optimisation.
fn compile(out: &Path, source: &str) -> Result<PathBuf> {
    compile_as(out, source, &[])
}

/// The same with more options.
fn compile_as(out: &Path, source: &str, options: &[&str]) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(source);
    let program = out.join(source.replace(['/', '.'], "-"));
    let mut compiler = if source.ends_with(".rs") {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-O"]);
        rustc
    } else {
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-pthread"]);
        cc
    };
    let output = compiler
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(&path)
        .output()
        .with_context(|| format!("failed to start the compiler for {source}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{source} cannot be compiled:\n{errors}");
    Ok(program)
}
