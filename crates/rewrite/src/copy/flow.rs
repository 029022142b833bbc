//! Control flow of a module: which functions can be copied, where their blocks begin, and where
//! they are entered from elsewhere.
//!
//! Everything that could be the target of an indirect jump is taken for an entry. Too many entries cost
//! a few jumps; one too few runs into a trap, since what is dead in the original is overwritten by
//! traps.

use super::accesses::{is_repeated, is_search};
use crate::image::Image;
use crate::landing_pads::landing_pads;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use std::ops::Range;

/// What is known of one byte of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark(u8);

impl Mark {
    /// A block begins here: something jumps to it.
    pub(super) const LEADER: Mark = Mark(1);
    /// It may be entered from code that is not copied, by an indirect jump or by a return.
    pub(super) const ENTRY: Mark = Mark(2);
    /// A call, which stays where it is.
    pub(super) const CALL: Mark = Mark(4);
    /// An instruction of a copied function begins here.
    pub(super) const START: Mark = Mark(8);
    /// The instruction neither accesses memory that counts nor branches.
    pub(super) const PLAIN: Mark = Mark(16);

    pub(super) const fn and(self, other: Mark) -> Mark {
        Mark(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Mark) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The control flow of a module, in addresses of the file.
pub(super) struct Flow<'a> {
    image: &'a Image<'a>,
    /// The lowest address of code.
    pub(super) low: u64,
    marks: Vec<Mark>,
    /// The functions that are copied, ascending.
    pub(super) copied: Vec<Range<u64>>,
    /// Those that stay as they are.
    left: Vec<Range<u64>>,
    /// What they call, or jump to, that is in no function.
    outside: Vec<u64>,
}

pub(super) fn decoder(bytes: &[u8], address: u64) -> Decoder<'_> {
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE)
}

/// Whether an instruction is a call. `syscall` counts as one for the disassembler.
pub(super) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
        && instruction.mnemonic() != Mnemonic::Syscall
}

pub(super) fn is_direct(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::NearBranch64
}

impl<'a> Flow<'a> {
    pub(super) fn of(image: &'a Image<'a>) -> Self {
        let low = image.code.iter().map(|section| section.range().start).min().unwrap_or(0);
        let high = image.code.iter().map(|section| section.range().end).max().unwrap_or(0);
        let marks = vec![Mark::default(); (high - low) as usize + 1];
        let mut flow =
            Flow { image, low, marks, copied: Vec::new(), left: Vec::new(), outside: Vec::new() };
        let tables = flow.choose_functions();
        for function in flow.copied.clone() {
            flow.mark_function(&function, true);
        }
        for function in flow.left.clone() {
            flow.mark_function(&function, false);
        }
        flow.mark_jump_tables(tables);
        flow.mark_pointers();
        flow
    }

    fn index(&self, address: u64) -> Option<usize> {
        let index = usize::try_from(address.checked_sub(self.low)?).ok()?;
        (index < self.marks.len()).then_some(index)
    }

    pub(super) fn mark(&mut self, address: u64, mark: Mark) {
        if let Some(index) = self.index(address) {
            self.marks[index] = self.marks[index].and(mark);
        }
    }

    pub(super) fn at(&self, address: u64) -> Mark {
        self.index(address).map_or(Mark::default(), |index| self.marks[index])
    }

    /// Data may look like an address in the middle of an instruction: nobody goes there.
    pub(super) fn is_entry(&self, address: u64) -> bool {
        self.at(address).has(Mark::ENTRY.and(Mark::START))
    }

    /// Where code begins whose accesses nobody sees. What connects modules accesses only what the loader
    /// writes.
    pub(super) fn unseen(&self) -> Vec<u64> {
        let left = self.left.iter().map(|function| function.start);
        let mut unseen: Vec<u64> = left.chain(self.outside.iter().copied()).collect();
        unseen.retain(|&address| !self.image.is_linkage(address));
        unseen.sort_unstable();
        unseen.dedup();
        unseen
    }

