//! Copies functions block by block.

use super::accesses::{Access, AccessKind, Operand, Point, operands};
use super::assembler::{Assembler, Gpr, Target};
use super::flow::{Flow, Mark, decoder, is_call, is_direct};
use super::{Block, Copy, CopyLayout};
use crate::image::Image;
use crate::random;
use crate::sites::Sites;
use crate::{Patch, PlanError, Site, SiteKind};
use everypath_shim_abi::Trap;
use iced_x86::{
    FlowControl, IcedError, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register,
};
use std::ops::Range;

/// The most words and accesses of a record: both are counted by bytes.
const MOST: usize = 200;
/// `rsp`, and `r12`, whose encoding as a base is another.
const NEVER_FREE: u16 = 1 << 4 | 1 << 12;

/// A call that stays where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) instruction: Instruction,
    /// The jump to it from the copy, among the fixes.
    pub(super) fix: usize,
    /// Whether something is recorded before it, or it is a scheduling point.
    pub(super) is_seen: bool,
}

/// An instruction, and where in it the displacement of its operand is.
#[derive(Clone, Copy)]
pub(super) struct Decoded {
    pub(super) instruction: Instruction,
    displacement_at: usize,
}

/// A word of a record: which value of which register, taken before which instruction.
struct Word {
    /// None is the address of the thread's own storage.
    register: Option<Gpr>,
    version: u32,
    before: usize,
}

/// What a block records.
#[derive(Default)]
struct Record {
    words: Vec<Word>,
    accesses: Vec<Access>,
    versions: [u32; 16],
    /// The registers that its instructions use, a bit each.
    used: u16,
}

/// A module while it is copied.
pub(super) struct Copier<'a> {
    pub(super) image: &'a Image<'a>,
    pub(super) flow: Flow<'a>,
    pub(super) sites: &'a Sites<'a>,
    pub(super) layout: &'a CopyLayout<'a>,
    /// Where the patch sites are, ascending.
    site_addresses: Vec<u64>,
    pub(super) code: Assembler,
    pub(super) out: Copy,
    pub(super) calls: Vec<Call>,
    /// Where the copy of the block at each byte of code begins.
    copies: Vec<u32>,
    pub(super) factory: InstructionInfoFactory,
}

const NOT_COPIED: u32 = u32::MAX;

impl<'a> Copier<'a> {
    pub(super) fn new(
        image: &'a Image<'a>,
        flow: Flow<'a>,
        sites: &'a Sites<'a>,
        layout: &'a CopyLayout<'a>,
    ) -> Self {
        let high = image.code.iter().map(|section| section.range().end).max().unwrap_or(0);
        let copies = vec![NOT_COPIED; (high - flow.low.min(high)) as usize];
        Copier {
            image,
            site_addresses: sites.addresses(),
            sites,
            layout,
            code: Assembler { address: layout.copies, bytes: Vec::new(), fixes: Vec::new() },
            out: Copy::default(),
            calls: Vec::new(),
            copies,
            factory: InstructionInfoFactory::new(),
            flow,
        }
    }

    pub(super) fn copy_functions(&mut self) -> Result<(), PlanError> {
        for function in self.flow.copied.clone() {
            self.function(&function)?;
        }
        Ok(())
    }

    /// Where the copy of the block at an address of the file begins.
    pub(super) fn copy_of(&self, address: u64) -> Option<u32> {
        copy_of(&self.copies, self.flow.low, address)
    }

    pub(super) fn is_point(&self, address: u64) -> bool {
        self.site_addresses.binary_search(&address).is_ok() || self.is_armed(address)
    }

    pub(super) fn is_armed(&self, address: u64) -> bool {
        self.layout.armed.binary_search(&address).is_ok()
    }

    /// Whether an instruction belongs to a known lock.
    fn is_lock(&self, instruction: &Instruction) -> bool {
        let placed = self.sites.instructions(instruction.ip()).next();
        let kind = placed.and_then(|placed| self.sites.kind(&placed));
        kind.is_some_and(|kind| match kind {
            SiteKind::Lock
            | SiteKind::Unlock
            | SiteKind::ReadLock
            | SiteKind::WriteLock
            | SiteKind::RwUnlock => true,
            SiteKind::CompareExchange
            | SiteKind::Exchange
            | SiteKind::FetchModify
            | SiteKind::Pause
            | SiteKind::Load
            | SiteKind::LoadCall
            | SiteKind::Store
            | SiteKind::Fence
            | SiteKind::Random
            | SiteKind::LockCall
            | SiteKind::UnlockCall
            | SiteKind::CondvarWait
            | SiteKind::CondvarWaitTimeout
            | SiteKind::NotifyOne
            | SiteKind::NotifyAll
            | SiteKind::ReadLockCall
            | SiteKind::WriteLockCall
            | SiteKind::RwUnlockCall => false,
        })
    }

