//! The embedded shim as a memory file that the loader can open.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// The library that is preloaded into programs.
pub(crate) static SHIM: &[u8] = include_bytes!(env!("EVERYPATH_SHIM"));

/// The library that takes the place of ThreadSanitizer's runtime.
pub(crate) static TSAN: &[u8] = include_bytes!(env!("EVERYPATH_TSAN"));

/// A file in memory that is gone with the last process that has it open.
pub(crate) fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: the name is a C string. JUSTIFICATION: std has no anonymous files.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and is nobody else's.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// The shim in a file.
pub(crate) fn file() -> io::Result<File> {
    let mut file = memory_file(c"everypath-shim")?;
    file.write_all(SHIM)?;
    Ok(file)
}

/// What takes the place of ThreadSanitizer's runtime, in a file: a library of this name.
pub(crate) fn tsan_file(name: &str) -> io::Result<File> {
    let mut library = TSAN.to_vec();
    let own = c"libtsan.so.2".to_bytes();
    // Versions differ in one digit.
    if let Some(at) = library.windows(own.len()).position(|found| found == own)
        && name.len() == own.len()
    {
        library[at..at + own.len()].copy_from_slice(name.as_bytes());
    }
    let mut file = memory_file(c"everypath-tsan")?;
    file.write_all(&library)?;
    Ok(file)
}

/// A file in memory, and the descriptor under which others find it.
pub fn anonymous_file() -> io::Result<(File, RawFd)> {
    let file = memory_file(c"everypath")?;
    let descriptor = file.as_raw_fd();
    Ok((file, descriptor))
}
