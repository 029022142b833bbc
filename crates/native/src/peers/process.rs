//! A peer process that the checker started, with its descendants; it ends with the checker.

use super::error::{PeerError, Printed};
use super::quiescence::{Look, Watch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How much of what a peer prints is kept: its end, for messages.
const KEPT: usize = 2048;
/// Waits until somebody watches over it before it becomes the peer.
const GATE: &str = r#"read -r go && exec "$@" </dev/null"#;
/// Waits until the checker says that the peer has ended, or has ended itself; then whatever is
/// left of the peer ends too: its group, and what has left the group, known by its environment.
/// More than once, since a process that is about to become another program has none for a moment.
const WATCHER: &str = r#"
read -r ended || {
    kill -9 -- "-$1"
    for round in 1 2 3 4 5; do
        for file in $(grep -lsz "^EVERYPATH_PEER=$2\$" /proc/[0-9]*/environ); do
            process=${file#/proc/}
            kill -9 "${process%/environ}"
        done
    done
}"#;
/// How often to look for what is left of a peer.
const SWEEPS: usize = 10;
/// The variable by which processes of a peer are known, wherever they went.
const MARK: &str = "EVERYPATH_PEER";

/// A running peer. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    status: Option<ExitStatus>,
    watcher: Watcher,
    mark: String,
    output: Output,
    watch: Watch,
}

/// What a peer prints, on either stream.
#[derive(Debug)]
struct Output {
    reader: PipeReader,
    kept: Vec<u8>,
}

/// The process that outlives us for a moment. It is no child of the peer's and no parent.
#[derive(Debug)]
struct Watcher {
    child: Child,
    line: Option<ChildStdin>,
}

impl Process {
    /// Starts a command, in a folder if it is not this one.
    pub(super) fn start(words: &[String], folder: Option<&Path>) -> io::Result<Self> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}.{number}", std::process::id());
        let (reader, writer) = io::pipe()?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", GATE, "sh"])
            .args(words)
            .current_dir(folder.unwrap_or(Path::new(".")))
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        let watcher = Watcher::start(child.id(), &mark)?;
        if let Some(mut gate) = child.stdin.take() {
            gate.write_all(b"go\n")?;
        }
        ioctl_fionbio(&reader, true)?;
        let output = Output { reader, kept: Vec::new() };
        let watch = Watch::new(child.id());
        Ok(Process { child, status: None, watcher, mark, output, watch })
    }

    /// The threads of it that wait for some time only, each with how long it has run.
    pub(super) fn timed(&self) -> BTreeMap<u32, u64> {
        self.watch.timed()
    }

    /// Looks whether it rests. If it has ended, `may_end` decides whether it may.
    pub(super) fn look(
        &mut self,
        command: &str,
        may_end: fn(ExitStatus) -> bool,
    ) -> Result<Look, PeerError> {
        // A peer that prints must not block on its pipe.
        self.output.read();
        let look = self.watch.look();
        if look != Look::Gone {
            return Ok(look);
        }
        match self.status() {
            // It is about to end.
            None => Ok(Look::Busy),
            Some(status) if may_end(status) => Ok(Look::Gone),
            Some(status) => Err(PeerError::Crashed {
                peer: command.to_string(),
                how: ended(status),
                printed: self.printed(),
            }),
        }
    }

    /// How it ended, if it did.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// For how long a thread of it had to wait for a processor since this was asked last.
    pub(super) fn starved(&mut self) -> Duration {
        self.watch.starved()
    }

    /// The processes it consists of.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.watch.processes()
    }

    /// Looks for what descends from it although its parent has ended, as that of a daemon has, and
    /// counts it as part of it from now on; says whether there was any.
    pub(super) fn adopt_orphans(&mut self) -> bool {
        let known = self.watch.processes();
        let marked = all_processes().filter(|&process| is_marked(process, &self.mark));
        let orphans: Vec<u32> = marked.filter(|process| !known.contains(process)).collect();
        orphans.iter().for_each(|&orphan| self.watch.add(orphan));
        !orphans.is_empty()
    }

    /// The end of what it printed.
    pub(super) fn printed(&mut self) -> Printed {
        self.output.read();
        Printed(String::from_utf8_lossy(&self.output.kept).trim().to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status().is_none() {
            // The group has the number of its first process, which is ours until it is waited for.
            if let Some(group) = Pid::from_raw(self.child.id() as i32) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        let _ = self.child.wait();
        // Processes that left the group, and their descendants.
        for _ in 0..SWEEPS {
            let left = all_processes().filter(|&process| is_marked(process, &self.mark));
            if left.map(end).count() == 0 {
                break;
            }
        }
        self.watcher.dismiss();
    }
}

impl Output {
    /// Reads what is there now.
    fn read(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = self.reader.read(&mut buffer) {
            self.kept.extend(&buffer[..length]);
            let excess = self.kept.len().saturating_sub(KEPT);
            self.kept.drain(..excess);
        }
    }
}

impl Watcher {
    fn start(group: u32, mark: &str) -> io::Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", WATCHER, "sh", &group.to_string(), mark])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let line = child.stdin.take();
        Ok(Watcher { child, line })
    }

    fn dismiss(&mut self) {
        if let Some(mut line) = self.line.take() {
            let _ = line.write_all(b"ended\n");
        }
        let _ = self.child.wait();
    }
}

/// How a process ended.
fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(127), _) => "could not be started: there is no such command".to_string(),
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_string(),
    }
}

/// Ends a process and waits until it has ended, which does not take long.
fn end(process: u32) {
    const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let Some(process) = Pid::from_raw(process as i32) else { return };
    let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else { return };
    if pidfd_send_signal(&descriptor, Signal::KILL).is_ok() {
        let _ = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&PATIENCE));
    }
}

fn all_processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Whether a process has a mark in its environment.
fn is_marked(process: u32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let wanted = format!("{MARK}={mark}");
    environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    /// The line to the watcher breaks when the checker is gone, however it went.
    #[test]
    fn a_peer_ends_with_a_checker_that_is_killed() {
        // The second process has left the group and has no parent.
        let rest = "while :; do sleep 1000; done";
        let script = format!("(setsid sh -c 'echo started; {rest}' &); {rest}");
        let words = ["/bin/sh", "-c", &script].map(String::from);
        let mut process = Process::start(&words, None).unwrap();
        while !process.printed().0.contains("started") {
            let pause = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
            poll(&mut [PollFd::new(&process.output.reader, PollFlags::IN)], Some(&pause)).unwrap();
        }
        let marked: Vec<OwnedFd> = all_processes()
            .filter(|&it| is_marked(it, &process.mark))
            .map(|it| pidfd_open(Pid::from_raw(it as i32).unwrap(), PidfdFlags::empty()).unwrap())
            .collect();
        assert!(marked.len() >= 2, "the one that left the group is known");
        drop(process.watcher.line.take());
        for one in &marked {
            let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
            let ended = poll(&mut [PollFd::new(one, PollFlags::IN)], Some(&patience)).unwrap();
            assert_eq!(ended, 1, "a process is left behind");
        }
        assert_eq!(process.child.wait().unwrap().signal(), Some(9));
    }
}
