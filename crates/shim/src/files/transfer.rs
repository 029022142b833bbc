//! Reading and writing files.

use super::host::copied;
use super::path::{At, Path};
use super::status::check_writable;
use super::{listing, resize, shared, slot};
use crate::descriptors::{self, ACCESS_MODE, Kind, Open, get, used};
use crate::guest;
use crate::multi_process;
use crate::objects;
use crate::scheduler::point;
use crate::sys::{Answer, answer, errno};
use crate::worker::KERNEL;
use core::cell::Cell;
use everypath_shim_abi::Operation;

const WRITE_ONLY: i32 = 1;

/// Whether a descriptor is open on a file of the machine, as it is there.
pub(crate) fn is_of_machine(descriptor: i32) -> bool {
    get(descriptor).is_some_and(|open| open.get().kind == Kind::Host)
}

/// The bytes behind a descriptor: address and length.
pub(crate) fn contents(descriptor: i32) -> Option<(usize, usize)> {
    bytes_of(get(descriptor)?.get())
}

fn bytes_of(open: Open) -> Option<(usize, usize)> {
    match open.kind {
        _ if listing::is_directory(open) => None,
        Kind::Host => {
            let file = copied(usize::from(open.index));
            Some((file.data, file.length))
        }
        Kind::Written => {
            let file = slot(usize::from(open.index)).get();
            Some((file.data, file.length))
        }
        _ => None,
    }
}

/// How many bytes of a file can be read from where a descriptor stands; none if it is no file.
pub(crate) fn unread(descriptor: i32) -> Option<usize> {
    let (_, size) = contents(descriptor)?;
    let offset = get(descriptor)?.get().offset as usize;
    Some(size.saturating_sub(offset))
}

/// Whether a descriptor is open on `/dev/zero`.
pub(crate) fn is_zeros(descriptor: i32) -> bool {
    get(descriptor).is_some_and(|open| open.get().kind == Kind::Zero)
}

/// Does what the system call does; without an offset, at the descriptor's own.
pub(crate) fn read(descriptor: i32, address: usize, length: usize, at: Option<u64>) -> Answer {
    let is_file =
        get(descriptor).is_some_and(|open| matches!(open.get().kind, Kind::Host | Kind::Written));
    let found = match at {
        None if is_file => descriptors::moved(descriptor),
        Some(_) if is_file => used(descriptor),
        _ => descriptors::found(descriptor),
    };
    let slot = found.ok_or(errno::EBADF)?;
    let mut open = slot.get();
    if open.flags & ACCESS_MODE == WRITE_ONLY {
        return Err(errno::EBADF);
    }
    guest::check_range(address, length)?;
    match open.kind {
        Kind::Object if at.is_some() => Err(errno::ESPIPE),
        Kind::Object => {
            guest_buffer(address, length, true)?;
            answer(crate::net::syscalls::read(descriptor, address, length))
        }
        Kind::Zero => {
            let room = guest::writable(address, length)?;
            room.fill(0);
            Ok(room.len() as isize)
        }
        Kind::Random => everypath_vkernel::random::read(KERNEL, address, length),
        Kind::Host | Kind::Written if listing::is_directory(open) => Err(errno::EISDIR),
        Kind::Host | Kind::Written => {
            if open.kind == Kind::Written {
                point(Operation::FileRead, objects::file(open.index));
                let from = at.unwrap_or(slot.get().offset) as usize;
                shared::note_access(usize::from(open.index), (from, length), false);
                open = slot.get();
            }
            let Some((start, size)) = contents(descriptor) else { return Ok(0) };
            let offset = (at.unwrap_or(open.offset) as usize).min(size);
            let room = guest::writable(address, length.min(size - offset))?;
            room.copy_from_slice(crate::memory::bytes(start + offset, room.len()));
            if at.is_none() {
                open.offset += room.len() as u64;
                slot.set(open);
            }
            Ok(room.len() as isize)
        }
        Kind::Empty => {
            multi_process::note_empty_input();
            Ok(0)
        }
        Kind::Null | Kind::Stream | Kind::Closed => Ok(0),
    }
}

/// Looks whether a buffer of a socket or pipe begins at an address that can be used.
fn guest_buffer(address: usize, length: usize, is_written: bool) -> Result<(), i32> {
    match is_written {
        true => guest::writable(address, length.min(1)).map(|_| ()),
        false => guest::readable(address, length.min(1)).map(|_| ()),
    }
}

