//! Scheduling points in copies: patch sites, and armed accesses.
//!
//! The step that a point begins is recorded after it. An armed instruction that loads and then stores
//! is two steps: it works on a copy of its operand, and others may run before that is stored.

use super::accesses::{AccessKind, Operand, operands};
use super::assembler::Gpr;
use super::blocks::Copier;
use crate::sites::operand as site_operand;
use crate::stub::{self, Flags};
use crate::{PlanError, Site, SiteKind};
use everypath_shim_abi::access_log::{KEPT, VALUE};
use iced_x86::{Code, Instruction, MemoryOperand, Mnemonic, OpKind, Register};

impl Copier<'_> {
    /// Writes the point before an instruction. Returns whether the instruction was written, too.
    pub(super) fn point(
        &mut self,
        instruction: &Instruction,
        free: Gpr,
    ) -> Result<bool, PlanError> {
        if self.is_site(instruction.ip()) {
            let Some(placed) = self.sites.instructions(instruction.ip()).next() else {
                return Ok(false);
            };
            let Some(kind) = self.sites.kind(&placed) else { return Ok(false) };
            let (operand, size) = site_operand(kind, &placed);
            let site = Site::new(placed.ip(), kind, size);
            self.call_shim(&placed, (site, operand), flags_at(&placed))?;
            return Ok(false);
        }
        let seen = operands(self.image, instruction, &mut self.factory);
        match seen[..] {
            [update] if is_divisible(instruction, &update) => {
                self.divided(instruction, update, free)?;
            }
            _ => {
                for operand in &seen {
                    let kind = if operand.kind.writes() { SiteKind::Store } else { SiteKind::Load };
                    self.armed(instruction, operand, kind, flags_at(instruction))?;
                }
                self.record_alone(instruction, &seen, free);
                self.copy_alone(instruction)?;
            }
        }
        Ok(true)
    }

    /// The point before one access of an instruction.
    fn armed(
        &mut self,
        instruction: &Instruction,
        operand: &Operand,
        kind: SiteKind,
        flags: Flags,
    ) -> Result<(), PlanError> {
        let mut placed = *instruction;
        placed.set_ip(instruction.ip().wrapping_add(self.layout.base));
        placed.set_next_ip(instruction.next_ip().wrapping_add(self.layout.base));
        if instruction.is_ip_rel_memory_operand() {
            let target = instruction.memory_displacement64().wrapping_add(self.layout.base);
            placed.set_memory_displacement64(target);
        }
        let by_string = matches!(operand.base, Register::RSI | Register::RDI)
            && instruction.is_string_instruction();
        let how = match by_string {
            true => stub::Operand::Register(operand.base),
            false => stub::Operand::Memory,
        };
        let size = u8::try_from(operand.size).unwrap_or(u8::MAX);
        let mut site = Site::new(placed.ip(), kind, size);
        site.is_armed = !self.layout.everywhere;
        site.is_repeated = operand.repeated;
        self.call_shim(&placed, (site, how), flags)
    }

    fn call_shim(
        &mut self,
        placed: &Instruction,
        (site, operand): (Site, stub::Operand),
        flags: Flags,
    ) -> Result<(), PlanError> {
        let number = self.add_site(site);
        let entry = match self.sites.code.uses_upper_halves {
            true => self.layout.entry,
            false => self.layout.entry_lower,
        };
        let bytes = stub::call(self.code.end(), (placed, operand), number, entry, flags)?;
        self.code.emit(&bytes);
        Ok(())
    }

    /// An instruction that loads, and then stores.
    fn divided(
        &mut self,
        instruction: &Instruction,
        operand: Operand,
        free: Gpr,
    ) -> Result<(), PlanError> {
        let immovable = |copier: &Self, error| copier.immovable(instruction.ip(), &error);
        self.armed(instruction, &operand, SiteKind::Load, Flags::Live)?;
        self.record_alone(instruction, &[Operand { kind: AccessKind::Read, ..operand }], free);
        self.code.store_context(free, KEPT);
        let load = moving(instruction, self.layout.base, free, Direction::Load);
        self.code
            .encode(&load.map_err(|error| immovable(self, error))?)
            .map_err(|error| immovable(self, error))?;
        self.code.store_context(free, VALUE);
        self.code.load_context(free, KEPT);
        let on_copy = on_copy(instruction);
        self.code.encode(&on_copy).map_err(|error| immovable(self, error))?;
        // The flags are the instruction's now.
        self.armed(instruction, &operand, SiteKind::Store, Flags::Live)?;
        self.record_alone(instruction, &[Operand { kind: AccessKind::Write, ..operand }], free);
        self.code.store_context(free, KEPT);
        self.code.load_context(free, VALUE);
        let store = moving(instruction, self.layout.base, free, Direction::Store);
        self.code
            .encode(&store.map_err(|error| immovable(self, error))?)
            .map_err(|error| immovable(self, error))?;
        self.code.load_context(free, KEPT);
        Ok(())
    }
}

