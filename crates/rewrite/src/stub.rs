//! Trampolines: the code that runs instead of a patched instruction.
//!
//! ```text
//! lea  rsp, [rsp-0x80]   ; skip the red zone
//! pushfq                 ; or `push rax`, if nobody looks at the flags again
//! push rax
//! lea  rax, [operand]    ; `xor eax, eax` for a pause and a fence, `mov rax, rdi` for a call
//! push rax               ; the address of the operand
//! push number            ; the number of the site
//! mov  rax, entry
//! call rax               ; preserves every register but rax and the flags
//! lea  rsp, [rsp+16]
//! pop  rax
//! popfq                  ; or left out
//! lea  rsp, [rsp+0x80]   ; or 0x88
//! …                      ; the site and what the jump to the stub displaced, without pauses
//! jmp  back
//! ```

use crate::PlanError;
use crate::random;
use everypath_shim_abi::StubFrame;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, FlowControl, IcedError, Instruction, InstructionBlock,
    MemoryOperand, Mnemonic, Register, RflagsBits,
};

/// The bytes of a `jmp rel32`.
pub(crate) const JUMP_SIZE: usize = 5;

/// `lea rsp, [rsp-0x80]; pushfq; push rax`.
const ENTER: [u8; 7] = [0x48, 0x8D, 0x64, 0x24, 0x80, 0x9C, 0x50];
/// The same without the flags: `lea rsp, [rsp-0x80]; push rax; push rax`.
const ENTER_WITHOUT_FLAGS: [u8; 7] = [0x48, 0x8D, 0x64, 0x24, 0x80, 0x50, 0x50];
/// `lea rsp, [rsp+16]; pop rax; popfq; lea rsp, [rsp+0x80]`.
const LEAVE: [u8; 15] =
    [0x48, 0x8D, 0x64, 0x24, 0x10, 0x58, 0x9D, 0x48, 0x8D, 0xA4, 0x24, 0x80, 0x00, 0x00, 0x00];

/// `lea rsp, [rsp+16]; pop rax; lea rsp, [rsp+0x88]`.
const LEAVE_WITHOUT_FLAGS: [u8; 14] =
    [0x48, 0x8D, 0x64, 0x24, 0x10, 0x58, 0x48, 0x8D, 0xA4, 0x24, 0x88, 0x00, 0x00, 0x00];

/// These move the stack pointer as the shim expects: over the red zone, then over the site's number and
/// the operand's address.
const _: () = {
    assert!(StubFrame::RED_ZONE == 0x80);
    assert!(std::mem::offset_of!(StubFrame, rax) == 0x10 && size_of::<StubFrame>() == 0x20);
};

/// What the shim is to know of what the site works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Nothing.
    None,
    /// The address of the instruction's operand.
    Memory,
    /// What a register points to.
    Register(Register),
    /// The first argument of the function that starts here.
    FirstArgument,
}

/// The stub, to be put at `address`, of the site that is the first of the moved instructions.
pub(crate) fn write(
    address: u64,
    (moved, operand): (&[Instruction], Operand),
    number: u32,
    entry: u64,
) -> Result<Vec<u8>, PlanError> {
    let (Some(site), Some(last)) = (moved.first(), moved.last()) else { return Ok(Vec::new()) };
    let flags = if overwrites_flags(moved) { Flags::Dead } else { Flags::Live };
    let mut stub = Stub { address, bytes: Vec::new() };
    stub.call_shim((site, operand), number, entry, flags)?;
    for instruction in moved.iter().filter(|moved| moved.mnemonic() != Mnemonic::Pause) {
        match random::replacement(instruction) {
            Some(bytes) => stub.bytes.extend(bytes),
            None => stub.encode(instruction, instruction.ip())?,
        }
    }
    let distance = distance(stub.end() + JUMP_SIZE as u64, last.next_ip())
        .ok_or(PlanError::TooFar { trampolines: address, address: site.ip() })?;
    stub.bytes.push(0xE9); // jmp rel32
    stub.bytes.extend(distance.to_le_bytes());
    Ok(stub.bytes)
}

/// Only the call of the shim, to be put at `address`, before the site.
pub(crate) fn call(
    address: u64,
    (site, operand): (&Instruction, Operand),
    number: u32,
    entry: u64,
    flags: Flags,
) -> Result<Vec<u8>, PlanError> {
    let mut stub = Stub { address, bytes: Vec::new() };
    stub.call_shim((site, operand), number, entry, flags)?;
    Ok(stub.bytes)
}