/// Does what the system call does; without an offset, at the descriptor's own.
pub(crate) fn write_to(descriptor: i32, address: usize, length: usize, at: Option<u64>) -> Answer {
    let slot = descriptors::found(descriptor).ok_or(errno::EBADF)?;
    let open = slot.get();
    guest::check_range(address, length)?;
    match open.kind {
        Kind::Object if at.is_some() => Err(errno::ESPIPE),
        Kind::Object => {
            guest_buffer(address, length, false)?;
            answer(crate::net::syscalls::write(descriptor, address, length))
        }
        Kind::Stream => crate::output::write(usize::from(open.index), address, length),
        Kind::Written if open.flags & ACCESS_MODE != 0 => {
            point(Operation::FileWrite(length as u64), objects::file(open.index));
            let (index, own) = (usize::from(open.index), slot.get().offset);
            let end = super::slot(index).get().length;
            let to = at.map_or(if open.append { end } else { own as usize }, |at| at as usize);
            shared::note_access(index, (to, length), true);
            let given = guest::readable(address, length)?;
            let mut open = slot.get();
            let offset = put(usize::from(open.index), given, at, (open.append, open.offset));
            if at.is_none() {
                open.offset = offset as u64;
                slot.set(open);
            }
            Ok(given.len() as isize)
        }
        Kind::Null | Kind::Zero | Kind::Random | Kind::Empty => Ok(length as isize),
        Kind::Host | Kind::Written | Kind::Closed => Err(errno::EBADF),
    }
}

/// Writes bytes into a file; returns where the next ones go.
fn put(index: usize, given: &[u8], at: Option<u64>, (append, own): (bool, u64)) -> usize {
    let size = slot(index).get().length;
    let offset = match at {
        Some(offset) => offset as usize,
        None if append => size,
        None => own as usize,
    };
    if !given.is_empty() {
        resize(index, size.max(offset + given.len()));
        crate::memory::write(slot(index).get().data + offset, given);
    }
    offset + given.len()
}

/// How many bytes a file has, or none what is a directory; `None` if it is neither.
pub(crate) fn length(open: Open) -> Option<usize> {
    match bytes_of(open) {
        Some((_, size)) => Some(size),
        None => listing::is_directory(open).then_some(0),
    }
}

/// Does what `ftruncate` does.
pub(crate) fn truncate(descriptor: i32, length: i64) -> Answer {
    let open = used(descriptor).map(Cell::get).ok_or(errno::EBADF)?;
    let is_writable = open.kind == Kind::Written && open.flags & ACCESS_MODE != 0;
    if !is_writable || length < 0 {
        return Err(errno::EINVAL);
    }
    point(Operation::FileWrite(length as u64), objects::file(open.index));
    resize(usize::from(open.index), length as usize);
    Ok(0)
}

/// Does what `fallocate` does on a file system that cannot make holes.
pub(crate) fn allocate(descriptor: i32, mode: usize, offset: i64, length: i64) -> Answer {
    const KEEP_SIZE: usize = 1;
    let open = used(descriptor).map(Cell::get).ok_or(errno::EBADF)?;
    let end = offset.checked_add(length).filter(|_| offset >= 0 && length > 0);
    let Some(end) = end else { return Err(errno::EINVAL) };
    match open.kind {
        _ if mode & !KEEP_SIZE != 0 => Err(errno::EOPNOTSUPP),
        Kind::Written if open.flags & ACCESS_MODE != 0 => {
            point(Operation::FileWrite(length as u64), objects::file(open.index));
            let index = usize::from(open.index);
            if mode == 0 && end as usize > slot(index).get().length {
                resize(index, end as usize);
            }
            Ok(0)
        }
        Kind::Object => Err(errno::ESPIPE),
        Kind::Host | Kind::Written => Err(errno::EBADF),
        _ => Err(errno::ENODEV),
    }
}

/// Does what `truncate` does.
pub(crate) fn resize_path(at: At, length: i64) -> Answer {
    if length < 0 {
        return Err(errno::EINVAL);
    }
    // Who reads or writes a file depends on it, and who changes its name.
    point(Operation::FileWrite(length as u64), objects::paths());
    let index = check_writable(&mut Path::new(at)?)?;
    resize(index, length as usize);
    Ok(0)
}
