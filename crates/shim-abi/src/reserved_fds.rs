//! File descriptors under which the checker hands memory files to a process that it starts.
//!
//! The checker puts each file there between `fork` and `exec`; the shim maps the files before `main`
//! and closes all descriptors but [`FILES`]. The numbers lie above what a loader opens by itself.

/// What takes the place of ThreadSanitizer's runtime, which the loader opens by
/// [`TSAN_PATH`](crate::preload::TSAN_PATH); only of programs that ask for that.
pub const TSAN: i32 = 193;
/// Memory that the processes of a closed system share.
pub const SHARED_STATE: i32 = 194;
/// The region of the first process, for the other processes of a closed system.
pub const FIRST_REGION: i32 = 195;
/// Files that the program finds at its start and leaves behind: see [`FileHeader`](crate::FileHeader).
pub const FILES: i32 = 196;
/// Communication trees: what was sent to peers and what they answered.
pub const TREES: i32 = 197;
/// The process's own [`Region`](crate::Region).
pub const REGION: i32 = 198;
/// The shim itself, which the loader opens by [`SHIM_PATH`](crate::preload::SHIM_PATH).
pub const SHIM: i32 = 199;
