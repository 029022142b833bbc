//! Functions of libc that are thin wrappers of syscalls, interposed to save a trap.

use super::perform;
use crate::cancel;
use crate::libc::result;
use crate::summaries;
use crate::sys::{call, number};
use everypath_shim_abi::syscalls::syscall;

/// Makes a call from libc's function for it, which may be a cancellation point.
#[inline(always)]
fn made_by_libc(number: i64, arguments: [usize; 6]) -> isize {
    if !crate::ending::is_running() {
        return result(call(number, arguments));
    }
    let make = || perform(number, arguments);
    let Some(known) = syscall(number) else { return result(make()) };
    // What libc calls for itself does not come here: it orders that by locks of its own.
    summaries::before_syscall(known, &arguments);
    let answer = match known.is_cancellation_point {
        true => cancel::at_system_call(make),
        false => make(),
    };
    summaries::after_syscall(known, &arguments, answer);
    result(answer)
}

/// Makes a call by an instruction of the program's own, or by libc's function for any call.
pub(super) fn recorded(number: i64, arguments: [usize; 6]) -> isize {
    let Some(known) = syscall(number) else { return perform(number, arguments) };
    summaries::before_syscall(known, &arguments);
    let answer = perform(number, arguments);
    summaries::after_syscall(known, &arguments, answer);
    answer
}

macro_rules! wrappers {
    ($($name:ident($($argument:ident),*) = $number:ident,)*) => {
        $(
            /// Interposes libc's function, to save a trap.
            #[unsafe(no_mangle)]
            pub(crate) extern "C" fn $name($($argument: usize),*) -> isize {
                let given = [$($argument),*];
                let mut arguments = [0; 6];
                arguments[..given.len()].copy_from_slice(&given);
                made_by_libc(number::$number, arguments)
            }
        )*
    };
}

wrappers! {
    read(a, b, c) = READ,
    write(a, b, c) = WRITE,
    readv(a, b, c) = READV,
    writev(a, b, c) = WRITEV,
    pread(a, b, c, d) = PREAD64,
    pread64(a, b, c, d) = PREAD64,
    pwrite(a, b, c, d) = PWRITE64,
    pwrite64(a, b, c, d) = PWRITE64,
    close(a) = CLOSE,
    open(a, b, c) = OPEN,
    open64(a, b, c) = OPEN,
    openat(a, b, c, d) = OPENAT,
    openat64(a, b, c, d) = OPENAT,
    lseek(a, b, c) = LSEEK,
    lseek64(a, b, c) = LSEEK,
    fcntl(a, b, c) = FCNTL,
    fcntl64(a, b, c) = FCNTL,
    ioctl(a, b, c) = IOCTL,
    dup(a) = DUP,
    poll(a, b, c) = POLL,
    ppoll(a, b, c, d, e) = PPOLL,
    select(a, b, c, d, e) = SELECT,
    socket(a, b, c) = SOCKET,
    socketpair(a, b, c, d) = SOCKETPAIR,
    pipe(a) = PIPE,
    pipe2(a, b) = PIPE2,
    bind(a, b, c) = BIND,
    listen(a, b) = LISTEN,
    connect(a, b, c) = CONNECT,
    accept(a, b, c) = ACCEPT,
    accept4(a, b, c, d) = ACCEPT4,
    shutdown(a, b) = SHUTDOWN,
    getsockname(a, b, c) = GETSOCKNAME,
    getpeername(a, b, c) = GETPEERNAME,
    setsockopt(a, b, c, d, e) = SETSOCKOPT,
    getsockopt(a, b, c, d, e) = GETSOCKOPT,
    sendto(a, b, c, d, e, f) = SENDTO,
    recvfrom(a, b, c, d, e, f) = RECVFROM,
    sendmsg(a, b, c) = SENDMSG,
    recvmsg(a, b, c) = RECVMSG,
    sendmmsg(a, b, c, d) = SENDMMSG,
    recvmmsg(a, b, c, d, e) = RECVMMSG,
    epoll_create(a) = EPOLL_CREATE,
    epoll_create1(a) = EPOLL_CREATE1,
    epoll_ctl(a, b, c, d) = EPOLL_CTL,
    epoll_wait(a, b, c, d) = EPOLL_WAIT,
    epoll_pwait(a, b, c, d, e) = EPOLL_PWAIT,
    epoll_pwait2(a, b, c, d, e) = EPOLL_PWAIT2,
    timerfd_create(a, b) = TIMERFD_CREATE,
    timerfd_settime(a, b, c, d) = TIMERFD_SETTIME,
    timerfd_gettime(a, b) = TIMERFD_GETTIME,
    fstat(a, b) = FSTAT,
    fstat64(a, b) = FSTAT,
}

/// Interposes libc's function, to save a trap: sending to whom a socket is connected to.
#[unsafe(no_mangle)]
extern "C" fn send(descriptor: usize, address: usize, length: usize, flags: usize) -> isize {
    sendto(descriptor, address, length, flags, 0, 0)
}

/// Interposes libc's function, to save a trap.
#[unsafe(no_mangle)]
extern "C" fn recv(descriptor: usize, address: usize, length: usize, flags: usize) -> isize {
    recvfrom(descriptor, address, length, flags, 0, 0)
}

/// Interposes libc's function, to save a trap.
#[unsafe(no_mangle)]
extern "C" fn eventfd(value: usize, flags: usize) -> isize {
    result(perform(number::EVENTFD2, [value, flags, 0, 0, 0, 0]))
}

/// Interposes libc's function, which hands the mask over together with its length.
#[unsafe(no_mangle)]
extern "C" fn pselect(
    count: usize,
    reading: usize,
    writing: usize,
    failing: usize,
    time: usize,
    mask: usize,
) -> isize {
    const MASK_LENGTH: usize = 8;
    let with_length = [mask, MASK_LENGTH];
    let arguments = [count, reading, writing, failing, time, with_length.as_ptr() as usize];
    result(cancel::at_system_call(|| perform(number::PSELECT6, arguments)))
}
