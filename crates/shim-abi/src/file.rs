/// What comes before the path and the bytes of a file that is handed from one side to the other.
///
/// Files follow each other in the memory file behind [`FILES`](crate::reserved_fds::FILES): those that the program
/// finds, at its start; those that it leaves behind, at the end of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FileHeader {
    /// Type and permissions, as in `st_mode`.
    pub mode: u32,
    /// How many bytes the path has, the zero at its end included.
    pub path_length: u32,
    /// How many bytes the file has, after the path.
    pub length: u64,
}

/// The path of the file that the program reads as standard input, if there is one.
pub const STANDARD_INPUT: &str = "/dev/stdin";

/// The type of a folder, in [`FileHeader::mode`].
pub const FOLDER: u32 = 0o040_000;
/// The type of a file with bytes.
pub const REGULAR: u32 = 0o100_000;
