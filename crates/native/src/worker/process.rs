//! One process under the shim: its start and its end.

use super::{HEARTBEAT, Launch, Modules, Prepared, defect, loader};
use crate::error::Error;
use crate::region::Mapping;
use crate::shim;
use everypath_shim_abi::{Command, Outcome, Request, preload, reserved_fds, text};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A process under the shim. It dies with this value, and with the thread that started it.
#[derive(Debug)]
pub(crate) struct Process {
    pub(super) child: Child,
    pub(super) region: Mapping,
    pub(crate) prepared: Arc<Prepared>,
}

/// What a process is started with.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) launch: &'a Launch,
    pub(super) modules: &'a Modules,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [OsString],
    /// The trees and the files that it finds.
    pub(super) files: [RawFd; 2],
    /// What it shares with others.
    pub(super) shared: Option<[RawFd; 2]>,
    /// What takes the place of ThreadSanitizer's runtime, if it asks for that.
    pub(super) tsan: Option<RawFd>,
}

impl Process {
    /// Starts a program and stops before its `main`.
    pub(super) fn start(region: Mapping, start: Start<'_>) -> Result<Self, Error> {
        let shim = shim::file()
            .map_err(|error| Error::System { what: "keep the shim in memory", error })?;
        let tsan = start.modules.thread_sanitizer(start.program)?;
        let start = Start { tsan: tsan.as_ref().map(AsRawFd::as_raw_fd), ..start };
        let [trees, found] = start.files;
        let files = [region.file().as_raw_fd(), shim.as_raw_fd(), trees, found];
        loader::ensure(&start, files)?;
        let child = spawn(&start, files)
            .map_err(|error| Error::Start { path: start.program.into(), error })?;
        let mut process = Process { child, region, prepared: Arc::default() };
        process.await_start(&start)?;
        process.prepared = start.modules.prepare(&process.region, start.launch.arming())?;
        process.hand_over_patches();
        process.region.hand_over(Command { request: Request::Begin, ..Command::default() });
        process.await_start(&start)?;
        Ok(process)
    }

    fn hand_over_patches(&self) {
        let Prepared { patches, thread_starts, .. } = &*self.prepared;
        for (cell, &byte) in self.region.patches.iter().zip(&patches.bytes) {
            cell.set(byte);
        }
        for (cell, &start) in self.region.thread_starts.iter().zip(thread_starts) {
            cell.set(start);
        }
        self.region.thread_start_count.set(thread_starts.len() as u32);
        self.region.patch_bytes.set(patches.bytes.len() as u32);
    }

    /// Waits until the program stands before its `main`.
    fn await_start(&mut self, start: &Start<'_>) -> Result<(), Error> {
        while !self.region.is_our_turn(HEARTBEAT) {
            if start.launch.control.stopped() {
                return Err(Error::Stopped);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                if self.region.is_our_turn(Duration::ZERO) {
                    break;
                }
                if status.signal().is_some() {
                    // A fault of the shim is reported by its handler, from its first instructions on.
                    let what = format!("ended while it was loaded ({status})");
                    return Err(Error::Killed { what });
                }
                let path = start.program.into();
                return Err(Error::NotPreloaded { path, status: status.to_string() });
            }
        }
        self.refusal().map_or(Ok(()), Err)
    }

    /// Why the shim gave up, if it did.
    pub(super) fn refusal(&self) -> Option<Error> {
        let reply = self.region.last_reply();
        let said = || String::from_utf8_lossy(text(&reply.text)).into_owned();
        match reply.outcome {
            Outcome::Defect => {
                let (stack, log) = (defect::stack(&self.region), self.log());
                Some(Error::Defect(format!("{}{stack}{log}", said())))
            }
            Outcome::Killed => Some(Error::Killed { what: said() }),
            // What an execution did is for those to say who look at its threads.
            Outcome::Uncontrolled
                if matches!(self.region.command.get().request, Request::None | Request::Begin) =>
            {
                Some(Error::Uncontrolled(said()))
            }
            _ => None,
        }
    }

