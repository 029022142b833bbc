//! Files of the machine, copied when they are first opened.
//!
//! The copies are not part of snapshots: what was read once is read again.

use super::path::Path;
use super::{FOLDER, FORMAT, MAX_PATH, REGULAR, Written, listing, make, resize, slot};
use crate::descriptors::{self, CLOSE_ON_EXEC, Kind, Open};
use crate::fail::stop;
use crate::memory::copy;
use crate::sys::{number, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::address_space::{FILE_COPIES, FILE_COPIES_SIZE};

const HOST: usize = 4096;
/// None of the kernel's errors: the file is a device or the like.
const NOT_MODELLED: i32 = i32::MAX;

/// A file of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostFile {
    path: [u8; MAX_PATH],
    path_length: usize,
    error: i32,
    pub(super) data: usize,
    pub(super) length: usize,
    /// What `fstat` said of it, and `statx`.
    pub(super) status: [u64; 18],
    pub(super) extended: [u64; 32],
}

impl HostFile {
    const NONE: HostFile = HostFile {
        path: [0; MAX_PATH],
        path_length: 0,
        error: 0,
        data: 0,
        length: 0,
        status: [0; 18],
        extended: [0; 32],
    };

    pub(super) fn path(&self) -> &[u8] {
        &self.path[..self.path_length]
    }

    pub(super) fn mode(&self) -> u32 {
        (self.status[3] & 0xffff_ffff) as u32
    }

    pub(super) fn is_directory(&self) -> bool {
        self.mode() & FORMAT == FOLDER
    }
}

struct HostFiles {
    files: [Cell<HostFile>; HOST],
    count: AtomicUsize,
    top: AtomicUsize,
}
// SAFETY: one thread of the program runs at a time.
// JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for HostFiles {}

static HOST_FILES: HostFiles = HostFiles {
    files: [const { Cell::new(HostFile::NONE) }; HOST],
    count: AtomicUsize::new(0),
    top: AtomicUsize::new(0),
};

/// The copy with a number.
pub(super) fn copied(index: usize) -> HostFile {
    HOST_FILES.files[index].get()
}

/// The path of the library that is open at a descriptor, in memory that is not the program's; none if it
/// is none.
pub(crate) fn path_of_library(descriptor: i32) -> Option<&'static [u8]> {
    let open = descriptors::get(descriptor)?.get();
    if open.kind != Kind::Host {
        return None;
    }
    let file = copied(usize::from(open.index));
    let is_library = crate::memory::bytes(file.data, file.length.min(4)) == b"\x7fELF";
    is_library.then(|| path_of(usize::from(open.index)))
}

/// The path of a copy, in memory that is not the program's.
pub(super) fn path_of(index: usize) -> &'static [u8] {
    let place = HOST_FILES.files[index].as_ptr() as usize;
    let path = place + core::mem::offset_of!(HostFile, path);
    crate::memory::bytes(path, copied(index).path_length)
}

/// The copy of a file of the machine; an index, or the error with which it cannot be opened.
pub(super) fn host(path: &mut Path) -> Result<usize, i32> {
    let count = HOST_FILES.count.load(Relaxed);
    let known = HOST_FILES.files[..count].iter();
    let index = match known.clone().position(|file| file.get().path() == path.as_slice()) {
        Some(index) => index,
        None if count == HOST => stop!("the program opens more than {HOST} files for reading"),
        None => {
            let file = copy_from_machine(path);
            HOST_FILES.files[count].set(file);
            HOST_FILES.count.store(count + 1, Relaxed);
            count
        }
    };
    match copied(index).error {
        0 => Ok(index),
        NOT_MODELLED => {
            let path = core::str::from_utf8(path.as_slice()).unwrap_or("?");
            stop!("open of {path} is not modelled: it is neither a file nor a directory")
        }
        error => Err(error),
    }
}

fn copy_from_machine(path: &mut Path) -> HostFile {
    const NONBLOCK: i32 = 0o4000;
    const EMPTY_PATH: usize = 0x1000;
    const ALL: usize = 0xfff;
    let mut file = HostFile { path: path.bytes, path_length: path.length, ..HostFile::NONE };
    let opened = sys!(number::OPEN, path.c_string(), CLOSE_ON_EXEC | NONBLOCK, 0);
    if opened < 0 {
        file.error = -opened as i32;
        return file;
    }
    sys!(number::FSTAT, opened, file.status.as_mut_ptr());
    let empty = c"".as_ptr();
    sys!(number::STATX, opened, empty, EMPTY_PATH, ALL, file.extended.as_mut_ptr());
    if HOST_FILES.top.load(Relaxed) == 0 {
        crate::memory::map(FILE_COPIES, FILE_COPIES_SIZE);
        HOST_FILES.top.store(FILE_COPIES, Relaxed);
    }
    file.data = HOST_FILES.top.load(Relaxed);
    match file.mode() & FORMAT {
        REGULAR => file.length = read_all(opened, file.data),
        FOLDER => file.length = listing::copy_from_machine(path, opened, file.data),
        _ => file.error = NOT_MODELLED,
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

/// Whether the machine has a file of this name, whatever the program did to it.
pub(super) fn on_machine(path: &mut Path) -> bool {
    sys!(number::FACCESSAT, super::AT_FDCWD, path.c_string(), 0) == 0
}

/// Makes a copy of a machine's file that the program may change.
pub(super) fn adopt(path: &Path, host: usize, empty: bool) -> usize {
    let file = copied(host);
    let index = make(path, file.mode() & 0o7777, false);
    let owner = [(file.status[3] >> 32) as u32, file.status[4] as u32];
    slot(index).set(Written { owner, ..slot(index).get() });
    if !empty {
        resize(index, file.length);
        copy(slot(index).get().data, file.data, file.length);
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
