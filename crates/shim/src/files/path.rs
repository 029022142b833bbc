//! Paths as the program gives them, made absolute.

use super::{MAX_PATH, directory, listing, slot};
use crate::guest;
use crate::sys::errno;

/// Stands for the working directory.
pub(crate) const AT_FDCWD: i32 = -100;

/// A path that the program gives: where it begins, and the address of its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub(crate) i32, pub(crate) usize);

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

    /// The path of a file: symbolic links of the program's are followed.
    pub(super) fn new(at: At) -> Result<Path, i32> {
        Path::of_link(at)?.followed(true)
    }

    /// The path of what may be a symbolic link itself.
    pub(super) fn of_link(At(directory, given): At) -> Result<Path, i32> {
        Path::of_text(directory, guest::c_string(given)?)?.followed(false)
    }

    /// The path that a text means.
    pub(super) fn of_text(directory: i32, given: &[u8]) -> Result<Path, i32> {
        let mut path = match given.first() {
            None => return Err(errno::ENOENT),
            Some(b'/') => Path::root(),
            Some(_) if directory == AT_FDCWD => directory::working_directory()?,
            Some(_) => listing::path_of(directory)?,
        };
        path.extend(given)?;
        path.as_own_process()?;
        Ok(path)
    }

    /// What a process finds below its own number, and in `/dev/fd`, it finds below `/proc/self`.
    fn as_own_process(&mut self) -> Result<(), i32> {
        const SELF: &[u8] = b"/proc/self";
        let mut text = self.bytes;
        let whole = &mut text[..self.length];
        let rest = if let Some(rest) = whole.strip_prefix(b"/dev/fd") {
            rest.is_empty().then_some((b"/fd".as_slice(), rest))
        } else {
            let number = crate::state::first_tid();
            let digits = whole.strip_prefix(b"/proc/").unwrap_or_default();
            let end = digits.iter().position(|&byte| byte == b'/').unwrap_or(digits.len());
            let given = core::str::from_utf8(&digits[..end]).ok();
            let is_own = given.and_then(|text| text.parse().ok()) == Some(number);
            is_own.then_some((b"".as_slice(), &digits[end..]))
        };
        if let Some((first, rest)) = rest {
            *self = Path::root();
            self.extend(SELF)?;
            self.extend(first)?;
            self.extend(rest)?;
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, more: &[u8]) -> Result<(), i32> {
        const LONGEST_NAME: usize = 255;
        const LONGEST_PATH: usize = 4096;
        const ENAMETOOLONG: i32 = 36;
        for part in more.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    let kept = self.as_slice().iter().rposition(|&byte| byte == b'/');
                    self.length = kept.unwrap_or(0);
                }
                _ if part.len() > LONGEST_NAME || more.len() >= LONGEST_PATH => {
                    return Err(ENAMETOOLONG);
                }
                _ if self.length + part.len() + 2 > MAX_PATH => {
                    crate::fail::stop!("a path of more than {MAX_PATH} bytes is not modelled")
                }
                _ => {
                    self.bytes[self.length] = b'/';
                    self.bytes[self.length + 1..][..part.len()].copy_from_slice(part);
                    self.length += part.len() + 1;
                }
            }
        }
        Ok(())
    }

    /// The path with symbolic links of the program's replaced by what they lead to.
    fn followed(mut self, last_too: bool) -> Result<Path, i32> {
        const MOST: usize = 40;
        for _ in 0..MOST {
            let Some((link, end)) = self.first_link(last_too) else { return Ok(self) };
            let mut target = Path { bytes: self.bytes, length: end }.parent();
            let text = slot(link).get().data();
            if text.first() == Some(&b'/') {
                target = Path::root();
            }
            target.extend(text)?;
            target.extend(&self.as_slice()[end..])?;
            self = target;
        }
        Err(errno::ELOOP)
    }

    /// The first part of the path that is a symbolic link: its entry, and where it ends.
    fn first_link(&self, last_too: bool) -> Option<(usize, usize)> {
        let links = super::links();
        let found = links.filter_map(|(index, link)| {
            let rest = self.as_slice().strip_prefix(link.path())?;
            let is_part = rest.first() == Some(&b'/') || rest.is_empty() && last_too;
            is_part.then_some((index, link.path_length))
        });
        found.min_by_key(|&(_, end)| end)
    }

    /// The descriptor whose entry below `/proc/self/fd` this is.
    pub(super) fn descriptor(&self) -> Option<i32> {
        let number = self.as_slice().strip_prefix(b"/proc/self/fd/")?;
        core::str::from_utf8(number).ok()?.parse().ok()
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
        let end = self.length.max(1);
        self.bytes[0] = b'/';
        self.bytes[end] = 0;
        self.bytes.as_ptr() as usize
    }
}
