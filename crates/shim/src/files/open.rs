//! Opening files.

use super::host::{adopt, copied, host};
use super::path::{AT_FDCWD, At, Path};
use super::status::{check_access, exists};
use super::{FORMAT, SOCKET, Written, make, names, present, resize, slot, written};
use crate::credentials;
use crate::descriptors::{self, ACCESS_MODE, APPEND, Kind, Open};
use crate::fail::stop;
use crate::guest;
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{Answer, answer, errno};
use everypath_shim_abi::Operation;

const CREATE: i32 = 0o100;
const EXCLUSIVE: i32 = 0o200;
const TRUNCATE: i32 = 0o1000;
const DIRECTORY: i32 = 0o200_000;
const NO_FOLLOW: i32 = 0o400_000;

/// Does what the system call does.
pub(crate) fn open(at: At, flags: i32, mode: u32) -> Answer {
    if let Some(device) = device(guest::c_string(at.1)?)? {
        return answer(descriptors::open(Open { flags, ..device }));
    }
    let writes = flags & ACCESS_MODE != 0 || flags & (CREATE | TRUNCATE) != 0;
    point(if writes { Operation::FileWrite(0) } else { Operation::FileRead }, objects::paths());
    let exclusive = flags & CREATE != 0 && flags & EXCLUSIVE != 0;
    let mut path = match exclusive || flags & NO_FOLLOW != 0 {
        true => Path::of_link(at)?,
        false => Path::new(at)?,
    };
    if let Some(device) = device(path.as_slice())? {
        return answer(descriptors::open(Open { flags, ..device }));
    }
    if let Some(index) = present(path.as_slice()) {
        return open_present(index, exclusive, writes, flags);
    }
    let is_removed = written(path.as_slice()).is_some();
    let found = if is_removed { Err(errno::ENOENT) } else { host(&mut path) };
    match found {
        Ok(_) if exclusive => Err(errno::EEXIST),
        Ok(index) => {
            check_directory(copied(index).is_directory(), writes, flags)?;
            if !writes {
                // What was copied for one user need not be there for another.
                if credentials::has_dropped() {
                    check_access(&mut path, flags & ACCESS_MODE)?;
                }
                let index = index as u16;
                let open = Open { kind: Kind::Host, flags, index, ..Open::default() };
                return answer(descriptors::open(open));
            }
            check_access(&mut path, flags & ACCESS_MODE)?;
            open_written(adopt(&path, index, flags & TRUNCATE != 0), flags)
        }
        Err(errno::ENOENT) if flags & CREATE != 0 => {
            names::check_parent(&path)?;
            open_written(make(&path, mode & 0o7777 & !state().umask.get(), false), flags)
        }
        Err(error) => Err(error),
    }
}

/// What is opened again by the number of a descriptor; files are read from their start then.
fn by_descriptor(path: &[u8]) -> Result<Option<Open>, i32> {
    let number = match path {
        b"/dev/stdin" => Some(&b"0"[..]),
        _ => path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/")),
    };
    let parse = |digits: &[u8]| core::str::from_utf8(digits).ok()?.parse().ok();
    let Some(number) = number.and_then(parse) else { return Ok(None) };
    let open = descriptors::get(number).ok_or(errno::ENOENT)?.get();
    if open.kind == Kind::Object {
        stop!("opening the socket or pipe of descriptor {number} by its path is not modelled");
    }
    Ok(Some(Open { offset: 0, lock: 0, ..open }))
}

/// What stands for a device file.
fn device(path: &[u8]) -> Result<Option<Open>, i32> {
    if let Some(opened) = by_descriptor(path)? {
        return Ok(Some(opened));
    }
    let (kind, index) = match path {
        b"/dev/null" => (Kind::Null, 0),
        b"/dev/zero" => (Kind::Zero, 0),
        b"/dev/urandom" | b"/dev/random" => (Kind::Random, 0),
        b"/dev/stdout" => (Kind::Stream, 1),
        b"/dev/stderr" => (Kind::Stream, 2),
        // There is no terminal, and nobody sits at the machine.
        b"/dev/tty" => return Err(errno::ENXIO),
        b"/dev/console" => return Err(errno::EACCES),
        _ => return Ok(None),
    };
    Ok(Some(Open { kind, index, ..Open::default() }))
}

/// Opens a file that the program made or changed.
fn open_present(index: usize, exclusive: bool, writes: bool, flags: i32) -> Answer {
    let file = slot(index).get();
    if exclusive {
        return Err(errno::EEXIST);
    }
    if file.is_link() {
        return Err(errno::ELOOP);
    }
    if file.mode & FORMAT == SOCKET {
        return Err(errno::ENXIO);
    }
    check_directory(file.directory, writes, flags)?;
    super::status::check_mode(index, wanted(flags))?;
    if flags & TRUNCATE != 0 {
        resize(index, 0);
    }
    open_written(index, flags)
}

/// The permissions that opening a file needs: 4 to read, 2 to write.
fn wanted(flags: i32) -> u32 {
    let reading_or_writing = match flags & ACCESS_MODE {
        0 => 4,
        1 => 2,
        _ => 6,
    };
    reading_or_writing | if flags & TRUNCATE != 0 { 2 } else { 0 }
}

/// Directories are only listed, and only they are opened as such.
fn check_directory(is_one: bool, writes: bool, flags: i32) -> Result<(), i32> {
    match (is_one, writes) {
        (true, true) => Err(errno::EISDIR),
        (false, _) if flags & DIRECTORY != 0 => Err(errno::ENOTDIR),
        _ => Ok(()),
    }
}

fn open_written(index: usize, flags: i32) -> Answer {
    let append = flags & APPEND != 0;
    let index = index as u16;
    let open = Open { kind: Kind::Written, flags, append, index, ..Open::default() };
    answer(descriptors::open(open))
}

/// Whether there is a file by which a Unix socket could be found.
pub(crate) fn is_there(path: &[u8]) -> bool {
    Path::of_text(AT_FDCWD, path).is_ok_and(|mut path| exists(&mut path))
}

/// Makes the file by which a Unix socket is found.
pub(crate) fn make_socket(path: &[u8]) -> Result<(), i32> {
    let mut path = Path::of_text(AT_FDCWD, path)?;
    if exists(&mut path) {
        return Err(errno::EADDRINUSE);
    }
    names::check_parent(&path)?;
    let index = make(&path, 0o777 & !state().umask.get(), false);
    slot(index)
        .set(Written { mode: slot(index).get().mode & !FORMAT | SOCKET, ..slot(index).get() });
    Ok(())
}

/// Makes a file without a name, as `memfd_create` does.
pub(crate) fn memory_file(name: usize, flags: usize) -> Answer {
    const CLOSE: usize = 1;
    const ALLOW_SEALS: usize = 2;
    const EXECUTABLE: usize = 0x18;
    if flags & !(CLOSE | ALLOW_SEALS | EXECUTABLE) != 0 {
        stop!("memfd_create with flags {flags:#x} is not modelled");
    }
    guest::c_string(name)?;
    point(Operation::FileWrite(0), objects::paths());
    let index = make(&Path::root(), 0o777, false);
    slot(index).set(Written { path: 0, path_length: 0, ..slot(index).get() });
    let close = if flags & CLOSE != 0 { descriptors::CLOSE_ON_EXEC } else { 0 };
    open_written(index, 2 | close)
}
