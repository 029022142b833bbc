//! Files exchanged with the checker: inputs (`--file`), and the files that the program wrote.

use super::path::{AT_FDCWD, Path};
use super::{FOLDER, FORMAT, Written, make, resize, slot};
use crate::descriptors::{self, Kind, Open};
use crate::memory::{bytes, c_string, load, write};
use crate::multi_process;
use crate::state::state;
use crate::sys::{number, sys};
use core::mem::size_of;
use everypath_shim_abi::{FileHeader, STANDARD_INPUT, reserved_fds};

/// A file that the program has made or changed.
pub(crate) struct FileLeft {
    /// Its type and lengths.
    pub(crate) header: FileHeader,
    /// Its absolute path.
    pub(crate) path: &'static [u8],
    /// Its bytes.
    pub(crate) data: &'static [u8],
}

/// The files that are there because of the program, or because the checker put them there.
pub(crate) fn left_behind() -> impl Iterator<Item = FileLeft> {
    let files = state().files.written.iter().map(|slot| slot.get());
    // What has no name is gone when it is closed.
    files.filter(|name| name.used && !name.removed && name.path != 0).map(|name| {
        let file = name.file();
        FileLeft {
            header: FileHeader {
                mode: file.mode,
                path_length: name.path_length as u32 + 1,
                length: file.length as u64,
            },
            path: name.path(),
            data: file.data(),
        }
    })
}

/// Takes over the files that the program shall find, as if it had written them.
pub(crate) fn receive() {
    const READ: usize = 1;
    const SHARED: usize = 1;
    const END: usize = 2;
    let size = sys!(number::LSEEK, reserved_fds::FILES, 0, END);
    if size <= 0 {
        return;
    }
    let size = size as usize;
    let start = sys!(number::MMAP, 0, size, READ, SHARED, reserved_fds::FILES, 0);
    if start < 0 {
        crate::fail::fatal("the files for the program cannot be read");
    }
    let (mut at, end) = (start as usize, start as usize + size);
    while at < end {
        let header: FileHeader = load(at);
        let path = at + size_of::<FileHeader>();
        let data = path + header.path_length as usize;
        place(&header, path, data);
        at = data + header.length as usize;
    }
    sys!(number::MUNMAP, start, size);
}

/// Opens a file as standard input, of which it is the only name.
fn open_as_input(index: usize) {
    slot(index).set(Written { path: 0, path_length: 0, ..slot(index).get() });
    if let Some(input) = descriptors::get(0) {
        let index = index as u16;
        input.set(Open { kind: Kind::Written, index, flags: 0, ..input.get() });
    }
}

fn place(header: &FileHeader, path: usize, data: usize) {
    let name = c_string(path);
    let is_input = name == STANDARD_INPUT.as_bytes();
    if is_input && !multi_process::is_first() {
        return;
    }
    let Ok(path) = Path::of_text(AT_FDCWD, name) else {
        crate::fail::stop!("the path of a --file is too long")
    };
    let index = make(&path, header.mode & !FORMAT, header.mode & FORMAT == FOLDER);
    if is_input {
        open_as_input(index);
    }
    resize(index, header.length as usize);
    write(slot(index).get().data, bytes(data, header.length as usize));
}
