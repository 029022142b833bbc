//! The embedded shim as a memory file that the loader can open.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// The library that is preloaded into programs.
pub(crate) static SHIM: &[u8] = include_bytes!(env!("EVERYPATH_SHIM"));

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

/// A file in memory, and the descriptor under which others find it.
pub fn anonymous_file() -> io::Result<(File, RawFd)> {
    let file = memory_file(c"everypath")?;
    let descriptor = file.as_raw_fd();
    Ok((file, descriptor))
}
