//! Linked, unlinked, created and renamed files, for this execution only.

use super::host::{self, adopt, copied, host, on_machine};
use super::path::{At, Path};
use super::status::exists;
use super::{
    FORMAT, LINK, Written, aliases, entry, keep_path, make, present, resize, slot, written,
};
use crate::descriptors::{self, Kind};
use crate::fail::stop;
use crate::guest;
use crate::heap;
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{Answer, answer, errno, number, sys};
use crate::write_protect::expect_write;
use everypath_shim_abi::Operation;

/// Whether a folder is there for something to be made in.
pub(super) fn check_parent(path: &Path) -> Result<(), i32> {
    if is_directory(&mut path.parent())? { Ok(()) } else { Err(errno::ENOTDIR) }
}

/// Whether what is there is a folder.
pub(super) fn is_directory(path: &mut Path) -> Result<bool, i32> {
    match written(path.as_slice()).map(|index| slot(index).get()) {
        Some(file) if file.removed => Err(errno::ENOENT),
        Some(file) => Ok(file.directory),
        None => Ok(copied(host(path)?).is_directory()),
    }
}

/// Takes the name away from what has it, if anything has.
fn take_name(path: &Path) {
    let Some(index) = entry(path.as_slice()) else { return };
    let file = slot(index).get();
    heap::release_block(file.path);
    if file.alias_of != 0 {
        slot(index).set(Written::default());
        return;
    }
    // The first of its other names becomes the file's own.
    let (path, path_length) = match aliases(index).next() {
        Some(alias) => {
            let name = alias.replace(Written::default());
            (name.path, name.path_length)
        }
        None => (0, 0),
    };
    slot(index).set(Written { path, path_length, ..file });
    forget_unused(index);
}

/// Hides a file of the machine that has this name.
fn hide(path: &mut Path) {
    if on_machine(path) {
        let index = make(path, 0, false);
        slot(index).set(Written { removed: true, ..slot(index).get() });
    }
}

/// Frees a file that has no name and that nobody has open.
pub(crate) fn forget_unused(index: usize) {
    let file = slot(index).get();
    let is_open = descriptors::all_open()
        .any(|open| open.get().kind == Kind::Written && usize::from(open.get().index) == index);
    if file.path == 0 && !is_open {
        if file.data != 0 {
            heap::release_block(file.data);
        }
        slot(index).set(Written::default());
    }
}

/// Whether the program has put something into a folder.
fn has_entries(folder: &Path) -> bool {
    state().files.written.iter().map(|slot| slot.get()).any(|file| {
        file.used
            && !file.removed
            && file
                .path()
                .strip_prefix(folder.as_slice())
                .is_some_and(|rest| rest.first() == Some(&b'/'))
    })
}

/// Does what the system calls do.
pub(crate) fn remove(at: At, folder: bool) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    let path = &mut Path::of_link(at)?;
    match (is_directory(path)?, folder) {
        (true, false) => return Err(errno::EISDIR),
        (false, true) => return Err(errno::ENOTDIR),
        (true, true) if has_entries(path) => return Err(errno::ENOTEMPTY),
        (true, true) if on_machine(path) => {
            stop!("rmdir of a directory that existed before the program is not modelled")
        }
        _ => {}
    }
    take_name(path);
    hide(path);
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn make_directory(at: At, mode: u32) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    let mut path = Path::of_link(at)?;
    if exists(&mut path) {
        return Err(errno::EEXIST);
    }
    check_parent(&path)?;
    make(&path, mode & 0o1777 & !state().umask.get(), true);
    Ok(0)
}

/// The entry of a file that is there, which a file of the machine becomes.
fn own_file(path: &mut Path) -> Result<usize, i32> {
    match written(path.as_slice()) {
        Some(index) => Ok(index),
        None => {
            let known = host(path)?;
            Ok(adopt(path, known, false))
        }
    }
}

