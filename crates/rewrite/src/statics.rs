//! Static variables that are modified atomically, and the plain loads and stores of them.

use crate::SiteKind;
use crate::atomic::kind;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register};
use std::collections::{BTreeMap, BTreeSet};

/// What the code of a module does with static variables, in addresses of the file.
#[derive(Default)]
pub(crate) struct Statics {
    left_out: BTreeSet<u64>,
    /// The variables that an atomic instruction names.
    atomic: BTreeSet<u64>,
    /// The plain instructions that use a variable: where they are, and which it is.
    pub(crate) uses: Vec<(u64, u64)>,
    /// The atomic instructions that change one without naming it.
    unnamed: BTreeMap<u64, u64>,
}

impl Statics {
    /// Nothing seen yet; some variables never will be, others are changed where nobody names them.
    pub(crate) fn without(left_out: &[u64], changed: &[u64]) -> Self {
        let [left_out, atomic] = [left_out, changed].map(|these| these.iter().copied().collect());
        Statics { left_out, atomic, uses: Vec::new(), unnamed: BTreeMap::new() }
    }

    /// Whether an instruction of the file works on a variable that is left alone.
    pub(crate) fn leave_out(&self, instruction: &Instruction) -> bool {
        variable(instruction).is_some_and(|variable| self.left_out.contains(&variable))
    }

    /// Takes note of an instruction of the file, and of the variable that it uses without naming it.
    pub(crate) fn see(&mut self, instruction: &Instruction, unnamed: Option<u64>) {
        let unnamed = unnamed.filter(|variable| !self.left_out.contains(variable));
        let Some(variable) = variable(instruction).or(unnamed) else { return };
        if kind(instruction).is_some() {
            self.atomic.insert(variable);
            self.unnamed.extend(unnamed.map(|variable| (instruction.ip(), variable)));
        } else if plain_use(instruction).is_some() {
            self.uses.push((instruction.ip(), variable));
        }
    }

    /// Forgets the uses of variables that nobody changes atomically, once all code was seen.
    pub(crate) fn settle(&mut self) {
        self.uses.retain(|(_, variable)| self.atomic.contains(variable));
        self.uses.sort_unstable();
    }

    /// What a plain instruction is as a site; addresses in memory are `base` above the file's.
    pub(crate) fn kind(&self, instruction: &Instruction, base: u64) -> Option<SiteKind> {
        let at = instruction.ip().wrapping_sub(base);
        self.uses.binary_search_by_key(&at, |&(at, _)| at).ok()?;
        plain_use(instruction)
    }

    /// Whether plain instructions use the variable that an atomic one names.
    pub(crate) fn are_used_plainly(&self, instruction: &Instruction, base: u64) -> bool {
        let at = instruction.ip().wrapping_sub(base);
        let named = variable(instruction).map(|variable| variable.wrapping_sub(base));
        let named = named.or_else(|| self.unnamed.get(&at).copied());
        named.is_some_and(|named| self.uses.iter().any(|&(_, variable)| variable == named))
    }
}

/// The address that the instruction names, if it is no matter of registers.
fn variable(instruction: &Instruction) -> Option<u64> {
    let thread_local = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    let has_memory = instruction.op_kinds().any(|operand| operand == OpKind::Memory);
    if !has_memory || thread_local {
        return None;
    }
    let base = instruction.memory_base();
    let fixed = base == Register::None && instruction.memory_index() == Register::None;
    (fixed || instruction.is_ip_rel_memory_operand()).then(|| instruction.memory_displacement64())
}

/// Whether a plain instruction looks at its memory or changes it.
fn plain_use(instruction: &Instruction) -> Option<SiteKind> {
    if instruction.flow_control() != FlowControl::Next || instruction.is_stack_instruction() {
        return None;
    }
    let at = instruction.op_kinds().position(|operand| operand == OpKind::Memory)?;
    let mut factory = InstructionInfoFactory::new();
    match factory.info(instruction).op_access(at as u32) {
        OpAccess::Read | OpAccess::CondRead => Some(SiteKind::Load),
        OpAccess::Write | OpAccess::CondWrite => Some(SiteKind::Store),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => Some(SiteKind::Store),
        OpAccess::None | OpAccess::NoMemAccess => None,
    }
}
