//! Memory accesses of executions: what each step accessed, and which accesses conflict.
//!
//! Copied functions record what they access (crate `rewrite`); the shim turns the log of a step into a
//! hash, and passes on each log once. Here logs become footprints (`footprint`), and those of steps that
//! happens-before does not order are compared (`conflicts`). An access in a conflict is *armed*: it
//! becomes a scheduling point, and the search begins again. If no conflict is left of which one access is
//! not a step, every execution under sequential consistency is equivalent to one that was explored.

mod armed;
mod conflicts;
mod footprint;
mod plainness;
mod precedence;
mod unseen;
mod unsummarised;
mod unsynchronised;

use everypath_rewrite::{Access, Copy};
use std::ops::Range;
use std::path::PathBuf;

pub use armed::{Armed, Instruction, NotAnAccess};
pub(crate) use conflicts::{Conflicts, ProcessMemory};
pub(crate) use footprint::{Footprints, Reader, Touch};
pub(crate) use plainness::Plainness;
pub(crate) use precedence::first_to_arm;
pub(crate) use unseen::unseen;
pub(crate) use unsummarised::unsummarised;
pub use unsynchronised::unsynchronised;

/// What becomes of data races: of conflicts of which one access is certainly not atomic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Races {
    /// They are violations.
    #[default]
    Violation,
    /// They become scheduling points, as other conflicts do.
    Explore,
    /// They are taken to do no harm.
    Ignore,
}

/// Two accesses of which one writes, and that happens-before does not order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The instruction that came first; none if it was a call of libc or the kernel.
    pub earlier: Option<Instruction>,
    /// The other one.
    pub later: Option<Instruction>,
    /// The address of the eight bytes that both access, divided by eight.
    pub granule: u64,
    /// Whether one of them is an instruction that is atomic by itself.
    pub is_locked: bool,
}

/// A module whose functions are copied.
#[derive(Clone, Debug)]
pub(crate) struct CopiedModule {
    pub(crate) path: PathBuf,
    /// What is added to the addresses in its file.
    pub(crate) base: u64,
    /// Where the copies are.
    pub(crate) copies: Range<u64>,
    /// The number of its first block.
    pub(crate) first_block: u32,
    /// Without its code.
    pub(crate) copy: Copy,
}

impl CopiedModule {
    /// The original of an instruction of a copy.
    pub(crate) fn original(&self, address: u64) -> Option<u64> {
        let offset = self.copies.contains(&address).then(|| address - self.copies.start)?;
        Some(self.copy.origin(offset as u32)?.wrapping_add(self.base))
    }

    /// The accesses of a block by its number, and how many words it records.
    fn block(&self, number: u32) -> Option<(&[Access], usize)> {
        let block = self.copy.blocks.get((number - self.first_block) as usize)?;
        let first = block.first as usize;
        let accesses = self.copy.accesses.get(first..first + usize::from(block.accesses))?;
        Some((accesses, usize::from(block.words)))
    }
}