    /// Decides which functions are copied; returns where jump tables may be.
    fn choose_functions(&mut self) -> Vec<u64> {
        let (mut tables, mut read, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let mut starts = vec![false; self.marks.len()];
        let mut factory = InstructionInfoFactory::new();
        for function in &self.image.functions {
            let Some(bytes) = self.image.code_of(function) else { continue };
            let is_stub = self.image.is_linkage(function.start);
            let mut movable = !is_stub;
            for instruction in decoder(bytes, function.start) {
                movable &= is_movable(&instruction, &mut factory);
                if instruction.is_invalid() {
                    break;
                }
                if instruction.is_ip_rel_memory_operand() {
                    let address = instruction.ip_rel_memory_address();
                    match (instruction.mnemonic() == Mnemonic::Lea, self.image.is_code(address)) {
                        (true, false) => tables.push(address),
                        // Data inside of code, or code that reads itself.
                        (false, true) => read.push(address),
                        _ => {}
                    }
                }
            }
            if !movable {
                self.left.push(function.clone());
                continue;
            }
            for instruction in decoder(bytes, function.start) {
                starts[(instruction.ip() - self.low) as usize] = true;
                if is_direct(&instruction) {
                    targets.push(instruction.near_branch_target());
                }
            }
            self.copied.push(function.clone());
        }
        let is_outside =
            |address: &u64| self.image.is_code(*address) && !self.image.is_in_function(*address);
        self.outside = targets.iter().copied().filter(is_outside).collect();
        // A jump into the middle of an instruction: two instructions share bytes.
        read.extend(targets.into_iter().filter(|&t| self.index(t).is_some_and(|at| !starts[at])));
        read.sort_unstable();
        let is_read = |function: &Range<u64>| {
            let next = read.partition_point(|&address| address < function.start);
            read.get(next).is_some_and(|&address| address < function.end)
        };
        let (left, copied) = std::mem::take(&mut self.copied).into_iter().partition(is_read);
        self.copied = copied;
        self.left.extend::<Vec<_>>(left);
        self.left.sort_by_key(|function| function.start);
        tables
    }

    fn mark_function(&mut self, function: &Range<u64>, copied: bool) {
        let entered = Mark::ENTRY.and(Mark::LEADER);
        self.mark(function.start, entered);
        let Some(bytes) = self.image.code_of(function) else { return };
        for instruction in decoder(bytes, function.start) {
            if instruction.is_invalid() {
                continue;
            }
            let calls = is_call(&instruction);
            if copied {
                self.mark(instruction.ip(), Mark::START);
            }
            if is_direct(&instruction) {
                let jumps_inside = copied && !calls;
                let mark = if jumps_inside { Mark::LEADER } else { entered };
                self.mark(instruction.near_branch_target(), mark);
            }
            if calls && copied {
                self.mark(instruction.ip(), Mark::CALL);
                self.mark(instruction.next_ip(), entered);
            }
            if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand() {
                self.mark_code(instruction.ip_rel_memory_address());
            }
            // In programs with fixed addresses, an address of code may be a plain number.
            let wide = [OpKind::Immediate32, OpKind::Immediate32to64, OpKind::Immediate64];
            for operand in 0..instruction.op_count() {
                if wide.contains(&instruction.op_kind(operand)) {
                    self.mark_code(instruction.immediate(operand));
                }
            }
        }
    }

    fn mark_code(&mut self, address: u64) {
        if self.image.is_code(address) {
            self.mark(address, Mark::ENTRY.and(Mark::LEADER));
        }
    }

    /// Jump tables: 32-bit distances from the start of the table, whose address is loaded by a
    /// `lea`. Whatever data reads as such a table is taken for one, up to the next.
    fn mark_jump_tables(&mut self, mut tables: Vec<u64>) {
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
                self.mark_code(target);
            }
        }
    }

    /// Pointers to code in data, labels, and where exceptions are caught.
    fn mark_pointers(&mut self) {
        for section in &self.image.data {
            let aligned = (section.address.wrapping_neg() % 8) as usize;
            let words = section.bytes.get(aligned..).unwrap_or_default().as_chunks::<8>().0;
            words.iter().for_each(|word| self.mark_code(u64::from_le_bytes(*word)));
        }
        self.image.labels.iter().for_each(|&label| self.mark_code(label));
        for (function, table) in &self.image.exception_tables {
            let data = self.image.data_from(*table).unwrap_or_default();
            match landing_pads(data, function.start) {
                Some(pads) => pads.into_iter().for_each(|pad| self.mark_code(pad)),
                // A table we cannot read: it may lead anywhere in the function.
                None => function.clone().for_each(|address| self.mark_code(address)),
            }
        }
    }
}

/// Whether an instruction means the same elsewhere, and what it accesses can be told.
fn is_movable(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> bool {
    if instruction.is_invalid()
        || instruction.flow_control() == FlowControl::XbeginXabortXend
        || instruction.memory_base() == Register::EIP
        || matches!(instruction.mnemonic(), Mnemonic::Loope | Mnemonic::Loopne | Mnemonic::Loop)
    {
        return false;
    }
    // How far a search goes is known only afterwards.
    if is_repeated(instruction) {
        return !is_search(instruction);
    }
    // Gathers and scatters access what lies in a vector; `xsave` and its kin what a mask says.
    let tellable = |memory: &iced_x86::UsedMemory| {
        matches!(memory.access(), OpAccess::NoMemAccess | OpAccess::None)
            || !memory.index().is_vector_register() && memory.memory_size().size() > 0
    };
    factory.info(instruction).used_memory().iter().all(tellable)
}
