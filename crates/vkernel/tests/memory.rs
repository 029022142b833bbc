//! Bad addresses: `EFAULT`, and nothing has happened.

use crate::machine::Machine;
use everypath_vkernel::host::Memory;
use everypath_vkernel::syscalls::{self, Answer, answer};
use everypath_vkernel::{errno, fd_table};

/// Nothing is mapped there.
const NOWHERE: usize = 0x10;
const FAULT: isize = -(errno::EFAULT as isize);

/// A machine with a connected pair of sockets.
fn pair(kind: i32) -> (Machine, i32, i32) {
    let machine = Machine::new();
    let at = machine.map(&[0; 8]);
    assert_eq!(answer(|| syscalls::socketpair(&machine, 1, kind, at)), 0);
    let [one, other]: [i32; 2] = machine.load(at).unwrap();
    (machine, one, other)
}

const STREAM: i32 = 1;
const DATAGRAM: i32 = 2;
const NONBLOCKING: i32 = 0o4000;

fn check(call: impl FnMut() -> Answer) {
    assert_eq!(answer(call), FAULT);
}

#[test]
fn where_to_write_descriptors() {
    let machine = Machine::new();
    check(|| syscalls::pipe2(&machine, NOWHERE, 0));
    check(|| syscalls::socketpair(&machine, 1, STREAM, NOWHERE));
}

#[test]
fn what_to_send() {
    for kind in [STREAM, DATAGRAM] {
        let (machine, one, other) = pair(kind | NONBLOCKING);
        check(|| syscalls::write(&machine, one, NOWHERE, 4));
        check(|| syscalls::sendto(&machine, one, (NOWHERE, 4), 0, (0, 0)));
        check(|| syscalls::writev(&machine, one, NOWHERE, 1));
        check(|| syscalls::sendmsg(&machine, one, NOWHERE, 0));
        // Nothing was sent.
        let at = machine.map(&[0; 8]);
        let nothing = -(errno::EAGAIN as isize);
        assert_eq!(answer(|| syscalls::read(&machine, other, at, 8)), nothing);
    }
}

#[test]
fn the_middle_of_what_to_send() {
    let (machine, one, other) = pair(STREAM | NONBLOCKING);
    // A page, and nothing behind it.
    let at = machine.map(&[7; 4096]);
    check(|| syscalls::write(&machine, one, at + 4094, 4));
    let vector = [at + 4094, 2, NOWHERE, 2].map(usize::to_le_bytes).concat();
    let vector = machine.map(&vector);
    // What can be read is sent.
    assert_eq!(answer(|| syscalls::writev(&machine, one, vector, 2)), 2);
    let to = machine.map(&[0; 8]);
    assert_eq!(answer(|| syscalls::read(&machine, other, to, 8)), 2);
}

#[test]
fn where_to_receive_a_stream() {
    let (machine, one, other) = pair(STREAM);
    let at = machine.map(b"abcd");
    assert_eq!(answer(|| syscalls::write(&machine, one, at, 4)), 4);
    check(|| syscalls::read(&machine, other, NOWHERE, 4));
    let to = machine.map(&[0; 8]);
    assert_eq!(answer(|| syscalls::read(&machine, other, to, 8)), 4);
    assert_eq!(machine.bytes(to, 4), b"abcd");
}

#[test]
fn addresses_of_sockets() {
    let machine = Machine::new();
    let socket = answer(|| syscalls::socket(&machine, 2, STREAM, 0)) as i32;
    check(|| syscalls::bind(&machine, socket, (NOWHERE, 16)));
    check(|| syscalls::connect(&machine, socket, (NOWHERE, 16)));
    let length = machine.map(&16u32.to_le_bytes());
    check(|| syscalls::getsockname(&machine, socket, (NOWHERE, length)));
    check(|| syscalls::getsockname(&machine, socket, (length, NOWHERE)));
}

#[test]
fn options() {
    let machine = Machine::new();
    let socket = answer(|| syscalls::socket(&machine, 2, STREAM, 0)) as i32;
    let length = machine.map(&4u32.to_le_bytes());
    check(|| syscalls::setsockopt(&machine, socket, (1, 2), (NOWHERE, 4)));
    check(|| syscalls::getsockopt(&machine, socket, (1, 2), (NOWHERE, length)));
    check(|| syscalls::getsockopt(&machine, socket, (1, 2), (length, NOWHERE)));
}

#[test]
fn what_to_poll() {
    let machine = Machine::new();
    check(|| syscalls::poll(&machine, (NOWHERE, 1), 0));
    check(|| syscalls::select(&machine, 8, [NOWHERE, 0, 0], 0));
    check(|| syscalls::select(&machine, 0, [0; 3], NOWHERE));
    let epoll = answer(|| syscalls::epoll_create1(&machine, 0)) as i32;
    let event = answer(|| syscalls::eventfd2(&machine, 1, 0)) as i32;
    check(|| syscalls::epoll_ctl(&machine, epoll, 1, event, NOWHERE));
    let at = machine.map(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(answer(|| syscalls::epoll_ctl(&machine, epoll, 1, event, at)), 0);
    check(|| syscalls::epoll_pwait(&machine, epoll, (NOWHERE, 1), 0, 0));
    check(|| syscalls::epoll_pwait(&machine, epoll, (at, 1), 0, NOWHERE));
}

#[test]
fn timers() {
    let machine = Machine::new();
    let timer = answer(|| syscalls::timerfd_create(&machine, 1, 0)) as i32;
    check(|| syscalls::timerfd_settime(&machine, timer, 0, (NOWHERE, 0)));
    check(|| syscalls::timerfd_gettime(&machine, timer, NOWHERE));
}

#[test]
fn events() {
    let machine = Machine::new();
    let event = answer(|| syscalls::eventfd2(&machine, 1, NONBLOCKING)) as i32;
    check(|| syscalls::write(&machine, event, NOWHERE, 8));
    check(|| syscalls::read(&machine, event, NOWHERE, 8));
}

#[test]
fn locks() {
    let machine = Machine::new();
    let event = answer(|| syscalls::eventfd2(&machine, 1, 0)) as i32;
    assert_eq!(fd_table::control(&machine, event, 5, NOWHERE), FAULT);
}
