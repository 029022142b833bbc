//! The arguments of syscalls: which of them are pointers, and to how much.

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number: nothing is behind it.
    Value,
    /// A descriptor.
    Descriptor,
    /// A directory's descriptor, or `AT_FDCWD`.
    Directory,
    /// The address of a C string that names a file.
    Path,
    /// The address of other memory.
    Pointer(Pointer),
}

/// An address, and what the kernel does to the memory there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Whether the kernel writes there; otherwise it only reads.
    pub is_written: bool,
    /// How many bytes are meant.
    pub length: Length,
    /// Whether 0 means that there is nothing.
    pub is_optional: bool,
}

/// How many bytes a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Always so many.
    Bytes(usize),
    /// As many as an argument says.
    Argument(usize),
    /// An argument says how many, of so many bytes each.
    Elements {
        /// The bytes of each.
        size: usize,
        /// The argument.
        count: usize,
    },
}

impl Pointer {
    /// The bytes that are meant in a call with these arguments.
    pub fn bytes(&self, arguments: &[usize; 6]) -> usize {
        match self.length {
            Length::Bytes(bytes) => bytes,
            Length::Argument(argument) => arguments[argument],
            Length::Elements { size, count } => size.saturating_mul(arguments[count]),
        }
    }
}

pub(super) const INT: Argument = Argument::Value;
pub(super) const FD: Argument = Argument::Descriptor;
pub(super) const AT: Argument = Argument::Directory;
pub(super) const PATH: Argument = Argument::Path;

const fn pointer(is_written: bool, length: Length) -> Argument {
    Argument::Pointer(Pointer { is_written, length, is_optional: false })
}

pub(super) const fn reads(bytes: usize) -> Argument {
    pointer(false, Length::Bytes(bytes))
}

pub(super) const fn writes(bytes: usize) -> Argument {
    pointer(true, Length::Bytes(bytes))
}

/// Reads and writes: what can be written can be read.
pub(super) const fn changes(bytes: usize) -> Argument {
    writes(bytes)
}

pub(super) const fn reads_by(argument: usize) -> Argument {
    pointer(false, Length::Argument(argument))
}

pub(super) const fn writes_by(argument: usize) -> Argument {
    pointer(true, Length::Argument(argument))
}

pub(super) const fn reads_each(size: usize, count: usize) -> Argument {
    pointer(false, Length::Elements { size, count })
}

pub(super) const fn writes_each(size: usize, count: usize) -> Argument {
    pointer(true, Length::Elements { size, count })
}

pub(super) const fn changes_each(size: usize, count: usize) -> Argument {
    writes_each(size, count)
}

pub(super) const fn opt(argument: Argument) -> Argument {
    match argument {
        Argument::Pointer(pointer) => Argument::Pointer(Pointer { is_optional: true, ..pointer }),
        other => other,
    }
}
