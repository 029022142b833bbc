//! Listing directories: what the machine has there, in its order, without what the program removed,
//! and then what the program made.
//!
//! Where a listing stands is a number: that of a byte in what the machine told, and after all of
//! that, one for each file that the program may have made.

use super::host::copied;
use super::path::Path;
use super::{WRITTEN, slot, written};
use crate::descriptors::{self, Kind, Open, moved, used};
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
    if path.as_slice() == DESCRIPTORS {
        return 0;
    }
    // Settings and interfaces of the machine do not change.
    let is_constant = |folder: &&[u8]| path.as_slice().starts_with(folder);
    let is_constant = [&b"/proc/sys/"[..], b"/proc/net/"].iter().any(is_constant);
    let is_below = path.as_slice().starts_with(b"/proc/") || path.as_slice() == b"/proc";
    if is_below && !is_constant {
        let path = core::str::from_utf8(path.as_slice()).unwrap_or("?");
        stop!("listing {path} is not modelled: it is not deterministic");
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

/// The directory in which a process finds its own descriptors.
pub(super) const DESCRIPTORS: &[u8] = b"/proc/self/fd";

/// An entry of the directory of descriptors: after `.` and `..`, one for each that is open.
fn descriptor_at(at: usize, name: &mut [u8; 8]) -> Option<(usize, u64)> {
    if at < 2 {
        name[..=at].fill(b'.');
        return Some((at + 1, at as u64 + 1));
    }
    let number = (at - 2..descriptors::LIMIT).find(|&it| descriptors::is_open(it as i32))?;
    let (mut digits, mut rest) = (0, number);
    while digits == 0 || rest > 0 {
        name.copy_within(..digits, 1);
        name[0] = b'0' + (rest % 10) as u8;
        (digits, rest) = (digits + 1, rest / 10);
    }
    Some((digits, number as u64 + 3))
}

/// Lists the descriptors that are open.
fn list_descriptors(open: &mut Open, address: usize, room: usize) -> Answer {
    const LINK: u8 = 10;
    const DIRECTORY: u8 = 4;
    let (mut used, mut name) = (0, [0; 8]);
    while let Some((length, next)) = descriptor_at(open.offset as usize, &mut name) {
        let kind = if next <= 2 { DIRECTORY } else { LINK };
        let name = &name[..length];
        let size = put(&Entry { inode: next, name, kind, next }, address + used, room - used)?;
        if size == 0 {
            break;
        }
        used += size;
        open.offset = next;
    }
    Ok(used as isize)
}

/// Writes an entry; how many bytes that is, or 0 if there is no room.
fn put(entry: &Entry<'_>, at: usize, room: usize) -> Result<usize, i32> {
    let length = crate::memory::round_up(NAME + entry.name.len() + 1, 8);
    if length > room {
        return Ok(0);
    }
    guest::zero(at, length)?;
    guest::store(at, entry.inode)?;
    guest::store(at + NEXT, entry.next)?;
    guest::store(at + LENGTH, length as u16)?;
    guest::store(at + TYPE, entry.kind)?;
    guest::write(at + NAME, entry.name)?;
    Ok(length)
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
    if folder.as_slice() == DESCRIPTORS {
        used = list_descriptors(&mut open, address, room)? as usize;
        slot.set(open);
        return Ok(used as isize);
    }
    while let Some(entry) = entry_at(open, &folder)? {
        match put(&entry, address + used, room - used)? {
            0 if used == 0 => return Err(errno::EINVAL),
            0 => break,
            length => used += length,
        }
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
