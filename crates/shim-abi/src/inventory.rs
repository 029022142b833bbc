//! The modules and the threads of a program, as a worker lists them for the checker.

use crate::{MAX_TEXT, Object, OperationKind, Phase, Waiting};

/// A loaded module: the program or a library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ModuleEntry {
    /// What is added to the addresses in its file.
    pub base: u64,
    /// Where its trampolines may be placed, or 0 if it is not to be patched.
    pub trampolines: u64,
    /// How much room there is for them.
    pub trampolines_size: u64,
    /// Its path.
    pub path: [u8; MAX_TEXT],
}

/// A thread as it stands at the end of an execution.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadEntry {
    /// The thread's number.
    pub number: u16,
    /// What it does or did last.
    pub operation: OperationKind,
    /// Whether it asks or waits.
    pub phase: Phase,
    /// What it waits for.
    pub waiting: Waiting,
    /// What it waits on.
    pub object: Object,
    /// Who holds that, plus one; 0 if nobody does or it is not known.
    pub holder: u16,
    /// The other end of the socket that it waits at, if it is known.
    pub far: Object,
    /// One more than the process whose end that is; 0 if it is not known.
    pub across: u16,
    /// The call that allocated the block of the heap in which the object lies, by its number; 0 if there
    /// is none, or if nobody replays the execution.
    pub allocation: u32,
    /// Instruction pointer, stack pointer and frame pointer.
    pub registers: [u64; 3],
    /// The top of its stack.
    pub stack_top: u64,
    /// Its name, as the program set it.
    pub name: [u8; 16],
}
