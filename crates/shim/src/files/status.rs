//! `stat`, `statx`, `access`, `chmod`, `statfs`: what is known of a file besides its bytes.

use super::host::{adopt, copied, host};
use super::owners;
use super::path::{AT_FDCWD, At, Path};
use super::{CHARACTERS, FOLDER, FORMAT, PIPE, SOCKET, Written, aliases, present, slot, written};
use crate::credentials;
use crate::descriptors::{Kind, used};
use crate::fail::stop;
use crate::guest;
use crate::objects;
use crate::scheduler::point;
use crate::sys::{Answer, answer, errno, number, sys};
use crate::write_protect::expect_write;
use core::cell::Cell;
use everypath_shim_abi::Operation;

const NO_FOLLOW: i32 = 0x100;
const NO_AUTOMOUNT: i32 = 0x800;
const EMPTY_PATH: i32 = 0x1000;
const SYNC_TYPE: i32 = 0x6000;

/// All files that the program made are of one time.
const TIME: u64 = 1_700_000_000;

/// The kernel's `struct stat`, and its `struct statx`.
type Stat = [u64; 18];
type Statx = [u64; 32];

/// The status of something that the machine does not have.
fn own_status(mode: u32, length: usize, inode: u64, links: usize) -> Stat {
    status_of_owner(mode, length, (inode, links), credentials::effective())
}

/// The same for somebody's file: its number, its links, its user and group.
fn status_of_owner(
    mode: u32,
    length: usize,
    (inode, links): (u64, usize),
    owner: [u32; 2],
) -> Stat {
    let mut stat = [0; 18];
    stat[..5].copy_from_slice(&[
        1,
        inode,
        links as u64,
        u64::from(mode) | u64::from(owner[0]) << 32,
        u64::from(owner[1]),
    ]);
    stat[6..9].copy_from_slice(&[length as u64, 4096, length.div_ceil(512) as u64]);
    for seconds in [9, 11, 13] {
        stat[seconds] = TIME;
    }
    stat
}

fn written_status(index: usize) -> Stat {
    let file = slot(index).get();
    let links = if file.directory { 2 } else { 1 + aliases(index).count() };
    status_of_owner(file.mode, file.length, (1_000_000 + index as u64, links), file.owner)
}

/// The same as `statx` tells it.
fn extend(stat: &Stat) -> Statx {
    const ALL: u64 = 0xfff;
    let mut statx = [0; 32];
    let (mode, user) = (stat[3] & 0xffff, stat[3] >> 32);
    statx[0] = ALL | stat[7] << 32;
    statx[2] = stat[2] | user << 32;
    statx[3] = stat[4] | mode << 32;
    statx[4..7].copy_from_slice(&[stat[1], stat[6], stat[8]]);
    for time in [8, 10, 12, 14] {
        statx[time] = TIME;
    }
    // The device: major and minor number.
    statx[17] = stat[0] << 32;
    statx
}

/// The status of what a descriptor is open on, in both layouts.
fn open_status(descriptor: i32) -> Result<(Stat, Statx), i32> {
    let open = used(descriptor).ok_or(errno::EBADF)?.get();
    let index = usize::from(open.index);
    let stat = match open.kind {
        Kind::Host => {
            let file = copied(index);
            return Ok(owners::as_changed(file.path(), file.status, file.extended));
        }
        Kind::Written => written_status(index),
        // Streams look like pipes: nothing of ours is a terminal.
        Kind::Stream | Kind::Empty => own_status(PIPE | 0o600, 0, 1, 1),
        Kind::Object => {
            let mode = if crate::net::is_pipe(index) { PIPE } else { SOCKET };
            own_status(mode | 0o600, 0, 2_000_000 + index as u64, 1)
        }
        _ => own_status(CHARACTERS | 0o666, 0, 2, 1),
    };
    Ok((stat, extend(&stat)))
}

/// Does what `fstat` does.
pub(crate) fn status(descriptor: i32, address: usize) -> Answer {
    guest::store(address, open_status(descriptor)?.0)?;
    Ok(0)
}

/// Whose status a call wants.
#[expect(clippy::large_enum_variant, reason = "a path is on the stack: nothing is allocated here")]
enum Wanted {
    /// That of what a descriptor is open on.
    Open(i32),
    /// That of a file of the program's.
    Written(usize),
    /// That of a file of the machine.
    Host(Path),
}

fn wanted(At(directory, given): At, flags: i32) -> Result<Wanted, i32> {
    let is_empty = || Ok::<bool, i32>(given == 0 || guest::c_string(given)?.is_empty());
    if flags & EMPTY_PATH != 0 && is_empty()? && directory != AT_FDCWD {
        return Ok(Wanted::Open(directory));
    }
    point(Operation::FileRead, objects::paths());
    let path = if flags & EMPTY_PATH != 0 && is_empty()? {
        super::directory::working_directory()?
    } else if flags & NO_FOLLOW != 0 {
        Path::of_link(At(directory, given))?
    } else {
        Path::new(At(directory, given))?
    };
    if let Some(descriptor) = path.descriptor() {
        if flags & NO_FOLLOW != 0 {
            stop!("lstat of a name below /proc/self/fd is not modelled");
        }
        let is_open = crate::descriptors::is_open(descriptor);
        return if is_open { Ok(Wanted::Open(descriptor)) } else { Err(errno::ENOENT) };
    }
    match written(path.as_slice()) {
        Some(index) if slot(index).get().removed => Err(errno::ENOENT),
        Some(index) => Ok(Wanted::Written(index)),
        None => Ok(Wanted::Host(path)),
    }
}

