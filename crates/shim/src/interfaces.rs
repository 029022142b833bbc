//! Network interfaces: the machine that programs see has the loopback interface only.
//!
//! libc asks the kernel by netlink, which is not modelled: its functions are interposed instead.

use crate::heap;
use crate::memory::{store, write, zero};

const NAME: &[u8] = b"lo\0";
const NUMBER: u32 = 1;
/// Up, loopback, running, lower layer up.
const FLAGS: u32 = 0x1_0049;

/// The sizes of a `struct ifaddrs` and of what it points to.
const ENTRY: usize = 56;
const ADDRESS: usize = 32;
/// Where an entry has its name, its flags, its address and its mask.
const AT_NAME: usize = 8;
const AT_FLAGS: usize = 16;
const AT_ADDRESS: usize = 24;
const AT_MASK: usize = 32;

/// An address and its mask, as the kernel lays out addresses of sockets.
type Pair = [[u8; 28]; 2];

fn pairs() -> [Pair; 2] {
    const INET: u8 = 2;
    const INET6: u8 = 10;
    let mut pairs = [[[0; 28]; 2]; 2];
    for (pair, family) in pairs.iter_mut().zip([INET, INET6]) {
        pair.iter_mut().for_each(|address| address[0] = family);
    }
    pairs[0][0][4..8].copy_from_slice(&[127, 0, 0, 1]);
    pairs[0][1][4] = 255;
    pairs[1][0][23] = 1;
    pairs[1][1][8..24].fill(255);
    pairs
}

/// Interposes libc's function: one block, freed as a whole.
#[unsafe(no_mangle)]
extern "C" fn getifaddrs(list: usize) -> i32 {
    let pairs = pairs();
    let each = ENTRY + 2 * ADDRESS;
    let length = pairs.len() * each + NAME.len();
    let block = heap::allocate_aligned(16, length);
    zero(block, length);
    let name = block + pairs.len() * each;
    write(name, NAME);
    for (at, [address, mask]) in pairs.iter().enumerate() {
        let entry = block + at * each;
        let is_last = at + 1 == pairs.len();
        store(entry, if is_last { 0 } else { entry + each });
        store(entry + AT_NAME, name);
        store(entry + AT_FLAGS, FLAGS);
        store(entry + AT_ADDRESS, entry + ENTRY);
        store(entry + AT_MASK, entry + ENTRY + ADDRESS);
        write(entry + ENTRY, address);
        write(entry + ENTRY + ADDRESS, mask);
    }
    store(list, block);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn freeifaddrs(list: usize) {
    if list != 0 {
        heap::release_block(list);
    }
}

/// Interposes libc's function: an array of numbers and names, ended by an empty one.
#[unsafe(no_mangle)]
extern "C" fn if_nameindex() -> usize {
    const LENGTH: usize = 32;
    let block = heap::allocate_aligned(16, LENGTH + NAME.len());
    zero(block, LENGTH);
    store(block, NUMBER);
    store(block + 8, block + LENGTH);
    write(block + LENGTH, NAME);
    block
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn if_freenameindex(list: usize) {
    freeifaddrs(list);
}
