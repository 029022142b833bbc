//! The buffers of a send or receive call: one, or several (`iovec`).

use super::address::Address;
use super::{Kind, control, datagram, object, syscalls, transfer};
use crate::fail::stop;
use crate::memory::{load, store};
use crate::sys::errno;

/// The pieces of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pieces {
    One {
        address: usize,
        length: usize,
    },
    /// An array of the kernel's `struct iovec`.
    Several {
        vector: usize,
        count: usize,
    },
}

impl Pieces {
    fn count(self) -> usize {
        match self {
            Pieces::One { .. } => 1,
            Pieces::Several { count, .. } => count,
        }
    }

    fn piece(self, at: usize) -> (usize, usize) {
        match self {
            Pieces::One { address, length } => (address, length),
            Pieces::Several { vector, .. } => {
                let [address, length] = load::<[usize; 2]>(vector + at * 16);
                (address, length)
            }
        }
    }

    /// How many bytes there are.
    pub(super) fn length(self) -> usize {
        (0..self.count()).map(|at| self.piece(at).1).sum()
    }

    /// Calls `each` with the memory of `count` bytes from byte `skip` on.
    pub(super) fn each(self, skip: usize, count: usize, mut each: impl FnMut(usize, usize)) {
        let (mut skip, mut left) = (skip, count);
        for (address, length) in (0..self.count()).map(|at| self.piece(at)) {
            let passed = skip.min(length);
            skip -= passed;
            let taken = left.min(length - passed);
            if taken > 0 {
                each(address + passed, taken);
                left -= taken;
            }
        }
    }

    /// Fills the first bytes.
    pub(super) fn fill(self, from: &[u8]) {
        let mut at = 0;
        self.each(0, from.len(), |address, length| {
            crate::memory::write(address, &from[at..at + length]);
            at += length;
        });
    }
}

/// The kernel's `struct msghdr`.
const NAME: usize = 0;
const NAME_LENGTH: usize = 8;
const VECTOR: usize = 16;
const VECTOR_LENGTH: usize = 24;
const CONTROL: usize = 32;
const CONTROL_LENGTH: usize = 40;
const FLAGS: usize = 48;
/// The size of an entry of `sendmmsg` and `recvmmsg`.
const ENTRY: usize = 64;
const ENTRY_LENGTH: usize = 56;

fn pieces_of(header: usize) -> Pieces {
    Pieces::Several { vector: load(header + VECTOR), count: load(header + VECTOR_LENGTH) }
}

/// Does what the system call does.
pub(super) fn send(descriptor: i32, header: usize, flags: i32) -> Result<isize, i32> {
    let number = syscalls::socket(descriptor)?;
    if control::has_others_than_addresses(load(header + CONTROL), load(header + CONTROL_LENGTH)) {
        stop!("sendmsg with control messages (SCM_RIGHTS) is not modelled");
    }
    let name: usize = load(header + NAME);
    let length = load::<u32>(header + NAME_LENGTH) as usize;
    match object(number).kind.get() {
        Kind::Datagram => {
            let to = if name == 0 { None } else { Some(Address::read(name, length)?) };
            datagram::send(descriptor, pieces_of(header), to, flags)
        }
        _ => transfer::send(descriptor, pieces_of(header), flags),
    }
}

/// Does what the system call does.
pub(super) fn receive(descriptor: i32, header: usize, flags: i32) -> Result<isize, i32> {
    const TRUNCATED: i32 = 0x20;
    const CONTROL_TRUNCATED: i32 = 0x8;
    let number = syscalls::socket(descriptor)?;
    let mut shown = 0;
    let got = match object(number).kind.get() {
        Kind::Datagram => {
            let got = datagram::receive(descriptor, pieces_of(header), flags)?;
            let name: usize = load(header + NAME);
            if name != 0 {
                got.from.tell(name, header + NAME_LENGTH);
            }
            shown |= if got.is_truncated { TRUNCATED } else { 0 };
            let room = load(header + CONTROL_LENGTH);
            let told = control::tell_destination(object(number), load(header + CONTROL), room);
            shown |= if told.is_none() { CONTROL_TRUNCATED } else { 0 };
            store(header + CONTROL_LENGTH, told.unwrap_or(0));
            got.length as isize
        }
        _ => {
            store(header + NAME_LENGTH, 0u32);
            store(header + CONTROL_LENGTH, 0usize);
            transfer::receive(descriptor, pieces_of(header), flags)?
        }
    };
    store(header + FLAGS, shown);
    Ok(got)
}

/// Does what the system calls do: as many messages as there are, or as can be sent.
pub(super) fn several(
    (at, count): (usize, usize),
    mut each: impl FnMut(usize, usize) -> Result<isize, i32>,
) -> Result<isize, i32> {
    for index in 0..count.min(1024) {
        let entry = at + index * ENTRY;
        match each(entry, index) {
            Ok(length) => store(entry + ENTRY_LENGTH, length as u32),
            Err(error) if index == 0 => return Err(error),
            Err(_) => return Ok(index as isize),
        }
    }
    Ok(count.min(1024) as isize)
}

/// A message of no pieces is no message of ours.
pub(super) fn check_count(count: usize) -> Result<(), i32> {
    if count > 1024 { Err(errno::EINVAL) } else { Ok(()) }
}
