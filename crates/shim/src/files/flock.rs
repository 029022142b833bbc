//! `flock`: locks that belong to open file descriptions, not to threads or processes.

use crate::descriptors::{Kind, Open, all_open, found, get};
use crate::objects;
use crate::scheduler::{Woken, grant_all, point, wait};
use crate::sys::{Answer, errno};
use core::cell::Cell;
use everypath_shim_abi::{Operation, Waiting};

const EXCLUSIVE: u8 = 2;

/// Does what the system call does.
pub(crate) fn lock(descriptor: i32, how: i32) -> Answer {
    const NOT_WAITING: i32 = 4;
    loop {
        match try_lock(descriptor, how & !NOT_WAITING)? {
            true => return Ok(0),
            false if how & NOT_WAITING != 0 => return Err(errno::EAGAIN),
            false => {}
        }
        if wait(Waiting::FileLock, objects::paths(), None)
            == (Woken::Interrupted { restart: false })
        {
            return Err(errno::EINTR);
        }
    }
}

/// Locks or unlocks, in one step; false if another owner has it.
fn try_lock(descriptor: i32, how: i32) -> Result<bool, i32> {
    let wanted = match how {
        1 => 1,
        2 => EXCLUSIVE,
        8 => 0,
        _ => return Err(errno::EINVAL),
    };
    let open = found(descriptor).ok_or(errno::EBADF)?.get();
    if !matches!(open.kind, Kind::Host | Kind::Written) {
        return Ok(true);
    }
    point(Operation::FileWrite(0), objects::file(open.index));
    let this = get(descriptor).ok_or(errno::EBADF)?;
    let open = this.get();
    let excludes = |other: &&Cell<Open>| {
        let other = other.get();
        (other.kind, other.index) == (open.kind, open.index)
            && (other.lock == EXCLUSIVE || other.lock != 0 && wanted == EXCLUSIVE)
    };
    let mut others = all_open().filter(|other| !core::ptr::eq(*other, this));
    let is_free = wanted == 0 || !others.any(|other| excludes(&other));
    // Who wants another kind of lock gives up the one it has, even if it does not get it.
    let lock = if is_free { wanted } else { 0 };
    this.set(Open { lock, ..open });
    if open.lock > lock {
        given_back();
    }
    Ok(is_free)
}

/// A lock was released: all waiters retry.
pub(crate) fn given_back() {
    grant_all(Waiting::FileLock, objects::paths());
}
