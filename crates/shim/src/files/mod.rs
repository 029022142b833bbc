//! Files: read from the host, written in memory only.
//!
//! A file that the program reads is copied once and never looked at again, so every execution reads
//! the same. What it writes lives in its own heap: it is part of every snapshot and gone with it.

use crate::descriptors::{self, ACCESS_MODE, APPEND, CLOSE_ON_EXEC, Kind, Open, get, used};
use crate::fail::stop;
use crate::heap;
use crate::memory::{bytes, copy, load, store, write, zero};
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{errno, number, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::Operation;
use everypath_shim_abi::address_space::{FILE_COPIES, FILE_COPIES_SIZE};

pub(crate) mod flock;
mod handover;
mod listing;
mod names;
mod path;

pub(crate) use handover::{FileLeft, left_behind, receive};
pub(crate) use listing::list;
pub(crate) use names::{forget_unused, make_directory, remove, rename};

use path::Path;

const WRITTEN: usize = 64;
const HOST: usize = 512;
const MAX_PATH: usize = 512;

/// A file that the program made or changed; or a file of the machine that it removed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Written {
    used: bool,
    removed: bool,
    directory: bool,
    /// Where its path is, and how long it is.
    path: usize,
    path_length: usize,
    data: usize,
    length: usize,
    capacity: usize,
    mode: u32,
}

/// What the program wrote: part of every snapshot.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Files {
    written: [Cell<Written>; WRITTEN],
}

/// A file of the machine, copied when it was first opened.
#[derive(Clone, Copy, Debug)]
struct HostFile {
    path: [u8; MAX_PATH],
    path_length: usize,
    error: i32,
    data: usize,
    length: usize,
    status: [u64; 18],
}

/// The copies. They are not part of snapshots: what was read once is read again.
struct HostFiles {
    files: [Cell<HostFile>; HOST],
    count: AtomicUsize,
    top: AtomicUsize,
}
// SAFETY: one thread of the program runs at a time.
// JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for HostFiles {}

static HOST_FILES: HostFiles = HostFiles {
    files: [const {
        Cell::new(HostFile {
            path: [0; MAX_PATH],
            path_length: 0,
            error: 0,
            data: 0,
            length: 0,
            status: [0; 18],
        })
    }; HOST],
    count: AtomicUsize::new(0),
    top: AtomicUsize::new(0),
};

const WRITE_ONLY: i32 = 1;
const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const TRUNCATE: i32 = 0o1000;
const DIRECTORY: i32 = 0o200_000;
/// Flags that only matter while a file is opened.
pub(crate) const OPENING: i32 = CREATE | EXCLUSIVE | TRUNCATE | 0o400;
const AT_FDCWD: i32 = -100;

const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const CHARACTERS: u32 = 0o020_000;
const PIPE: u32 = 0o010_000;
const SOCKET: u32 = 0o140_000;
const FORMAT: u32 = 0o170_000;

fn written(path: &[u8]) -> Option<usize> {
    state().files.written.iter().position(|file| {
        let file = file.get();
        file.path != 0 && bytes(file.path, file.path_length) == path
    })
}

/// The copy of a file of the machine; an index, or the error with which it cannot be opened.
fn host(path: &mut Path) -> Result<usize, i32> {
    let count = HOST_FILES.count.load(Relaxed);
    let known = HOST_FILES.files[..count].iter().position(|file| {
        let file = file.get();
        file.path[..file.path_length] == *path.as_slice()
    });
    let index = match known {
        Some(index) => index,
        None if count == HOST => stop!("the program opens more than {HOST} files for reading"),
        None => {
            let file = copy_from_machine(path);
            HOST_FILES.files[count].set(file);
            HOST_FILES.count.store(count + 1, Relaxed);
            count
        }
    };
    match HOST_FILES.files[index].get().error {
        0 => Ok(index),
        error => Err(error),
    }
}

