//! Which memory an instruction accesses, in terms of registers.

use crate::image::Image;
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction that loads and then stores, not atomically.
    Update,
    /// An instruction with a lock prefix, or an `xchg`.
    Atomic,
    /// The same, of a lock of Rust's standard library. Nobody but the lock itself looks at its word, and
    /// what that loads before it exchanges makes no difference.
    Lock,
}

impl AccessKind {
    /// Whether it changes memory.
    pub const fn writes(self) -> bool {
        !matches!(self, AccessKind::Read)
    }
}

/// Whether an access is a step by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// It is not.
    Never,
    /// It is, whatever it accesses.
    Always,
    /// It is if it accesses memory that is armed.
    Armed,
}

/// One access of a block: `[thread + base + index * scale + displacement]`, whose registers are words of
/// the block's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Added to the words; with the load address, if there are none.
    pub displacement: i64,
    /// Which word is the base.
    pub base: Option<u8>,
    /// Which word is the index.
    pub index: Option<u8>,
    /// What the index is multiplied by.
    pub scale: u8,
    /// Which word is the address of the thread's own storage, if the access is to that.
    pub thread: Option<u8>,
    /// Which word says how often the access is repeated, each behind the last.
    pub count: Option<u8>,
    /// How many bytes.
    pub size: u16,
    /// How.
    pub kind: AccessKind,
    /// Whether a scheduling point comes right before it, so that it is a step.
    pub point: Point,
    /// The instruction, as an address of the file.
    pub site: u64,
}

/// An access of an instruction in terms of registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) base: Register,
    pub(super) index: Register,
    pub(super) scale: u8,
    pub(super) displacement: u64,
    /// Whether it is to the thread's own storage, by `fs`.
    pub(super) is_thread_local: bool,
    pub(super) repeated: bool,
    /// Whether it may not happen, or not to all of its bytes.
    pub(super) is_conditional: bool,
    pub(super) size: u16,
    pub(super) kind: AccessKind,
}

/// The accesses of an instruction that others could see. Left out are those to what the C library keeps
/// for each thread, and to memory that nobody writes; and what a call, a return, a `push` or a `pop` does to
/// the stack: whoever else accessed that would use a frame that is gone.
pub(super) fn operands(
    image: &Image<'_>,
    instruction: &Instruction,
    factory: &mut InstructionInfoFactory,
) -> Vec<Operand> {
    if touches_nothing(instruction) {
        return Vec::new();
    }
    let used = factory.info(instruction).used_memory();
    used.iter().filter_map(|memory| operand(image, instruction, memory)).collect()
}

/// Prefetches, and instructions that only compute an address.
fn touches_nothing(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Nop
            | Mnemonic::Lea
            | Mnemonic::Endbr64
            | Mnemonic::Prefetch
            | Mnemonic::Prefetchw
            | Mnemonic::Prefetchwt1
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchnta
    )
}

fn operand(image: &Image<'_>, instruction: &Instruction, memory: &UsedMemory) -> Option<Operand> {
    let kind = match memory.access() {
        OpAccess::NoMemAccess | OpAccess::None => return None,
        OpAccess::Read | OpAccess::CondRead => AccessKind::Read,
        OpAccess::Write | OpAccess::CondWrite => AccessKind::Write,
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => AccessKind::Update,
    };
    let kind = if is_atomic(instruction) { AccessKind::Atomic } else { kind };
    let is_thread_local = memory.segment() == Register::FS;
    if memory.segment() == Register::GS || is_thread_local && is_header(memory) {
        return None;
    }
    let index = memory.index();
    let base = if memory.base() == Register::RIP { Register::None } else { memory.base() };
    if base == Register::RSP && index == Register::None && uses_top_of_stack(instruction) {
        return None;
    }
    let displacement = memory.displacement();
    let is_static = base == Register::None && index == Register::None && !is_thread_local;
    let is_unseen = image.is_read_only(displacement) || image.left_out.contains(&displacement);
    if is_static && is_unseen {
        return None;
    }
    let repeated = is_repeated(instruction);
    let scale = memory.scale() as u8;
    // Of what is repeated the disassembler says no size, since it depends on a register.
    let size = if repeated { instruction.memory_size() } else { memory.memory_size() };
    let size = size.size() as u16;
    let is_conditional = matches!(
        memory.access(),
        OpAccess::CondRead | OpAccess::CondWrite | OpAccess::ReadCondWrite
    );
    Some(Operand {
        base,
        index,
        scale,
        displacement,
        is_thread_local,
        repeated,
        is_conditional,
        size,
        kind,
    })
}

/// Whether an access by `fs` is to the head of the thread's storage: its own address, the canary of
/// stacks and the like. Variables are below it.
fn is_header(memory: &UsedMemory) -> bool {
    let is_constant = memory.base() == Register::None && memory.index() == Register::None;
    is_constant && memory.displacement().cast_signed() >= 0
}

/// Whether the processor executes it as one access that nobody comes between.
pub(super) fn is_atomic(instruction: &Instruction) -> bool {
    instruction.has_lock_prefix()
        || instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_kind() == OpKind::Memory
}

/// Whether an instruction is repeated as often as `rcx` says.
pub(super) fn is_repeated(instruction: &Instruction) -> bool {
    instruction.is_string_instruction()
        && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// Whether an instruction, if it is repeated, ends where it finds something.
pub(super) fn is_search(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Cmpsb
            | Mnemonic::Cmpsw
            | Mnemonic::Cmpsd
            | Mnemonic::Cmpsq
            | Mnemonic::Scasb
            | Mnemonic::Scasw
            | Mnemonic::Scasd
            | Mnemonic::Scasq
    )
}

fn uses_top_of_stack(instruction: &Instruction) -> bool {
    instruction.is_stack_instruction()
        || matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall | FlowControl::Return
        )
}
