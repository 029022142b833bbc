//! Disassembly of a module in one pass: candidate patch sites, and the targets of jumps.
//!
//! A patch may cover several instructions only if nothing arrives in the middle of it, so
//! whatever could be the target of a jump is taken for one. Too many targets cost a trap instead
//! of a jump; one too few would crash the program.

use crate::SiteKind;
use crate::atomic::kind;
use crate::futexes;
use crate::image::Image;
use crate::landing_pads::landing_pads;
use crate::locks::Locks;
use crate::rwlocks;
use crate::statics::Statics;
use crate::unoptimised::Frames;
use iced_x86::{Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind};
use std::collections::BTreeSet;
use std::ops::Range;

/// What the code of a module holds, in addresses of the file.
pub(crate) struct Code {
    /// Atomic instructions, pauses, and plain ones that use what is changed atomically; sorted.
    pub(crate) candidates: Vec<u64>,
    /// The static variables that are changed atomically.
    pub(crate) statics: Statics,
    /// Plain instructions that load what a wait at a futex expects, or what says whether something is
    /// initialised; sorted.
    pub(crate) looks: Vec<u64>,
    /// Whether any instruction uses more of a vector register than its lower half, or a mask. What a
    /// function of another module has there it saves itself: calls preserve no vector registers.
    pub(crate) uses_upper_halves: bool,
    /// Everything that may be jumped to, sorted.
    targets: Vec<u64>,
}

impl Code {
    pub(crate) fn scan(image: &Image<'_>, locks: &Locks) -> Self {
        let mut scan = Scan {
            image,
            locks,
            candidates: Vec::new(),
            statics: Statics::without(&image.left_out, &image.guards),
            looks: Vec::new(),
            uses_upper_halves: false,
            targets: image.labels.clone(),
        };
        let mut tables = Vec::new();
        for function in &image.functions {
            scan.targets.push(function.start);
            scan.function(function, &mut tables);
        }
        scan.jump_tables(tables);
        scan.code_pointers();
        for (function, table) in &image.exception_tables {
            scan.exceptions(function, *table);
        }
        let uses_upper_halves = scan.uses_upper_halves;
        let Scan { mut candidates, mut looks, mut targets, mut statics, .. } = scan;
        statics.settle();
        candidates.extend(statics.uses.iter().map(|&(address, _)| address));
        candidates.extend(&looks);
        for list in [&mut candidates, &mut looks, &mut targets] {
            list.sort_unstable();
            list.dedup();
        }
        Code { candidates, statics, looks, uses_upper_halves, targets }
    }

    /// Whether something may jump to an address in the range.
    pub(crate) fn is_entered(&self, range: Range<u64>) -> bool {
        let index = self.targets.partition_point(|&target| target < range.start);
        self.targets.get(index).is_some_and(|&target| target < range.end)
    }
}

/// The first compare-and-exchange outside of all known functions. It would stay unpatched without
/// a word, so there must be none. Other sites are not looked for: what is between functions may be
/// data, and reads as an `xchg` now and then, but as a `lock cmpxchg` next to never.
pub(crate) fn unknown_lock(image: &Image<'_>) -> Option<u64> {
    let locks = image.gaps().into_iter().filter_map(|gap| {
        let decoder = Decoder::with_ip(64, gap.bytes, gap.address, DecoderOptions::NONE);
        let mut instructions = decoder.into_iter();
        instructions.find(|found| kind(found) == Some(SiteKind::CompareExchange))
    });
    locks.map(|lock| lock.ip()).next()
}

/// Whether an instruction uses more of a vector register than its lower half, or a mask.
fn uses_upper_half(instruction: &Instruction) -> bool {
    instruction.encoding() != EncodingKind::Legacy
        && (0..instruction.op_count()).any(|operand| {
            let register = instruction.op_register(operand);
            let is_wide = register.is_ymm() || register.is_zmm() || register.is_k();
            // There are sixteen more of them than the lower halves that are saved.
            is_wide || register.is_xmm() && register.number() >= 16
        })
}

struct Scan<'a> {
    image: &'a Image<'a>,
    locks: &'a Locks,
    candidates: Vec<u64>,
    statics: Statics,
    looks: Vec<u64>,
    uses_upper_halves: bool,
    targets: Vec<u64>,
}

