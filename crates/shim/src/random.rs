//! Randomness: a deterministic stream for every thread, the same in every execution.

use crate::libc::fail;
use crate::memory::write;
use crate::state::state;
use crate::sys::errno;

/// Fills memory from the running thread's stream.
pub(crate) fn fill(address: usize, length: usize) {
    let thread = state().current();
    let mut random = thread.random.get();
    for at in (0..length).step_by(8) {
        let bytes = random.next().to_le_bytes();
        write(address + at, &bytes[..(length - at).min(8)]);
    }
    thread.random.set(random);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getrandom(address: usize, length: usize, _flags: u32) -> isize {
    fill(address, length);
    length as isize
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getentropy(address: usize, length: usize) -> i32 {
    const MOST: usize = 256;
    if length > MOST {
        return fail(errno::EIO) as i32;
    }
    fill(address, length);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random() -> u32 {
    let thread = state().current();
    let mut random = thread.random.get();
    let value = random.next() as u32;
    thread.random.set(random);
    value
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random_buf(address: usize, length: usize) {
    fill(address, length);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 { 0 } else { arc4random() % bound }
}
