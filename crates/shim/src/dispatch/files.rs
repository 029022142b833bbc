//! Files and descriptors.

use super::Handlers;
use crate::descriptors;
use crate::fail::stop;
use crate::files::{self, AT_FDCWD, At, Of};
use crate::guest;
use crate::net::syscalls::{self as net, is_object};
use crate::sys::{Answer, answer, errno, number};
use crate::worker::KERNEL;
use everypath_vkernel::flock::flock;
use everypath_vkernel::lseek::lseek;

const NO_FOLLOW: i32 = 0x100;
const REMOVE_DIRECTORY: usize = 0x200;
/// What `creat` adds: write only, create, truncate.
const CREAT: i32 = 0o1101;

/// A path that begins in the working directory.
const fn here(path: usize) -> At {
    At(AT_FDCWD, path)
}

pub(super) const HANDLERS: Handlers = &[
    (number::READ, |_, [a, b, c, ..]| files::read(a as i32, b, c, None)),
    (number::WRITE, |_, [a, b, c, ..]| files::write_to(a as i32, b, c, None)),
    (number::PREAD64, |_, [a, b, c, d, ..]| files::read(a as i32, b, c, Some(offset(d)?))),
    (number::PWRITE64, |_, [a, b, c, d, ..]| files::write_to(a as i32, b, c, Some(offset(d)?))),
    (number::READV, |_, [a, b, c, ..]| read_vector(a as i32, b, c, None)),
    (number::WRITEV, |_, [a, b, c, ..]| write_vector(a as i32, b, c, None)),
    (number::PREADV, |_, [a, b, c, d, ..]| read_vector(a as i32, b, c, Some(offset(d)?))),
    (number::PWRITEV, |_, [a, b, c, d, ..]| write_vector(a as i32, b, c, Some(offset(d)?))),
    (number::OPEN, |_, [a, b, c, ..]| files::open(here(a), b as i32, c as u32)),
    (number::CREAT, |_, [a, b, ..]| files::open(here(a), CREAT, b as u32)),
    (number::OPENAT, |_, [a, b, c, d, ..]| files::open(At(a as i32, b), c as i32, d as u32)),
    (number::CLOSE, |_, [a, ..]| answer(descriptors::close(a as i32))),
    (number::LSEEK, |_, [a, b, c, ..]| lseek(KERNEL, a as i32, b as i64, c as i32)),
    (number::FSTAT, |_, [a, b, ..]| files::status(a as i32, b)),
    (number::STAT, |_, [a, b, ..]| files::path_status(here(a), b, 0)),
    (number::LSTAT, |_, [a, b, ..]| files::path_status(here(a), b, NO_FOLLOW)),
    (number::NEWFSTATAT, |_, [a, b, c, d, ..]| files::path_status(At(a as i32, b), c, d as i32)),
    (number::STATX, |_, [a, b, c, d, e, _]| {
        files::extended_status(At(a as i32, b), c as i32, d, e)
    }),
    (number::STATFS, |_, [a, b, ..]| files::file_system(here(a), b)),
    (number::FSTATFS, |_, [a, b, ..]| files::open_file_system(a as i32, b)),
    (number::ACCESS, |_, [a, b, ..]| files::access(here(a), b as u32, 0)),
    (number::FACCESSAT, |_, [a, b, c, ..]| files::access(At(a as i32, b), c as u32, 0)),
    (number::FACCESSAT2, |_, [a, b, c, d, ..]| files::access(At(a as i32, b), c as u32, d as i32)),
    (number::CHMOD, |_, [a, b, ..]| files::change_mode(here(a), b as u32)),
    (number::FCHMODAT, |_, [a, b, c, ..]| files::change_mode(At(a as i32, b), c as u32)),
    (number::FCHMOD, |_, [a, b, ..]| files::change_open_mode(a as i32, b as u32)),
    (number::FCHMODAT2, |_, [a, b, c, d, ..]| match d {
        0 => files::change_mode(At(a as i32, b), c as u32),
        _ => stop!("fchmodat2 with flags {d:#x} is not modelled"),
    }),
    (number::CHOWN, |_, [a, b, c, ..]| files::change_owner(here(a), [b, c], 0)),
    (number::LCHOWN, |_, [a, b, c, ..]| files::change_owner(here(a), [b, c], NO_FOLLOW)),
    (number::FCHOWNAT, |_, [a, b, c, d, e, _]| {
        files::change_owner(At(a as i32, b), [c, d], e as i32)
    }),
    (number::FCHOWN, |_, [a, b, c, ..]| files::change_open_owner(a as i32, [b as u32, c as u32])),
    (number::GETXATTR, |_, [a, b, c, d, ..]| files::get_attribute(Of::Path(a), b, c, d)),
    (number::LGETXATTR, |_, [a, b, c, d, ..]| files::get_attribute(Of::Link(a), b, c, d)),
    (number::FGETXATTR, |_, [a, b, c, d, ..]| files::get_attribute(Of::Descriptor(a), b, c, d)),
    (number::LISTXATTR, |_, [a, b, c, ..]| files::list_attributes(Of::Path(a), b, c)),
    (number::LLISTXATTR, |_, [a, b, c, ..]| files::list_attributes(Of::Link(a), b, c)),
    (number::FLISTXATTR, |_, [a, b, c, ..]| files::list_attributes(Of::Descriptor(a), b, c)),
    (number::SETXATTR, |_, [a, b, ..]| files::set_attribute(Of::Path(a), b)),
    (number::LSETXATTR, |_, [a, b, ..]| files::set_attribute(Of::Link(a), b)),
    (number::FSETXATTR, |_, [a, b, ..]| files::set_attribute(Of::Descriptor(a), b)),
    (number::REMOVEXATTR, |_, [a, b, ..]| files::set_attribute(Of::Path(a), b)),
    (number::LREMOVEXATTR, |_, [a, b, ..]| files::set_attribute(Of::Link(a), b)),
    (number::FREMOVEXATTR, |_, [a, b, ..]| files::set_attribute(Of::Descriptor(a), b)),
    (number::SENDFILE, |_, [a, b, c, d, ..]| files::send_file(a as i32, b as i32, c, d)),
    (number::COPY_FILE_RANGE, |_, [a, b, c, d, e, f]| {
        files::copy_range((a as i32, b), (c as i32, d), e, f)
    }),
    (number::SPLICE, |_, [a, b, c, d, e, _]| files::splice((a as i32, b), (c as i32, d), e)),
    (number::FALLOCATE, |_, [a, b, c, d, ..]| files::allocate(a as i32, b, c as i64, d as i64)),
    (number::MEMFD_CREATE, |_, [a, b, ..]| files::memory_file(a, b)),
    (number::OPENAT2, |_, [a, b, c, d, ..]| open_how(At(a as i32, b), c, d)),
    (number::CLOSE_RANGE, |_, [a, b, c, ..]| close_range(a as u32, b as u32, c)),
    (number::PREADV2, |_, [a, b, c, d, _, f]| {
        no_flags(f)?;
        read_vector(a as i32, b, c, offset_or_own(d)?)
    }),
    (number::PWRITEV2, |_, [a, b, c, d, _, f]| {
        no_flags(f)?;
        write_vector(a as i32, b, c, offset_or_own(d)?)
    }),
    (number::UTIMENSAT, |_, [a, b, c, d, ..]| files::set_times(At(a as i32, b), c, d as i32)),
    (number::UNLINK, |_, [a, ..]| files::remove(here(a), false)),
    (number::RMDIR, |_, [a, ..]| files::remove(here(a), true)),
    (number::UNLINKAT, |_, [a, b, c, ..]| {
        if c & !REMOVE_DIRECTORY != 0 {
            return Err(errno::EINVAL);
        }
        files::remove(At(a as i32, b), c != 0)
    }),
    (number::RENAME, |_, [a, b, ..]| files::rename(here(a), here(b), 0)),
    (number::RENAMEAT, |_, [a, b, c, d, ..]| files::rename(At(a as i32, b), At(c as i32, d), 0)),
    (number::RENAMEAT2, |_, [a, b, c, d, e, _]| {
        files::rename(At(a as i32, b), At(c as i32, d), e as u32)
    }),
    (number::LINK, |_, [a, b, ..]| files::link(here(a), here(b), 0)),
    (number::LINKAT, |_, [a, b, c, d, e, _]| {
        files::link(At(a as i32, b), At(c as i32, d), e as i32)
    }),
    (number::SYMLINK, |_, [a, b, ..]| files::make_symbolic_link(a, here(b))),
    (number::SYMLINKAT, |_, [a, b, c, ..]| files::make_symbolic_link(a, At(b as i32, c))),
    (number::READLINK, |_, [a, b, c, ..]| files::read_link(here(a), b, c)),
    (number::READLINKAT, |_, [a, b, c, d, ..]| files::read_link(At(a as i32, b), c, d)),
    (number::GETDENTS64, |_, [a, b, c, ..]| files::list(a as i32, b, c)),
    (number::MKDIR, |_, [a, b, ..]| files::make_directory(here(a), b as u32)),
    (number::MKDIRAT, |_, [a, b, c, ..]| files::make_directory(At(a as i32, b), c as u32)),
    (number::CHDIR, |_, [a, ..]| files::change_directory(here(a))),
    (number::FCHDIR, |_, [a, ..]| files::change_to_open_directory(a as i32)),
    (number::GETCWD, |_, [a, b, ..]| files::current_directory(a, b)),
    (number::TRUNCATE, |_, [a, b, ..]| files::resize_path(here(a), b as i64)),
    (number::FTRUNCATE, |_, [a, b, ..]| files::truncate(a as i32, b as i64)),
    (number::DUP, |_, [a, ..]| answer(descriptors::duplicate(a as i32, 0, None))),
    (number::DUP2, |_, [a, b, ..]| answer(descriptors::duplicate(a as i32, 0, Some(b)))),
    (number::DUP3, |_, [a, b, c, ..]| duplicate(a as i32, b, c as i32)),
    (number::FCNTL, |_, [a, b, c, ..]| control(a as i32, b as i32, c)),
    (number::IOCTL, |_, [a, b, c, ..]| device_control(a as i32, b, c)),
    (number::FLOCK, |_, [a, b, ..]| flock(KERNEL, a as i32, b as i32)),
    // Nothing that is written outlives the execution, so there is nothing to flush.
    (number::SYNC, |_, _| Ok(0)),
    (number::SYNC_FILE_RANGE, |_, [a, ..]| opened(a)),
    (number::FSYNC, |_, [a, ..]| opened(a)),
    (number::FDATASYNC, |_, [a, ..]| opened(a)),
    (number::SYNCFS, |_, [a, ..]| opened(a)),
    // What the program knows of its future changes nothing.
    (number::FADVISE64, |_, [a, ..]| opened(a)),
    (number::READAHEAD, |_, [a, ..]| opened(a)),
];

