//! Sockets, pipes, events, and waiting for them.
//!
//! The models follow pointers by themselves, so they are given only good ones: what the table says
//! is looked at first. A buffer need not be there as a whole, since less may be transferred.

use super::Handlers;
use super::files::check_vector;
use crate::descriptors;
use crate::fail::stop;
use crate::guest;
use crate::net::syscalls;
use crate::sys::{Answer, answer, errno, number};
use everypath_shim_abi::syscalls::{Argument, Length, Pointer, syscall};

/// The longest address of a socket; options are no longer. Both are read as a whole.
const LONGEST_ADDRESS: usize = 128;

const UNIX: usize = 1;
const INET: usize = 2;
const INET6: usize = 10;

pub(super) const HANDLERS: Handlers = &[
    (number::SOCKET, create),
    (number::SOCKETPAIR, perform),
    (number::PIPE, perform),
    (number::PIPE2, perform),
    (number::EVENTFD, perform),
    (number::EVENTFD2, perform),
    (number::EPOLL_CREATE, perform),
    (number::EPOLL_CREATE1, perform),
    (number::TIMERFD_CREATE, perform),
    (number::TIMERFD_SETTIME, perform),
    (number::TIMERFD_GETTIME, perform),
    (number::BIND, perform),
    (number::CONNECT, perform),
    (number::LISTEN, perform),
    (number::ACCEPT, perform),
    (number::ACCEPT4, perform),
    (number::SHUTDOWN, perform),
    (number::GETSOCKNAME, perform),
    (number::GETPEERNAME, perform),
    (number::SETSOCKOPT, perform),
    (number::GETSOCKOPT, get_option),
    (number::SENDTO, |number, arguments| {
        check_flags(arguments[3]);
        perform(number, arguments)
    }),
    (number::RECVFROM, perform),
    (number::SENDMSG, |number, arguments| {
        check_flags(arguments[2]);
        message(number, arguments)
    }),
    (number::RECVMSG, message),
    (number::SENDMMSG, |number, arguments| {
        check_flags(arguments[3]);
        messages(number, arguments)
    }),
    (number::RECVMMSG, messages),
    (number::POLL, poll),
    (number::PPOLL, poll),
    (number::SELECT, select),
    (number::PSELECT6, select),
    (number::EPOLL_CTL, epoll_control),
    (number::EPOLL_WAIT, perform),
    (number::EPOLL_PWAIT, perform),
    (number::EPOLL_PWAIT2, perform),
];

/// Makes a call whose pointers are as the table says.
fn perform(number: i64, arguments: [usize; 6]) -> Answer {
    check_pointers(number, &arguments)?;
    model(number, arguments)
}

/// Makes a call whose pointers were looked at.
fn model(number: i64, arguments: [usize; 6]) -> Answer {
    match syscalls::perform(number, arguments) {
        Some(returned) => answer(returned),
        None => crate::fail::fatal("a syscall of the network has no model"),
    }
}

fn check_pointers(number: i64, arguments: &[usize; 6]) -> Result<(), i32> {
    let known = syscall(number).map_or(&[][..], |call| call.arguments);
    // That a descriptor is none is seen first, by the model.
    if known.first() == Some(&Argument::Descriptor) && !descriptors::is_open(arguments[0] as i32) {
        return Ok(());
    }
    for (argument, &address) in known.iter().zip(arguments) {
        if let Argument::Pointer(pointer) = argument
            && !(pointer.is_optional && address == 0)
        {
            check_pointer(pointer, address, arguments)?;
        }
    }
    Ok(())
}

fn check_pointer(pointer: &Pointer, address: usize, arguments: &[usize; 6]) -> Result<(), i32> {
    let length = pointer.bytes(arguments);
    let is_whole = matches!(pointer.length, Length::Bytes(_))
        || !pointer.is_written && length <= LONGEST_ADDRESS;
    let needed = if is_whole { length } else { length.min(1) };
    match pointer.is_written {
        true => guest::expect_room(address, needed),
        false => guest::bytes(address, needed).map(|_| ()),
    }
}

/// `socket`: only some families are modelled, and the kernel has more.
fn create(number: i64, arguments: [usize; 6]) -> Answer {
    const NETLINK: usize = 16;
    /// There may be families up to here.
    const FAMILIES: usize = 46;
    match arguments[0] {
        UNIX | INET | INET6 => {}
        // libc wants to know which families the machine has addresses of. It assumes both if it is
        // not told, which is what the model of the network has.
        NETLINK if crate::libc::is_own_text(crate::state::state().current().at.get()[0]) => {
            return Err(errno::EAFNOSUPPORT);
        }
        NETLINK => stop!("socket(AF_NETLINK) is not modelled"),
        family @ 1..FAMILIES => stop!("a socket of address family {family} is not modelled"),
        _ => return Err(errno::EAFNOSUPPORT),
    }
    perform(number, arguments)
}

