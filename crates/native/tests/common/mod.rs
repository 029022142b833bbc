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
    compile_in(tempfile::tempdir().expect("a temporary folder can be made"), source, options)
}

/// Compiles a text, as if it were the file `tests/programs/NAME`; what it includes is in
/// `tests/programs/random`.
pub(crate) fn compile_text(text: &str, name: &str, options: &[&str]) -> Compiled {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let source = folder.path().join(name);
    std::fs::write(&source, text).expect("the folder can be written to");
    let included = ["-Irandom", "-pthread", "-fno-strict-aliasing"];
    let options = [&included[..], options].concat();
    let source = source.to_str().expect("its path is text").to_string();
    compile_in(folder, &source, &options)
}

fn compile_in(folder: TempDir, source: &str, options: &[&str]) -> Compiled {
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