/// Nothing to do for a descriptor that is open.
fn opened(descriptor: usize) -> Answer {
    if descriptors::is_open(descriptor as i32) { Ok(0) } else { Err(errno::EBADF) }
}

/// The flags of `preadv2` and `pwritev2`, of which none is modelled.
fn no_flags(flags: usize) -> Result<(), i32> {
    match flags {
        0 => Ok(()),
        _ => stop!("preadv2 and pwritev2 with flags {flags:#x} are not modelled"),
    }
}

/// An offset, or -1 for that of the descriptor.
fn offset_or_own(given: usize) -> Result<Option<u64>, i32> {
    if given == usize::MAX { Ok(None) } else { offset(given).map(Some) }
}

/// Does what `openat2` does: its structure is flags, mode, and how paths are followed.
fn open_how(at: At, how: usize, size: usize) -> Answer {
    const SIZE: usize = 24;
    if size < SIZE {
        return Err(errno::EINVAL);
    }
    let [flags, mode, resolve] = guest::load::<[u64; 3]>(how)?;
    if resolve != 0 || size > SIZE {
        stop!("openat2 with rules for paths is not modelled");
    }
    files::open(at, flags as i32, mode as u32)
}

/// Does what `close_range` does.
fn close_range(first: u32, last: u32, flags: usize) -> Answer {
    const UNSHARE: usize = 2;
    const ON_EXEC: usize = 4;
    if first > last || flags & !(UNSHARE | ON_EXEC) != 0 {
        return Err(errno::EINVAL);
    }
    let last = last.min(descriptors::LIMIT as u32 - 1);
    for descriptor in first as i32..=last as i32 {
        if descriptors::is_open(descriptor) && flags & ON_EXEC != 0 {
            answer(descriptors::control(descriptor, SET_FLAGS, 1))?;
        } else if descriptors::is_open(descriptor) {
            answer(descriptors::close(descriptor))?;
        }
    }
    Ok(0)
}

