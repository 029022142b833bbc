//! What a thread is about to access, to be compared with what others are.

/// A memory access.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Access {
    pub(crate) address: usize,
    pub(crate) length: usize,
    pub(crate) writes: bool,
    pub(crate) is_plain: bool,
    pub(crate) frees: bool,
}

impl Access {
    /// None at all.
    pub(crate) const NONE: Access =
        Access { address: 0, length: 0, writes: false, is_plain: false, frees: false };
}

/// So many places at most are compared at once. A call of libc that accesses more stands before its step
/// several times.
pub(crate) const MOST_ACCESSES: usize = 4;

/// What a thread is about to access.
pub(crate) type Accesses = [Access; MOST_ACCESSES];