fn copy_from_machine(path: &mut Path) -> HostFile {
    const NONBLOCK: i32 = 0o4000;
    let c_path = path.c_string();
    let mut file = HostFile {
        path: path.bytes,
        path_length: path.length,
        error: 0,
        data: 0,
        length: 0,
        status: [0; 18],
    };
    let opened = sys!(number::OPEN, c_path, CLOSE_ON_EXEC | NONBLOCK, 0);
    if opened < 0 {
        file.error = -opened as i32;
        return file;
    }
    sys!(number::FSTAT, opened, file.status.as_mut_ptr());
    if HOST_FILES.top.load(Relaxed) == 0 {
        crate::memory::map(FILE_COPIES, FILE_COPIES_SIZE);
        HOST_FILES.top.store(FILE_COPIES, Relaxed);
    }
    file.data = HOST_FILES.top.load(Relaxed);
    match mode_of(&file) & FORMAT {
        REGULAR => file.length = read_all(opened, file.data),
        FOLDER => file.length = listing::copy_from_machine(path, opened, file.data),
        _ => file.error = errno::EACCES,
    }
    let top = crate::memory::round_up(file.data + file.length + 1, 4096);
    HOST_FILES.top.store(top, Relaxed);
    sys!(number::CLOSE, opened);
    file
}

/// Copies the content of an open file; returns how many bytes that is.
fn read_all(opened: isize, to: usize) -> usize {
    let mut length = 0;
    loop {
        let got = sys!(number::READ, opened, to + length, 1 << 20);
        if got <= 0 {
            return length;
        }
        length += got as usize;
    }
}

fn mode_of(file: &HostFile) -> u32 {
    (file.status[3] & 0xffff_ffff) as u32
}

/// Does what the system call does.
pub(crate) fn open(directory: i32, path: usize, flags: i32, mode: u32) -> isize {
    open_path(directory, path, flags, mode).unwrap_or_else(|error| -(error as isize))
}

fn open_path(directory: i32, given: usize, flags: i32, mode: u32) -> Result<isize, i32> {
    let mut path = Path::new(directory, given)?;
    let device = match path.as_slice() {
        b"/dev/null" => Some((Kind::Null, 0)),
        b"/dev/zero" => Some((Kind::Zero, 0)),
        b"/dev/urandom" | b"/dev/random" => Some((Kind::Random, 0)),
        b"/dev/stdout" => Some((Kind::Stream, 1)),
        b"/dev/stderr" => Some((Kind::Stream, 2)),
        b"/dev/tty" => return Err(errno::ENXIO),
        _ => None,
    };
    if let Some((kind, index)) = device {
        return Ok(descriptors::open(Open { kind, index, flags, ..Open::default() }));
    }
    let writes = flags & ACCESS_MODE != 0 || flags & (CREATE | TRUNCATE) != 0;
    point(if writes { Operation::FileWrite(0) } else { Operation::FileRead }, objects::paths());
    let known = written(path.as_slice());
    let present = known.map(|index| state().files.written[index].get());
    if let (Some(index), Some(file)) = (known, present)
        && !file.removed
    {
        if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
            return Err(errno::EEXIST);
        }
        check_directory(file.directory, writes, flags)?;
        if flags & TRUNCATE != 0 {
            resize(index, 0);
        }
        return Ok(open_written(index, flags));
    }
    let found = if present.is_some() { Err(errno::ENOENT) } else { host(&mut path) };
    match found {
        Ok(index) if !writes => {
            let is_folder = mode_of(&HOST_FILES.files[index].get()) & FORMAT == FOLDER;
            check_directory(is_folder, writes, flags)?;
            let index = index as u16;
            Ok(descriptors::open(Open { kind: Kind::Host, flags, index, ..Open::default() }))
        }
        Ok(_) if flags & CREATE != 0 && flags & EXCLUSIVE != 0 => Err(errno::EEXIST),
        Ok(index) if mode_of(&HOST_FILES.files[index].get()) & FORMAT == FOLDER => {
            Err(errno::EISDIR)
        }
        Ok(index) => Ok(open_written(adopt(&path, index, flags & TRUNCATE != 0), flags)),
        Err(errno::ENOENT) if flags & CREATE != 0 => {
            names::check_parent(&path)?;
            Ok(open_written(make(&path, mode & !state().umask.get(), false), flags))
        }
        Err(error) => Err(error),
    }
}