    pub(super) fn is_site(&self, address: u64) -> bool {
        self.site_addresses.binary_search(&address).is_ok()
    }

    fn function(&mut self, function: &Range<u64>) -> Result<(), PlanError> {
        let Some(bytes) = self.image.code_of(function) else { return Ok(()) };
        let mut code = Vec::new();
        let mut decoder = decoder(bytes, function.start);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let displacement_at = decoder.get_constant_offsets(&instruction).displacement_offset();
            code.push(Decoded { instruction, displacement_at });
        }
        let mut rest = &code[..];
        while !rest.is_empty() {
            let end = 1 + rest
                .windows(2)
                .position(|pair| self.ends_block(&pair[0].instruction, &pair[1].instruction))
                .unwrap_or(rest.len() - 1);
            let (block, next) = rest.split_at(end);
            self.block(block)?;
            rest = next;
        }
        let falls_through = |last: &Instruction| {
            matches!(last.flow_control(), FlowControl::Next | FlowControl::ConditionalBranch)
                || last.mnemonic() == Mnemonic::Syscall
        };
        if let Some(last) = code.last().filter(|last| falls_through(&last.instruction)) {
            self.code.jump(&[0xe9], Target::Copy(last.instruction.next_ip()));
        }
        Ok(())
    }

    fn ends_block(&self, this: &Instruction, next: &Instruction) -> bool {
        this.flow_control() != FlowControl::Next
            || self.flow.at(next.ip()).has(Mark::LEADER)
            || is_alone(this)
            || is_alone(next)
            || self.is_point(this.ip())
            || self.is_point(next.ip())
    }

    /// A block, or several if it leaves no register unused.
    fn block(&mut self, mut code: &[Decoded]) -> Result<(), PlanError> {
        while !code.is_empty() {
            let mut record = Record { used: NEVER_FREE, ..Record::default() };
            let mut length = 0;
            for (at, decoded) in code.iter().enumerate() {
                let used = registers(&mut self.factory, &decoded.instruction);
                let is_full = record.words.len().max(record.accesses.len()) > MOST;
                if at > 0 && (record.used | used == u16::MAX || is_full) {
                    break;
                }
                record.used |= used;
                self.take(&mut record, at, &decoded.instruction);
                length = at + 1;
            }
            let (now, rest) = code.split_at(length);
            self.write(now, record)?;
            code = rest;
        }
        Ok(())
    }

    /// Adds the accesses of an instruction to a record.
    fn take(&mut self, record: &mut Record, at: usize, instruction: &Instruction) {
        let operands = operands(self.image, instruction, &mut self.factory);
        if operands.is_empty() && instruction.flow_control() == FlowControl::Next {
            self.flow.mark(instruction.ip(), Mark::PLAIN);
        }
        for operand in operands {
            let mut access = record.access(&operand, at, instruction.ip(), self.layout.base);
            if self.is_site(instruction.ip()) {
                access.point = Point::Always;
                if access.kind == AccessKind::Atomic && self.is_lock(instruction) {
                    access.kind = AccessKind::Lock;
                }
            }
            let same = |other: &&Access| Access { site: access.site, ..**other } == access;
            if !record.accesses.iter().any(|other| same(&other)) {
                record.accesses.push(access);
            }
        }
        for used in self.factory.info(instruction).used_registers() {
            let register = used.register().full_register();
            if register.is_gpr64() && !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)
            {
                record.versions[register.number()] += 1;
            }
        }
    }

    fn write(&mut self, code: &[Decoded], record: Record) -> Result<(), PlanError> {
        let Some(first) = code.first().map(|first| first.instruction) else { return Ok(()) };
        let index = (first.ip() - self.flow.low) as usize;
        let start = self.code.bytes.len() as u32;
        self.copies[index] = start;
        self.out.origins.push((start, first.ip()));
        let free = Gpr((!record.used).checked_ilog2().unwrap_or(0) as u8);
        if self.is_point(first.ip()) && self.point(&first, free)? {
            return Ok(());
        }
        let records = !record.accesses.is_empty();
        let count = record.words.len();
        if records {
            let number = self.add_block(count, &record.accesses);
            self.code.open_record(free, number, count);
        }
        let mut words = record.words.iter().enumerate().peekable();
        for (at, decoded) in code.iter().enumerate() {
            while let Some((word, taken)) = words.next_if(|(_, word)| word.before == at) {
                if records {
                    self.code.record_word(free, taken.register, word, count);
                }
            }
            let is_last = at + 1 == code.len();
            let flows_on = decoded.instruction.flow_control() == FlowControl::Next;
            if records && is_last && !flows_on {
                self.code.close_record(free);
            }
            if at > 0 {
                let here = self.code.bytes.len() as u32;
                self.out.origins.push((here, decoded.instruction.ip()));
            }
            self.instruction(decoded, records)?;
            if records && is_last && flows_on {
                self.code.close_record(free);
            }
        }
        Ok(())
    }

    /// Numbers a block that records.
    pub(super) fn add_block(&mut self, words: usize, accesses: &[Access]) -> u32 {
        let number = self.layout.first_block + self.out.blocks.len() as u32;
        self.out.blocks.push(Block {
            words: words as u16,
            accesses: accesses.len() as u16,
            first: self.out.accesses.len() as u32,
        });
        self.out.accesses.extend(accesses);
        number
    }

    /// The copy of an instruction.
    fn instruction(&mut self, decoded: &Decoded, is_seen: bool) -> Result<(), PlanError> {
        let instruction = &decoded.instruction;
        let range = instruction.ip()..instruction.next_ip();
        let Some(bytes) = self.image.code_of(&range) else { return Ok(()) };
        match instruction.flow_control() {
            FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => {
                let condition = instruction.condition_code() as u8 - 1;
                let target = Target::Copy(instruction.near_branch_target());
                self.code.jump(&[0x0f, 0x80 | condition], target);
            }
            FlowControl::ConditionalBranch => {
                // `jrcxz` reaches no further than a byte: over the jump that is not taken.
                let (_, opcode) = bytes.split_last().unwrap_or((&0, bytes));
                self.code.emit(opcode);
                self.code.emit(&[2, 0xeb, 5]);
                self.code.jump(&[0xe9], Target::Copy(instruction.near_branch_target()));
            }
            FlowControl::UnconditionalBranch => {
                self.code.jump(&[0xe9], Target::Copy(instruction.near_branch_target()));
            }
            _ if is_call(instruction) => {
                let is_seen = is_seen || self.is_point(instruction.ip());
                let fix = self.code.fixes.len();
                self.calls.push(Call { instruction: *instruction, fix, is_seen });
                self.code.jump(&[0xe9], Target::Original(instruction.ip()));
            }
            // The thread has yielded already.
            _ if instruction.mnemonic() == Mnemonic::Pause => {}
            _ if let Some(bytes) = random::replacement(instruction) => self.code.emit(&bytes),
            _ => self.move_instruction(decoded, bytes)?,
        }
        Ok(())
    }

    /// The bytes of an instruction, so that they mean what they mean at their place.
    fn move_instruction(&mut self, decoded: &Decoded, bytes: &[u8]) -> Result<(), PlanError> {
        let instruction = &decoded.instruction;
        let at = self.code.bytes.len();
        self.code.emit(bytes);
        if instruction.is_ip_rel_memory_operand() {
            let target = instruction.ip_rel_memory_address().wrapping_add(self.layout.base);
            let distance = target.wrapping_sub(self.code.end()).cast_signed();
            let distance = i32::try_from(distance).map_err(|_| self.too_far(instruction.ip()))?;
            let at = at + decoded.displacement_at;
            self.code.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(())
    }

    pub(super) fn too_far(&self, address: u64) -> PlanError {
        PlanError::TooFar { trampolines: self.layout.copies, address }
    }

    pub(super) fn immovable(&self, address: u64, error: &IcedError) -> PlanError {
        PlanError::Immovable { address, detail: error.to_string() }
    }

    /// Binds all jumps.
    pub(super) fn finish(mut self, patches: Vec<Patch>) -> Result<Copy, PlanError> {
        let (copies, low) = (std::mem::take(&mut self.copies), self.flow.low);
        let bound = self.code.bind(self.layout.base, |address| copy_of(&copies, low, address));
        bound.ok_or_else(|| self.too_far(low))?;
        let starts = copies.iter().enumerate().filter(|&(_, &offset)| offset != NOT_COPIED);
        self.out.traps = starts
            .map(|(at, &offset)| Trap {
                address: low + at as u64 + self.layout.base,
                stub: self.layout.copies + u64::from(offset),
            })
            .collect();
        self.out.code = self.code.bytes;
        self.out.patches = patches;
        self.out.unseen = self.flow.unseen();
        Ok(self.out)
    }

    /// Adds a scheduling point; returns its number.
    pub(super) fn add_site(&mut self, site: Site) -> u32 {
        self.out.sites.push(site);
        self.layout.first_site + self.out.sites.len() as u32 - 1
    }

    /// What an instruction records by itself, all words of it taken before it.
    pub(super) fn record_alone(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
        free: Gpr,
    ) {
        if operands.is_empty() {
            return;
        }
        let mut record = Record::default();
        for operand in operands {
            let access = record.access(operand, 0, instruction.ip(), self.layout.base);
            record.accesses.push(Access { point: Point::Armed, ..access });
        }
        let count = record.words.len();
        let number = self.add_block(count, &record.accesses);
        self.code.open_record(free, number, count);
        for (word, taken) in record.words.iter().enumerate() {
            self.code.record_word(free, taken.register, word, count);
        }
        self.code.close_record(free);
    }

    /// The copy of one instruction that stands alone.
    pub(super) fn copy_alone(&mut self, instruction: &Instruction) -> Result<(), PlanError> {
        let range = instruction.ip()..instruction.next_ip();
        let Some(bytes) = self.image.code_of(&range) else { return Ok(()) };
        let mut decoder = decoder(bytes, instruction.ip());
        let again = decoder.decode();
        let displacement_at = decoder.get_constant_offsets(&again).displacement_offset();
        self.instruction(&Decoded { instruction: again, displacement_at }, true)
    }
}

