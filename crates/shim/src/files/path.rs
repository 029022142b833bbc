//! Paths as the program gives them, made absolute.

use super::{AT_FDCWD, MAX_PATH, listing};
use crate::memory::c_string;
use crate::sys::{errno, number, sys};

/// An absolute path without `.`, `..` and doubled slashes.
#[derive(Clone)]
pub(super) struct Path {
    pub(super) bytes: [u8; MAX_PATH],
    pub(super) length: usize,
}

impl Path {
    pub(super) fn root() -> Path {
        Path { bytes: [0; MAX_PATH], length: 0 }
    }

    pub(super) fn new(directory: i32, given: usize) -> Result<Path, i32> {
        let given = c_string(given);
        let mut path = Path::root();
        if given.is_empty() {
            return Err(errno::ENOENT);
        }
        if given[0] != b'/' && directory != AT_FDCWD {
            path = listing::path_of(directory)?;
        } else if given[0] != b'/' {
            let mut here = [0u8; MAX_PATH];
            let length = sys!(number::GETCWD, here.as_mut_ptr(), MAX_PATH);
            if length < 1 {
                return Err(errno::ENOENT);
            }
            path.extend(&here[..length as usize - 1])?;
        }
        path.extend(given)?;
        Ok(path)
    }

    pub(super) fn extend(&mut self, more: &[u8]) -> Result<(), i32> {
        for part in more.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    let kept = self.as_slice().iter().rposition(|&byte| byte == b'/');
                    self.length = kept.unwrap_or(0);
                }
                _ if self.length + part.len() + 2 > MAX_PATH => return Err(36),
                _ => {
                    self.bytes[self.length] = b'/';
                    self.bytes[self.length + 1..][..part.len()].copy_from_slice(part);
                    self.length += part.len() + 1;
                }
            }
        }
        Ok(())
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The folder that it is in; the root is in itself.
    pub(super) fn parent(&self) -> Path {
        let kept = self.as_slice().iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        Path { bytes: self.bytes, length: kept }
    }

    /// The bytes with a zero after them.
    pub(super) fn c_string(&mut self) -> usize {
        if self.length == 0 {
            self.bytes[0] = b'/';
            self.length = 1;
        }
        self.bytes[self.length] = 0;
        self.bytes.as_ptr() as usize
    }
}