/// Directories are only listed, and only they are opened as such.
fn check_directory(is_one: bool, writes: bool, flags: i32) -> Result<(), i32> {
    match (is_one, writes) {
        (true, true) => Err(errno::EISDIR),
        (false, _) if flags & DIRECTORY != 0 => Err(errno::ENOTDIR),
        _ => Ok(()),
    }
}

fn open_written(index: usize, flags: i32) -> isize {
    let append = flags & APPEND != 0;
    let index = index as u16;
    descriptors::open(Open { kind: Kind::Written, flags, append, index, ..Open::default() })
}

/// Makes an entry for a file that the program makes or changes.
fn make(path: &Path, mode: u32, directory: bool) -> usize {
    let files = &state().files;
    let index =
        written(path.as_slice()).or_else(|| files.written.iter().position(|file| !file.get().used));
    let Some(index) = index else { stop!("the program writes more than {WRITTEN} files") };
    let name = heap::allocate_aligned(16, path.length.max(1));
    write(name, path.as_slice());
    let (path, path_length) = (name, path.length);
    let mode = mode | if directory { FOLDER } else { REGULAR };
    let file = Written { used: true, directory, path, path_length, mode, ..Written::default() };
    files.written[index].set(file);
    index
}

/// The path that a Unix socket's address names.
fn path_of_socket(path: &[u8]) -> Result<Path, i32> {
    let mut c_path = [0; MAX_PATH];
    c_path[..path.len()].copy_from_slice(path);
    Path::new(AT_FDCWD, c_path.as_ptr() as usize)
}

/// Whether there is a file by which a Unix socket could be found.
pub(crate) fn is_there(path: &[u8]) -> bool {
    path_of_socket(path).is_ok_and(|mut path| exists(&mut path))
}

/// Makes the file by which a Unix socket is found.
pub(crate) fn make_socket(path: &[u8]) -> Result<(), i32> {
    let mut path = path_of_socket(path)?;
    if exists(&mut path) {
        return Err(errno::EADDRINUSE);
    }
    names::check_parent(&path)?;
    let index = make(&path, 0o777 & !state().umask.get(), false);
    let slot = &state().files.written[index];
    slot.set(Written { mode: slot.get().mode & !FORMAT | SOCKET, ..slot.get() });
    Ok(())
}

/// Makes a copy of a machine's file that the program may change.
fn adopt(path: &Path, host: usize, empty: bool) -> usize {
    let file = HOST_FILES.files[host].get();
    let index = make(path, mode_of(&file) & 0o7777, false);
    if !empty {
        resize(index, file.length);
        copy(state().files.written[index].get().data, file.data, file.length);
    }
    // Who has it open already sees what is written from now on.
    for slot in descriptors::all_open() {
        let open = slot.get();
        if open.kind == Kind::Host && usize::from(open.index) == host {
            slot.set(Open { kind: Kind::Written, index: index as u16, ..open });
        }
    }
    index
}

/// Changes the length of a file, clearing what is new.
fn resize(index: usize, length: usize) {
    let slot = &state().files.written[index];
    let mut file = slot.get();
    if length > file.capacity {
        let capacity = length.max(2 * file.capacity).max(256);
        let data = heap::allocate_aligned(16, capacity);
        copy(data, file.data, file.length);
        if file.data != 0 {
            heap::release_block(file.data);
        }
        file.data = data;
        file.capacity = capacity;
    }
    if length < file.length {
        zero(file.data + length, file.length - length);
    }
    file.length = length;
    slot.set(file);
}

/// Whether a descriptor is open on a file of the machine, as it is there.
pub(crate) fn is_of_machine(descriptor: i32) -> bool {
    get(descriptor).is_some_and(|open| open.get().kind == Kind::Host)
}

