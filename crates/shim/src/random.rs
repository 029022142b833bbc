//! Randomness: a deterministic stream for every thread, the same in every execution.

use crate::guest;
use crate::libc::{fail, result};
use crate::memory;
use crate::state::state;
use crate::sys::{Answer, errno, returned};

/// Fills bytes from the running thread's stream.
pub(crate) fn fill(bytes: &mut [u8]) {
    let thread = state().current();
    let mut random = thread.random.get();
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]);
    }
    thread.random.set(random);
}

/// Does what the system call does.
pub(crate) fn get(address: usize, length: usize, flags: usize) -> Answer {
    const NONBLOCKING_RANDOM_INSECURE: usize = 7;
    const BOTH_RANDOM_AND_INSECURE: usize = 6;
    if flags & !NONBLOCKING_RANDOM_INSECURE != 0 || flags & 6 == BOTH_RANDOM_AND_INSECURE {
        return Err(errno::EINVAL);
    }
    let room = guest::writable(address, length)?;
    fill(room);
    Ok(room.len() as isize)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getrandom(address: usize, length: usize, flags: u32) -> isize {
    result(returned(get(address, length, flags as usize)))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getentropy(address: usize, length: usize) -> i32 {
    const MOST: usize = 256;
    if length > MOST {
        return fail(errno::EIO) as i32;
    }
    match get(address, length, 0) {
        Ok(_) => 0,
        Err(error) => fail(error) as i32,
    }
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
    fill(memory::bytes_mut(address, length));
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 { 0 } else { arc4random() % bound }
}