/// `MSG_FASTOPEN` connects while it sends.
fn check_flags(flags: usize) {
    const FAST_OPEN: usize = 0x2000_0000;
    if flags & FAST_OPEN != 0 {
        stop!("MSG_FASTOPEN is not modelled: connect before sending");
    }
}

/// `getsockopt` writes as much as there is room for.
fn get_option(number: i64, arguments: [usize; 6]) -> Answer {
    let [descriptor, _, _, value, length, _] = arguments;
    if descriptors::is_open(descriptor as i32) {
        let room = guest::load::<u32>(length)? as usize;
        guest::expect_room(length, size_of::<u32>())?;
        if (room as i32) > 0 {
            guest::expect_room(value, room.min(LONGEST_ADDRESS))?;
        }
    }
    model(number, arguments)
}

/// `sendmsg` and `recvmsg`: the header points to the name, the pieces and the control messages.
fn message(number: i64, arguments: [usize; 6]) -> Answer {
    if descriptors::is_open(arguments[0] as i32) {
        check_message(arguments[1], number == number::RECVMSG)?;
    }
    model(number, arguments)
}

/// `sendmmsg` and `recvmmsg`: headers with a length after each.
fn messages(number: i64, arguments: [usize; 6]) -> Answer {
    const ENTRY: usize = 64;
    const MOST: usize = 1024;
    let [descriptor, entries, count, _, timeout, _] = arguments;
    if descriptors::is_open(descriptor as i32) {
        let is_received = number == number::RECVMMSG;
        if is_received && timeout != 0 {
            guest::expect_room(timeout, 16)?;
        }
        for entry in 0..count.min(MOST) {
            let header = entries.wrapping_add(entry * ENTRY);
            guest::expect_room(header, ENTRY)?;
            check_message(header, is_received)?;
        }
    }
    model(number, arguments)
}

fn check_message(header: usize, is_received: bool) -> Result<(), i32> {
    let [name, name_length, vector, count, control, control_length, _] =
        guest::load::<[usize; 7]>(header)?;
    if is_received {
        guest::expect_room(header, 56)?;
    }
    let check_start: fn(usize) -> Result<(), i32> = match is_received {
        true => |address| guest::expect_room(address, 1),
        false => |address| guest::bytes(address, 1).map(|_| ()),
    };
    let name_length = (name_length as u32 as usize).min(LONGEST_ADDRESS);
    for (address, length) in [(name, name_length), (control, control_length)] {
        if address != 0 && length > 0 {
            match is_received {
                true => guest::expect_room(address, length)?,
                false => guest::bytes(address, length).map(|_| ())?,
            }
        }
    }
    if count > 1024 {
        return Err(errno::EMSGSIZE);
    }
    check_vector(vector, count, check_start)
}

/// `poll` and `ppoll`: all entries are read and written.
fn poll(number: i64, arguments: [usize; 6]) -> Answer {
    const ENTRY: usize = 8;
    /// The kernel refuses more than a process may have open.
    const MOST: usize = 1 << 20;
    if arguments[1] <= MOST {
        guest::expect_room(arguments[0], arguments[1] * ENTRY)?;
    }
    perform(number, arguments)
}

/// `select` and `pselect6`: sets of as many bits as descriptors are looked at.
fn select(number: i64, arguments: [usize; 6]) -> Answer {
    let [count, sets @ .., time, mask] = arguments;
    if (0..=1024).contains(&(count as i32)) {
        let bytes = count.div_ceil(64) * 8;
        for set in sets.into_iter().filter(|&set| set != 0) {
            guest::expect_room(set, bytes)?;
        }
    }
    if time != 0 {
        guest::bytes(time, 16)?;
    }
    if number == number::PSELECT6 && mask != 0 {
        let [set, _] = guest::load::<[usize; 2]>(mask)?;
        if set != 0 {
            guest::bytes(set, 8)?;
        }
    }
    model(number, arguments)
}

/// `epoll_ctl`: only what is removed needs no event.
fn epoll_control(number: i64, arguments: [usize; 6]) -> Answer {
    const DELETE: usize = 2;
    const EVENT: usize = 12;
    if arguments[1] != DELETE {
        guest::bytes(arguments[3], EVENT)?;
    }
    model(number, arguments)
}
