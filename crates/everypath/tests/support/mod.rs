//! Compiled programs, and the command line on them.

pub(crate) mod endings;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with the compiled programs of `programs/`.
pub(crate) struct Programs {
    pub(crate) folder: TempDir,
}

impl Programs {
    /// Compiles what is named.
    pub(crate) fn new(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            compile(name, &folder.path().join(Path::new(name).file_stem().unwrap()));
        }
        Programs { folder }
    }

    /// Runs the command line in the folder; arguments are quoted as for a shell.
    pub(crate) fn everypath(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_everypath"))
            .args(shlex::split(arguments).unwrap())
            .current_dir(self.folder.path())
            // Programs do not inherit it.
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap()
    }

    /// Runs a check; its exit code and its result.
    pub(crate) fn check(&self, arguments: &str) -> (i32, Value) {
        let output = self.everypath(&format!("check --json - {arguments}"));
        let code = output.status.code().unwrap();
        let result = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments}: {error}: {output:?}"));
        (code, result)
    }
}

/// Leaves a test out, for this reason, unless all are required.
#[expect(clippy::disallowed_methods, reason = "the caller says what may be left out")]
#[expect(clippy::print_stdout, reason = "what is left out must be seen")]
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("EVERYPATH_REQUIRE_ALL").is_none(), "{reason}");
    println!("skipped: {reason}");
}

fn compile(name: &str, to: &Path) {
    let source: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../programs", name].iter().collect();
    let mut compiler = if name.ends_with(".rs") {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-g", "-O"]);
        rustc
    } else {
        let mut cc = Command::new(if name.ends_with(".cpp") { "c++" } else { "cc" });
        cc.args(["-g", "-O1", "-pthread"]);
        cc.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../verify/include"));
        cc
    };
    let output = compiler.arg("-o").arg(to).arg(source).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
