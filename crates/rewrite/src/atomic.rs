//! Atomic instructions, pauses and fences.

use crate::SiteKind;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

/// Whether the instruction at an address of a file is certainly atomic: it has a lock prefix, or is an
/// `xchg`. None if there is no instruction.
pub fn is_locked(elf: &[u8], address: u64) -> Option<bool> {
    let file = ElfFile64::<object::LittleEndian>::parse(elf).ok()?;
    let holds = |address: u64, start: u64, size: u64| (start..start + size).contains(&address);
    let mut sections = file.sections();
    let section = sections.find(|section| holds(address, section.address(), section.size()))?;
    let bytes = section.data().ok()?.get((address - section.address()) as usize..)?;
    let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
    let exchanges =
        instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_kind() == OpKind::Memory;
    (!instruction.is_invalid()).then(|| instruction.has_lock_prefix() || exchanges)
}

/// What the instruction is as a site, if it is one; whether its result is used is not asked.
pub(crate) fn kind(instruction: &Instruction) -> Option<SiteKind> {
    match instruction.mnemonic() {
        Mnemonic::Pause => return Some(SiteKind::Pause),
        Mnemonic::Mfence => return Some(SiteKind::Fence),
        Mnemonic::Rdrand | Mnemonic::Rdseed => return Some(SiteKind::Random),
        _ => {}
    }
    let thread_local = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    if instruction.op0_kind() != OpKind::Memory || thread_local {
        return None;
    }
    match instruction.mnemonic() {
        Mnemonic::Xchg => Some(SiteKind::Exchange),
        _ if !instruction.has_lock_prefix() => None,
        Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b => {
            Some(SiteKind::CompareExchange)
        }
        Mnemonic::Or | Mnemonic::Add if leaves_the_stack(instruction) => Some(SiteKind::Fence),
        _ => Some(SiteKind::FetchModify),
    }
}

/// Whether nothing is added to a word of the stack: compilers prefer that to `mfence`.
fn leaves_the_stack(instruction: &Instruction) -> bool {
    let nothing = [OpKind::Immediate8, OpKind::Immediate8to32, OpKind::Immediate8to64];
    instruction.memory_base() == Register::RSP
        && nothing.contains(&instruction.op1_kind())
        && instruction.immediate(1) == 0
}
