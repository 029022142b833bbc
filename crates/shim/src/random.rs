//! Randomness: a deterministic stream for every thread, the same in every execution; or, if several are
//! explored, one of them, which is chosen before `main`.

use crate::guest;
use crate::libc::{fail, result};
use crate::memory;
use crate::region::{count, setup};
use crate::state::state;
use crate::sys::{Answer, errno, returned};
use everypath_shim_abi::Splitmix;

/// The stream of a thread, by how it was created.
pub(crate) fn stream(path: u64) -> Splitmix {
    // With the first seed, the first stream is the thread's path by itself.
    let seed = setup().random_seed.saturating_sub(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = u64::from(state().random_stream.get()).wrapping_mul(0xd1b5_4a32_d192_ed03);
    Splitmix(path ^ seed ^ number)
}

/// Chooses a stream for this execution, if several are explored.
pub(crate) fn choose_stream() {
    let ways = setup().random_streams;
    if ways > 1 {
        let chosen = crate::verify::choose(ways.into());
        state().random_stream.set(chosen);
        let main = state().current();
        main.random.set(stream(main.path.get()));
    }
}

/// Fills bytes from the running thread's stream.
pub(crate) fn fill(bytes: &mut [u8]) {
    count(|counters| counters.random += 1);
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
    count(|counters| counters.random += 1);
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
