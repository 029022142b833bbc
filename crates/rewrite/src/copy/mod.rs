//! Copies of whole functions that record every memory access.
//!
//! A function is copied with a few instructions before each of its blocks, which append to a log what
//! the block accesses: the number of the block and the values of the registers that its addresses are
//! made of. All else that there is to know of a block is static ([`Block`], [`Access`]). Calls stay
//! where they are, in the original, and return there: return addresses, unwind tables, exceptions and
//! panics need nothing. Wherever the original may be entered it jumps to the copy; everything else in
//! it but calls is overwritten by traps, so that no code can run unseen.
//!
//! - `flow`: which functions can be copied, where blocks begin, where functions are entered.
//! - `accesses`: what an instruction accesses.
//! - `blocks`: copies block by block.
//! - `points`: scheduling points in copies: patch sites, and armed accesses.
//! - `entries`: how the original leads to the copy.
//! - `assembler`: the bytes of a copy.

mod accesses;
mod assembler;
mod blocks;
mod entries;
mod flow;
mod points;

use crate::code::{self, Code};
use crate::image::Image;
use crate::locks::Locks;
use crate::sites::{Counters, Sites};
use crate::{Patch, PlanError, Site};
use blocks::Copier;
use everypath_shim_abi::Trap;
use flow::Flow;

pub use accesses::{Access, AccessKind, Point};

/// Where everything is in the running program, and what is a scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct CopyLayout<'a> {
    /// What is added to the addresses in the file.
    pub base: u64,
    /// Where the copies will be: within 2 GB of all of the module.
    pub copies: u64,
    /// The routine of the shim that scheduling points call: see [`crate::Layout::entry`].
    pub entry: u64,
    /// The same for modules that use the lower halves of vector registers only.
    pub entry_lower: u64,
    /// The number of the module's first site.
    pub first_site: u32,
    /// The number of the module's first block; 0 is not one.
    pub first_block: u32,
    /// Which atomic updates are sites.
    pub counters: Counters,
    /// Instructions whose accesses are scheduling points as well: addresses in the file, ascending.
    pub armed: &'a [u64],
    /// Whether they are that whatever they access; if not, the shim knows which memory counts.
    pub everywhere: bool,
}

/// What a record of the log means: so many words, then the block's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many words come before the number.
    pub words: u16,
    /// How many accesses there are, from `first` on.
    pub accesses: u16,
    /// The first of them among all of the module.
    pub first: u32,
}

/// A module whose functions are copied.
#[derive(Clone, Debug, Default)]
pub struct Copy {
    /// The copies, to be put at [`CopyLayout::copies`].
    pub code: Vec<u8>,
    /// What is written over the originals.
    pub patches: Vec<Patch>,
    /// Where each block begins in the original and in the copy, in the order of the former.
    pub traps: Vec<Trap>,
    /// The scheduling points. The first has the number [`CopyLayout::first_site`].
    pub sites: Vec<Site>,
    /// The blocks that record. The first has the number [`CopyLayout::first_block`].
    pub blocks: Vec<Block>,
    /// What they access.
    pub accesses: Vec<Access>,
    /// Where code begins that stays as it is, and whose accesses nobody sees: functions that cannot be
    /// copied, and what is called but is in no function. Addresses in the file, ascending.
    pub unseen: Vec<u64>,
    /// Where the copy of each instruction begins, as offset and address in the file; ascending.
    origins: Vec<(u32, u64)>,
}

impl Copy {
    /// What is needed to read logs, once the code is where it belongs.
    pub fn without_code(self) -> Self {
        Copy { code: Vec::new(), patches: Vec::new(), traps: Vec::new(), ..self }
    }

    /// The instruction whose copy is at an offset of the copies, as an address in the file.
    pub fn origin(&self, offset: u32) -> Option<u64> {
        let next = self.origins.partition_point(|&(start, _)| start <= offset);
        Some(self.origins.get(next.checked_sub(1)?)?.1)
    }
}

/// Copies the functions of the module whose ELF file is given.
pub fn copy(elf: &[u8], layout: &CopyLayout<'_>) -> Result<Copy, PlanError> {
    let image = Image::parse(elf)?;
    if let Some(address) = code::unknown_lock(&image) {
        return Err(PlanError::UnknownFunction { address });
    }
    let locks = Locks::of(elf, &image)?;
    let code = Code::scan(&image, &locks);
    let sites = Sites {
        image: &image,
        code: &code,
        locks: &locks,
        base: layout.base,
        counters: layout.counters,
    };
    let mut copier = Copier::new(&image, Flow::of(&image), &sites, layout);
    copier.copy_functions()?;
    let patches = copier.lead_into_copies()?;
    copier.finish(patches)
}