/// An offset, which must not be negative.
fn offset(given: usize) -> Result<u64, i32> {
    if (given as i64) < 0 { Err(errno::EINVAL) } else { Ok(given as u64) }
}

fn read_vector(descriptor: i32, vector: usize, count: usize, at: Option<u64>) -> Answer {
    if at.is_none() && is_object(descriptor) {
        check_vector(vector, count, |address| guest::writable(address, 1).map(|_| ()))?;
        return answer(net::read_vector(descriptor, vector, count));
    }
    each_piece(vector, count, at, |address, length, at| {
        files::read(descriptor, address, length, at)
    })
}

fn write_vector(descriptor: i32, vector: usize, count: usize, at: Option<u64>) -> Answer {
    if at.is_none() && is_object(descriptor) {
        check_vector(vector, count, |address| guest::readable(address, 1).map(|_| ()))?;
        return answer(net::write_vector(descriptor, vector, count));
    }
    each_piece(vector, count, at, |address, length, at| {
        files::write_to(descriptor, address, length, at)
    })
}

/// Looks whether the pieces of a vector begin at addresses that can be used.
pub(super) fn check_vector(
    vector: usize,
    count: usize,
    check: fn(usize) -> Result<(), i32>,
) -> Result<(), i32> {
    const MOST: usize = 1024;
    if count > MOST {
        return Err(errno::EINVAL);
    }
    for at in 0..count {
        let [address, length] = guest::load::<[usize; 2]>(vector + at * 16)?;
        if (length as isize) < 0 {
            return Err(errno::EINVAL);
        }
        if length > 0 {
            check(address)?;
        }
    }
    Ok(())
}

