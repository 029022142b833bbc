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
use everypath_shim_abi::access_log::{KEPT, VALUE, WIDE};
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
            [wide] if is_wide(instruction, &wide) => self.wide(instruction, wide, free)?,
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
        site.is_wide = is_wide(instruction, operand);
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

    /// An instruction that loads or stores more than eight bytes: it works on a copy, and the shim moves
    /// that in steps of eight bytes. Where the shim has nothing to do, the copy is moved here; where it has
    /// stored, it leaves in the copy what is in memory then.
    fn wide(
        &mut self,
        instruction: &Instruction,
        operand: Operand,
        free: Gpr,
    ) -> Result<(), PlanError> {
        let on_copy = on_copy(instruction, WIDE);
        let failed = |copier: &Self, error| copier.immovable(instruction.ip(), &error);
        if operand.kind.writes() {
            self.code.encode(&on_copy).map_err(|error| failed(self, error))?;
            self.armed(instruction, &operand, SiteKind::Store, Flags::Live)?;
            self.record_alone(instruction, &[operand], free);
            return self.move_words(instruction, &operand, free, Direction::Store);
        }
        self.move_words(instruction, &operand, free, Direction::Load)?;
        self.armed(instruction, &operand, SiteKind::Load, Flags::Live)?;
        self.record_alone(instruction, &[operand], free);
        self.code.encode(&on_copy).map_err(|error| failed(self, error))
    }

    /// Moves the words of an operand to or from its copy.
    fn move_words(
        &mut self,
        instruction: &Instruction,
        operand: &Operand,
        free: Gpr,
        direction: Direction,
    ) -> Result<(), PlanError> {
        self.code.store_context(free, KEPT);
        for offset in (0..operand.size as u8).step_by(8) {
            let place = Place { base: self.layout.base, offset: offset.into(), size: 8 };
            let moving = moving(instruction, place, free, direction);
            let moving = moving.map_err(|error| self.immovable(instruction.ip(), &error))?;
            if direction == Direction::Store {
                self.code.load_context(free, WIDE + offset);
            }
            let encoded = self.code.encode(&moving);
            encoded.map_err(|error| self.immovable(instruction.ip(), &error))?;
            if direction == Direction::Load {
                self.code.store_context(free, WIDE + offset);
            }
        }
        self.code.load_context(free, KEPT);
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
        let size = instruction.memory_size().size();
        let place = Place { base: self.layout.base, offset: 0, size };
        let load = moving(instruction, place, free, Direction::Load);
        self.code
            .encode(&load.map_err(|error| immovable(self, error))?)
            .map_err(|error| immovable(self, error))?;
        self.code.store_context(free, VALUE);
        self.code.load_context(free, KEPT);
        let on_copy = on_copy(instruction, VALUE);
        self.code.encode(&on_copy).map_err(|error| immovable(self, error))?;
        // The flags are the instruction's now.
        self.armed(instruction, &operand, SiteKind::Store, Flags::Live)?;
        self.record_alone(instruction, &[Operand { kind: AccessKind::Write, ..operand }], free);
        self.code.store_context(free, KEPT);
        self.code.load_context(free, VALUE);
        let store = moving(instruction, place, free, Direction::Store);
        self.code
            .encode(&store.map_err(|error| immovable(self, error))?)
            .map_err(|error| immovable(self, error))?;
        self.code.load_context(free, KEPT);
        Ok(())
    }
}

/// Whether an instruction accesses more than eight bytes, and can work on a copy of them.
fn is_wide(instruction: &Instruction, operand: &Operand) -> bool {
    matches!(operand.kind, AccessKind::Read | AccessKind::Write)
        && matches!(operand.size, 16 | 32 | 64)
        && !operand.is_conditional
        && (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory)
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

/// The instruction on the copy of its operand, at an offset of the context.
fn on_copy(instruction: &Instruction, copy: u8) -> Instruction {
    let mut on_copy = *instruction;
    on_copy.set_memory_base(Register::None);
    on_copy.set_memory_index(Register::None);
    on_copy.set_memory_index_scale(1);
    on_copy.set_memory_displ_size(4);
    on_copy.set_memory_displacement64(u64::from(copy));
    on_copy.set_segment_prefix(Register::GS);
    on_copy
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

/// A part of an operand.
#[derive(Clone, Copy)]
struct Place {
    /// Where the module is loaded.
    base: u64,
    /// From the start of the operand.
    offset: u64,
    /// How many bytes.
    size: usize,
}

/// `mov free, [operand]` or `mov [operand], free`, of a part of the operand.
fn moving(
    instruction: &Instruction,
    Place { base, offset, size }: Place,
    Gpr(free): Gpr,
    direction: Direction,
) -> Result<Instruction, iced_x86::IcedError> {
    let mut displacement = instruction.memory_displacement64().wrapping_add(offset);
    if instruction.memory_base() == Register::RIP {
        displacement = displacement.wrapping_add(base);
    }
    let memory = MemoryOperand::new(
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.memory_index_scale(),
        displacement.cast_signed(),
        // A part may need one where the whole needs none; 1 is as many bytes as it takes.
        instruction.memory_displ_size().max(1),
        false,
        instruction.segment_prefix(),
    );
    let number = u32::from(free);
    let (register, load, store) = match size {
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
