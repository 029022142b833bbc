//! Processor time, wall time and peak memory of one child process and its descendants.

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::sys::wait::wait;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// What a child printed and what it cost.
#[derive(Debug)]
pub struct Finished {
    /// Its standard output.
    pub stdout: String,
    /// User and system time, of all its descendants too.
    pub cpu: Duration,
    /// Time between its start and its end.
    pub wall: Duration,
    /// Its largest resident set in bytes, that of its descendants not included.
    pub peak_rss: u64,
}

/// Makes this process inherit the orphans of its children, so that their time is counted.
///
/// SPIN's parallel search forks and does not wait: without this, the system would hand the other
/// processes to its first one and their time would be lost.
pub fn adopt_orphans() -> Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true).context("failed to adopt orphaned processes")?;
    Ok(())
}

/// Runs `command` to its end; a status other than success is an error.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
pub fn run(command: &mut Command) -> Result<Finished> {
    let shown = format!("{command:?}");
    let cpu_before = cpu_of_children()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {shown}"))?;
    let mut stdout = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut stdout)
            .with_context(|| format!("failed to read the output of {shown}"))?;
    }
    let ended = child.wait4().with_context(|| format!("failed to wait for {shown}"))?;
    let wall = start.elapsed();
    reap_orphans()?;
    ensure!(ended.status.success(), "{shown} ended with {}:\n{stdout}", ended.status);
    Ok(Finished {
        stdout,
        cpu: cpu_of_children()? - cpu_before,
        wall,
        peak_rss: ended.rusage.maxrss,
    })
}

/// Waits for the descendants that a child has left behind.
fn reap_orphans() -> Result<()> {
    loop {
        match wait() {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(Errno::ECHILD) => return Ok(()),
            Err(error) => return Err(error).context("failed to wait for orphaned processes"),
        }
    }
}

/// Returns the time used by all children and descendants that have been waited for.
fn cpu_of_children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("failed to read resource usage")?;
    let total = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(total.num_microseconds().unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_measured_and_its_failure_reported() {
        let finished = run(Command::new("sh").args(["-c", "echo done"])).unwrap();
        assert_eq!(finished.stdout, "done\n");
        assert!(finished.peak_rss > 0);
        let error = run(Command::new("sh").args(["-c", "echo why; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
    }
}
