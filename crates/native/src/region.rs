//! The checker's end of the memory that it shares with a worker.

use crate::shim::memory_file;
use everypath_commtree::Memory;
use everypath_shim_abi::{Command, Futex, Region, Reply, Side, Untrusted, VERSION};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Memory that is shared with workers, as a file without a name; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    content: NonNull<T>,
    file: File,
}

/// What is shared with one worker.
pub(crate) type Mapping = Shared<Region>;

// SAFETY: the mapping is used by one thread at a time, and moving it moves a pointer only.
// JUSTIFICATION: each worker is driven by a thread of its own.
unsafe impl<T> Send for Shared<T> {}

/// What may be shared: cells and atomics, for which zeros and whatever a shim writes are valid.
pub(crate) trait Plain {}
impl Plain for Region {}
impl Plain for Memory {}

impl<T: Plain> Shared<T> {
    /// Memory full of zeros.
    pub(crate) fn zeros(name: &CStr) -> io::Result<Self> {
        let file = memory_file(name)?;
        file.set_len(size_of::<T>() as u64)?;
        // SAFETY: a fresh mapping of a file that is large enough.
        // JUSTIFICATION: std cannot map memory.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let content =
            NonNull::new(address.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Shared { content, file })
    }

    /// The file behind the mapping.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Mapping {
    /// A region of zeros with our version.
    pub(crate) fn new() -> io::Result<Self> {
        let mapping = Mapping::zeros(c"everypath-region")?;
        mapping.version.set(VERSION);
        mapping.go_on();
        Ok(mapping)
    }

    /// Gives the worker a command and the turn.
    pub(crate) fn hand_over(&self, command: Command) {
        self.command.set(command);
        self.go_on();
    }

    /// Gives the worker the turn, to go on with what it does.
    pub(crate) fn go_on(&self) {
        self.turn.give(Side::Worker, &SysFutex { timeout: None });
    }

    /// Waits until it is our turn, at most until a timeout; says whether it is.
    pub(crate) fn is_our_turn(&self, timeout: Duration) -> bool {
        self.turn.wait_once(Side::Checker, &SysFutex { timeout: Some(timeout) })
    }

    /// Whether it is our turn.
    pub(crate) fn has_turn(&self) -> bool {
        self.turn.has(Side::Checker)
    }

    /// What came of the last command.
    pub(crate) fn last_reply(&self) -> Reply {
        self.reply.get()
    }

    /// Whether these cells hold values, and not what a program has written over them.
    pub(crate) fn are_valid<T: Untrusted>(cells: &[std::cell::Cell<T>]) -> bool {
        cells.iter().all(|cell| {
            // SAFETY: bytes of a live mapping, which nobody changes now: it is our turn, or the
            // worker is done with them. JUSTIFICATION: not all bytes are a value.
            let bytes =
                unsafe { std::slice::from_raw_parts(cell.as_ptr().cast::<u8>(), size_of::<T>()) };
            T::is_valid(bytes)
        })
    }

    /// A slice of one of the region's arrays, as bytes or words that nobody changes now.
    pub(crate) fn copy_of<T: Copy>(cells: &[std::cell::Cell<T>]) -> Vec<T> {
        cells.iter().map(std::cell::Cell::get).collect()
    }
}

impl<T: Plain> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: mapped until dropped; every field is a cell or an atomic. The shim writes valid
        // values; what the program could have written over them is looked at first (`are_valid`).
        unsafe { self.content.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.content.as_ptr().cast(), size_of::<T>()) };
    }
}

/// The kernel's futex; sleep ends after a timeout, if there is one.
struct SysFutex {
    timeout: Option<Duration>,
}

impl Futex<AtomicU32> for SysFutex {
    fn wait(&self, word: &AtomicU32, value: u32) {
        futex(word, libc::FUTEX_WAIT, value, self.timeout);
    }

    fn wake(&self, word: &AtomicU32) {
        futex(word, libc::FUTEX_WAKE, i32::MAX as u32, None);
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32, timeout: Option<Duration>) {
    let time = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is part of a live mapping, the time of this frame.
    // JUSTIFICATION: std's futexes do not reach across processes.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, time, 0, 0) };
}
