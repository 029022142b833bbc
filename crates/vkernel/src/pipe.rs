//! Pipes.

use crate::fd_table;
use crate::host::Host;
use crate::object::{Kind, check_flags, make};
use crate::stop;
use crate::tcp::join;

/// How many bytes a pipe holds.
pub(crate) const CAPACITY: usize = 1 << 16;
/// Writes of at most so many bytes are not divided.
pub(crate) const ATOMIC: usize = 4096;

/// Does what the system call does.
pub(crate) fn create(k: &impl Host, at: usize, flags: i32) -> Result<isize, i32> {
    const PACKETS: i32 = 0o40_000;
    if flags & PACKETS != 0 {
        stop!(k, "pipe2(O_DIRECT) is not modelled");
    }
    check_flags(flags)?;
    let (reader, first) = make(k, Kind::Pipe, flags)?;
    let (writer, second) = make(k, Kind::Pipe, flags)?;
    join(k, reader, writer);
    k.object(reader).shut_sending.set(true);
    k.object(writer).shut_receiving.set(true);
    set_access(k, first as i32, 0);
    set_access(k, second as i32, 1);
    k.store(at, [first as i32, second as i32])?;
    Ok(0)
}

fn set_access(k: &impl Host, descriptor: i32, mode: i32) {
    if let Some(slot) = fd_table::get(k, descriptor) {
        let open = slot.get();
        let flags = (open.flags & !fd_table::ACCESS_MODE) | mode;
        slot.set(fd_table::Open { flags, ..open });
    }
}
