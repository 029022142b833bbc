//! Files that are mapped with `MAP_SHARED`: the mapping is the memory in which the bytes of the file are,
//! so that all mappings and all calls see the same. Only what this process maps is shared: other
//! processes have files of their own.
//!
//! The memory is part of the program's heap, which the accesses of copied functions are recorded of; calls
//! that read or write such a file are recorded as accesses of it, too.

use super::{Written, slot};
use crate::descriptors::{self, ACCESS_MODE, Kind};
use crate::fail::stop;
use crate::heap;
use crate::memory::{copy, round_up};
use crate::state::state;
use crate::sys::{Answer, errno};
use everypath_shim_abi::address_space::PAGE;

/// How much room a file has that is mapped, for what it may grow by.
const ROOM: usize = 1 << 22;

/// Maps a part of a file of the program's; the descriptor must be open for what the mapping is for.
pub(crate) fn map_shared(
    descriptor: i32,
    (offset, length): (usize, usize),
    is_writable: bool,
) -> Answer {
    const READ_WRITE: i32 = 2;
    let open = descriptors::used(descriptor).ok_or(errno::EBADF)?.get();
    let access = open.flags & ACCESS_MODE;
    if access == 1 || is_writable && access != READ_WRITE {
        return Err(errno::EACCES);
    }
    if open.kind != Kind::Written {
        stop!("mmap(MAP_SHARED) of what is no file is not modelled");
    }
    let index = usize::from(open.index);
    let end = round_up(offset, PAGE) + round_up(length, PAGE);
    let file = slot(index).get();
    if !file.is_mapped {
        let capacity = round_up(end.max(file.length), PAGE) + ROOM;
        let data = heap::allocate_mapping(capacity);
        if data == 0 {
            return Err(errno::ENOMEM);
        }
        copy(data, file.data, file.length);
        if file.data != 0 {
            heap::release_block(file.data);
        }
        slot(index).set(Written { data, capacity, is_mapped: true, ..file });
    }
    let file = slot(index).get();
    if end > file.capacity {
        stop!("mmap(MAP_SHARED) far behind the end of a file is not modelled");
    }
    Ok((file.data + offset) as isize)
}

/// Whether some pages are of a file that is mapped: they stay where they are when they are unmapped.
pub(crate) fn is_shared_mapping(address: usize, length: usize) -> bool {
    state().files.written.iter().any(|file| {
        let file = file.get();
        file.is_mapped && address < file.data + file.capacity && file.data < address + length
    })
}

/// A call is about to read or write bytes of a file, at an offset: whoever has mapped it accesses them, too.
/// Other threads may run meanwhile.
pub(super) fn note_access(index: usize, (offset, length): (usize, usize), writes: bool) {
    let file = slot(index).get();
    let length = length.min(file.capacity.saturating_sub(offset));
    if file.is_mapped && length > 0 {
        crate::summaries::of_file(file.data + offset, length, writes);
    }
}
