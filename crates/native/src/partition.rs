//! `--partition`: between which processes the network may be partitioned, and how often.

use crate::closed::System;
use crate::launch::Launch;
use everypath_shim_abi::Partitions;
use everypath_trace::Partition;

/// The processes between which a partition may happen in a system.
pub fn partitions(wanted: &Partition, launch: &Launch) -> Result<Partitions, PartitionError> {
    let system = System::of(launch);
    let mut partitions = Partitions { most: wanted.most, ..Partitions::default() };
    let process = |name: &String| {
        let names = || system.names().join(", ");
        let found = system.names().iter().position(|known| known == name);
        found.ok_or_else(|| PartitionError::Unknown { name: name.clone(), names: names() })
    };
    for (one, other) in &wanted.pairs {
        match (process(one)?, process(other)?) {
            (same, also) if same == also => return Err(PartitionError::Same(one.clone())),
            (one, other) => partitions.allow(one, other),
        }
    }
    if wanted.pairs.is_empty() {
        for one in 0..system.processes() {
            (0..one).for_each(|other| partitions.allow(one, other));
        }
    }
    Ok(partitions)
}

/// Why the network cannot be cut as asked for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// No process has this name.
    #[error("--partition: there is no process {name}; the processes are {names}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        names: String,
    },
    /// A process cannot be cut off from itself.
    #[error("--partition: a partition between {0} and itself; name two processes")]
    Same(String),
}
