//! Syscalls made by the shim itself, never through libc.
//!
//! libc's wrappers set `errno`, may be cancellation points and would be trapped by our own
//! dispatcher, which lets only instructions of this library through.

use core::arch::asm;

/// Makes a system call with six arguments.
pub(crate) fn call(number: i64, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the instruction clobbers rcx and r11 and what the call is asked to write, which is
    // the caller's to choose; a wrong pointer is answered by the kernel with an error.
    // JUSTIFICATION: there is no other way to enter the kernel without libc.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

macro_rules! sys {
    ($number:expr $(, $argument:expr)*) => {{
        let given = [$($argument as usize),*];
        let mut arguments = [0usize; 6];
        let mut at = 0;
        while at < given.len() {
            arguments[at] = given[at];
            at += 1;
        }
        $crate::sys::call($number, arguments)
    }};
}
pub(crate) use sys;

pub(crate) use everypath_shim_abi::syscalls::number;

/// What a syscall comes to: its result, or an error of [`errno`].
pub(crate) type Answer = Result<isize, i32>;

/// What a syscall of the kernel returned.
pub(crate) fn answer(returned: isize) -> Answer {
    if (-4095..0).contains(&returned) { Err(-returned as i32) } else { Ok(returned) }
}

/// What a syscall returns to the program.
pub(crate) fn returned(answer: Answer) -> isize {
    answer.unwrap_or_else(|error| -(error as isize))
}

/// The errors that the shim answers with.
pub(crate) mod errno {
    pub(crate) const EPERM: i32 = 1;
    pub(crate) const ENOENT: i32 = 2;
    pub(crate) const ESRCH: i32 = 3;
    pub(crate) const EINTR: i32 = 4;
    pub(crate) const EIO: i32 = 5;
    pub(crate) const ENXIO: i32 = 6;
    pub(crate) const EBADF: i32 = 9;
    pub(crate) const ECHILD: i32 = 10;
    pub(crate) const EAGAIN: i32 = 11;
    pub(crate) const ENOMEM: i32 = 12;
    pub(crate) const EACCES: i32 = 13;
    pub(crate) const EFAULT: i32 = 14;
    pub(crate) const EBUSY: i32 = 16;
    pub(crate) const EEXIST: i32 = 17;
    pub(crate) const ENODEV: i32 = 19;
    pub(crate) const ENOTDIR: i32 = 20;
    pub(crate) const EISDIR: i32 = 21;
    pub(crate) const EINVAL: i32 = 22;
    pub(crate) const EMFILE: i32 = 24;
    pub(crate) const ENOTTY: i32 = 25;
    pub(crate) const ENOSPC: i32 = 28;
    pub(crate) const ESPIPE: i32 = 29;
    pub(crate) const EPIPE: i32 = 32;
    pub(crate) const ERANGE: i32 = 34;
    pub(crate) const EDEADLK: i32 = 35;
    pub(crate) const ENOSYS: i32 = 38;
    pub(crate) const ENOTEMPTY: i32 = 39;
    pub(crate) const ELOOP: i32 = 40;
    pub(crate) const EOVERFLOW: i32 = 75;
    pub(crate) const ENOTSOCK: i32 = 88;
    pub(crate) const EDESTADDRREQ: i32 = 89;
    pub(crate) const EMSGSIZE: i32 = 90;
    pub(crate) const ENOPROTOOPT: i32 = 92;
    pub(crate) const EPROTONOSUPPORT: i32 = 93;
    pub(crate) const EOPNOTSUPP: i32 = 95;
    pub(crate) const EAFNOSUPPORT: i32 = 97;
    pub(crate) const EADDRINUSE: i32 = 98;
    pub(crate) const EADDRNOTAVAIL: i32 = 99;
    pub(crate) const ECONNRESET: i32 = 104;
    pub(crate) const ENOBUFS: i32 = 105;
    pub(crate) const EISCONN: i32 = 106;
    pub(crate) const ENOTCONN: i32 = 107;
    pub(crate) const ETIMEDOUT: i32 = 110;
    pub(crate) const ECONNREFUSED: i32 = 111;
    pub(crate) const EALREADY: i32 = 114;
    pub(crate) const EINPROGRESS: i32 = 115;
    pub(crate) const EOWNERDEAD: i32 = 130;
    /// None of the kernel's: the call is to be made again, as if it began now.
    pub(crate) const MADE_AGAIN: i32 = i32::MAX - 1;
    pub(crate) const ENOTRECOVERABLE: i32 = 131;
}
