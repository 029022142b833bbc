//! `lseek`: where the next bytes of an open file are read or written.

use crate::errno;
use crate::fd_table::{Kind, Open, get, moved, used};
use crate::host::Host;

const SET: i32 = 0;
const CURRENT: i32 = 1;
const END: i32 = 2;
/// The next data, the next hole.
const DATA: i32 = 3;
const HOLE: i32 = 4;

/// Does what the system call does.
pub fn lseek(k: &impl Host, descriptor: i32, offset: i64, whence: i32) -> Result<isize, i32> {
    let is_file = get(k, descriptor).is_some_and(|open| open.get().kind != Kind::Object);
    let found = if is_file { moved(k, descriptor) } else { used(k, descriptor) };
    let slot = found.ok_or(errno::EBADF)?;
    let open = slot.get();
    let size = k.length(open).ok_or(errno::ESPIPE)?;
    let base = match whence {
        SET => 0,
        CURRENT => open.offset as i64,
        END => size as i64,
        DATA | HOLE if !(0..size as i64).contains(&offset) => return Err(errno::ENXIO),
        // A file has no holes but the one behind its end.
        DATA => 0,
        HOLE => size as i64 - offset,
        _ => return Err(errno::EINVAL),
    };
    match base.checked_add(offset) {
        Some(offset) if offset >= 0 => {
            slot.set(Open { offset: offset as u64, ..open });
            Ok(offset as isize)
        }
        _ => Err(errno::EINVAL),
    }
}
