//! Oracles: commands that judge the output and the files of an execution.

use crate::error::Error;
use crate::judge::{Left, PlacedFile};
use everypath_trace::Control;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often we look whether somebody wants the search to stop.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// How much of an oracle's output is shown.
const TOLD: usize = 300;
/// A shell's exit codes for a command that cannot be run.
const CANNOT_RUN: [i32; 2] = [126, 127];

/// What an oracle says.
pub(crate) enum Said {
    Right,
    Wrong(String),
    /// Nothing, because somebody stopped the search.
    Stopped,
}

/// A command and the place where it runs.
#[derive(Debug)]
pub(crate) struct Oracle {
    command: String,
    /// The folder that the program runs in.
    scratch: PathBuf,
    place: Place,
}

/// A folder that is removed with this value, and also if we are killed: a process waits for our
/// end. What is started in its group ends with it.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    keeper: Child,
}

impl Place {
    fn new(temporary: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("everypath-").tempdir_in(temporary)?.keep();
        let keeper = Command::new("/bin/sh")
            .args(["-c", "read -r _; rm -rf -- \"$1\"; kill -KILL 0", "sh"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .inspect_err(|_| {
                // The first error is the one to tell.
                let _ = fs::remove_dir_all(&folder);
            })?;
        Ok(Place { folder, keeper })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It ends by its own signal.
        let _status = self.keeper.wait();
    }
}

impl Oracle {
    pub(crate) fn new(command: String, scratch: PathBuf, temporary: &Path) -> Result<Self, Error> {
        let what = "make a temporary folder for the oracle";
        let place = Place::new(temporary).map_err(|error| Error::System { what, error })?;
        Ok(Oracle { command, scratch, place })
    }

    /// Asks about what an execution left behind.
    pub(crate) fn ask(
        &self,
        left: &Left,
        files: &[PlacedFile],
        control: &Control,
    ) -> Result<Said, Error> {
        let what = "run the oracle";
        let system = |error| Error::System { what, error };
        let status = self.prepare(left, files).and_then(|()| self.run(control)).map_err(system)?;
        let said = self.said();
        // What is left is removed with the place.
        let _ = fs::remove_dir_all(self.place.folder.join("scratch"));
        let _ = fs::remove_dir_all(self.place.folder.join("outside"));
        let command = &self.command;
        Ok(match status {
            None => Said::Stopped,
            Some(status) if status.success() => Said::Right,
            Some(status) if status.code().is_some_and(|code| CANNOT_RUN.contains(&code)) => {
                return Err(Error::Oracle(format!(
                    "the oracle `{command}` cannot be run: {said}; it runs in a folder of its own, \
                     so name programs by absolute paths or put them there with --file"
                )));
            }
            Some(status) => {
                let code = match status.code() {
                    Some(code) => format!("code {code}"),
                    None => "a signal".into(),
                };
                let said = if said.is_empty() { said } else { format!(": {said}") };
                Said::Wrong(format!("the oracle `{command}` ends with {code}{said}"))
            }
        })
    }

    /// Puts down what the execution left behind.
    fn prepare(&self, left: &Left, files: &[PlacedFile]) -> io::Result<()> {
        let folder = &self.place.folder;
        fs::create_dir(folder.join("scratch"))?;
        fs::write(folder.join("stdout"), &left.stdout)?;
        fs::write(folder.join("stderr"), &left.stderr)?;
        for file in files {
            let path = match file.path.strip_prefix(&self.scratch) {
                Ok(inside) => folder.join("scratch").join(inside),
                Err(_) => {
                    folder.join("outside").join(file.path.strip_prefix("/").unwrap_or(&file.path))
                }
            };
            if file.folder {
                fs::create_dir_all(path)?;
                continue;
            }
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &file.bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(file.mode | 0o600))?;
        }
        Ok(())
    }

    /// Runs the command; none if somebody stopped it.
    fn run(&self, control: &Control) -> io::Result<Option<ExitStatus>> {
        let folder = &self.place.folder;
        let said = File::create(folder.join("said"))?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", &self.command])
            .current_dir(folder.join("scratch"))
            .stdin(File::open(folder.join("stdout"))?)
            .stdout(said.try_clone()?)
            .stderr(said)
            // It ends with the place, if it has not ended before.
            .process_group(self.place.keeper.id() as i32)
            .spawn()?;
        let process = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            // Nobody listens any more only if we are about to end.
            let _ = sender.send(child.wait());
        });
        loop {
            match ended.recv_timeout(HEARTBEAT) {
                Ok(status) => return status.map(|status| (!control.stopped()).then_some(status)),
                Err(RecvTimeoutError::Timeout) if control.stopped() => {
                    // It may have ended meanwhile.
                    let _ = kill_process(process, Signal::KILL);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// The last line that the command said.
    fn said(&self) -> String {
        let mut bytes = Vec::new();
        // Nothing was said if it cannot be read.
        let _ = File::open(self.place.folder.join("said"))
            .and_then(|file| file.take(1 << 16).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        last.trim().chars().take(TOLD).collect()
    }
}
