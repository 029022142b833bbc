//! Which memory accesses are scheduling points.
//!
//! An access is one if its instruction is armed and it touches an armed granule: an instruction that has
//! conflicted over shared data is no scheduling point where it accesses data of its own thread. Calls of
//! libc functions need no arming of their own; their granules do.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::Conflict;

/// An instruction that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instruction {
    /// The module that it is in.
    pub module: PathBuf,
    /// Its address in the file of that.
    pub address: u64,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:#x}", self.module.display(), self.address)
    }
}

/// The instructions and the granules whose accesses are scheduling points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Armed {
    /// The instructions.
    pub instructions: BTreeSet<Instruction>,
    /// The granules: addresses of eight bytes each, divided by eight.
    pub granules: BTreeSet<u64>,
    /// Whether the instructions are scheduling points whatever they access.
    pub everywhere: bool,
    /// The instructions that have conflicted, two by two: for people to read, not part of a trace.
    pub(crate) pairs: BTreeSet<[Instruction; 2]>,
    /// Whether calls of libc or the kernel have conflicted; not part of a trace either.
    pub(crate) has_calls: bool,
}

/// With more granules the search begins again too often: a program that allocates what it shares has
/// new ones in every execution.
const MANY: usize = 1024;

impl Armed {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty() && self.granules.is_empty()
    }

    /// Whether an access of an armed instruction to these granules is a scheduling point.
    pub(crate) fn covers(&self, first: u64, last: u64) -> bool {
        self.everywhere || self.has_granule(first, last)
    }

    /// Whether one of these granules is armed.
    pub(crate) fn has_granule(&self, first: u64, last: u64) -> bool {
        self.granules.range(first..=last.max(first)).next().is_some()
    }

    /// Whether both accesses of a conflict are scheduling points.
    pub(crate) fn knows(&self, conflict: &Conflict) -> bool {
        let known = |access: &Option<Instruction>| {
            access.as_ref().is_none_or(|access| self.instructions.contains(access))
        };
        let is_call = conflict.earlier.is_none() || conflict.later.is_none();
        known(&conflict.earlier)
            && known(&conflict.later)
            && (self.everywhere && !is_call || self.granules.contains(&conflict.granule))
    }

    /// This, and the accesses of a conflict.
    pub(crate) fn arm(&mut self, conflict: &Conflict) {
        let both = [&conflict.earlier, &conflict.later];
        self.instructions.extend(both.into_iter().flatten().cloned());
        if let [Some(earlier), Some(later)] = both {
            let mut pair = [earlier.clone(), later.clone()];
            pair.sort();
            self.pairs.insert(pair);
        } else {
            self.has_calls = true;
        }
        self.granules.insert(conflict.granule);
        self.everywhere |= self.granules.len() > MANY;
    }

    /// Whether nothing orders a call of libc or the kernel with an access of another thread.
    pub fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// As traces name it.
    pub fn to_texts(&self) -> Vec<String> {
        let everywhere = self.everywhere.then(|| EVERYWHERE.to_string());
        let instructions = self.instructions.iter().map(ToString::to_string);
        let granules = self.granules.iter().map(|granule| format!("{GRANULE}{:x}", granule << 3));
        instructions.chain(granules).chain(everywhere).collect()
    }

    /// What traces name so.
    pub fn from_texts<'a>(
        texts: impl IntoIterator<Item = &'a String>,
    ) -> Result<Self, NotAnAccess> {
        let mut armed = Armed::default();
        for text in texts {
            if text == EVERYWHERE {
                armed.everywhere = true;
            } else if let Some(address) = text.strip_prefix(GRANULE) {
                let address = u64::from_str_radix(address, 16).map_err(|_| NotAnAccess)?;
                armed.granules.insert(address >> 3);
            } else {
                armed.instructions.insert(text.parse()?);
            }
        }
        Ok(armed)
    }
}

const GRANULE: &str = "memory 0x";
const EVERYWHERE: &str = "memory everywhere";

/// A text that names no memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not MODULE+ADDRESS, nor memory ADDRESS")]
pub struct NotAnAccess;

impl FromStr for Instruction {
    type Err = NotAnAccess;

    fn from_str(text: &str) -> Result<Self, NotAnAccess> {
        let (module, address) = text.rsplit_once("+0x").ok_or(NotAnAccess)?;
        let address = u64::from_str_radix(address, 16).map_err(|_| NotAnAccess)?;
        Ok(Instruction { module: module.into(), address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict(granule: u64) -> Conflict {
        let at = |address| Some(Instruction { module: "/bin/a+0x1".into(), address });
        Conflict { earlier: at(0x10), later: at(0x20), granule, is_locked: false }
    }

    #[test]
    fn what_is_armed_is_read_as_it_was_written() {
        let mut armed = Armed::default();
        armed.arm(&conflict(5));
        assert!(armed.knows(&conflict(5)) && !armed.knows(&conflict(6)));
        let (read, pairs) = (Armed::from_texts(&armed.to_texts()), BTreeSet::new());
        assert_eq!(read, Ok(Armed { pairs, ..armed }), "pairs are for people");
        for bad in ["memory 0xq", "/bin/a", "/bin/a+0xz"] {
            assert_eq!(Armed::from_texts(&[bad.to_string()]), Err(NotAnAccess), "{bad}");
        }
    }

    #[test]
    fn too_many_granules_are_all() {
        let mut armed = Armed::default();
        (0..=MANY as u64).for_each(|granule| armed.arm(&conflict(granule)));
        assert!(armed.knows(&conflict(1 << 40)));
        let (read, pairs) = (Armed::from_texts(&armed.to_texts()), BTreeSet::new());
        assert_eq!(read, Ok(Armed { pairs, ..armed }), "pairs are for people");
    }
}
