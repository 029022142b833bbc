//! Existing `#[test]` functions as programs: a test binary is run for one of its tests alone.
//!
//! A test that fails ends with libtest's exit code 101, which a check takes for a violation.

use crate::error::CheckError;
use everypath_trace::{CHECKED_TEST, CheckConfig};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// libtest runs a test on a thread of its own, and waits for it at a channel: thousands of schedules that
/// have nothing to do with the test. If the thread cannot be created, it runs the test itself.
const LIBTEST_THREADS: u16 = 1;

/// A `#[test]` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFunction {
    /// Its name, with its modules.
    pub name: String,
    /// The binary that contains it.
    pub binary: PathBuf,
    /// What the binary is built from, such as `lib counter` or `test latch`; empty if that is not known.
    pub target: String,
    /// The folder of its package, in which cargo runs it; `None` is the current one.
    pub folder: Option<PathBuf>,
}

impl TestFunction {
    /// The check of this test: the configuration may be changed before it is run.
    pub fn config(&self) -> CheckConfig {
        let words = [&self.name, "--exact", "--test-threads", "1", "--nocapture"];
        let mut environment = vec![(CHECKED_TEST.into(), self.name.clone())];
        let package = self.folder.as_ref().map(|folder| folder.display().to_string());
        environment.extend(package.map(|folder| ("CARGO_MANIFEST_DIR".into(), folder)));
        CheckConfig {
            environment,
            folder: self.folder.clone(),
            refuse_threads: LIBTEST_THREADS,
            ..CheckConfig::new(&self.binary).arguments(words)
        }
    }
}

/// The tests of the binary that runs now, without those that are ignored: a test can check the others
/// beside it, every schedule of each.
///
/// In a test that is checked itself there are none, so the one that calls this may be among them.
#[expect(clippy::disallowed_methods, reason = "a test knows from it that it is checked")]
pub fn own_tests() -> Result<Vec<TestFunction>, CheckError> {
    if std::env::var_os(CHECKED_TEST).is_some() {
        return Ok(Vec::new());
    }
    let binary = std::env::current_exe();
    let binary = binary.map_err(|error| not_listed(Path::new("this program"), &error))?;
    listed(&Built { binary, target: String::new(), folder: None })
}

/// The tests of a crate, without those that are ignored: `cargo test --no-run` builds them, in a folder
/// and with options such as `--lib`.
///
/// A test must not ask for those of its own binary in this way, but by [`own_tests`].
pub fn tests_of(
    folder: impl AsRef<Path>,
    cargo: &[impl AsRef<str>],
) -> Result<Vec<TestFunction>, CheckError> {
    let folder = folder.as_ref();
    let output = Command::new("cargo")
        .args(["test", "--no-run", "--message-format", "json-render-diagnostics"])
        .args(cargo.iter().map(AsRef::as_ref))
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| {
            CheckError::options(format!("cannot run cargo in {}: {error}", folder.display()))
        })?;
    if !output.status.success() {
        return Err(CheckError::options("cargo test --no-run failed: mend what it says above"));
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut tests = Vec::new();
    for built in messages.lines().filter_map(Built::of) {
        tests.extend(listed(&built)?);
    }
    Ok(tests)
}

/// A test binary that cargo has built.
struct Built {
    binary: PathBuf,
    target: String,
    folder: Option<PathBuf>,
}

impl Built {
    /// What a message of cargo says of one.
    fn of(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["profile"]["test"] == true;
        let binary = message["executable"].as_str().filter(|_| is_test)?.into();
        let target = &message["target"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let manifest = message["manifest_path"].as_str().map(Path::new);
        Some(Built {
            binary,
            target: format!("{} {}", word(&target["kind"][0]), word(&target["name"])),
            folder: manifest.and_then(Path::parent).map(Into::into),
        })
    }
}

fn not_listed(binary: &Path, error: &io::Error) -> CheckError {
    CheckError::options(format!("cannot list the tests of {}: {error}", binary.display()))
}

/// The tests of a binary, without those that are ignored.
fn listed(built: &Built) -> Result<Vec<TestFunction>, CheckError> {
    let Built { binary, target, folder } = built;
    let list = |more: &[&str]| -> Result<Vec<String>, CheckError> {
        let output = Command::new(binary)
            .args(["--list", "--format", "terse"])
            .args(more)
            .output()
            .map_err(|error| not_listed(binary, &error))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(Into::into).collect())
    };
    let ignored = list(&["--ignored"])?;
    let names = list(&[])?.into_iter().filter(|name| !ignored.contains(name));
    let test = |name| TestFunction {
        name,
        binary: binary.clone(),
        target: target.clone(),
        folder: folder.clone(),
    };
    Ok(names.map(test).collect())
}
