//! Randomness: a deterministic stream for every thread, the same in every execution; or, if several are
//! explored, one of them, which is chosen before `main`.

use crate::errno;
use crate::host::{Host, Thread};
use everypath_shim_abi::Splitmix;

/// The stream of a thread, by how it was created.
pub fn stream(k: &impl Host, path: u64) -> Splitmix {
    // With the first seed, the first stream is the thread's path by itself.
    let seed = k.setup().random_seed.saturating_sub(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = u64::from(k.state().random_stream.get()).wrapping_mul(0xd1b5_4a32_d192_ed03);
    Splitmix(path ^ seed ^ number)
}

/// Gives a thread its stream.
pub fn begin(k: &impl Host, thread: &impl Thread) {
    thread.task().random.set(stream(k, thread.path()));
}

/// Takes another of several streams, for the running thread and those that it will create.
pub fn take_stream(k: &impl Host, number: u16) {
    k.state().random_stream.set(number);
    begin(k, k.current());
}

/// The next bits of the running thread's stream.
pub fn next(k: &impl Host) -> u64 {
    k.count_random();
    let mut random = k.current().task().random.get();
    let bits = random.next();
    k.current().task().random.set(random);
    bits
}

/// Fills bytes from the running thread's stream.
pub fn fill(k: &impl Host, bytes: &mut [u8]) {
    k.count_random();
    let stream = &k.current().task().random;
    let mut random = stream.get();
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]);
    }
    stream.set(random);
}

/// Fills the program's memory, as much of it as is there.
pub fn read(k: &impl Host, at: usize, length: usize) -> Result<isize, i32> {
    let room = k.writable(at, length)?;
    k.count_random();
    let stream = &k.current().task().random;
    let mut random = stream.get();
    for done in (0..room).step_by(8) {
        let part = &random.next().to_le_bytes()[..(room - done).min(8)];
        k.write(at + done, part)?;
    }
    stream.set(random);
    Ok(room as isize)
}

/// Does what the system call does.
pub fn getrandom(k: &impl Host, at: usize, length: usize, flags: usize) -> Result<isize, i32> {
    const NONBLOCKING_RANDOM_INSECURE: usize = 7;
    const BOTH_RANDOM_AND_INSECURE: usize = 6;
    if flags & !NONBLOCKING_RANDOM_INSECURE != 0 || flags & 6 == BOTH_RANDOM_AND_INSECURE {
        return Err(errno::EINVAL);
    }
    read(k, at, length)
}
