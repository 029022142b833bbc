//! Pipes.

use crate::host::Host;
use crate::lifetime::{check_flags, make};
use crate::object::{Kind, Object, partner};
use crate::tcp::join;
use crate::{buffer, errno, fd_table, stop};

/// How many bytes a pipe holds.
pub(crate) const CAPACITY: usize = 1 << 16;
/// Writes of at most so many bytes are not divided.
pub(crate) const ATOMIC: usize = 4096;

/// What keeps the size of a pipe that was set, among the options of its ends.
const SIZE: (i32, i32) = (-1, 1032);

/// How many bytes a pipe with this end holds.
pub(crate) fn capacity(end: &Object) -> usize {
    let (level, name) = SIZE;
    end.options.get().kept(level, name).map_or(CAPACITY, |size| size as usize)
}

/// `fcntl(F_SETPIPE_SZ)`: the size is a power of two, of pages.
pub(crate) fn set_capacity(k: &impl Host, number: usize, wanted: usize) -> Result<isize, i32> {
    const PAGE: usize = 4096;
    /// How much whoever is not root may ask for.
    const MOST: usize = 1 << 20;
    let size = wanted.max(PAGE).next_power_of_two();
    if wanted > MOST {
        return Err(if wanted > i32::MAX as usize { errno::EINVAL } else { errno::EPERM });
    }
    if size > buffer::CAPACITY {
        stop!(
            k,
            "fcntl(F_SETPIPE_SZ) to {wanted} bytes is not modelled; at most {} are",
            buffer::CAPACITY
        );
    }
    let ends = [Some(number), partner(k.object(number))];
    if ends.iter().flatten().any(|&end| k.object(end).waiting() > size) {
        return Err(errno::EBUSY);
    }
    let (level, name) = SIZE;
    for end in ends.into_iter().flatten().map(|end| k.object(end)) {
        let mut options = end.options.get();
        options.keep(level, name, size as i32);
        end.options.set(options);
    }
    Ok(size as isize)
}

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