/// Does what `stat`, `lstat` and `newfstatat` do.
pub(crate) fn path_status(at: At, address: usize, flags: i32) -> Answer {
    if flags & !(NO_FOLLOW | NO_AUTOMOUNT | EMPTY_PATH) != 0 {
        return Err(errno::EINVAL);
    }
    match wanted(at, flags)? {
        Wanted::Open(descriptor) => status(descriptor, address),
        Wanted::Written(index) => guest::store(address, written_status(index)).map(|()| 0),
        Wanted::Host(mut path) => {
            expect_write(address, size_of::<Stat>());
            let (flags, name) = (flags & NO_FOLLOW, path.c_string());
            let told = credentials::as_user(|| {
                answer(sys!(number::NEWFSTATAT, AT_FDCWD, name, address, flags))
            })?;
            owners::tell_changed(path.as_slice(), address, false)?;
            Ok(told)
        }
    }
}

/// Does what `statx` does.
pub(crate) fn extended_status(at: At, flags: i32, mask: usize, address: usize) -> Answer {
    const RESERVED: usize = 0x8000_0000;
    let unknown = flags & !(NO_FOLLOW | NO_AUTOMOUNT | EMPTY_PATH | SYNC_TYPE);
    if unknown != 0 || mask & RESERVED != 0 || flags & SYNC_TYPE == SYNC_TYPE {
        return Err(errno::EINVAL);
    }
    let statx = match wanted(at, flags)? {
        Wanted::Open(descriptor) => open_status(descriptor)?.1,
        Wanted::Written(index) => extend(&written_status(index)),
        Wanted::Host(mut path) => {
            expect_write(address, size_of::<Statx>());
            let (flags, name) = (flags & !EMPTY_PATH, path.c_string());
            let told = credentials::as_user(|| {
                answer(sys!(number::STATX, AT_FDCWD, name, flags, mask, address))
            })?;
            owners::tell_changed(path.as_slice(), address, true)?;
            return Ok(told);
        }
    };
    guest::store(address, statx)?;
    Ok(0)
}

/// Whether a file of the program's own may be used so: 4 to read, 2 to write, 1 to
/// execute.
pub(super) fn check_mode(index: usize, wanted: u32) -> Result<(), i32> {
    let Written { mode, owner, .. } = slot(index).get();
    let [user, group] = credentials::effective();
    let granted = match user {
        0 if mode & 0o111 != 0 || mode & FORMAT == FOLDER => 7,
        0 => 6,
        _ if user == owner[0] => mode >> 6 & 7,
        _ if group == owner[1] => mode >> 3 & 7,
        _ => mode & 7,
    };
    if wanted & !granted == 0 { Ok(()) } else { Err(errno::EACCES) }
}

/// Whether a file of the machine may be opened so (`O_RDONLY`, `O_WRONLY`, `O_RDWR`).
pub(super) fn check_access(path: &mut Path, access_mode: i32) -> Result<(), i32> {
    const AS_EFFECTIVE_USER: usize = 0x200;
    let wanted = match access_mode {
        0 => 4,
        1 => 2,
        _ => 6,
    };
    check_machine(path, wanted, AS_EFFECTIVE_USER).map(|_| ())
}

/// Asks the kernel whether a file of the machine may be used so, in the name of the effective user.
fn check_machine(path: &mut Path, wanted: usize, flags: usize) -> Answer {
    const AS_EFFECTIVE_USER: usize = 0x200;
    let path = path.c_string();
    // With another identity for files, the call that asks for the real one would not see it.
    let flags = if credentials::has_dropped() { flags | AS_EFFECTIVE_USER } else { flags };
    credentials::as_user(|| answer(sys!(number::FACCESSAT2, AT_FDCWD, path, wanted, flags)))
}

/// Does what `access`, `faccessat` and `faccessat2` do.
pub(crate) fn access(at: At, mode: u32, flags: i32) -> Answer {
    const AS_EFFECTIVE_USER: i32 = 0x200;
    if mode & !7 != 0 || flags & !(NO_FOLLOW | EMPTY_PATH | AS_EFFECTIVE_USER) != 0 {
        return Err(errno::EINVAL);
    }
    if flags & EMPTY_PATH != 0 {
        stop!("faccessat2(AT_EMPTY_PATH) is not modelled");
    }
    point(Operation::FileRead, objects::paths());
    let mut path = if flags & NO_FOLLOW != 0 { Path::of_link(at)? } else { Path::new(at)? };
    match written(path.as_slice()).map(|index| slot(index).get()) {
        Some(file) if file.removed => Err(errno::ENOENT),
        Some(_) => check_mode(written(path.as_slice()).unwrap_or(0), mode).map(|()| 0),
        None => check_machine(&mut path, mode as usize, flags as usize),
    }
}

