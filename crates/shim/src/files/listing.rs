//! Listing directories: what the machine has there, in its order, without what the program removed,
//! and then what the program made.
//!
//! Where a listing stands is a number: that of a byte in what the machine told, and after all of
//! that, one for each file that the program may have made.

use super::host::copied;
use super::path::Path;
use super::{WRITTEN, slot, written};
use crate::descriptors::{Kind, Open, moved, used};
use crate::fail::stop;
use crate::guest;
use crate::memory::{c_string, load};
use crate::objects;
use crate::scheduler::point;
use crate::sys::{Answer, errno, number, sys};
use everypath_shim_abi::Operation;

/// Where the parts of a `struct linux_dirent64` are.
const NEXT: usize = 8;
const LENGTH: usize = 16;
const TYPE: usize = 18;
const NAME: usize = 19;

/// Copies what the machine tells of an open directory; returns how many bytes that is.
pub(super) fn copy_from_machine(path: &Path, opened: isize, to: usize) -> usize {
    if path.as_slice().starts_with(b"/proc/") || path.as_slice() == b"/proc" {
        stop!("listing a directory below /proc is not modelled: it is not deterministic");
    }
    let mut length = 0;
    loop {
        let got = sys!(number::GETDENTS64, opened, to + length, 1 << 16);
        if got <= 0 {
            return length;
        }
        length += got as usize;
    }
}

/// Whether something that is open is a directory.
pub(super) fn is_directory(open: Open) -> bool {
    let index = usize::from(open.index);
    match open.kind {
        Kind::Host => copied(index).is_directory(),
        Kind::Written => slot(index).get().directory,
        _ => false,
    }
}

/// The path of an open directory.
pub(super) fn path_of(descriptor: i32) -> Result<Path, i32> {
    let open = used(descriptor).ok_or(errno::EBADF)?.get();
    if !is_directory(open) {
        return Err(errno::ENOTDIR);
    }
    let index = usize::from(open.index);
    let mut path = Path::root();
    if open.kind == Kind::Host {
        path.extend(copied(index).path())?;
    } else {
        path.extend(slot(index).get().path())?;
    }
    Ok(path)
}

/// An entry of a directory.
struct Entry<'a> {
    inode: u64,
    name: &'a [u8],
    kind: u8,
    /// Where the listing stands after it.
    next: u64,
}

/// Does what the system call does.
pub(crate) fn list(descriptor: i32, address: usize, room: usize) -> Answer {
    point(Operation::FileRead, objects::paths());
    let folder = path_of(descriptor)?;
    let slot = moved(descriptor).ok_or(errno::EBADF)?;
    let (mut open, mut used) = (slot.get(), 0);
    while let Some(entry) = entry_at(open, &folder)? {
        let length = crate::memory::round_up(NAME + entry.name.len() + 1, 8);
        if used + length > room {
            if used == 0 {
                return Err(errno::EINVAL);
            }
            break;
        }
        let at = address + used;
        guest::zero(at, length)?;
        guest::store(at, entry.inode)?;
        guest::store(at + NEXT, entry.next)?;
        guest::store(at + LENGTH, length as u16)?;
        guest::store(at + TYPE, entry.kind)?;
        guest::write(at + NAME, entry.name)?;
        used += length;
        open.offset = entry.next;
    }
    slot.set(open);
    Ok(used as isize)
}

/// The first entry from where a listing stands.
fn entry_at(open: Open, folder: &Path) -> Result<Option<Entry<'static>>, i32> {
    const DIRECTORY: u8 = 4;
    let own = [(&b"."[..], 1), (&b".."[..], 2)];
    let (told, length) = match open.kind {
        Kind::Host => {
            let file = copied(usize::from(open.index));
            (file.data, file.length)
        }
        _ => (0, own.len()),
    };
    let mut at = open.offset as usize;
    while at < length {
        if told == 0 {
            let (name, next) = own[at];
            return Ok(Some(Entry { inode: 1, name, kind: DIRECTORY, next }));
        }
        let entry = told + at;
        at += usize::from(load::<u16>(entry + LENGTH));
        let name = c_string(entry + NAME);
        if !is_removed(folder, name)? {
            let (inode, kind) = (load(entry), load(entry + TYPE));
            return Ok(Some(Entry { inode, name, kind, next: at as u64 }));
        }
    }
    Ok((at - length..WRITTEN).find_map(|index| {
        let next = (length + index + 1) as u64;
        let file = slot(index).get();
        let name = file.path().strip_prefix(folder.as_slice())?.strip_prefix(b"/")?;
        let is_inside = file.used && !file.removed && !name.contains(&b'/');
        let is_told = told != 0 && is_told(told, length, name);
        let number = usize::from(file.alias_of).checked_sub(1).unwrap_or(index);
        let inode = 1_000_000 + number as u64;
        let kind = (file.file().mode >> 12) as u8;
        (is_inside && !is_told).then_some(Entry { inode, name, kind, next })
    }))
}

/// Whether the program removed something of the machine's.
fn is_removed(folder: &Path, name: &[u8]) -> Result<bool, i32> {
    if matches!(name, b"." | b"..") {
        return Ok(false);
    }
    let mut path = folder.clone();
    path.extend(name)?;
    Ok(written(path.as_slice()).is_some_and(|index| slot(index).get().removed))
}

/// Whether the machine told of a name.
fn is_told(told: usize, length: usize, name: &[u8]) -> bool {
    let mut at = 0;
    while at < length {
        if c_string(told + at + NAME) == name {
            return true;
        }
        at += usize::from(load::<u16>(told + at + LENGTH));
    }
    false
}
