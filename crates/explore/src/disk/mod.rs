//! Breadth-first search beyond memory: fingerprints in sorted runs, levels in files, checkpoints.
//!
//! After U. Stern and D. L. Dill, *Using magnetic disk instead of main memory in the Murphi verifier*,
//! CAV 1998, and R. E. Korf, *Delayed duplicate detection: extended abstract*, IJCAI 2003. New states
//! are looked up at once among the fingerprints in memory. When there is no room for more, these are
//! written as a sorted run; whether a state is in a run is asked of all states of a level together, in
//! the order of their fingerprints, so that files are read and written from front to end.
//!
//! Where we depart from both: a state that is provisionally new keeps its place in the order in which
//! the search in memory would have found it, and is passed over if it turns out to be known. So states,
//! counts and counterexamples are those of that search, whatever the memory.
//!
//! The files are the checkpoint: all but the manifest only grow or are written once, and the
//! manifest (`manifest.rs`) says how much of them is valid. It is replaced as a whole.

mod level;
mod log;
mod manifest;
mod runs;
mod search;
mod store;
mod tally;

use crate::expander::expander;
use crate::{Control, Exploration, System, Task};
use std::fmt;
use std::io;
use std::path::Path;

/// Where a search keeps its states, and when it writes a checkpoint.
#[derive(Clone, Copy)]
pub struct Disk<'a> {
    /// The folder. It is made if there is none.
    pub folder: &'a Path,
    /// How many bytes of fingerprints are kept in memory, about.
    pub memory: u64,
    /// What is searched, and by which program, a line each: a search is resumed only by the same.
    pub identity: &'a str,
    /// Whether to go on with the search in the folder, instead of with a new one.
    pub resume: bool,
    /// Whether it is time for a checkpoint.
    pub due: &'a (dyn Fn() -> bool + Sync),
}

/// Why a search on disk could not be made or went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskError {
    /// The folder is not what it should be; nothing was changed.
    Refused(String),
    /// A file could not be read or written.
    Failed(String),
}

impl DiskError {
    fn at<'p>(path: &'p Path) -> impl Fn(io::Error) -> DiskError + Copy + use<'p> {
        move |error| DiskError::Failed(format!("{}: {error}", path.display()))
    }

    fn damaged(path: &Path, why: &str) -> DiskError {
        DiskError::Refused(format!("{} is damaged: {why}", path.display()))
    }

    fn refused(path: &Path, why: &str) -> DiskError {
        DiskError::Refused(format!("{} {why}", path.display()))
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiskError::Refused(why) | DiskError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DiskError {}

/// Explores a system breadth-first with its states in files.
///
/// The exploration is the one that [`explore`](crate::explore) gives for the same search. If a file
/// cannot be written, it ends with [`Ended::Failed`](crate::Ended), and what was written before can be
/// resumed.
///
/// # Panics
///
/// If the search does not [fit](crate::expander::fits).
pub fn explore_on_disk<S: System>(
    task: &Task<'_, S>,
    disk: Disk<'_>,
    control: &Control,
) -> Result<Exploration, DiskError> {
    assert!(crate::expander::fits(task.search), "breadth-first, adding next, by fingerprints");
    let expanders = (0..task.search.threads.max(1)).map(|_| expander(task)).collect();
    search::DiskSearch::open(expanders, task.search, (disk, control))?.run()
}
