//! Files exchanged with the checker: inputs (`--file`), and the files that the program wrote.

use super::path::{AT_FDCWD, Path};
use super::{FOLDER, FORMAT, make, resize, slot};
use crate::memory::{bytes, c_string, load, write};
use crate::state::state;
use crate::sys::{number, sys};
use core::mem::size_of;
use everypath_shim_abi::{FileHeader, reserved_fds};

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

fn place(header: &FileHeader, path: usize, data: usize) {
    let Ok(path) = Path::of_text(AT_FDCWD, c_string(path)) else {
        crate::fail::stop!("the path of a --file is too long")
    };
    let index = make(&path, header.mode & !FORMAT, header.mode & FORMAT == FOLDER);
    resize(index, header.length as usize);
    write(slot(index).get().data, bytes(data, header.length as usize));
}
