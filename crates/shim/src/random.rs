//! Randomness: the functions of libc, and the choice of a stream. See `vkernel/src/random.rs`.

use crate::libc::{fail, result};
use crate::memory;
use crate::region::setup;
use crate::scheduler::choose_way;
use crate::sys::{errno, returned};
use crate::worker::KERNEL;
use everypath_vkernel::random;

/// Chooses a stream for this execution, if several are explored.
pub(crate) fn choose_stream() {
    let ways = setup().random_streams;
    if ways > 1 {
        random::take_stream(KERNEL, choose_way(ways.into()));
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getrandom(address: usize, length: usize, flags: u32) -> isize {
    result(returned(random::getrandom(KERNEL, address, length, flags as usize)))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getentropy(address: usize, length: usize) -> i32 {
    const MOST: usize = 256;
    if length > MOST {
        return fail(errno::EIO) as i32;
    }
    match random::getrandom(KERNEL, address, length, 0) {
        Ok(_) => 0,
        Err(error) => fail(error) as i32,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random() -> u32 {
    random::next(KERNEL) as u32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random_buf(address: usize, length: usize) {
    random::fill(KERNEL, memory::bytes_mut(address, length));
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 { 0 } else { arc4random() % bound }
}
