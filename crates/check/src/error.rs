//! What is wrong with a configuration.

use everypath_native::peers::PeerError;
use everypath_native::{CompanionError, NotAChoice, PartitionError, ProgramError};
use std::io;
use std::path::PathBuf;

/// Why a check, or a replay, cannot begin: something is to be changed about its configuration.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Options that do not go together, or ask for what there is not.
    #[error("{0}")]
    Options(String),
    /// The program is not one.
    #[error(transparent)]
    Program(ProgramError),
    /// A command of `--with` is not one.
    #[error(transparent)]
    Companion(CompanionError),
    /// The network cannot be partitioned as asked for.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// A peer cannot be started.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A file that an option names cannot be read.
    #[error("cannot read {} for {option}: {error}", path.display())]
    Read {
        /// The option.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// There is no folder to run in.
    #[error("cannot run in {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A path that could not be recorded in a trace.
    #[error("{} is not valid UTF-8, so a trace could not record it; rename it", .0.display())]
    NotUtf8(PathBuf),
    /// There is no model to compare events with.
    #[error(
        "--refines {0}: this command has no models; use everypath, or the command of your own model"
    )]
    NoModel(String),
    /// The program is not the one that a trace is about.
    #[error(
        "{} has changed since the trace was recorded; check it again, or say --force to try anyway",
        .0.display()
    )]
    Changed(PathBuf),
    /// A trace of a model.
    #[error("it is not a trace of a native program")]
    NotNative,
    /// A trace of an older version.
    #[error(
        "it was recorded by an older everypath, without the configuration of its check; check \
         {program} again"
    )]
    Unconfigured {
        /// The program.
        program: String,
    },
    /// A step of a trace is none of a native program.
    #[error(transparent)]
    NotAChoice(#[from] NotAChoice),
    /// What other programs did, in a trace, cannot be read.
    #[error("what other programs did cannot be read")]
    BadScript,
}

impl CheckError {
    pub(crate) fn options(message: impl Into<String>) -> Self {
        CheckError::Options(message.into())
    }
}
