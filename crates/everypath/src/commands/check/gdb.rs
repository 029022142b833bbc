//! `everypath replay --gdb`: stop in a debugger where an execution went wrong.

use crate::usage::Usage;
use crate::{HOLDS, INCONCLUSIVE, output};
use everypath_native::{Choice, Launch, Standing};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Repeats an execution, leaves it standing at its end and attaches gdb to it.
pub(super) fn run(launch: &Launch, schedule: &[Choice]) -> Result<u8, Usage> {
    let standing = match everypath_native::stand(launch, schedule) {
        Ok(standing) => standing,
        Err(error) => {
            output::print(&format!("INCONCLUSIVE: {error}\n"));
            return Ok(INCONCLUSIVE);
        }
    };
    // Open until gdb has ended: it reads the script from our own descriptor.
    let (_script, descriptor) = script_file(&script(&standing))?;
    let path = PathBuf::from(format!("/proc/{}/fd/{descriptor}", std::process::id()));
    let status = Command::new("gdb")
        .args(["-q", "-nx", "-p", &standing.pid().to_string(), "-x"])
        .arg(&path)
        .status()
        .map_err(|error| {
            Usage::new(format!("cannot start gdb: {error}; install it, or leave --gdb out"))
        })?;
    Ok(if status.success() { HOLDS } else { INCONCLUSIVE })
}

fn script_file(script: &str) -> Result<(File, i32), Usage> {
    let (mut file, descriptor) = everypath_native::anonymous_file()
        .map_err(|error| Usage::new(format!("cannot write a script for gdb: {error}")))?;
    file.write_all(script.as_bytes())
        .map_err(|error| Usage::new(format!("cannot write a script for gdb: {error}")))?;
    Ok((file, descriptor))
}

/// What gdb does first: a command for each thread, and the stack of the one that ended it.
fn script(standing: &Standing) -> String {
    let mut script = String::from("set confirm off\nset pagination off\n");
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