/// Whether anybody looks at the flags again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// Somebody may.
    Live,
    /// Nobody does. Restoring the flags takes longer than all the rest of the stub.
    Dead,
}

/// Whether the instructions overwrite the flags before anybody looks at them.
pub(crate) fn overwrites_flags(moved: &[Instruction]) -> bool {
    const FLAGS: u32 = RflagsBits::OF
        | RflagsBits::SF
        | RflagsBits::ZF
        | RflagsBits::AF
        | RflagsBits::CF
        | RflagsBits::PF;
    let mut left = FLAGS;
    for instruction in moved {
        if instruction.rflags_read() & left != 0 {
            return false;
        }
        left &= !instruction.rflags_modified();
        if left == 0 {
            return true;
        }
        if instruction.flow_control() != FlowControl::Next {
            return false;
        }
    }
    false
}

/// From the end of a jump to its target, if that is within reach.
pub(crate) fn distance(from: u64, to: u64) -> Option<i32> {
    i32::try_from(to.wrapping_sub(from).cast_signed()).ok()
}

struct Stub {
    address: u64,
    bytes: Vec<u8>,
}

impl Stub {
    fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    /// Appends the call of the shim.
    fn call_shim(
        &mut self,
        (site, operand): (&Instruction, Operand),
        number: u32,
        entry: u64,
        flags: Flags,
    ) -> Result<(), PlanError> {
        let (enter, leave) = match flags {
            Flags::Dead => (&ENTER_WITHOUT_FLAGS, &LEAVE_WITHOUT_FLAGS[..]),
            Flags::Live => (&ENTER, &LEAVE[..]),
        };
        self.bytes.extend(enter);
        match operand {
            Operand::None => self.bytes.extend([0x31, 0xC0]), // xor eax, eax
            Operand::Memory => self.load_operand_address(site)?,
            // mov rax, rsi
            Operand::Register(Register::RSI) => self.bytes.extend([0x48, 0x89, 0xF0]),
            // mov rax, rdi
            Operand::Register(_) | Operand::FirstArgument => {
                self.bytes.extend([0x48, 0x89, 0xF8]);
            }
        }
        self.bytes.push(0x50); // push rax
        self.bytes.push(0x68); // push imm32
        self.bytes.extend(number.to_le_bytes());
        self.bytes.extend([0x48, 0xB8]); // mov rax, imm64
        self.bytes.extend(entry.to_le_bytes());
        self.bytes.extend([0xFF, 0xD0]); // call rax
        self.bytes.extend(leave);
        Ok(())
    }

    /// Appends `lea rax, [operand]`, for a stack pointer moved by [`ENTER`].
    fn load_operand_address(&mut self, site: &Instruction) -> Result<(), PlanError> {
        let base = site.memory_base();
        let on_stack = matches!(base, Register::RSP | Register::ESP);
        let (correction, size) = if on_stack {
            (StubFrame::DEPTH_AT_OPERAND as u64, 1)
        } else {
            (0, site.memory_displ_size())
        };
        let operand = MemoryOperand::new(
            base,
            site.memory_index(),
            site.memory_index_scale(),
            site.memory_displacement64().wrapping_add(correction).cast_signed(),
            size,
            false,
            Register::None,
        );
        let lea = Instruction::with2(Code::Lea_r64_m, Register::RAX, operand)
            .map_err(|error| immovable(site.ip(), &error))?;
        self.encode(&lea, site.ip())?;
        if site.memory_segment() == Register::FS {
            // add rax, fs:[0]: the address of the thread's own storage
            self.bytes.extend([0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0]);
        }
        Ok(())
    }

    /// Appends the instruction so that it means what it means at its own place.
    ///
    /// Each is a block of its own: within one block the encoder would turn a jump back to the
    /// site, as a loop around a compare-and-exchange has, into a jump that stays in the stub and
    /// passes by the shim.
    fn encode(&mut self, instruction: &Instruction, site: u64) -> Result<(), PlanError> {
        let block = InstructionBlock::new(std::slice::from_ref(instruction), self.end());
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE)
            .map_err(|error| immovable(site, &error))?;
        self.bytes.extend(encoded.code_buffer);
        Ok(())
    }
}

fn immovable(address: u64, error: &IcedError) -> PlanError {
    PlanError::Immovable { address, detail: error.to_string() }
}
