//! Closed systems: several programs under one scheduler, without peers.
//!
//! All of the work is done by the shim: its `multi_process.rs`. Here is who takes part, and their names.

use crate::launch::Launch;
use crate::program::{Program, ProgramError};
use crate::shim::memory_file;
use everypath_shim_abi::{
    Event, MAX_PROCESSES, Notice, NoticeKind, Operation, SYSTEM_LENGTH, Setup,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The exit codes of several programs, the first one first; none of a program that does not end.
pub type ExitCodes = Vec<Option<i32>>;

/// How many programs can run beside the one that is checked.
pub const MAX_COMPANIONS: usize = MAX_PROCESSES - 1;

/// Another program of a closed system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, its own name not included.
    pub arguments: Vec<OsString>,
}

impl Companion {
    /// Opens the programs that commands name, with arguments as a shell would tell them apart;
    /// names are looked up in `folders`, and paths are seen from `home`.
    pub fn open_all(
        commands: &[String],
        folders: &[PathBuf],
        home: Option<&Path>,
    ) -> Result<Vec<Self>, CompanionError> {
        if commands.len() > MAX_COMPANIONS {
            return Err(CompanionError::TooMany);
        }
        commands.iter().map(|command| Companion::open(command, folders, home)).collect()
    }

    fn open(
        command: &str,
        folders: &[PathBuf],
        home: Option<&Path>,
    ) -> Result<Self, CompanionError> {
        let no_command = || CompanionError::Words(command.into());
        let words = shlex::split(command).ok_or_else(no_command)?;
        let (name, arguments) = words.split_first().ok_or_else(no_command)?;
        let path = match home {
            Some(home) if name.contains('/') => home.join(name),
            _ => name.into(),
        };
        let program = Program::open(&path, folders)
            .map_err(|error| CompanionError::Program { command: command.into(), error })?;
        let arguments = arguments.iter().map(Into::into).collect();
        Ok(Companion { program: program.path, arguments })
    }
}

/// Why a companion cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum CompanionError {
    /// It is no command.
    #[error("--with '{0}' is no command: it is empty, or a quotation mark is missing")]
    Words(String),
    /// There are too many.
    #[error("--with can be given up to {MAX_COMPANIONS} times")]
    TooMany,
    /// Its program cannot be checked.
    #[error("--with '{command}': {}", error.reason())]
    Program {
        /// The command.
        command: String,
        /// Why not.
        error: ProgramError,
    },
}

impl CompanionError {
    /// Whether another command would be all right.
    pub fn is_request(&self) -> bool {
        match self {
            CompanionError::Words(_) | CompanionError::TooMany => true,
            CompanionError::Program { error, .. } => error.is_request(),
        }
    }
}

/// What the processes of a system share; none for a program that is alone.
pub(crate) fn shared_memory(launch: &Launch) -> io::Result<Option<File>> {
    if launch.companions.is_empty() {
        return Ok(None);
    }
    let file = memory_file(c"everypath-system")?;
    file.set_len(SYSTEM_LENGTH)?;
    Ok(Some(file))
}

/// The processes of a system, and which of its threads and objects are whose.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// A name for each process.
    names: Vec<String>,
    threads_each: u16,
}

impl System {
    /// The system that is started so.
    pub(crate) fn of(launch: &Launch) -> Self {
        let others = launch.companions.iter().map(|companion| companion.program.as_path());
        let programs: Vec<&Path> = [launch.program.as_path()].into_iter().chain(others).collect();
        let processes = programs.len() as u16;
        let setup = Setup { processes, ..launch.setup };
        System { names: names(&programs), threads_each: setup.threads_each() as u16 }
    }

    /// Whether there are several processes.
    pub(crate) fn is_closed(&self) -> bool {
        self.names.len() > 1
    }

    /// A name for each process.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// How many processes there are.
    pub(crate) fn processes(&self) -> usize {
        self.names.len()
    }

    /// The process that a thread belongs to.
    pub(crate) fn owner(&self, thread: u16) -> usize {
        usize::from(thread / self.threads_each)
    }

    /// The thread with a number in its process.
    pub(crate) fn thread_of(&self, process: usize, number: u16) -> u16 {
        process as u16 * self.threads_each + number
    }

    /// Which thread of its process a thread is.
    pub(crate) fn number_in_process(&self, thread: u16) -> u16 {
        thread % self.threads_each
    }

    /// How each process exited in an execution, if it did; nothing at all if there is only one.
    pub(crate) fn exit_codes(&self, events: &[Event]) -> ExitCodes {
        if !self.is_closed() {
            return Vec::new();
        }
        let mut codes = vec![None; self.processes()];
        for event in events {
            if let Operation::ProcessExit(end) = event.operation() {
                codes[self.owner(event.thread)] = Some(end.code.into());
            }
        }
        codes
    }

    /// The name of the process that a thread belongs to; none if there is only one.
    pub(crate) fn process_of(&self, thread: u16) -> Option<&str> {
        let name = self.names.get(self.owner(thread))?;
        self.is_closed().then_some(name)
    }
}

/// Whether the program generated code while it ran: nothing of that is seen.
pub fn generates_code(notices: &BTreeSet<Notice>) -> bool {
    notices.iter().any(|notice| notice.what == NoticeKind::GeneratedCode)
}

/// The notices, as text.
pub fn in_words(notices: &BTreeSet<Notice>, launch: &Launch) -> Vec<String> {
    let system = System::of(launch);
    let words = |notice: &Notice| -> Option<String> {
        let Notice { what, process, port } = *notice;
        let who = system.names().get(usize::from(process)).map_or("a process", String::as_str);
        Some(match what {
            NoticeKind::PortTaken => {
                format!("bind of {who} to port {port} failed with EADDRINUSE")
            }
            NoticeKind::NobodyListens => {
                format!(
                    "connect of {who} to port {port} was refused: no process ever listens there"
                )
            }
            NoticeKind::NobodyBound => {
                format!("{who} sent datagrams to port {port}, to which no socket was ever bound")
            }
            NoticeKind::IdleWorkers => format!(
                "threads of {who} wait for a condition variable, futex, semaphore or signal while \
                 another waits for clients: taken for idle workers, so a lost wakeup there is not \
                 reported"
            ),
            // The verdict says so: see `absences`, and `generates_code`.
            NoticeKind::EmptyInput | NoticeKind::GeneratedCode => return None,
        })
    };
    notices.iter().filter_map(words).collect()
}

/// The programs' own names, numbered if one is there several times.
fn names(programs: &[&Path]) -> Vec<String> {
    let name =
        |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for program in programs {
        *counts.entry(name(program)).or_default() += 1;
    }
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    let numbered = |program: &&Path| {
        let name = name(program);
        let number = met.entry(name.clone()).or_default();
        *number += 1;
        if counts[&name] > 1 { format!("{name} {number}") } else { name }
    };
    programs.iter().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_there_twice_are_numbered() {
        let programs = ["/bin/client", "/bin/server", "other/server"].map(Path::new);
        assert_eq!(names(&programs), ["client", "server 1", "server 2"]);
    }
}
