//! `flock`: locks that belong to open file descriptions, not to threads or processes.

use crate::errno;
use crate::fd_table::{self, Kind, Open, all_open, found, get};
use crate::host::{Host, Woken};
use core::cell::Cell;
use everypath_shim_abi::{self as abi, Operation, Waiting};

const SHARED: u8 = 1;
const EXCLUSIVE: u8 = 2;

/// Does what the system call does.
pub fn flock(k: &impl Host, descriptor: i32, how: i32) -> Result<isize, i32> {
    const NOT_WAITING: i32 = 4;
    loop {
        match try_lock(k, descriptor, how & !NOT_WAITING)? {
            true => return Ok(0),
            false if how & NOT_WAITING != 0 => return Err(errno::EAGAIN),
            false => {}
        }
        let released = fd_table::paths(k);
        if k.wait(Waiting::FileLock, released, None) == (Woken::Interrupted { restart: false }) {
            return Err(errno::EINTR);
        }
    }
}

/// Locks or unlocks, in one step; false if another owner has it.
fn try_lock(k: &impl Host, descriptor: i32, how: i32) -> Result<bool, i32> {
    let wanted = match how {
        1 => SHARED,
        2 => EXCLUSIVE,
        8 => 0,
        _ => return Err(errno::EINVAL),
    };
    let open = found(k, descriptor).ok_or(errno::EBADF)?.get();
    if !matches!(open.kind, Kind::Host | Kind::Written) {
        return Ok(true);
    }
    let file = abi::Object::file(k.process() as u8, u32::from(open.index) + 1);
    k.point(Operation::FileWrite(0), file);
    let this = get(k, descriptor).ok_or(errno::EBADF)?;
    let open = this.get();
    let excludes = |other: &&Cell<Open>| {
        let other = other.get();
        (other.kind, other.index) == (open.kind, open.index)
            && (other.lock == EXCLUSIVE || other.lock != 0 && wanted == EXCLUSIVE)
    };
    let mut others = all_open(k).filter(|other| !core::ptr::eq(*other, this));
    let is_free = wanted == 0 || !others.any(|other| excludes(&other));
    // Who wants another kind of lock gives up the one it has, even if it does not get it.
    let lock = if is_free { wanted } else { 0 };
    this.set(Open { lock, ..open });
    if open.lock > lock {
        fd_table::lock_is_released(k);
    }
    Ok(is_free)
}