impl Scan<'_> {
    /// Decodes a function from start to end. One with bytes that are no instruction has data in
    /// it, and data may look like anything: there only what control flow reaches is believed.
    fn function(&mut self, function: &Range<u64>, tables: &mut Vec<u64>) {
        let candidates = self.candidates.len();
        let uses = self.statics.uses.len();
        let mut end = function.start;
        let (mut has_futex, mut initialises, mut shares) = (false, false, false);
        let mut frames = Frames::default();
        for instruction in self.image.decode(function.start, 0) {
            end = instruction.next_ip();
            has_futex |= futexes::is_number(&instruction);
            initialises |= self.locks.initialises(&instruction);
            shares |= rwlocks::is_telling(&instruction);
            let unnamed = frames.follow(&instruction);
            self.instruction(&instruction, unnamed, tables);
        }
        if self.locks.keep_order(function.start) {
            // It spins before it says that it waits, and only then do others see it.
            let spins = |&at: &u64| {
                self.image.decode(at, 0).next().and_then(|it| kind(&it)) == Some(SiteKind::Pause)
            };
            let kept = self.candidates.split_off(candidates).into_iter().filter(|at| !spins(at));
            self.candidates.extend(kept.collect::<Vec<_>>());
        }
        if has_futex && !self.locks.keep_order(function.start) {
            self.looks.extend(futexes::looks(self.image.decode(function.start, 0)));
        }
        if initialises && !self.locks.keep_order(function.start) {
            self.looks.extend(self.locks.looks_before(self.image, function.start));
        }
        if shares && !self.locks.keep_order(function.start) {
            let is_known = |at| self.locks.kind(self.image, at).is_some();
            self.looks.extend(rwlocks::looks_before(self.image, function.start, is_known));
        }
        if end < function.end {
            self.candidates.truncate(candidates);
            self.statics.uses.truncate(uses);
            self.reachable(function, tables);
        }
    }

    fn reachable(&mut self, function: &Range<u64>, tables: &mut Vec<u64>) {
        let mut waiting = vec![function.start];
        let mut seen = BTreeSet::new();
        while let Some(start) = waiting.pop() {
            for instruction in self.image.decode(start, 0) {
                if !seen.insert(instruction.ip()) {
                    break;
                }
                self.instruction(&instruction, None, tables);
                let target = instruction.near_branch_target();
                match instruction.flow_control() {
                    FlowControl::Next
                    | FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::Interrupt => {}
                    FlowControl::ConditionalBranch if function.contains(&target) => {
                        waiting.push(target);
                    }
                    FlowControl::ConditionalBranch => {}
                    FlowControl::UnconditionalBranch if function.contains(&target) => {
                        waiting.push(target);
                        break;
                    }
                    _ => break,
                }
            }
        }
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        unnamed: Option<u64>,
        tables: &mut Vec<u64>,
    ) {
        if !self.statics.leave_out(instruction) {
            self.candidates.extend(kind(instruction).map(|_| instruction.ip()));
            self.statics.see(instruction, unnamed);
        }
        self.uses_upper_halves |= uses_upper_half(instruction);
        let near = [OpKind::NearBranch64, OpKind::NearBranch32, OpKind::NearBranch16];
        if near.contains(&instruction.op0_kind()) {
            self.targets.push(instruction.near_branch_target());
        }
        if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand() {
            let address = instruction.ip_rel_memory_address();
            match self.image.is_code(address) {
                true => self.targets.push(address),
                false => tables.push(address),
            }
        }
        // In programs with fixed addresses, an address of code may be a plain number.
        let immediate = [OpKind::Immediate32, OpKind::Immediate32to64, OpKind::Immediate64];
        for operand in 0..instruction.op_count() {
            if immediate.contains(&instruction.op_kind(operand)) {
                let value = instruction.immediate(operand);
                if self.image.is_code(value) {
                    self.targets.push(value);
                }
            }
        }
    }

    /// Jump tables: 32-bit distances from the start of the table, whose address is loaded by a
    /// `lea`. Whatever data reads as such a table is taken for one, up to the next.
    fn jump_tables(&mut self, mut tables: Vec<u64>) {
        tables.sort_unstable();
        tables.dedup();
        for (index, &table) in tables.iter().enumerate() {
            let next = tables.get(index + 1).copied().unwrap_or(u64::MAX);
            let Some(data) = self.image.data_from(table) else { continue };
            let entries = data.as_chunks::<4>().0.iter();
            for (entry, position) in entries.zip((table..next).step_by(4)) {
                let target = table.wrapping_add_signed(i64::from(i32::from_le_bytes(*entry)));
                if position >= next || !self.image.is_code(target) {
                    break;
                }
                self.targets.push(target);
            }
        }
    }

    /// Pointers to code in data: tables with fixed addresses, and the relocations that make
    /// such tables (their addends are data of the file as well).
    fn code_pointers(&mut self) {
        for section in &self.image.data {
            let aligned = (section.address.wrapping_neg() % 8) as usize;
            let Some(bytes) = section.bytes.get(aligned..) else { continue };
            let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            self.targets.extend(words.filter(|&word| self.image.is_code(word)));
        }
    }

    /// Where a thrown exception is caught.
    fn exceptions(&mut self, function: &Range<u64>, table: u64) {
        let data = self.image.data_from(table).unwrap_or_default();
        match landing_pads(data, function.start) {
            Some(pads) => self.targets.extend(pads),
            // A table we cannot read: it may lead anywhere in the function.
            None => self.targets.extend(function.clone()),
        }
    }
}