pub(super) fn exists(path: &mut Path) -> bool {
    match written(path.as_slice()) {
        Some(index) => !slot(index).get().removed,
        None => super::host::on_machine(path),
    }
}

/// The entry of a file that may be written, which a file of the machine becomes.
pub(super) fn check_writable(path: &mut Path) -> Result<usize, i32> {
    if let Some(index) = written(path.as_slice()) {
        let file = slot(index).get();
        return match file {
            _ if file.removed => Err(errno::ENOENT),
            _ if file.directory => Err(errno::EISDIR),
            _ => check_mode(index, 2).map(|()| index),
        };
    }
    let index = host(path)?;
    if copied(index).is_directory() {
        return Err(errno::EISDIR);
    }
    check_access(path, 1)?;
    Ok(adopt(path, index, false))
}

/// Does what `chmod` and `fchmodat` do.
pub(crate) fn change_mode(at: At, mode: u32) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    let mut path = Path::new(at)?;
    let index = match written(path.as_slice()) {
        Some(index) if slot(index).get().removed => return Err(errno::ENOENT),
        Some(index) => index,
        None => {
            let known = host(&mut path)?;
            if copied(known).is_directory() {
                return owners::change_directory(&path, known, |changed| {
                    changed.mode = mode & 0o7777;
                });
            }
            adopt_to_change(path, known)?
        }
    };
    set_mode(index, mode)
}

/// Does what `fchmod` does.
pub(crate) fn change_open_mode(descriptor: i32, mode: u32) -> Answer {
    let open = used(descriptor).map(Cell::get).ok_or(errno::EBADF)?;
    point(Operation::FileWrite(0), objects::paths());
    let index = usize::from(open.index);
    match open.kind {
        Kind::Written => set_mode(index, mode),
        Kind::Host => {
            let path = Path::of_text(AT_FDCWD, copied(index).path())?;
            if copied(index).is_directory() {
                return owners::change_directory(&path, index, |changed| {
                    changed.mode = mode & 0o7777;
                });
            }
            set_mode(adopt_to_change(path, index)?, mode)
        }
        // Of a pipe, a device or a socket, whose mode nothing here asks for.
        _ => Ok(0),
    }
}

/// Makes a file of the machine the program's own, to change what only its owner may change.
fn adopt_to_change(path: Path, known: usize) -> Result<usize, i32> {
    let file = copied(known);
    let user = u64::from(credentials::effective()[0]);
    if user != 0 && file.status[3] >> 32 != user {
        return Err(errno::EPERM);
    }
    Ok(adopt(&path, known, false))
}

fn set_mode(index: usize, mode: u32) -> Answer {
    let file = slot(index).get();
    slot(index).set(Written { mode: file.mode & FORMAT | mode & 0o7777, ..file });
    Ok(0)
}

/// Does what `utimensat` does: whether there is such a file; times are not changed.
pub(crate) fn set_times(At(directory, given): At, times: usize, flags: i32) -> Answer {
    if times != 0 {
        guest::load::<[i64; 4]>(times)?;
    }
    if given == 0 {
        return used(directory).map(|_| 0).ok_or(errno::EBADF);
    }
    match wanted(At(directory, given), flags & (NO_FOLLOW | EMPTY_PATH))? {
        Wanted::Open(descriptor) => used(descriptor).map(|_| 0).ok_or(errno::EBADF),
        Wanted::Written(_) => Ok(0),
        Wanted::Host(mut path) => match exists(&mut path) {
            true => Ok(0),
            false => Err(errno::ENOENT),
        },
    }
}

/// Does what `statfs` does: a file of the program's is where the folder is that it was made in.
pub(crate) fn file_system(at: At, address: usize) -> Answer {
    point(Operation::FileRead, objects::paths());
    let path = Path::new(at)?;
    if written(path.as_slice()).is_some_and(|index| slot(index).get().removed) {
        return Err(errno::ENOENT);
    }
    file_system_of(path, address)
}

/// Does what `fstatfs` does.
pub(crate) fn open_file_system(descriptor: i32, address: usize) -> Answer {
    let open = used(descriptor).map(Cell::get).ok_or(errno::EBADF)?;
    let index = usize::from(open.index);
    let mut path = Path::root();
    match open.kind {
        Kind::Host => path.extend(copied(index).path())?,
        Kind::Written if slot(index).get().path != 0 => path.extend(slot(index).get().path())?,
        _ => stop!("fstatfs of what is no file with a name is not modelled"),
    }
    file_system_of(path, address)
}

fn file_system_of(mut path: Path, address: usize) -> Answer {
    const SIZE: usize = 120;
    while path.length > 0 && present(path.as_slice()).is_some() {
        path = path.parent();
    }
    expect_write(address, SIZE);
    answer(sys!(number::STATFS, path.c_string(), address))
}