/// The bytes behind a descriptor: address and length.
pub(crate) fn contents(descriptor: i32) -> Option<(usize, usize)> {
    let open = get(descriptor)?.get();
    match open.kind {
        _ if listing::is_directory(open) => None,
        Kind::Host => {
            let file = HOST_FILES.files[usize::from(open.index)].get();
            Some((file.data, file.length))
        }
        Kind::Written => {
            let file = state().files.written[usize::from(open.index)].get();
            Some((file.data, file.length))
        }
        _ => None,
    }
}

/// Does what the system call does; without an offset, at the descriptor's own.
pub(crate) fn read(descriptor: i32, address: usize, length: usize, at: Option<u64>) -> isize {
    let is_file =
        get(descriptor).is_some_and(|open| matches!(open.get().kind, Kind::Host | Kind::Written));
    let found = match at {
        None if is_file => descriptors::moved(descriptor),
        Some(_) if is_file => used(descriptor),
        _ => descriptors::found(descriptor),
    };
    let Some(slot) = found else { return -(errno::EBADF as isize) };
    let mut open = slot.get();
    if open.flags & ACCESS_MODE == WRITE_ONLY {
        return -(errno::EBADF as isize);
    }
    match open.kind {
        Kind::Object if at.is_some() => return -(errno::ESPIPE as isize),
        Kind::Object => return crate::net::syscalls::read(descriptor, address, length),
        Kind::Zero => zero(address, length),
        Kind::Random => crate::random::fill(address, length),
        Kind::Host | Kind::Written if listing::is_directory(open) => {
            return -(errno::EISDIR as isize);
        }
        Kind::Host | Kind::Written => {
            if open.kind == Kind::Written {
                point(Operation::FileRead, objects::file(open.index));
                open = slot.get();
            }
            let Some((start, size)) = contents(descriptor) else { return 0 };
            let offset = at.unwrap_or(open.offset) as usize;
            let got = length.min(size.saturating_sub(offset));
            copy(address, start + offset.min(size), got);
            if at.is_none() {
                open.offset += got as u64;
                slot.set(open);
            }
            return got as isize;
        }
        Kind::Empty | Kind::Null | Kind::Stream | Kind::Closed => return 0,
    }
    length as isize
}

/// Does what the system call does; without an offset, at the descriptor's own.
pub(crate) fn write_to(descriptor: i32, address: usize, length: usize, at: Option<u64>) -> isize {
    let Some(slot) = descriptors::found(descriptor) else { return -(errno::EBADF as isize) };
    let open = slot.get();
    match open.kind {
        Kind::Object if at.is_some() => return -(errno::ESPIPE as isize),
        Kind::Object => return crate::net::syscalls::write(descriptor, address, length),
        Kind::Stream => return crate::output::write(usize::from(open.index), address, length),
        Kind::Written if open.flags & ACCESS_MODE != 0 => {
            point(Operation::FileWrite(length as u64), objects::file(open.index));
            let mut open = slot.get();
            let index = usize::from(open.index);
            let size = state().files.written[index].get().length;
            let offset = match at {
                Some(offset) => offset as usize,
                None if open.append => size,
                None => open.offset as usize,
            };
            resize(index, size.max(offset + length));
            copy(state().files.written[index].get().data + offset, address, length);
            if at.is_none() {
                open.offset = (offset + length) as u64;
                slot.set(open);
            }
        }
        Kind::Null | Kind::Zero | Kind::Random | Kind::Empty => {}
        Kind::Host | Kind::Written | Kind::Closed => return -(errno::EBADF as isize),
    }
    length as isize
}

/// Does what the system call does.
pub(crate) fn seek(descriptor: i32, offset: i64, whence: i32) -> isize {
    let is_file = get(descriptor).is_some_and(|open| open.get().kind != Kind::Object);
    let found = if is_file { descriptors::moved(descriptor) } else { used(descriptor) };
    let Some(slot) = found else { return -(errno::EBADF as isize) };
    let mut open = slot.get();
    let size = match contents(descriptor) {
        Some((_, size)) => size,
        None if listing::is_directory(open) => 0,
        None => return -(errno::ESPIPE as isize),
    };
    let base = match whence {
        0 => 0,
        1 => open.offset as i64,
        2 => size as i64,
        _ => return -(errno::EINVAL as isize),
    };
    match base.checked_add(offset) {
        Some(offset) if offset >= 0 => {
            open.offset = offset as u64;
            slot.set(open);
            offset as isize
        }
        _ => -(errno::EINVAL as isize),
    }
}