/// Does what the system calls do.
pub(crate) fn rename(from: At, to: At, flags: u32) -> Answer {
    const NO_REPLACE: u32 = 1;
    if flags & !NO_REPLACE != 0 {
        stop!("renameat2 with flags {flags:#x} is not modelled");
    }
    point(Operation::FileWrite(0), objects::paths());
    let (mut from, mut to) = (Path::of_link(from)?, Path::of_link(to)?);
    if is_directory(&mut from)? {
        stop!("rename of a directory is not modelled");
    }
    check_parent(&to)?;
    if flags & NO_REPLACE != 0 && exists(&mut to) {
        return Err(errno::EEXIST);
    }
    if is_directory(&mut to).unwrap_or(false) {
        return Err(errno::EISDIR);
    }
    let source = own_file(&mut from)?;
    // Two names of one file stay what they are.
    if present(to.as_slice()) == Some(source) {
        return Ok(0);
    }
    take_name(&to);
    let named = entry(from.as_slice()).unwrap_or(source);
    heap::release_block(slot(named).get().path);
    let (path, path_length) = keep_path(&to);
    slot(named).set(Written { path, path_length, ..slot(named).get() });
    hide(&mut from);
    Ok(0)
}

/// Does what `link` and `linkat` do.
pub(crate) fn link(from: At, to: At, flags: i32) -> Answer {
    const FOLLOW: i32 = 0x400;
    const EMPTY_PATH: i32 = 0x1000;
    if flags & !(FOLLOW | EMPTY_PATH) != 0 {
        return Err(errno::EINVAL);
    }
    if flags & EMPTY_PATH != 0 {
        stop!("linkat(AT_EMPTY_PATH) is not modelled");
    }
    point(Operation::FileWrite(0), objects::paths());
    let mut from = if flags & FOLLOW != 0 { Path::new(from)? } else { Path::of_link(from)? };
    let mut to = Path::of_link(to)?;
    let is_directory = is_directory(&mut from)?;
    check_parent(&to)?;
    if exists(&mut to) {
        return Err(errno::EEXIST);
    }
    if is_directory {
        return Err(errno::EPERM);
    }
    let file = own_file(&mut from)?;
    if slot(file).get().is_link() {
        stop!("a hard link to a symbolic link is not modelled");
    }
    let alias = make(&to, 0, false);
    slot(alias).set(Written { alias_of: file as u16 + 1, ..slot(alias).get() });
    Ok(0)
}

/// Does what `symlink` and `symlinkat` do.
pub(crate) fn make_symbolic_link(target: usize, at: At) -> Answer {
    point(Operation::FileWrite(0), objects::paths());
    let target = guest::c_string(target)?;
    let mut path = Path::of_link(at)?;
    if target.is_empty() {
        return Err(errno::ENOENT);
    }
    if exists(&mut path) {
        return Err(errno::EEXIST);
    }
    check_parent(&path)?;
    let index = make(&path, 0o777, false);
    resize(index, target.len());
    let link = slot(index).get();
    crate::memory::write(link.data, target);
    slot(index).set(Written { mode: link.mode & !FORMAT | LINK, ..link });
    Ok(0)
}

/// What a descriptor is open on, as its link below `/proc/self/fd` says it.
fn name_of_open(descriptor: i32) -> Result<&'static [u8], i32> {
    let open = descriptors::get(descriptor).ok_or(errno::ENOENT)?.get();
    let index = usize::from(open.index);
    Ok(match open.kind {
        Kind::Host => host::path_of(index),
        Kind::Written if slot(index).get().path != 0 => slot(index).get().path(),
        Kind::Null | Kind::Empty => b"/dev/null",
        Kind::Zero => b"/dev/zero",
        Kind::Random => b"/dev/urandom",
        _ => stop!("readlink of the descriptor of what has no path is not modelled"),
    })
}

/// Does what `readlink` and `readlinkat` do.
pub(crate) fn read_link(at: At, address: usize, room: usize) -> Answer {
    if room as i32 <= 0 {
        return Err(errno::EINVAL);
    }
    point(Operation::FileRead, objects::paths());
    let mut path = Path::of_link(at)?;
    if let Some(descriptor) = path.descriptor() {
        let text = name_of_open(descriptor)?;
        let text = &text[..text.len().min(room)];
        guest::write(address, text)?;
        return Ok(text.len() as isize);
    }
    let Some(index) = written(path.as_slice()) else {
        expect_write(address, room);
        return answer(sys!(number::READLINK, path.c_string(), address, room));
    };
    let link = slot(index).get();
    match link {
        _ if link.removed => Err(errno::ENOENT),
        _ if !link.is_link() => Err(errno::EINVAL),
        _ => {
            let text = &link.data()[..link.length.min(room)];
            guest::write(address, text)?;
            Ok(text.len() as isize)
        }
    }
}
