//! What is known of the files that the program wrote.

use core::cell::Cell;

/// So many names of files the program may make or change.
pub(crate) const WRITTEN: usize = 128;
/// Of so many directories of the machine the program may change the owner or the mode.
pub(crate) const CHANGED: usize = 8;
/// A name that the program gave to a file, with the file; or another name for it; or a name of the
/// machine's that it took away.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Written {
    pub(crate) used: bool,
    pub(crate) removed: bool,
    pub(crate) directory: bool,
    /// One more than the entry of the file that this is another name for; 0 if it is a file.
    pub(crate) alias_of: u16,
    pub(crate) mode: u32,
    /// User and group.
    pub(crate) owner: [u32; 2],
    /// Whether it was mapped to be shared: its bytes then stay where they are.
    pub(crate) is_mapped: bool,
    /// Where its path is, and how long it is.
    pub(crate) path: usize,
    pub(crate) path_length: usize,
    pub(crate) data: usize,
    pub(crate) length: usize,
    pub(crate) capacity: usize,
}

/// A directory of the machine whose owner or mode the program has changed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Changed {
    pub(crate) path: usize,
    pub(crate) path_length: usize,
    pub(crate) mode: u32,
    pub(crate) owner: [u32; 2],
}

/// What the program wrote: part of every snapshot.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Files {
    pub(crate) written: [Cell<Written>; WRITTEN],
    pub(crate) changed: [Cell<Changed>; CHANGED],
    /// The path of the working directory; none if it is still the one that the program began in.
    pub(crate) directory: Cell<(usize, usize)>,
}
