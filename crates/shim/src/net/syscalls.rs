//! Syscalls on sockets, pipes and events, by number.

use crate::sys::{errno, number};
use crate::worker::KERNEL;
use everypath_vkernel::ioctl::ioctl;
use everypath_vkernel::syscalls::{self, Answer, answer};

/// No error of the kernel's.
const NOT_OURS: i32 = i32::MAX;

/// Does what the system call does; none if it is no call of ours.
pub(crate) fn perform(number: i64, arguments: [usize; 6]) -> Option<isize> {
    let call = || {
        making(number, arguments)
            .or_else(|| connecting(number, arguments))
            .or_else(|| transferring(number, arguments))
            .or_else(|| waiting(number, arguments))
            .ok_or(NOT_OURS)?
    };
    Some(answer(call)).filter(|&result| result != -(NOT_OURS as isize))
}

fn making(number: i64, [a, b, c, d, ..]: [usize; 6]) -> Option<Answer> {
    let (k, first, second) = (KERNEL, a as i32, b as i32);
    Some(match number {
        number::SOCKET => syscalls::socket(k, a as u16, second, c as i32),
        number::SOCKETPAIR => syscalls::socketpair(k, a as u16, second, d),
        number::PIPE => syscalls::pipe2(k, a, 0),
        number::PIPE2 => syscalls::pipe2(k, a, second),
        number::EVENTFD => syscalls::eventfd2(k, a as u32, 0),
        number::EVENTFD2 => syscalls::eventfd2(k, a as u32, second),
        number::EPOLL_CREATE if first <= 0 => Err(errno::EINVAL),
        number::EPOLL_CREATE => syscalls::epoll_create1(k, 0),
        number::EPOLL_CREATE1 => syscalls::epoll_create1(k, first),
        number::TIMERFD_CREATE => syscalls::timerfd_create(k, first, second),
        number::TIMERFD_SETTIME => syscalls::timerfd_settime(k, first, second, (c, d)),
        number::TIMERFD_GETTIME => syscalls::timerfd_gettime(k, first, b),
        _ => return None,
    })
}

fn connecting(number: i64, [a, b, c, d, e, _]: [usize; 6]) -> Option<Answer> {
    let (k, descriptor) = (KERNEL, a as i32);
    let option = (b as i32, c as i32);
    Some(match number {
        number::BIND => syscalls::bind(k, descriptor, (b, c)),
        number::CONNECT => syscalls::connect(k, descriptor, (b, c)),
        number::LISTEN => syscalls::listen(k, descriptor, b as i32),
        number::ACCEPT => syscalls::accept4(k, descriptor, (b, c), 0),
        number::ACCEPT4 => syscalls::accept4(k, descriptor, (b, c), d as i32),
        number::SHUTDOWN => syscalls::shutdown(k, descriptor, b as i32),
        number::GETSOCKNAME => syscalls::getsockname(k, descriptor, (b, c)),
        number::GETPEERNAME => syscalls::getpeername(k, descriptor, (b, c)),
        number::SETSOCKOPT => syscalls::setsockopt(k, descriptor, option, (d, e)),
        number::GETSOCKOPT => syscalls::getsockopt(k, descriptor, option, (d, e)),
        _ => return None,
    })
}

fn transferring(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<Answer> {
    let (k, descriptor, flags) = (KERNEL, a as i32, d as i32);
    Some(match number {
        number::SENDTO => syscalls::sendto(k, descriptor, (b, c), flags, (e, f)),
        number::RECVFROM => syscalls::recvfrom(k, descriptor, (b, c), flags, (e, f)),
        number::SENDMSG => syscalls::sendmsg(k, descriptor, b, c as i32),
        number::RECVMSG => syscalls::recvmsg(k, descriptor, b, c as i32),
        number::SENDMMSG => syscalls::sendmmsg(k, descriptor, (b, c), flags),
        number::RECVMMSG => syscalls::recvmmsg(k, descriptor, (b, c), flags, e),
        _ => return None,
    })
}

fn waiting(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<Answer> {
    let (k, descriptor, events) = (KERNEL, a as i32, (b, c as i32));
    Some(match number {
        number::POLL => syscalls::poll(k, (a, b), c as i32),
        number::PPOLL => syscalls::ppoll(k, (a, b), c, d),
        number::SELECT => syscalls::select(k, a, [b, c, d], e),
        number::PSELECT6 => syscalls::pselect6(k, a, [b, c, d], (e, f)),
        number::EPOLL_CTL => syscalls::epoll_ctl(k, descriptor, b as i32, c as i32, d),
        number::EPOLL_WAIT => syscalls::epoll_pwait(k, descriptor, events, d as i32, 0),
        number::EPOLL_PWAIT => syscalls::epoll_pwait(k, descriptor, events, d as i32, e),
        number::EPOLL_PWAIT2 => syscalls::epoll_pwait2(k, descriptor, events, d, e),
        _ => return None,
    })
}

/// Whether a descriptor is open on one of our objects.
pub(crate) fn is_object(descriptor: i32) -> bool {
    syscalls::is_object(KERNEL, descriptor)
}

/// Reads from any of our objects.
pub(crate) fn read(descriptor: i32, address: usize, length: usize) -> isize {
    answer(|| syscalls::read(KERNEL, descriptor, address, length))
}

/// Writes to any of our objects.
pub(crate) fn write(descriptor: i32, address: usize, length: usize) -> isize {
    answer(|| syscalls::write(KERNEL, descriptor, address, length))
}

/// Reads into several pieces.
pub(crate) fn read_vector(descriptor: i32, vector: usize, count: usize) -> isize {
    answer(|| syscalls::readv(KERNEL, descriptor, vector, count))
}

/// Writes several pieces.
pub(crate) fn write_vector(descriptor: i32, vector: usize, count: usize) -> isize {
    answer(|| syscalls::writev(KERNEL, descriptor, vector, count))
}

/// Does what the system call does.
pub(crate) fn device_control(descriptor: i32, request: usize, at: usize) -> isize {
    answer(|| ioctl(KERNEL, descriptor, request, at))
}
