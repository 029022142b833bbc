//! What syscalls access: the memory that the kernel reads, before a call, and what it has written, after
//! it.

use super::{Range, access, is_recorded, reads, writes};
use crate::guest;
use crate::sys::number;
use everypath_shim_abi::syscalls::{Argument, Length, Syscall};

/// No call has more buffers (`IOV_MAX`).
const MOST_BUFFERS: usize = 1024;
/// A name of a file is not longer, nor an address of a socket (`sockaddr_storage`).
const LONGEST_PATH: usize = 4096;
const LONGEST_ADDRESS: usize = 128;
const EPOLL_EVENT: usize = 12;
/// The kernel's `struct msghdr`, and an entry of `sendmmsg` and `recvmmsg`.
const MESSAGE: usize = 56;
const MESSAGE_ENTRY: usize = 64;
/// Longer buffers are looked at before they are believed.
const LONG: usize = 1 << 20;

/// The memory that the kernel reads, before a call.
pub(crate) fn before_syscall(known: &Syscall, arguments: &[usize; 6]) {
    if !is_recorded() {
        return;
    }
    for (argument, &address) in known.arguments.iter().zip(arguments) {
        match argument {
            Argument::Path if address != 0 => access(|| [path(address)]),
            Argument::Pointer(pointer) if !pointer.is_written && address != 0 => {
                let length = present(address, pointer.bytes(arguments));
                access(|| [reads(address, length)]);
            }
            _ => {}
        }
    }
    let [_, second, third, fourth, ..] = *arguments;
    match known.number {
        number::WRITEV | number::PWRITEV | number::PWRITEV2 => {
            buffers(second, third, usize::MAX, reads);
        }
        number::SENDMSG => message(second, usize::MAX, reads),
        number::SENDMMSG => {
            for at in 0..third.min(MOST_BUFFERS) {
                message(second + at * MESSAGE_ENTRY, usize::MAX, reads);
            }
        }
        number::EPOLL_CTL if fourth != 0 => access(|| [reads(fourth, EPOLL_EVENT)]),
        number::SELECT | number::PSELECT6 => sets(arguments, reads),
        _ => {}
    }
}

/// The memory that the kernel has written, after a call that returned this.
pub(crate) fn after_syscall(known: &Syscall, arguments: &[usize; 6], answer: isize) {
    let (Ok(count), true) = (usize::try_from(answer), is_recorded()) else { return };
    for (argument, &address) in known.arguments.iter().zip(arguments) {
        match argument {
            Argument::Pointer(pointer) if pointer.is_written && address != 0 => {
                let most = pointer.bytes(arguments);
                // What fills a buffer says how far.
                let length = match pointer.length {
                    Length::Argument(_) => most.min(count),
                    Length::Elements { .. } if waits_for_events(known.number) => {
                        most.min(count * EPOLL_EVENT)
                    }
                    Length::Elements { .. } | Length::Bytes(_) => most,
                };
                access(|| [writes(address, length)]);
            }
            _ => {}
        }
    }
    let [_, second, third, ..] = *arguments;
    match known.number {
        number::READV | number::PREADV | number::PREADV2 => buffers(second, third, count, writes),
        number::RECVMSG => message(second, count, writes),
        number::RECVMMSG => {
            for entry in (0..count.min(MOST_BUFFERS)).map(|at| second + at * MESSAGE_ENTRY) {
                let length = guest::load::<u32>(entry + MESSAGE).unwrap_or(0);
                message(entry, length as usize, writes);
            }
        }
        number::SELECT | number::PSELECT6 => sets(arguments, writes),
        number::ACCEPT | number::ACCEPT4 | number::GETSOCKNAME | number::GETPEERNAME => {
            address(second, third);
        }
        number::RECVFROM => address(arguments[4], arguments[5]),
        number::GETSOCKOPT => address(arguments[3], arguments[4]),
        _ => {}
    }
}

fn waits_for_events(call: i64) -> bool {
    matches!(call, number::EPOLL_WAIT | number::EPOLL_PWAIT | number::EPOLL_PWAIT2)
}

/// As much of a buffer as there is.
fn present(address: usize, length: usize) -> usize {
    if length < LONG { length } else { guest::readable(address, length).map_or(0, <[u8]>::len) }
}

/// The name of a file, with its end.
fn path(address: usize) -> Range {
    let there = guest::readable(address, LONGEST_PATH).unwrap_or_default();
    let end = there.iter().position(|&byte| byte == 0);
    reads(address, end.map_or(there.len(), |end| end + 1))
}

/// So many bytes of an array of buffers (`struct iovec`), from the first on.
fn buffers(array: usize, count: usize, mut left: usize, how: fn(usize, usize) -> Range) {
    for at in 0..count.min(MOST_BUFFERS) {
        let Ok([address, length]) = guest::load::<[usize; 2]>(array + 16 * at) else { return };
        let length = present(address, length).min(left);
        if length > 0 {
            access(|| [how(address, length)]);
        }
        left -= length;
    }
}

/// A message with its name and what comes with it (`struct msghdr`).
fn message(header: usize, length: usize, how: fn(usize, usize) -> Range) {
    let Ok([name, name_length, array, count, control, control_length]) =
        guest::load::<[usize; 6]>(header)
    else {
        return;
    };
    buffers(array, count, length, how);
    // Behind the length of the name are four bytes of nothing.
    for (address, length) in [(name, name_length as u32 as usize), (control, control_length)] {
        if address != 0 && length > 0 {
            access(|| [how(address, length.min(LONGEST_PATH))]);
        }
    }
}

/// The three sets of descriptors of `select`, in words.
fn sets(arguments: &[usize; 6], how: fn(usize, usize) -> Range) {
    let length = arguments[0].min(MOST_BUFFERS).div_ceil(64) * 8;
    for &set in arguments[1..4].iter().filter(|&&set| set != 0 && length > 0) {
        access(|| [how(set, length)]);
    }
}

/// What the kernel has written to an address, of a length that it has written elsewhere.
fn address(to: usize, length: usize) {
    if to != 0 && length != 0 {
        let written = guest::load::<u32>(length).unwrap_or(0) as usize;
        access(|| [writes(to, written.min(LONGEST_ADDRESS)), writes(length, 4)]);
    }
}
