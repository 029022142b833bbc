//! `everypath replay --gdb`: stop in a debugger where an execution went wrong.

use crate::usage::Usage;
use crate::{HOLDS, INCONCLUSIVE, output};
use everypath_check::{Replay, Standing};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::process::Command;

/// Repeats an execution, leaves it standing at its end and attaches gdb to it.
pub(super) fn run(replay: &Replay<'_>) -> Result<u8, Usage> {
    let standing = match replay.stand() {
        Ok(standing) => standing,
        Err(error) => {
            output::print(&format!("INCONCLUSIVE: {error}\n"));
            return Ok(INCONCLUSIVE);
        }
    };
    // Open until gdb has ended: it reads them through our own descriptors.
    let shim =
        standing.shim().map(|(base, bytes)| Ok((base, Readable::new(bytes)?))).transpose()?;
    let symbols =
        shim.as_ref().map(|(base, file)| format!("add-symbol-file {} -o {base:#x}\n", file.path()));
    let script = script(&standing, &symbols.unwrap_or_default());
    let script = Readable::new(script.as_bytes())?;
    let status = Command::new("gdb")
        .args(["-q", "-nx", "-p", &standing.pid().to_string(), "-x"])
        .arg(script.path())
        .status()
        .map_err(|error| {
            Usage::new(format!("cannot start gdb: {error}; install it, or leave --gdb out"))
        })?;
    Ok(if status.success() { HOLDS } else { INCONCLUSIVE })
}

/// A file in memory that other processes can read while we live.
struct Readable {
    _file: File,
    descriptor: i32,
}

impl Readable {
    fn new(bytes: &[u8]) -> Result<Self, Usage> {
        let cannot = |error| Usage::new(format!("cannot prepare files for gdb: {error}"));
        let (mut file, descriptor) = everypath_native::anonymous_file().map_err(cannot)?;
        file.write_all(bytes).map_err(cannot)?;
        Ok(Readable { _file: file, descriptor })
    }

    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor)
    }
}

/// What gdb does first: a command for each thread, and the stack of the one that ended it.
fn script(standing: &Standing, symbols: &str) -> String {
    let mut script = format!("set confirm off\nset pagination off\n{symbols}");
    for (number, [rip, rsp, rbp]) in standing.threads() {
        let _ = write!(
            script,
            "define thread{number}\nset $rsp = {rsp:#x}\nset $rbp = {rbp:#x}\nset $rip = {rip:#x}\nbt\nend\n"
        );
    }
    let _ = writeln!(
        script,
        "echo \\nEach thread of the program has a command: thread0 (main), thread1, …\\n"
    );
    let _ = writeln!(script, "thread{}", standing.last_thread());
    script
}
