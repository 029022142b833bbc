//! Unlinked, created and renamed files, for this execution only.

use super::path::Path;
use super::{AT_FDCWD, FOLDER, FORMAT, HOST_FILES, Written, adopt, exists, host, make};
use super::{mode_of, written};
use crate::descriptors::{self, Kind};
use crate::fail::stop;
use crate::heap;
use crate::memory::{bytes, write};
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{errno, number, sys};
use everypath_shim_abi::Operation;

fn answer(result: Result<(), i32>) -> isize {
    result.map_or_else(|error| -(error as isize), |()| 0)
}

/// Whether a folder is there for something to be made in.
pub(super) fn check_parent(path: &Path) -> Result<(), i32> {
    if is_directory(&mut path.parent())? { Ok(()) } else { Err(errno::ENOTDIR) }
}

/// Whether what is there is a folder.
fn is_directory(path: &mut Path) -> Result<bool, i32> {
    match written(path.as_slice()).map(|index| state().files.written[index].get()) {
        Some(file) if file.removed => Err(errno::ENOENT),
        Some(file) => Ok(file.directory),
        None => Ok(mode_of(&HOST_FILES.files[host(path)?].get()) & FORMAT == FOLDER),
    }
}

/// Whether the machine has a file of this name, whatever the program did to it.
fn on_machine(path: &mut Path) -> bool {
    sys!(number::FACCESSAT, AT_FDCWD, path.c_string(), 0) == 0
}

/// Takes the name away from what has it, if anything has.
fn take_name(path: &mut Path) {
    let Some(index) = written(path.as_slice()) else { return };
    let slot = &state().files.written[index];
    heap::release_block(slot.get().path);
    slot.set(Written { path: 0, path_length: 0, ..slot.get() });
    forget_unused(index);
}

/// Hides a file of the machine that has this name.
fn hide(path: &mut Path) {
    if on_machine(path) {
        let index = make(path, 0, false);
        let slot = &state().files.written[index];
        slot.set(Written { removed: true, ..slot.get() });
    }
}

/// Frees a file that has no name and that nobody has open.
pub(crate) fn forget_unused(index: usize) {
    let slot = &state().files.written[index];
    let file = slot.get();
    let is_open = descriptors::all_open()
        .any(|open| open.get().kind == Kind::Written && usize::from(open.get().index) == index);
    if file.path == 0 && !is_open {
        if file.data != 0 {
            heap::release_block(file.data);
        }
        slot.set(Written::default());
    }
}

/// Whether the program has put something into a folder.
fn has_entries(folder: &Path) -> bool {
    state().files.written.iter().map(|slot| slot.get()).any(|file| {
        file.used
            && !file.removed
            && bytes(file.path, file.path_length)
                .strip_prefix(folder.as_slice())
                .is_some_and(|rest| rest.first() == Some(&b'/'))
    })
}

/// Does what the system calls do.
pub(crate) fn remove(directory: i32, given: usize, folder: bool) -> isize {
    answer(Path::new(directory, given).and_then(|mut path| remove_path(&mut path, folder)))
}

fn remove_path(path: &mut Path, folder: bool) -> Result<(), i32> {
    point(Operation::FileWrite(0), objects::paths());
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
    Ok(())
}

/// Does what the system call does.
pub(crate) fn make_directory(directory: i32, given: usize, mode: u32) -> isize {
    answer(Path::new(directory, given).and_then(|mut path| {
        point(Operation::FileWrite(0), objects::paths());
        if exists(&mut path) {
            return Err(errno::EEXIST);
        }
        check_parent(&path)?;
        make(&path, mode & !state().umask.get(), true);
        Ok(())
    }))
}

/// Does what the system call does.
pub(crate) fn rename((here, from): (i32, usize), (there, to): (i32, usize)) -> isize {
    let paths = Path::new(here, from).and_then(|from| Ok((from, Path::new(there, to)?)));
    answer(paths.and_then(|(mut from, mut to)| rename_path(&mut from, &mut to)))
}

fn rename_path(from: &mut Path, to: &mut Path) -> Result<(), i32> {
    point(Operation::FileWrite(0), objects::paths());
    if is_directory(from)? {
        stop!("rename of a directory is not modelled");
    }
    check_parent(to)?;
    if is_directory(to).unwrap_or(false) {
        return Err(errno::EISDIR);
    }
    if from.as_slice() == to.as_slice() {
        return Ok(());
    }
    let source = match written(from.as_slice()) {
        Some(index) => index,
        None => {
            let known = host(from)?;
            adopt(from, known, false)
        }
    };
    take_name(to);
    let slot = &state().files.written[source];
    heap::release_block(slot.get().path);
    let (path, path_length) = (heap::allocate_aligned(16, to.length.max(1)), to.length);
    write(path, to.as_slice());
    slot.set(Written { path, path_length, ..slot.get() });
    hide(from);
    Ok(())
}
