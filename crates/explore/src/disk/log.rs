//! A file that only grows, and is cut back to a known length when a search is resumed.

use super::DiskError;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How many bytes are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// A file that only grows.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// How many bytes are in the file, and those that are not yet.
    written: u64,
    pending: Vec<u8>,
}

impl Log {
    /// Opens a file whose first `len` bytes are valid and forgets the rest; makes it if there is none
    /// and none is expected.
    pub(super) fn open(path: &Path, len: u64) -> Result<Log, DiskError> {
        let failed = DiskError::at(path);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(len == 0).truncate(false).open(path);
        let file = file.map_err(failed)?;
        if file.metadata().map_err(failed)?.len() < len {
            return Err(DiskError::damaged(path, "it is shorter than the checkpoint says"));
        }
        file.set_len(len).map_err(failed)?;
        Ok(Log { path: path.into(), file, written: len, pending: Vec::with_capacity(BUFFER) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes what is gathered.
    pub(super) fn flush(&mut self) -> Result<(), DiskError> {
        let failed = DiskError::at(&self.path);
        self.file.write_all_at(&self.pending, self.written).map_err(failed)?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Lets it outlive a crash of the machine.
    pub(super) fn sync(&mut self) -> Result<(), DiskError> {
        self.flush()?;
        self.file.sync_data().map_err(DiskError::at(&self.path))
    }

    /// Reads bytes that were written.
    pub(super) fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), DiskError> {
        self.file.read_exact_at(bytes, at).map_err(DiskError::at(&self.path))
    }
}
