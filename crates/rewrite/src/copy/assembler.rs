//! The bytes of a copy while it is written: a few instructions by hand, and jumps that are bound later.

use everypath_shim_abi::access_log::{KEPT, NEXT, SAVED};
use iced_x86::{BlockEncoder, BlockEncoderOptions, IcedError, Instruction, InstructionBlock};

/// A register by its number, 0 (`rax`) to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

/// Where a jump leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The copy of what is at an address of the file, or that itself if it is not copied.
    Copy(u64),
    /// What is at an address of the file.
    Original(u64),
    /// An offset in the copies.
    Here(u32),
}

/// A jump whose distance is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fix {
    /// Where its four bytes are.
    pub(super) at: usize,
    pub(super) target: Target,
}

/// The copies of a module.
pub(super) struct Assembler {
    /// Where they will be.
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) fixes: Vec<Fix>,
}

impl Assembler {
    pub(super) fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    pub(super) fn emit(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A jump by this opcode.
    pub(super) fn jump(&mut self, opcode: &[u8], target: Target) {
        self.emit(opcode);
        self.fixes.push(Fix { at: self.bytes.len(), target });
        self.emit(&[0; 4]);
    }

    /// `mov gs:[offset], register`.
    pub(super) fn store_context(&mut self, register: Gpr, offset: u8) {
        self.context(0x89, register, offset);
    }

    /// `mov register, gs:[offset]`.
    pub(super) fn load_context(&mut self, register: Gpr, offset: u8) {
        self.context(0x8b, register, offset);
    }

    fn context(&mut self, opcode: u8, Gpr(register): Gpr, offset: u8) {
        let modrm = 0x04 | (register & 7) << 3;
        self.emit(&[0x65, 0x48 | (register >> 3) << 2, opcode, modrm, 0x25, offset, 0, 0, 0]);
    }

    /// An instruction with a 64-bit register and `[base+displacement]`; the base is neither `rsp` nor
    /// `r12`, which need another encoding.
    fn with_memory(&mut self, opcode: u8, Gpr(register): Gpr, Gpr(base): Gpr, displacement: i32) {
        self.emit(&[0x48 | (register >> 3) << 2 | base >> 3, opcode]);
        let modrm = (register & 7) << 3 | base & 7;
        match i8::try_from(displacement) {
            Ok(short) => self.emit(&[0x40 | modrm, short as u8]),
            Err(_) => {
                self.emit(&[0x80 | modrm]);
                self.emit(&displacement.to_le_bytes());
            }
        }
    }

    /// Makes room in the log for a block's number and its words. `free` holds the log's new end
    /// afterwards; what the program had there is saved. Only the first store can run into the guard
    /// behind the log, and touches no flags: the handler empties the log and sets `free` anew.
    pub(super) fn open_record(&mut self, free: Gpr, block: u32, words: usize) {
        let length = 8 * words as i32;
        self.store_context(free, SAVED);
        self.load_context(free, NEXT);
        self.emit(&[0x48 | free.0 >> 3, 0xc7, 0x80 | free.0 & 7]); // mov qword [free+length], block
        self.emit(&length.to_le_bytes());
        self.emit(&block.to_le_bytes());
        self.with_memory(0x8d, free, free, length + 8);
        self.store_context(free, NEXT);
    }

    /// Writes a register, or the address of the thread's own storage, as a word of the record that is open.
    pub(super) fn record_word(
        &mut self,
        free: Gpr,
        register: Option<Gpr>,
        word: usize,
        words: usize,
    ) {
        let place = 8 * word as i32 - 8 * words as i32 - 8;
        let Some(register) = register else {
            let other = if free.0 == 0 { Gpr(1) } else { Gpr(0) };
            self.store_context(other, KEPT);
            let modrm = 0x04 | other.0 << 3;
            self.emit(&[0x64, 0x48, 0x8b, modrm, 0x25, 0, 0, 0, 0]); // mov other, fs:[0]
            self.with_memory(0x89, other, free, place);
            return self.load_context(other, KEPT);
        };
        self.with_memory(0x89, register, free, place);
    }

    /// Gives the program its register back.
    pub(super) fn close_record(&mut self, free: Gpr) {
        self.load_context(free, SAVED);
    }

    /// An instruction so that it means here what it means at its place.
    pub(super) fn encode(&mut self, instruction: &Instruction) -> Result<(), IcedError> {
        let block = InstructionBlock::new(std::slice::from_ref(instruction), self.end());
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)?;
        self.bytes.extend(encoded.code_buffer);
        Ok(())
    }

    /// Binds all jumps. `copy_of` says where the copy of an address of the file begins.
    pub(super) fn bind(&mut self, base: u64, copy_of: impl Fn(u64) -> Option<u32>) -> Option<()> {
        for Fix { at, target } in std::mem::take(&mut self.fixes) {
            let to = match target {
                Target::Here(offset) => self.address + u64::from(offset),
                Target::Original(address) => address.wrapping_add(base),
                Target::Copy(address) => match copy_of(address) {
                    Some(offset) => self.address + u64::from(offset),
                    None => address.wrapping_add(base),
                },
            };
            let end = self.address + at as u64 + 4;
            let distance = i32::try_from(to.wrapping_sub(end).cast_signed()).ok()?;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Some(())
    }
}
