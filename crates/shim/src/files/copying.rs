//! `sendfile`, `copy_file_range` and `splice`: what is copied without passing through the program.

use super::transfer::{contents, write_to};
use super::{listing, shared};
use crate::descriptors::{self, ACCESS_MODE, Kind, Open};
use crate::fail::stop;
use crate::guest;
use crate::heap;
use crate::memory;
use crate::objects;
use crate::scheduler::point;
use crate::sys::{Answer, errno};
use everypath_shim_abi::Operation;

/// The most that one call copies.
const MOST: usize = 0x7fff_f000;
/// What is copied at a time of a file that others may change meanwhile.
const PIECE: usize = 1 << 16;
const WRITE_ONLY: i32 = 1;

/// Where a call reads or writes: at an offset that the program keeps, or at the descriptor's own.
fn offset_at(address: usize) -> Result<Option<u64>, i32> {
    if address == 0 {
        return Ok(None);
    }
    let offset: i64 = guest::load(address)?;
    if offset < 0 { Err(errno::EINVAL) } else { Ok(Some(offset as u64)) }
}

/// What a descriptor is open on, to be written.
fn to_write(descriptor: i32) -> Result<Open, i32> {
    let open = descriptors::get(descriptor).ok_or(errno::EBADF)?.get();
    if open.kind != Kind::Object && open.flags & ACCESS_MODE == 0 {
        return Err(errno::EBADF);
    }
    Ok(open)
}

/// Copies from a file to where `write` puts it, and moves the offset on that was used.
fn copy_from_file(
    input: i32,
    offset_address: usize,
    count: usize,
    mut write: impl FnMut(usize, usize) -> Answer,
) -> Answer {
    let given = offset_at(offset_address)?;
    let found = match given {
        Some(_) => descriptors::used(input),
        None => descriptors::moved(input),
    };
    let slot = found.ok_or(errno::EBADF)?;
    let open = slot.get();
    if open.flags & ACCESS_MODE == WRITE_ONLY {
        return Err(errno::EBADF);
    }
    if open.kind == Kind::Written {
        point(Operation::FileRead, objects::file(open.index));
        let from = given.unwrap_or(slot.get().offset) as usize;
        shared::note_access(usize::from(open.index), (from, count.min(MOST)), false);
    }
    let begin = given.unwrap_or(slot.get().offset);
    let mut total = 0;
    while total < count.min(MOST) {
        let Some((start, size)) = contents(input) else { break };
        let at = (begin as usize).saturating_add(total);
        let length = size.saturating_sub(at).min(count.min(MOST) - total);
        if length == 0 {
            break;
        }
        // The copy of a file of the machine does not change.
        let piece = if open.kind == Kind::Host { length } else { length.min(PIECE) };
        let done = match open.kind {
            Kind::Host => write(start + at, piece),
            _ => write_copy(start + at, piece, &mut write),
        };
        match done {
            Ok(done) => total += done as usize,
            Err(_) if total > 0 => break,
            Err(error) => return Err(error),
        }
        if done != Ok(piece as isize) {
            break;
        }
    }
    match given {
        Some(offset) => guest::store(offset_address, offset + total as u64)?,
        None => slot.set(Open { offset: begin + total as u64, ..slot.get() }),
    }
    Ok(total as isize)
}

/// Writes a copy of some bytes, which may change while the call waits.
fn write_copy(
    address: usize,
    length: usize,
    write: &mut impl FnMut(usize, usize) -> Answer,
) -> Answer {
    let copy = heap::allocate_aligned(16, length);
    memory::copy(copy, address, length);
    let done = write(copy, length);
    heap::release_block(copy);
    done
}

/// Whether a descriptor is open on a file with bytes.
fn is_regular(descriptor: i32) -> bool {
    descriptors::get(descriptor).is_some_and(|open| {
        matches!(open.get().kind, Kind::Host | Kind::Written) && !listing::is_directory(open.get())
    })
}

/// Does what `sendfile` does.
pub(crate) fn send_file(out: i32, input: i32, offset: usize, count: usize) -> Answer {
    let target = to_write(out)?;
    if !descriptors::is_open(input) {
        return Err(errno::EBADF);
    }
    if !is_regular(input) || target.append {
        return Err(errno::EINVAL);
    }
    copy_from_file(input, offset, count, |address, length| write_to(out, address, length, None))
}

/// Does what `copy_file_range` does.
pub(crate) fn copy_range(
    (input, input_at): (i32, usize),
    (out, out_at): (i32, usize),
    count: usize,
    flags: usize,
) -> Answer {
    let target = to_write(out)?;
    if !descriptors::is_open(input) {
        return Err(errno::EBADF);
    }
    let source = descriptors::get(input).map(core::cell::Cell::get).unwrap_or_default();
    if listing::is_directory(target) || listing::is_directory(source) {
        return Err(errno::EISDIR);
    }
    if flags != 0 || !is_regular(input) || !is_regular(out) {
        return Err(errno::EINVAL);
    }
    if target.append {
        return Err(errno::EBADF);
    }
    if (source.kind, source.index) == (target.kind, target.index) {
        stop!("copy_file_range within one file is not modelled");
    }
    let given = offset_at(out_at)?;
    let mut done = 0u64;
    let result = copy_from_file(input, input_at, count, |address, length| {
        let at = given.map(|offset| offset + done);
        let written = write_to(out, address, length, at)?;
        done += written as u64;
        Ok(written)
    });
    if let (Some(offset), Ok(_)) = (given, result) {
        guest::store(out_at, offset + done)?;
    }
    result
}

/// Does what `splice` does between a file and a pipe.
pub(crate) fn splice(
    (input, input_at): (i32, usize),
    (out, out_at): (i32, usize),
    count: usize,
) -> Answer {
    let is_pipe = |descriptor: i32| {
        descriptors::get(descriptor).is_some_and(|open| {
            let open = open.get();
            open.kind == Kind::Object && crate::net::is_pipe(usize::from(open.index))
        })
    };
    if !descriptors::is_open(input) || !descriptors::is_open(out) {
        return Err(errno::EBADF);
    }
    match (is_pipe(input), is_pipe(out)) {
        (false, false) => Err(errno::EINVAL),
        (_, true) if out_at != 0 => Err(errno::ESPIPE),
        (false, true) if is_regular(input) => {
            copy_from_file(input, input_at, count, |address, length| {
                write_to(out, address, length, None)
            })
        }
        _ => stop!("splice from a pipe, or to or from a socket, is not modelled"),
    }
}