    /// What the shim did last, if it wrote that down.
    pub(super) fn log(&self) -> String {
        defect::log(&self.region)
    }

    /// Whether somebody has stopped it, as the kernel says.
    pub(super) fn is_stopped(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        // Behind the name, which may contain anything.
        stat.is_ok_and(|text| text.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')))
    }

    pub(super) fn signal(&self, signal: i32) {
        // SAFETY: sends a signal to our own child. JUSTIFICATION: std can only kill.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: signals the group that our child leads. JUSTIFICATION: std can kill the child
        // only, and what it forked for an execution would live on.
        unsafe { libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL) };
        // Fails only if it was waited for already.
        let _status = self.child.wait();
    }
}

/// Why a process ended that should not have: signals of the program are modelled, so those that end a
/// process come from outside, unless they report a fault.
pub(super) fn death(status: ExitStatus, log: String) -> Error {
    const FAULTS: [i32; 7] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGSYS,
    ];
    match status.signal() {
        Some(signal) if !FAULTS.contains(&signal) => {
            Error::Killed { what: format!("killed from outside ({status})") }
        }
        _ => Error::Defect(format!("the worker died ({status}){log}")),
    }
}

/// Starts a program with four files: the region, the shim, the trees and the files that it finds.
fn spawn(start: &Start<'_>, files: [RawFd; 4]) -> io::Result<Child> {
    command(start.program, start, files).args(start.arguments).spawn()
}

/// How a file is started that gets these files.
pub(super) fn command(file: &Path, start: &Start<'_>, files: [RawFd; 4]) -> std::process::Command {
    let (launch, shared, tsan) = (start.launch, start.shared, start.tsan);
    let mut command = std::process::Command::new(file);
    let checker = std::process::id();
    command
        .env_clear()
        .envs(launch.environment.iter().cloned())
        .envs(preload::LOADER)
        .envs(tsan.map(|_| preload::WITH_TSAN))
        .env(preload::TUNABLES_VARIABLE, tunables(&launch.environment))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A Ctrl-C at the terminal is for the checker, which ends its workers in good order.
        .process_group(0);
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    // SAFETY: between fork and exec, only system calls are made.
    // JUSTIFICATION: std cannot hand over descriptors, fix addresses or tie the child's life to ours.
    unsafe { command.pre_exec(move || prepare_child(files, shared, tsan, checker)) };
    command
}

/// What libc shall do otherwise than by itself, after what the program's environment asks of it.
fn tunables(environment: &[(OsString, OsString)]) -> OsString {
    let own = environment.iter().rfind(|(name, _)| name == preload::TUNABLES_VARIABLE);
    let mut all = own.map_or_else(OsString::new, |(_, value)| value.clone());
    all.push(preload::TUNABLES);
    all
}

/// Runs in the child, before the program is loaded.
fn prepare_child(
    [region, shim, trees, found]: [RawFd; 4],
    shared: Option<[RawFd; 2]>,
    tsan: Option<RawFd>,
    checker: u32,
) -> io::Result<()> {
    let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: plain system calls on values. JUSTIFICATION: see `spawn`.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // The checker may have died before we asked to die with it.
        if libc::getppid() != checker as libc::pid_t {
            return Err(io::Error::other("the checker is gone"));
        }
        // A debugger that the checker starts is no ancestor of ours.
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY);
        check(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong))?;
        check(libc::dup2(region, reserved_fds::REGION))?;
        check(libc::dup2(shim, reserved_fds::SHIM))?;
        check(libc::dup2(trees, reserved_fds::TREES))?;
        if let Some(tsan) = tsan {
            check(libc::dup2(tsan, reserved_fds::TSAN))?;
        }
        if let Some([system, first]) = shared {
            check(libc::dup2(system, reserved_fds::SHARED_STATE))?;
            check(libc::dup2(first, reserved_fds::FIRST_REGION))?;
        }
        check(libc::dup2(found, reserved_fds::FILES))
    }
}
