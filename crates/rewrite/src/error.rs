//! Why a module cannot be rewritten.

/// Why a module cannot be patched. The text completes "cannot patch FILE: …".
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not an ELF file we can read.
    #[error("it is no readable x86-64 ELF file: {0}")]
    Elf(#[from] object::Error),
    /// Code for another machine.
    #[error("it is not for x86-64")]
    Architecture,
    /// The unwind tables, which say where functions are, are damaged.
    #[error("its unwind tables are damaged: {0}")]
    UnwindTables(#[from] gimli::Error),
    /// Something that locks, in code of which nothing says where its functions are.
    #[error(
        "there is a lock cmpxchg at {address:#x}, outside of all functions that unwind tables or \
         symbols tell of; build it with unwind tables, or do not strip it"
    )]
    UnknownFunction {
        /// Where the instruction is, in the file.
        address: u64,
    },
    /// The trampolines are not within the reach of a jump.
    #[error("the trampolines at {trampolines:#x} are too far from the instruction at {address:#x}")]
    TooFar {
        /// Where the stubs should have been.
        trampolines: u64,
        /// The instruction that cannot reach them.
        address: u64,
    },
    /// An instruction that our encoder does not know how to move.
    #[error("the instruction at {address:#x} cannot be moved: {detail}")]
    Immovable {
        /// Where the instruction is.
        address: u64,
        /// What the encoder says.
        detail: String,
    },
}
