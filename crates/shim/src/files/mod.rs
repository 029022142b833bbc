//! Files: read from the host, written in memory only.
//!
//! A file that the program reads is copied once and never looked at again, so every execution reads
//! the same. What it writes lives in its own heap: it is part of every snapshot and gone with it.
//!
//! - `path`: paths made absolute, symbolic links followed. `directory`: the working directory.
//! - `host`: the copies of files of the machine. `open`, `transfer`: opening, reading, writing.
//! - `names`: files made, linked, renamed and unlinked. `status`: `stat`, `access`, `chmod`.
//! - `owners`: `chown` and its kin. `copying`: `sendfile` and its kin. `attributes`: `getxattr` and its
//!   kin. `shared`: mappings that are shared.
//! - `listing`: directories. `handover`: files exchanged with the checker.

use crate::credentials;
use crate::fail::stop;
use crate::heap;
use crate::memory::{bytes, copy, write, zero};
use crate::state::{CHANGED, Changed, WRITTEN, Written, state};
use core::cell::Cell;

mod attributes;
mod copying;
mod directory;
mod handover;
mod host;
mod listing;
mod names;
mod open;
mod owners;
mod path;
mod shared;
mod status;
mod transfer;

pub(crate) use attributes::{Of, get_attribute, list_attributes, set_attribute};
pub(crate) use copying::{copy_range, send_file, splice};
pub(crate) use directory::{change_directory, change_to_open_directory, current_directory};
pub(crate) use handover::{FileLeft, left_behind, receive};
pub(crate) use host::path_of_library;
pub(crate) use listing::list;
pub(crate) use names::{
    forget_unused, link, make_directory, make_symbolic_link, read_link, remove, rename,
};
pub(crate) use open::{is_there, make_socket, memory_file, open};
pub(crate) use owners::{change_open_owner, change_owner};
pub(crate) use path::{AT_FDCWD, At};
pub(crate) use shared::{is_shared_mapping, map_shared};
pub(crate) use status::{
    access, change_mode, change_open_mode, extended_status, file_system, open_file_system,
    path_status, set_times, status,
};
pub(crate) use transfer::{
    allocate, contents, is_of_machine, is_zeros, length, read, resize_path, truncate, unread,
    write_to,
};

use path::Path;

/// The longest path.
const MAX_PATH: usize = 512;

impl Written {
    fn path(&self) -> &'static [u8] {
        bytes(self.path, self.path_length)
    }

    fn data(&self) -> &'static [u8] {
        bytes(self.data, self.length)
    }

    /// The file that this is a name of.
    fn file(&self) -> Written {
        usize::from(self.alias_of).checked_sub(1).map_or(*self, |index| slot(index).get())
    }

    fn is_link(&self) -> bool {
        self.mode & FORMAT == LINK
    }
}

const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const CHARACTERS: u32 = 0o020_000;
const PIPE: u32 = 0o010_000;
const SOCKET: u32 = 0o140_000;
const LINK: u32 = 0o120_000;
const FORMAT: u32 = 0o170_000;

fn slot(index: usize) -> &'static Cell<Written> {
    &state().files.written[index]
}

/// The entry with exactly this name, which may be another name of a file.
fn entry(path: &[u8]) -> Option<usize> {
    state().files.written.iter().position(|file| {
        let file = file.get();
        file.path != 0 && file.path() == path
    })
}

/// The file with a name.
fn written(path: &[u8]) -> Option<usize> {
    entry(path).map(|index| usize::from(slot(index).get().alias_of).checked_sub(1).unwrap_or(index))
}

/// The file with a name, if the program has not removed it.
fn present(path: &[u8]) -> Option<usize> {
    written(path).filter(|&index| !slot(index).get().removed)
}

/// The symbolic links that the program made, with their entries.
fn links() -> impl Iterator<Item = (usize, Written)> {
    let files = state().files.written.iter().map(Cell::get).enumerate();
    files.filter(|(_, file)| file.is_link() && file.path != 0)
}

/// The other names of a file.
fn aliases(index: usize) -> impl Iterator<Item = &'static Cell<Written>> {
    let is_alias = move |file: &&Cell<Written>| usize::from(file.get().alias_of) == index + 1;
    state().files.written.iter().filter(is_alias)
}

/// Makes an entry for a file that the program makes or changes.
fn make(path: &Path, mode: u32, directory: bool) -> usize {
    let files = &state().files;
    let index =
        entry(path.as_slice()).or_else(|| files.written.iter().position(|file| !file.get().used));
    let Some(index) = index else { stop!("the program writes more than {WRITTEN} files") };
    let (path, path_length) = keep_path(path);
    let mode = mode | if directory { FOLDER } else { REGULAR };
    let owner = credentials::effective();
    let made = Written { used: true, directory, path, path_length, ..Written::default() };
    let file = Written { mode, owner, ..made };
    files.written[index].set(file);
    index
}

/// A copy of a path that lives as long as the file.
fn keep_path(path: &Path) -> (usize, usize) {
    let name = heap::allocate_aligned(16, path.length.max(1));
    write(name, path.as_slice());
    (name, path.length)
}

/// Changes the length of a file, clearing what is new.
fn resize(index: usize, length: usize) {
    let mut file = slot(index).get();
    if length > file.capacity && file.is_mapped {
        stop!("growing a file that is mapped with MAP_SHARED beyond its mapping is not modelled");
    }
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
    slot(index).set(file);
}
