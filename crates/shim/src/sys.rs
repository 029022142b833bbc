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

pub(crate) use everypath_vkernel::errno;
