//! Whether the loader brings the shim into a program, asked before the program is started.
//!
//! A loader that cannot load a library of `LD_PRELOAD` warns and goes on without it: the program
//! would run by itself, and do for real what was to be explored. So the loader is started first, and
//! asked to list what it loads; it runs nothing of the program then.

use super::process::{Start, command};
use crate::error::Error;
use crate::program;
use everypath_shim_abi::preload::SHIM_PATH;
use std::os::fd::RawFd;
use std::process::Stdio;

/// Asks the loader, unless it was asked before.
pub(super) fn ensure(start: &Start<'_>, files: [RawFd; 4]) -> Result<(), Error> {
    let path = start.program;
    let mut known = start.modules.preloading.lock().expect("nobody panics while holding it");
    if known.contains(path) {
        return Ok(());
    }
    let failed = |error| Error::Start { path: path.into(), error };
    let interpreter = program::interpreter(path).map_err(failed)?;
    let mut loader = command(&interpreter, start, files);
    loader.arg("--list").arg(path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = loader.output().map_err(failed)?;
    let listed = String::from_utf8_lossy(&said.stdout);
    if !listed.lines().any(|line| line.trim_start().starts_with(SHIM_PATH)) {
        let complaint = String::from_utf8_lossy(&said.stderr).trim().to_owned();
        let reason = if complaint.is_empty() { "it does not say why".into() } else { complaint };
        return Err(Error::CannotPreload { path: path.into(), reason });
    }
    known.insert(path.into());
    Ok(())
}
