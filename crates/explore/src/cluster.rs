//! What a search by several processes is asked for, whoever makes it.

use crate::{AnyModel, Control, Exploration, Request};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The processes of a search, and which of them this one is.
pub struct Cluster<'a> {
    /// The addresses of all processes: `host:port`, or the path of a Unix socket.
    pub hosts: Vec<String>,
    /// The number of this one.
    pub process: usize,
    /// Workers in each process.
    pub threads: usize,
    /// What is searched, and by which program, a line each: it must be the same in all processes.
    pub identity: String,
    /// How long another process may take to appear, and to show that it is alive.
    pub patience: Duration,
    /// Whether it is known of a process that has not appeared that it never will, and why.
    pub failed: &'a dyn Fn() -> Option<String>,
}

/// Why a search by several processes gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterError {
    /// It could not begin.
    Refused(String),
    /// A process was lost.
    Lost(String),
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterError::Refused(why) | ClusterError::Lost(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ClusterError {}

/// What explores a model together with other processes.
pub type Together =
    fn(Arc<dyn AnyModel>, Request, &Cluster<'_>, &Control) -> Result<Exploration, ClusterError>;
