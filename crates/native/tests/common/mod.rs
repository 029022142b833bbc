//! Programs compiled for a test.

pub(crate) mod conforming;
pub(crate) mod launching;

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A compiled program, gone when dropped.
pub(crate) struct Compiled {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Compiled {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("the compiler wrote a file")
    }
}

/// Compiles `tests/programs/SOURCE`: C with `cc`, C++ with `c++`, Rust with `rustc`.
pub(crate) fn compile(source: &str, options: &[&str]) -> Compiled {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("program");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let compiler = match source.rsplit('.').next() {
        Some("rs") => "rustc",
        Some("cpp") => "c++",
        _ => "cc",
    };
    let output = Command::new(compiler)
        .args(options)
        .arg("-o")
        .arg(&path)
        .arg(source)
        .current_dir(programs)
        .output()
        .expect("the compiler is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Compiled { _folder: folder, path }
}
