use everypath_rewrite::PlanError;
use std::io;
use std::path::PathBuf;

/// Why a program cannot be explored. The text is one line that says what, where and why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {what}: {error}")]
    System {
        /// What we wanted.
        what: &'static str,
        /// What it said.
        error: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start {path}: {error}")]
    Start {
        /// The program.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The program ended before it asked for a command: the shim is not in it.
    #[error(
        "{path} ended before its main function was reached ({status}); it is not controlled: \
         the loader did not preload the shim"
    )]
    NotPreloaded {
        /// The program.
        path: PathBuf,
        /// How it ended.
        status: String,
    },
    /// The program was not started: its loader would not bring the shim into it.
    #[error(
        "{path} was not started, because it would not be controlled: its loader does not load the \
         shim ({reason})"
    )]
    CannotPreload {
        /// The program.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// A process of the program was killed or stopped by somebody else.
    #[error(
        "a process of the program was {what}; the kernel does so when memory runs out, and the \
         program itself cannot, since its signals are modelled"
    )]
    Killed {
        /// What was done to it.
        what: String,
    },
    /// A library that the program loads cannot be read.
    #[error("cannot read the library {path}: {error}")]
    Module {
        /// The library.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A module cannot be patched.
    #[error("cannot patch {path}: {error}")]
    Patch {
        /// The module.
        path: PathBuf,
        /// Why not.
        error: PlanError,
    },
    /// There are more atomic instructions than patch sites.
    #[error("the program has {sites} atomic instructions, more than can be patched")]
    TooManyPatches {
        /// How many.
        sites: usize,
    },
    /// The program or this machine does what cannot be controlled.
    #[error("{0}")]
    Uncontrolled(String),
    /// What the shim wrote for the checker is none of what it writes.
    #[error(
        "the program overwrote the checker's memory ({what}): a wild pointer of its own, since \
         natively nothing is there"
    )]
    Overwritten {
        /// Which part.
        what: &'static str,
    },
    /// Somebody stopped it.
    #[error("it was stopped")]
    Stopped,
    /// What executions leave behind cannot be judged.
    #[error("{0}")]
    Oracle(String),
    /// The worker died, or the shim says that it is broken.
    #[error("internal error: {0}")]
    Defect(String),
}

impl Error {
    /// Whether the reason may lie in this machine: then [`crate::doctor`] can say more.
    pub fn may_be_the_machine(&self) -> bool {
        match self {
            Error::System { .. }
            | Error::Start { .. }
            | Error::NotPreloaded { .. }
            | Error::CannotPreload { .. }
            | Error::Killed { .. }
            | Error::Uncontrolled(_) => true,
            Error::Module { .. }
            | Error::Patch { .. }
            | Error::TooManyPatches { .. }
            | Error::Overwritten { .. }
            | Error::Stopped
            | Error::Oracle(_)
            | Error::Defect(_) => false,
        }
    }
}
