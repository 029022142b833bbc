//! `--partition`: between which processes the network may be partitioned, and how often.

use crate::closed::System;
use crate::worker::Launch;
use everypath_shim_abi::Partitions;
use std::fmt;
use std::str::FromStr;

/// How often the network may be cut, and between whom: `1` is once, between any two processes,
/// `primary:backup` once between these two, `primary:backup,client:primary=2` twice in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Pairs of names; none for all pairs.
    pairs: Vec<(String, String)>,
    most: u16,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected how often, such as 1, or between whom, such as primary:backup or \
             primary:backup,client:primary=2"
                .to_string()
        };
        let number = |text: &str| text.trim().parse::<u16>().ok().filter(|&number| number > 0);
        if let Some(most) = number(text) {
            return Ok(Partition { pairs: Vec::new(), most });
        }
        let (pairs, most) = match text.rsplit_once('=') {
            Some((pairs, most)) => (pairs, number(most).ok_or_else(wrong)?),
            None => (text, 1),
        };
        let pair = |pair: &str| {
            let (one, other) = pair.split_once(':').ok_or_else(wrong)?;
            Ok((one.trim().to_string(), other.trim().to_string()))
        };
        let pairs = pairs.split(',').map(pair).collect::<Result<_, String>>()?;
        Ok(Partition { pairs, most })
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pairs.is_empty() {
            return write!(f, "{}", self.most);
        }
        let pairs: Vec<String> =
            self.pairs.iter().map(|(one, other)| format!("{one}:{other}")).collect();
        write!(f, "{}={}", pairs.join(","), self.most)
    }
}

impl Partition {
    /// Whether some processes may be cut off and others not.
    pub fn is_selective(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// What it says of the processes of a system.
    pub fn among(&self, launch: &Launch) -> Result<Partitions, PartitionError> {
        let system = System::of(launch);
        let mut partitions = Partitions { most: self.most, ..Partitions::default() };
        let process = |name: &String| {
            let names = || system.names().join(", ");
            let found = system.names().iter().position(|known| known == name);
            found.ok_or_else(|| PartitionError::Unknown { name: name.clone(), names: names() })
        };
        for (one, other) in &self.pairs {
            match (process(one)?, process(other)?) {
                (same, also) if same == also => return Err(PartitionError::Same(one.clone())),
                (one, other) => partitions.allow(one, other),
            }
        }
        if self.pairs.is_empty() {
            for one in 0..system.processes() {
                (0..one).for_each(|other| partitions.allow(one, other));
            }
        }
        Ok(partitions)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_read_as_it_is_written() {
        for text in ["1", "12", "primary:backup=1", "node 1:node 2,node 1:watch=3"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert_eq!("a:b".parse::<Partition>().unwrap().to_string(), "a:b=1");
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["", "0", "primary", "a:b=0", "a:b=many", "a:b,"] {
            assert!(text.parse::<Partition>().is_err(), "{text}");
        }
    }
}