fn copy_of(copies: &[u32], low: u64, address: u64) -> Option<u32> {
    let index = usize::try_from(address.checked_sub(low)?).ok()?;
    copies.get(index).copied().filter(|&offset| offset != NOT_COPIED)
}

/// The 64-bit registers that an instruction uses, a bit each.
fn registers(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> u16 {
    let used = factory.info(instruction).used_registers().iter();
    let full = used.map(|used| used.register().full_register());
    full.filter(|register| register.is_gpr64()).fold(0, |bits, r| bits | 1 << r.number())
}

/// Whether an instruction may be answered by the shim, which may let another thread run: nothing of the
/// record must be in a register then.
fn is_alone(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Syscall
            | Mnemonic::Rdtsc
            | Mnemonic::Rdtscp
            | Mnemonic::Rdrand
            | Mnemonic::Rdseed
            | Mnemonic::Int3
            | Mnemonic::Int
            | Mnemonic::Ud2
            | Mnemonic::Hlt
            | Mnemonic::Pause
    )
}

impl Record {
    /// An access of the instruction at a position of the block, whose registers become words.
    fn access(&mut self, operand: &Operand, at: usize, site: u64, base: u64) -> Access {
        let is_static = operand.base == Register::None
            && operand.index == Register::None
            && !operand.is_thread_local;
        let displacement = operand.displacement.wrapping_add(if is_static { base } else { 0 });
        Access {
            displacement: displacement.cast_signed(),
            base: self.word(operand.base, at),
            index: self.word(operand.index, at),
            scale: operand.scale,
            thread: operand.is_thread_local.then(|| self.taken(None, 0, at)),
            count: if operand.repeated { self.word(Register::RCX, at) } else { None },
            size: operand.size,
            kind: operand.kind,
            point: Point::Never,
            site,
        }
    }

    /// The word of a register's present value.
    fn word(&mut self, register: Register, before: usize) -> Option<u8> {
        if register == Register::None {
            return None;
        }
        let full = register.full_register();
        let (number, version) = (Gpr(full.number() as u8), self.versions[full.number()]);
        Some(self.taken(Some(number), version, before))
    }

    /// The word of a version of a register.
    fn taken(&mut self, register: Option<Gpr>, version: u32, before: usize) -> u8 {
        let known = self.words.iter().position(|w| w.register == register && w.version == version);
        let word = known.unwrap_or_else(|| {
            self.words.push(Word { register, version, before });
            self.words.len() - 1
        });
        word as u8
    }
}

/// Whether a call has a target that is known.
pub(super) fn direct_target(call: &Call) -> Option<u64> {
    is_direct(&call.instruction).then(|| call.instruction.near_branch_target())
}