/// Does what the system call does.
pub(crate) fn truncate(descriptor: i32, length: i64) -> isize {
    match used(descriptor).map(Cell::get) {
        Some(open) if open.kind == Kind::Written && length >= 0 => {
            point(Operation::FileWrite(length as u64), objects::file(open.index));
            resize(usize::from(open.index), length as usize);
            0
        }
        Some(_) => -(errno::EINVAL as isize),
        None => -(errno::EBADF as isize),
    }
}

/// Fills a `struct stat`.
fn fill_status(address: usize, mode: u32, length: usize, inode: u64) {
    zero(address, 144);
    store(address, 1u64);
    store(address + 8, inode);
    store(address + 16, 1u64);
    store(address + 24, mode);
    store(address + 28, sys!(number::GETUID) as u32);
    store(address + 32, sys!(number::GETGID) as u32);
    store(address + 48, length as u64);
    store(address + 56, 4096u64);
    store(address + 64, length.div_ceil(512) as u64);
    for time in [72, 88, 104] {
        store(address + time, 1_700_000_000u64);
    }
}

/// Does what the system call does.
pub(crate) fn status(descriptor: i32, address: usize) -> isize {
    let Some(slot) = used(descriptor) else { return -(errno::EBADF as isize) };
    let open = slot.get();
    match open.kind {
        Kind::Host => {
            let file = HOST_FILES.files[usize::from(open.index)].get();
            store(address, file.status);
        }
        Kind::Written => {
            let file = state().files.written[usize::from(open.index)].get();
            fill_status(address, file.mode, file.length, 1_000_000 + u64::from(open.index));
        }
        // Streams look like pipes: nothing of ours is a terminal.
        Kind::Stream | Kind::Empty => fill_status(address, PIPE | 0o600, 0, 1),
        Kind::Object => {
            let mode = if crate::net::is_pipe(usize::from(open.index)) { PIPE } else { SOCKET };
            fill_status(address, mode | 0o600, 0, 2_000_000 + u64::from(open.index));
        }
        _ => fill_status(address, CHARACTERS | 0o666, 0, 2),
    }
    0
}

/// Does what the system call does, without following the last link differently.
pub(crate) fn path_status(directory: i32, given: usize, address: usize, flags: i32) -> isize {
    const EMPTY_PATH: i32 = 0x1000;
    if flags & EMPTY_PATH != 0 && load::<u8>(given) == 0 {
        return status(directory, address);
    }
    point(Operation::FileRead, objects::paths());
    let mut path = match Path::new(directory, given) {
        Ok(path) => path,
        Err(error) => return -(error as isize),
    };
    match written(path.as_slice()) {
        Some(index) => {
            let file = state().files.written[index].get();
            if file.removed {
                return -(errno::ENOENT as isize);
            }
            fill_status(address, file.mode, file.length, 1_000_000 + index as u64);
            0
        }
        None => {
            crate::write_protect::expect_write(address, size_of::<[u64; 18]>());
            sys!(number::NEWFSTATAT, AT_FDCWD, path.c_string(), address, flags)
        }
    }
}

/// Does what the system call does.
pub(crate) fn access(directory: i32, given: usize, mode: i32) -> isize {
    point(Operation::FileRead, objects::paths());
    match Path::new(directory, given) {
        Ok(mut path) => match written(path.as_slice()).map(|i| state().files.written[i].get()) {
            Some(file) if file.removed => -(errno::ENOENT as isize),
            Some(_) => 0,
            None => sys!(number::FACCESSAT, AT_FDCWD, path.c_string(), mode),
        },
        Err(error) => -(error as isize),
    }
}

fn exists(path: &mut Path) -> bool {
    match written(path.as_slice()) {
        Some(index) => !state().files.written[index].get().removed,
        None => sys!(number::FACCESSAT, AT_FDCWD, path.c_string(), 0) == 0,
    }
}
