//! What a program gets from the process that checks it.

use everypath_native::Specification;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

fn is_inherited(name: &OsStr) -> bool {
    let backtraces = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];
    !name.as_encoded_bytes().starts_with(b"LD_") && !backtraces.iter().any(|&of| name == of)
}

/// The environment of this process, which programs inherit.
#[derive(Clone, Debug)]
pub struct Host {
    /// The folders where programs are looked for by name.
    pub folders: Vec<PathBuf>,
    /// Variables, without those that would reach into the program's loader, and those by which Rust
    /// programs look up their stacks at every panic: a report has them, and an execution would take ten
    /// times as long.
    pub environment: Vec<(OsString, OsString)>,
    /// Where temporary folders are.
    pub temporary: PathBuf,
    /// What the events of programs are compared with (`--refines`).
    pub specification: Option<Arc<dyn Specification>>,
}

impl Host {
    /// Reads it.
    #[expect(clippy::new_without_default, reason = "what it is depends on the process")]
    pub fn new() -> Self {
        let all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let path = all.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        Host {
            folders: path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default(),
            temporary: std::env::temp_dir(),
            specification: None,
            environment: all.into_iter().filter(|(name, _)| is_inherited(name)).collect(),
        }
    }

    /// Whether the shim's log is wanted, for whoever looks for a defect of it.
    pub(crate) fn logs_shim(&self) -> bool {
        self.environment.iter().any(|(name, value)| name == "EVERYPATH_LOG" && value == "shim")
    }
}
