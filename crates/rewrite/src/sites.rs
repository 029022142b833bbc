//! Which instructions of a module are patch sites.

use crate::atomic::kind;
use crate::code::Code;
use crate::image::Image;
use crate::locks::Locks;
use crate::{SiteKind, futexes, stub, usage};
use iced_x86::{FlowControl, Instruction, Mnemonic};

/// Whether atomic updates count as sites when nobody looks at their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counters {
    /// They do not: they are reference counts and statistics, and many.
    #[default]
    SkipUnused,
    /// They do.
    All,
}

/// What the shim is told of what a site works on, and how many bytes that has.
pub(crate) fn operand(kind: SiteKind, instruction: &Instruction) -> (stub::Operand, u8) {
    if kind.is_call() {
        return (stub::Operand::FirstArgument, size_of::<u32>() as u8);
    }
    if matches!(kind, SiteKind::Pause | SiteKind::Random)
        || instruction.mnemonic() == Mnemonic::Mfence
    {
        return (stub::Operand::None, 0);
    }
    let size = instruction.memory_size().size();
    (stub::Operand::Memory, u8::try_from(size).unwrap_or(0))
}

/// What decides that.
pub(crate) struct Sites<'a> {
    pub(crate) image: &'a Image<'a>,
    pub(crate) code: &'a Code,
    pub(crate) locks: &'a Locks,
    /// What is added to the addresses in the file.
    pub(crate) base: u64,
    pub(crate) counters: Counters,
}

impl Sites<'_> {
    /// Where they are in the file, ascending.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        let candidates = self.code.candidates.iter().copied();
        let mut addresses: Vec<u64> = candidates.filter(|&address| self.is_site(address)).collect();
        addresses.extend(self.locks.sites());
        addresses.sort_unstable();
        addresses.dedup();
        addresses.retain(|&address| !self.locks.notify_there(address));
        addresses
    }

    /// Decodes the function from the address on, as if it were at its place in memory.
    pub(crate) fn instructions(&self, address: u64) -> impl Iterator<Item = Instruction> {
        self.image.decode(address, self.base)
    }

    /// What an instruction, at its place in memory, is as a site.
    pub(crate) fn kind(&self, instruction: &Instruction) -> Option<SiteKind> {
        let address = instruction.ip() - self.base;
        let plain = || match self.code.looks.binary_search(&address) {
            Ok(_) => Some(SiteKind::Load),
            Err(_) => self.code.statics.kind(instruction, self.base),
        };
        self.locks.kind(self.image, address).or_else(|| kind(instruction)).or_else(plain)
    }

    fn is_site(&self, address: u64) -> bool {
        let mut instructions = self.instructions(address);
        let Some(instruction) = instructions.next() else { return false };
        match self.kind(&instruction) {
            None => false,
            Some(SiteKind::Pause) => !self.continues_a_pause(address, instruction.len() as u64),
            Some(SiteKind::FetchModify) => {
                // Only counting goes unseen: setting and clearing bits is how flags are stored.
                let counts = matches!(
                    instruction.mnemonic(),
                    Mnemonic::Inc | Mnemonic::Dec | Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xadd
                );
                !counts
                    || self.counters == Counters::All
                    || self.precedes_a_wake(address)
                    || self.code.statics.are_used_plainly(&instruction, self.base)
                    || usage::result_is_used(&instruction, instructions, |at| self.gives_up(at))
            }
            Some(_) => true,
        }
    }

    /// Whether the system call `futex` follows at once: then somebody waits for the change.
    fn precedes_a_wake(&self, address: u64) -> bool {
        let mut straight =
            self.instructions(address).take_while(|next| next.flow_control() == FlowControl::Next);
        straight.any(|next| futexes::names_futex(&next))
    }

    /// Whether the program gives up if it comes to an address in memory.
    fn gives_up(&self, address: u64) -> bool {
        let first = self.instructions(address - self.base).next();
        first.is_some_and(|first| first.mnemonic() == Mnemonic::Ud2)
    }

    /// Whether the pause at the address only prolongs the one before it, as in an unrolled loop:
    /// nobody comes from elsewhere, and nothing has happened since.
    fn continues_a_pause(&self, address: u64, size: u64) -> bool {
        let before = address - size;
        self.code.candidates.binary_search(&before).is_ok()
            && self.instructions(before).next().is_some_and(|before| {
                kind(&before) == Some(SiteKind::Pause) && before.len() as u64 == size
            })
            && !self.code.is_entered(address..address + 1)
    }
}