fn each_piece(
    vector: usize,
    count: usize,
    at: Option<u64>,
    mut each: impl FnMut(usize, usize, Option<u64>) -> Answer,
) -> Answer {
    check_vector(vector, count, |_| Ok(()))?;
    let mut total = 0;
    for piece in 0..count {
        let [address, length] = guest::load::<[usize; 2]>(vector + piece * 16)?;
        if length == 0 && count > 1 {
            continue;
        }
        match each(address, length, at.map(|at| at + total as u64)) {
            Ok(done) => {
                total += done;
                if (done as usize) < length {
                    break;
                }
            }
            Err(_) if total > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// Does what `dup3` does.
fn duplicate(descriptor: i32, to: usize, flags: i32) -> Answer {
    if flags & !descriptors::CLOSE_ON_EXEC != 0 || descriptor as usize == to {
        return Err(errno::EINVAL);
    }
    let made = answer(descriptors::duplicate(descriptor, 0, Some(to)))?;
    if flags != 0 {
        answer(descriptors::control(made as i32, SET_FLAGS, 1))?;
    }
    Ok(made)
}

/// For `fcntl`: whether a new program would not inherit a descriptor.
const SET_FLAGS: i32 = 2;

/// Does what `fcntl` does.
fn control(descriptor: i32, command: i32, argument: usize) -> Answer {
    const LOCK_SIZE: usize = 32;
    if !descriptors::is_open(descriptor) {
        return answer(descriptors::control(descriptor, command, argument));
    }
    match command {
        // Locks of ranges: F_GETLK, F_SETLK, F_SETLKW.
        5..=7 | 36..=38 => guest::expect_room(argument, LOCK_SIZE)?,
        // Owners and signals of I/O, leases, notifications, seals, hints.
        8..=11 | 15 | 16 | 1024..=1029 | 1033..=1038 => {
            stop!("fcntl with command {command} is not modelled")
        }
        _ => {}
    }
    answer(descriptors::control(descriptor, command, argument))
}

/// Does what `ioctl` does: most requests that are modelled change a number.
fn device_control(descriptor: i32, request: usize, argument: usize) -> Answer {
    const NONBLOCKING: usize = 0x5421;
    const READABLE: usize = 0x541b;
    const UNSENT: usize = 0x5411;
    const SIGNALS: usize = 0x5452;
    const CLOSE_ON_EXEC: usize = 0x5451;
    const KEEP_ON_EXEC: usize = 0x5450;
    if !descriptors::is_open(descriptor) {
        return Err(errno::EBADF);
    }
    match request {
        CLOSE_ON_EXEC => return answer(descriptors::control(descriptor, SET_FLAGS, 1)),
        KEEP_ON_EXEC => return answer(descriptors::control(descriptor, SET_FLAGS, 0)),
        READABLE if files::unread(descriptor).is_some() => {
            let unread = files::unread(descriptor).unwrap_or(0);
            return guest::store(argument, unread as i32).map(|()| 0);
        }
        NONBLOCKING | READABLE | UNSENT | SIGNALS => {
            guest::expect_room(argument, size_of::<i32>())?;
        }
        _ => {}
    }
    answer(net::device_control(descriptor, request, argument))
}
