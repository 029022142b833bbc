//! Atomic instructions, pauses and fences.

use crate::SiteKind;
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

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