/// Whether anybody looks at the flags that are set before an instruction.
fn flags_at(instruction: &Instruction) -> Flags {
    match stub::overwrites_flags(std::slice::from_ref(instruction)) {
        true => Flags::Dead,
        false => Flags::Live,
    }
}

/// Whether an instruction can work on a copy of its operand.
fn is_divisible(instruction: &Instruction, operand: &Operand) -> bool {
    // These may access far more than their operand says.
    let bits = matches!(instruction.mnemonic(), Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc);
    operand.kind == AccessKind::Update
        && instruction.op0_kind() == OpKind::Memory
        && matches!(operand.size, 1 | 2 | 4 | 8)
        && !bits
        && !instruction.is_stack_instruction()
}

/// The instruction on the copy of its operand.
fn on_copy(instruction: &Instruction) -> Instruction {
    let mut on_copy = *instruction;
    on_copy.set_memory_base(Register::None);
    on_copy.set_memory_index(Register::None);
    on_copy.set_memory_index_scale(1);
    on_copy.set_memory_displ_size(4);
    on_copy.set_memory_displacement64(u64::from(VALUE));
    on_copy.set_segment_prefix(Register::GS);
    on_copy
}

enum Direction {
    Load,
    Store,
}

/// `mov free, [operand]` or `mov [operand], free`, of the operand's size.
fn moving(
    instruction: &Instruction,
    base: u64,
    Gpr(free): Gpr,
    direction: Direction,
) -> Result<Instruction, iced_x86::IcedError> {
    let mut displacement = instruction.memory_displacement64();
    if instruction.memory_base() == Register::RIP {
        displacement = displacement.wrapping_add(base);
    }
    let memory = MemoryOperand::new(
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.memory_index_scale(),
        displacement.cast_signed(),
        instruction.memory_displ_size(),
        false,
        Register::None,
    );
    let number = u32::from(free);
    let (register, load, store) = match instruction.memory_size().size() {
        1 => (byte_register(free), Code::Mov_r8_rm8, Code::Mov_rm8_r8),
        2 => (Register::AX + number, Code::Mov_r16_rm16, Code::Mov_rm16_r16),
        4 => (Register::EAX + number, Code::Mov_r32_rm32, Code::Mov_rm32_r32),
        _ => (Register::RAX + number, Code::Mov_r64_rm64, Code::Mov_rm64_r64),
    };
    match direction {
        Direction::Load => Instruction::with2(load, register, memory),
        Direction::Store => Instruction::with2(store, memory, register),
    }
}

/// The lowest byte of a register.
fn byte_register(number: u8) -> Register {
    const BYTES: [Register; 16] = [
        Register::AL,
        Register::CL,
        Register::DL,
        Register::BL,
        Register::SPL,
        Register::BPL,
        Register::SIL,
        Register::DIL,
        Register::R8L,
        Register::R9L,
        Register::R10L,
        Register::R11L,
        Register::R12L,
        Register::R13L,
        Register::R14L,
        Register::R15L,
    ];
    BYTES[usize::from(number & 15)]
}
