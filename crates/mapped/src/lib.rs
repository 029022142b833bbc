//! A file as bytes in memory: mapped, so that opening it costs nothing and only what is looked at
//! is read.
//!
//! This is a crate of its own because mapping a file is the one thing outside the native crates
//! that cannot be done without unsafe code. It is kept to a single call.

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file, which must not be changed in place while this lives.
///
/// Replacing the file by another of the same name is fine: the bytes stay those of the old one.
pub struct Mapped {
    map: Mmap,
}

impl Mapped {
    /// Maps a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // JUSTIFICATION: there is no safe interface to mapped files, and reading a graph of several
        // gigabytes would take longer than it saves.
        // SAFETY: the map is private and read-only. What remains is that somebody else changes or
        // truncates the file in place meanwhile. Everypath itself never does: it replaces files by
        // renaming. All that is read from the bytes is checked where it is used, so changed bytes
        // give a message or a miss; a truncated file ends the program with a bus error, as it does
        // in every program that maps files.
        #[expect(unsafe_code, reason = "mapping a file; see above")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Mapped { map })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_mapped_file_keeps_its_bytes_when_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, b"old").unwrap();
        let mapped = Mapped::open(&path).unwrap();
        fs::write(&other, b"new and longer").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(&mapped[..], b"old");
        assert_eq!(&Mapped::open(&path).unwrap()[..], b"new and longer");
    }

    #[test]
    fn what_is_not_a_file_is_refused_and_an_empty_file_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Mapped::open(folder.path()).is_err());
        assert!(Mapped::open(&folder.path().join("missing")).is_err());
        fs::write(folder.path().join("empty"), b"").unwrap();
        assert!(Mapped::open(&folder.path().join("empty")).unwrap().is_empty());
    }
}
