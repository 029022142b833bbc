//! Symbolisation: addresses to functions, source lines, variables and stacks.
//!
//! - [`Symbols`]: the modules of a process; answers questions about addresses.
//! - [`Frame`]: one function of a stack, as a person reads it.
//! - [`interesting`]: a stack without what is not the program's own.
//!
//! Everything comes from the bytes of the modules' files, so that a process can be asked about
//! after it ended. Debug information is read when it is first needed. It must be in the file
//! itself and not compressed; without it there are names of functions, if there are symbols.

mod debug;
mod frame;
mod module;
mod plain;
mod stack;
mod table;

pub(crate) use frame::called;
pub use frame::{Frame, StepOrigin, interesting};

use module::Loaded;
use stack::Stacks;
use std::path::PathBuf;
use std::sync::Arc;

/// A file that is loaded into the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Where the file was found.
    pub path: PathBuf,
    /// What was added to the addresses in the file.
    pub base: u64,
}

/// The registers that are needed to follow a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The next instruction.
    pub rip: u64,
    /// The top of the stack.
    pub rsp: u64,
    /// The frame pointer, in code that has one.
    pub rbp: u64,
}

/// The modules of a process.
pub struct Symbols {
    modules: Vec<Loaded>,
    stacks: Option<Stacks>,
}

impl Symbols {
    /// Takes the contents of each module's file, because a module need not be one on disk. What
    /// is not an ELF file is left out.
    pub fn new(modules: Vec<(Module, Arc<[u8]>)>) -> Self {
        let modules = modules.into_iter().filter_map(|(module, bytes)| Loaded::new(module, bytes));
        Symbols { modules: modules.collect(), stacks: None }
    }

    /// The addresses on a stack, innermost first: the next instruction, then return addresses.
    /// `read` gives the word at an address of the stack.
    pub fn unwind(
        &mut self,
        registers: Registers,
        read: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Vec<u64> {
        let stacks = self.stacks.get_or_insert_with(|| Stacks::new(&self.modules));
        let known = self.modules.iter().any(|module| module.contains(registers.rip));
        stacks.unwind(registers, known, read)
    }

    /// What is at an address of code, innermost first: more than one frame where functions were
    /// inlined, none outside of all modules.
    pub fn frames(&self, address: u64, is_return_address: bool) -> Vec<Frame> {
        // A return address is behind its call, which may be the last instruction of a function.
        let probe = address.wrapping_sub(u64::from(is_return_address));
        let module = self.modules.iter().find(|module| module.contains(probe));
        module.map_or_else(Vec::new, |module| module.frames(probe))
    }

    /// Whether debug information makes certain that an instruction is not atomic.
    pub(crate) fn is_plain(&self, address: u64) -> bool {
        let module = self.modules.iter().find(|module| module.contains(address));
        module.is_some_and(|module| module.is_plain(address.wrapping_sub(module.base)))
    }

    /// Whether debug information says that an instruction belongs to an atomic access. A compiler may
    /// merge a relaxed load and a relaxed store into one instruction.
    pub(crate) fn is_atomic(&self, address: u64) -> bool {
        let module = self.modules.iter().find(|module| module.contains(address));
        module.is_some_and(|module| module.is_atomic(address.wrapping_sub(module.base)))
    }

    /// The variable at an address of data: `name`, `name+8`, or the place in the module.
    pub fn variable(&self, address: u64) -> Option<String> {
        self.modules.iter().find(|module| module.contains(address))?.variable(address)
    }
}
