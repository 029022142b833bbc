//! Static variables that unoptimised code accesses through an address on the stack.
//!
//! ```text
//! lea  rax, [rip + variable]
//! mov  [rbp - 0x28], rax
//! …
//! mov  rax, [rbp - 0x28]
//! mov  rdx, [rax]
//! ```
//!
//! The code is read from start to end, as it was written: what a place on the stack holds is what was
//! last put there. That may be wrong, and costs a step then that nobody needs.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};
use std::collections::BTreeMap;

/// What is known of registers and of the places of a function's frame while its code is read.
#[derive(Default)]
pub(crate) struct Frames {
    /// The variables whose addresses registers hold.
    registers: BTreeMap<Register, u64>,
    /// Those that registers got from the stack.
    from_stack: BTreeMap<Register, u64>,
    places: BTreeMap<u64, u64>,
}

impl Frames {
    /// Follows an instruction; the variable that it uses, if the address comes from the stack.
    pub(crate) fn follow(&mut self, instruction: &Instruction) -> Option<u64> {
        let used = self.used(instruction);
        if instruction.flow_control() != FlowControl::Next {
            self.registers.clear();
            self.from_stack.clear();
            return used;
        }
        let place = place(instruction);
        let [to, from] = [instruction.op0_kind(), instruction.op1_kind()];
        match (instruction.mnemonic(), to, from) {
            (Mnemonic::Mov, OpKind::Memory, OpKind::Register) if place.is_some() => {
                let place = place.unwrap_or_default();
                match self.registers.get(&instruction.op1_register()) {
                    Some(&variable) => self.places.insert(place, variable),
                    None => self.places.remove(&place),
                };
            }
            (Mnemonic::Mov, OpKind::Register, OpKind::Memory) if place.is_some() => {
                let variable = place.and_then(|place| self.places.get(&place)).copied();
                self.set(instruction.op0_register(), variable);
                if let Some(variable) = variable {
                    self.from_stack.insert(instruction.op0_register(), variable);
                }
            }
            (Mnemonic::Mov, OpKind::Register, OpKind::Register) => {
                let variable = self.registers.get(&instruction.op1_register()).copied();
                self.set(instruction.op0_register(), variable);
            }
            (Mnemonic::Lea, OpKind::Register, _) if instruction.is_ip_rel_memory_operand() => {
                let variable = instruction.ip_rel_memory_address();
                self.set(instruction.op0_register(), Some(variable));
            }
            // An element of an array is taken for the array.
            (Mnemonic::Add, OpKind::Register, OpKind::Register) => {
                let [to, from] = [instruction.op0_register(), instruction.op1_register()];
                let variable = self.registers.get(&to).or_else(|| self.registers.get(&from));
                let variable = variable.copied();
                self.set(to, variable);
            }
            _ => self.forget(instruction),
        }
        used
    }

    fn set(&mut self, register: Register, variable: Option<u64>) {
        self.from_stack.remove(&register);
        match variable {
            Some(variable) => self.registers.insert(register, variable),
            None => self.registers.remove(&register),
        };
    }

    /// The registers that an instruction changes hold something else.
    fn forget(&mut self, instruction: &Instruction) {
        if self.registers.is_empty() {
            return;
        }
        let mut factory = InstructionInfoFactory::new();
        for used in factory.info(instruction).used_registers() {
            use iced_x86::OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
            if matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite) {
                self.set(used.register().full_register(), None);
            }
        }
    }

    fn used(&self, instruction: &Instruction) -> Option<u64> {
        let has_memory = instruction.op_kinds().any(|operand| operand == OpKind::Memory);
        let is_alone = instruction.memory_index() == Register::None
            && instruction.memory_displacement64() == 0
            && instruction.mnemonic() != Mnemonic::Lea;
        let used = (has_memory && is_alone).then(|| instruction.memory_base())?;
        self.from_stack.get(&used).copied()
    }
}

/// The place of the frame that an instruction names.
fn place(instruction: &Instruction) -> Option<u64> {
    let is_frame = matches!(instruction.memory_base(), Register::RBP | Register::RSP);
    let is_address = instruction.memory_size().size() == size_of::<u64>();
    (is_frame && is_address && instruction.memory_index() == Register::None)
        .then(|| instruction.memory_displacement64())
}
