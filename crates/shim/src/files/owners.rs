//! `chown` and its kin: who owns a file. Directories of the machine keep what changes in a table.

use super::host::{adopt, copied, host};
use super::path::{AT_FDCWD, At, Path};
use super::{CHANGED, Changed, Written, keep_path, slot, written};
use crate::credentials;
use crate::descriptors::{Kind, used};
use crate::fail::stop;
use crate::guest;
use crate::memory::bytes;
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{Answer, errno};
use core::cell::Cell;
use everypath_shim_abi::Operation;

const NO_FOLLOW: i32 = 0x100;
const EMPTY_PATH: i32 = 0x1000;

/// Where user and group are in a `struct stat`, and in a `struct statx`; and the mode.
type Stat = [u64; 18];
type Statx = [u64; 32];

/// What the program has changed of a directory of the machine.
fn changed(path: &[u8]) -> Option<&'static Cell<Changed>> {
    state().files.changed.iter().find(|changed| {
        let Changed { path: at, path_length, .. } = changed.get();
        at != 0 && bytes(at, path_length) == path
    })
}

/// Changes the owner or the mode of a directory of the machine, for this execution.
pub(super) fn change_directory(
    path: &Path,
    known: usize,
    change: impl FnOnce(&mut Changed),
) -> Answer {
    let status = copied(known).status;
    let [user, _] = credentials::effective();
    let owner = changed(path.as_slice()).map_or((status[3] >> 32) as u32, |it| it.get().owner[0]);
    if user != 0 && owner != user {
        return Err(errno::EPERM);
    }
    let slot = match changed(path.as_slice()) {
        Some(slot) => slot,
        None => {
            let free = state().files.changed.iter().find(|slot| slot.get().path == 0);
            let Some(slot) = free else {
                stop!("changing owner or mode of more than {CHANGED} directories is not modelled")
            };
            let (kept, path_length) = keep_path(path);
            let owner = [(status[3] >> 32) as u32, status[4] as u32];
            let mode = status[3] as u32 & 0o7777;
            slot.set(Changed { path: kept, path_length, mode, owner });
            slot
        }
    };
    let mut now = slot.get();
    change(&mut now);
    slot.set(now);
    Ok(0)
}

/// The status of a file of the machine as the program has changed it.
pub(super) fn as_changed(path: &[u8], mut stat: Stat, mut statx: Statx) -> (Stat, Statx) {
    if let Some(changed) = changed(path) {
        let Changed { mode, owner: [user, group], .. } = changed.get();
        let mode = stat[3] & 0xf000 | u64::from(mode);
        stat[3] = mode | u64::from(user) << 32;
        stat[4] = stat[4] >> 32 << 32 | u64::from(group);
        statx[2] = statx[2] & 0xffff_ffff | u64::from(user) << 32;
        statx[3] = u64::from(group) | mode << 32;
    }
    (stat, statx)
}

/// Tells the program of a status, which the kernel has written, what it has changed itself.
pub(super) fn tell_changed(path: &[u8], address: usize, is_extended: bool) -> Result<(), i32> {
    if changed(path).is_none() {
        return Ok(());
    }
    if is_extended {
        // Its mode has 16 bits, and the same place as in the other status.
        let statx: Statx = guest::load(address)?;
        let mut stat = [0; 18];
        stat[3] = statx[3] >> 32;
        guest::store(address, as_changed(path, stat, statx).1)
    } else {
        let stat: Stat = guest::load(address)?;
        guest::store(address, as_changed(path, stat, [0; 32]).0)
    }
}

/// Who may change an owner: root everything; others only give their files to a group of theirs.
fn check(owner: [u32; 2], new: [u32; 2]) -> Result<(), i32> {
    let [user, group] = credentials::effective();
    let keeps_user = new[0] == u32::MAX || new[0] == owner[0];
    let may = user == 0 || user == owner[0] && keeps_user && [u32::MAX, group].contains(&new[1]);
    if may { Ok(()) } else { Err(errno::EPERM) }
}

fn or_as_is(new: [u32; 2], now: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|at| if new[at] == u32::MAX { now[at] } else { new[at] })
}

/// A file changes hands, which takes the bits away by which others become its owner.
fn give(index: usize, new: [u32; 2]) -> Answer {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let file = slot(index).get();
    check(file.owner, new)?;
    let lost = match file.mode {
        _ if file.directory => 0,
        mode if mode & SET_GROUP == SET_GROUP => SET_USER | 0o2000,
        _ => SET_USER,
    };
    let owner = or_as_is(new, file.owner);
    slot(index).set(Written { owner, mode: file.mode & !lost, ..file });
    Ok(0)
}

fn give_of_machine(path: &Path, known: usize, new: [u32; 2]) -> Answer {
    let status = copied(known).status;
    let machines = [(status[3] >> 32) as u32, status[4] as u32];
    let now = changed(path.as_slice()).map_or(machines, |changed| changed.get().owner);
    check(now, new)?;
    if or_as_is(new, now) == now {
        return Ok(0);
    }
    if copied(known).is_directory() {
        return change_directory(path, known, |changed| changed.owner = or_as_is(new, now));
    }
    give(adopt(path, known, false), new)
}

/// Does what `chown`, `lchown` and `fchownat` do.
pub(crate) fn change_owner(At(directory, given): At, new: [usize; 2], flags: i32) -> Answer {
    let new = new.map(|id| id as u32);
    if flags & !(NO_FOLLOW | EMPTY_PATH) != 0 {
        return Err(errno::EINVAL);
    }
    if flags & EMPTY_PATH != 0 && guest::c_string(given)?.is_empty() {
        return change_open_owner(directory, new);
    }
    point(Operation::FileWrite(0), objects::paths());
    let at = At(directory, given);
    let mut path = if flags & NO_FOLLOW != 0 { Path::of_link(at)? } else { Path::new(at)? };
    match written(path.as_slice()) {
        Some(index) if slot(index).get().removed => Err(errno::ENOENT),
        Some(index) => give(index, new),
        None => {
            let known = host(&mut path)?;
            give_of_machine(&path, known, new)
        }
    }
}

/// Does what `fchown` does.
pub(crate) fn change_open_owner(descriptor: i32, new: [u32; 2]) -> Answer {
    let open = used(descriptor).map(Cell::get).ok_or(errno::EBADF)?;
    point(Operation::FileWrite(0), objects::paths());
    let index = usize::from(open.index);
    match open.kind {
        Kind::Written => give(index, new),
        Kind::Host => {
            let path = Path::of_text(AT_FDCWD, copied(index).path())?;
            give_of_machine(&path, index, new)
        }
        // A pipe, a device or a socket: nothing here asks whose it is.
        _ => Ok(0),
    }
}
