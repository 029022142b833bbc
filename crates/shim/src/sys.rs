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

/// The numbers of the calls that the shim makes or answers.
pub(crate) mod number {
    pub(crate) const READ: i64 = 0;
    pub(crate) const WRITE: i64 = 1;
    pub(crate) const OPEN: i64 = 2;
    pub(crate) const CLOSE: i64 = 3;
    pub(crate) const STAT: i64 = 4;
    pub(crate) const FSTAT: i64 = 5;
    pub(crate) const LSTAT: i64 = 6;
    pub(crate) const POLL: i64 = 7;
    pub(crate) const LSEEK: i64 = 8;
    pub(crate) const MMAP: i64 = 9;
    pub(crate) const MPROTECT: i64 = 10;
    pub(crate) const MUNMAP: i64 = 11;
    pub(crate) const BRK: i64 = 12;
    pub(crate) const RT_SIGACTION: i64 = 13;
    pub(crate) const RT_SIGPROCMASK: i64 = 14;
    pub(crate) const IOCTL: i64 = 16;
    pub(crate) const PREAD64: i64 = 17;
    pub(crate) const PWRITE64: i64 = 18;
    pub(crate) const READV: i64 = 19;
    pub(crate) const WRITEV: i64 = 20;
    pub(crate) const ACCESS: i64 = 21;
    pub(crate) const PIPE: i64 = 22;
    pub(crate) const SELECT: i64 = 23;
    pub(crate) const SCHED_YIELD: i64 = 24;
    pub(crate) const MREMAP: i64 = 25;
    pub(crate) const MADVISE: i64 = 28;
    pub(crate) const DUP: i64 = 32;
    pub(crate) const DUP2: i64 = 33;
    pub(crate) const PAUSE: i64 = 34;
    pub(crate) const NANOSLEEP: i64 = 35;
    pub(crate) const GETITIMER: i64 = 36;
    pub(crate) const ALARM: i64 = 37;
    pub(crate) const SETITIMER: i64 = 38;
    pub(crate) const GETPID: i64 = 39;
    pub(crate) const SOCKET: i64 = 41;
    pub(crate) const CONNECT: i64 = 42;
    pub(crate) const ACCEPT: i64 = 43;
    pub(crate) const SENDTO: i64 = 44;
    pub(crate) const RECVFROM: i64 = 45;
    pub(crate) const SENDMSG: i64 = 46;
    pub(crate) const RECVMSG: i64 = 47;
    pub(crate) const SHUTDOWN: i64 = 48;
    pub(crate) const BIND: i64 = 49;
    pub(crate) const LISTEN: i64 = 50;
    pub(crate) const GETSOCKNAME: i64 = 51;
    pub(crate) const GETPEERNAME: i64 = 52;
    pub(crate) const SOCKETPAIR: i64 = 53;
    pub(crate) const SETSOCKOPT: i64 = 54;
    pub(crate) const GETSOCKOPT: i64 = 55;
    pub(crate) const CLONE: i64 = 56;
    pub(crate) const FORK: i64 = 57;
    pub(crate) const VFORK: i64 = 58;
    pub(crate) const EXECVE: i64 = 59;
    pub(crate) const EXIT: i64 = 60;
    pub(crate) const WAIT4: i64 = 61;
    pub(crate) const KILL: i64 = 62;
    pub(crate) const UNAME: i64 = 63;
    pub(crate) const FCNTL: i64 = 72;
    pub(crate) const FLOCK: i64 = 73;
    pub(crate) const FSYNC: i64 = 74;
    pub(crate) const FDATASYNC: i64 = 75;
    pub(crate) const FTRUNCATE: i64 = 77;
    pub(crate) const GETCWD: i64 = 79;
    pub(crate) const RENAME: i64 = 82;
    pub(crate) const MKDIR: i64 = 83;
    pub(crate) const RMDIR: i64 = 84;
    pub(crate) const CREAT: i64 = 85;
    pub(crate) const UNLINK: i64 = 87;
    pub(crate) const READLINK: i64 = 89;
    pub(crate) const UMASK: i64 = 95;
    pub(crate) const GETTIMEOFDAY: i64 = 96;
    pub(crate) const GETRLIMIT: i64 = 97;
    pub(crate) const GETRUSAGE: i64 = 98;
    pub(crate) const SYSINFO: i64 = 99;
    pub(crate) const TIMES: i64 = 100;
    pub(crate) const GETUID: i64 = 102;
    pub(crate) const GETGID: i64 = 104;
    pub(crate) const SETUID: i64 = 105;
    pub(crate) const SETGID: i64 = 106;
    pub(crate) const GETEUID: i64 = 107;
    pub(crate) const GETEGID: i64 = 108;
    pub(crate) const GETPPID: i64 = 110;
    pub(crate) const GETPGRP: i64 = 111;
    pub(crate) const SETREUID: i64 = 113;
    pub(crate) const SETREGID: i64 = 114;
    pub(crate) const GETGROUPS: i64 = 115;
    pub(crate) const SETGROUPS: i64 = 116;
    pub(crate) const SETRESUID: i64 = 117;
    pub(crate) const GETRESUID: i64 = 118;
    pub(crate) const SETRESGID: i64 = 119;
    pub(crate) const GETRESGID: i64 = 120;
    pub(crate) const RT_SIGTIMEDWAIT: i64 = 128;
    pub(crate) const RT_SIGSUSPEND: i64 = 130;
    pub(crate) const SIGALTSTACK: i64 = 131;
    pub(crate) const STATFS: i64 = 137;
    pub(crate) const SCHED_SETPARAM: i64 = 142;
    pub(crate) const SCHED_GETPARAM: i64 = 143;
    pub(crate) const SCHED_SETSCHEDULER: i64 = 144;
    pub(crate) const SCHED_GETSCHEDULER: i64 = 145;
    pub(crate) const SCHED_GET_PRIORITY_MAX: i64 = 146;
    pub(crate) const SCHED_GET_PRIORITY_MIN: i64 = 147;
    pub(crate) const MLOCK: i64 = 149;
    pub(crate) const MUNLOCK: i64 = 150;
    pub(crate) const MLOCKALL: i64 = 151;
    pub(crate) const MUNLOCKALL: i64 = 152;
    pub(crate) const PRCTL: i64 = 157;
    pub(crate) const SETRLIMIT: i64 = 160;
    pub(crate) const SYNC: i64 = 162;
    pub(crate) const GETTID: i64 = 186;
    pub(crate) const TKILL: i64 = 200;
    pub(crate) const TIME: i64 = 201;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const SCHED_SETAFFINITY: i64 = 203;
    pub(crate) const SCHED_GETAFFINITY: i64 = 204;
    pub(crate) const EPOLL_CREATE: i64 = 213;
    pub(crate) const GETDENTS64: i64 = 217;
    pub(crate) const SET_TID_ADDRESS: i64 = 218;
    pub(crate) const FADVISE64: i64 = 221;
    pub(crate) const CLOCK_GETTIME: i64 = 228;
    pub(crate) const CLOCK_GETRES: i64 = 229;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 230;
    pub(crate) const EXIT_GROUP: i64 = 231;
    pub(crate) const EPOLL_WAIT: i64 = 232;
    pub(crate) const EPOLL_CTL: i64 = 233;
    pub(crate) const TGKILL: i64 = 234;
    pub(crate) const OPENAT: i64 = 257;
    pub(crate) const MKDIRAT: i64 = 258;
    pub(crate) const NEWFSTATAT: i64 = 262;
    pub(crate) const UNLINKAT: i64 = 263;
    pub(crate) const RENAMEAT: i64 = 264;
    pub(crate) const READLINKAT: i64 = 267;
    pub(crate) const FACCESSAT: i64 = 269;
    pub(crate) const PSELECT6: i64 = 270;
    pub(crate) const PPOLL: i64 = 271;
    pub(crate) const SET_ROBUST_LIST: i64 = 273;
    pub(crate) const UTIMENSAT: i64 = 280;
    pub(crate) const EPOLL_PWAIT: i64 = 281;
    pub(crate) const TIMERFD_CREATE: i64 = 283;
    pub(crate) const EVENTFD: i64 = 284;
    pub(crate) const TIMERFD_SETTIME: i64 = 286;
    pub(crate) const TIMERFD_GETTIME: i64 = 287;
    pub(crate) const ACCEPT4: i64 = 288;
    pub(crate) const EVENTFD2: i64 = 290;
    pub(crate) const EPOLL_CREATE1: i64 = 291;
    pub(crate) const DUP3: i64 = 292;
    pub(crate) const PIPE2: i64 = 293;
    pub(crate) const RECVMMSG: i64 = 299;
    pub(crate) const PRLIMIT64: i64 = 302;
    pub(crate) const SYNCFS: i64 = 306;
    pub(crate) const SENDMMSG: i64 = 307;
    pub(crate) const GETCPU: i64 = 309;
    pub(crate) const RENAMEAT2: i64 = 316;
    pub(crate) const GETRANDOM: i64 = 318;
    pub(crate) const EXECVEAT: i64 = 322;
    pub(crate) const USERFAULTFD: i64 = 323;
    pub(crate) const MEMBARRIER: i64 = 324;
    pub(crate) const STATX: i64 = 332;
    pub(crate) const RSEQ: i64 = 334;
    pub(crate) const IO_URING_SETUP: i64 = 425;
    pub(crate) const IO_URING_REGISTER: i64 = 427;
    pub(crate) const CLONE3: i64 = 435;
    pub(crate) const FACCESSAT2: i64 = 439;
    pub(crate) const EPOLL_PWAIT2: i64 = 441;
}

/// The names of calls, for messages.
#[rustfmt::skip]
static NAMES: [(i64, &str); 196] = [
    (0, "read"), (1, "write"), (2, "open"), (3, "close"), (4, "stat"), (5, "fstat"), (6,
    "lstat"), (7, "poll"), (8, "lseek"), (9, "mmap"), (10, "mprotect"), (11, "munmap"), (12,
    "brk"), (13, "rt_sigaction"), (14, "rt_sigprocmask"), (15, "rt_sigreturn"), (16, "ioctl"),
    (17, "pread64"), (18, "pwrite64"), (19, "readv"), (20, "writev"), (21, "access"), (22,
    "pipe"), (23, "select"), (24, "sched_yield"), (25, "mremap"), (26, "msync"), (27,
    "mincore"), (28, "madvise"), (32, "dup"), (33, "dup2"), (34, "pause"), (35, "nanosleep"),
    (36, "getitimer"), (37, "alarm"), (38, "setitimer"), (39, "getpid"), (41, "socket"), (42,
    "connect"), (43, "accept"), (44, "sendto"), (45, "recvfrom"), (46, "sendmsg"), (47,
    "recvmsg"), (48, "shutdown"), (49, "bind"), (50, "listen"), (51, "getsockname"), (52,
    "getpeername"), (53, "socketpair"), (54, "setsockopt"), (55, "getsockopt"), (56, "clone"),
    (57, "fork"), (58, "vfork"), (59, "execve"), (60, "exit"), (61, "wait4"), (62, "kill"), (63,
    "uname"), (72, "fcntl"), (73, "flock"), (74, "fsync"), (75, "fdatasync"), (76, "truncate"),
    (77, "ftruncate"), (78, "getdents"), (79, "getcwd"), (80, "chdir"), (81, "fchdir"), (82,
    "rename"), (83, "mkdir"), (84, "rmdir"), (85, "creat"), (86, "link"), (87, "unlink"), (88,
    "symlink"), (89, "readlink"), (90, "chmod"), (91, "fchmod"), (95, "umask"), (96,
    "gettimeofday"), (97, "getrlimit"), (98, "getrusage"), (99, "sysinfo"), (100, "times"),
    (101, "ptrace"), (102, "getuid"), (103, "syslog"), (104, "getgid"), (105, "setuid"), (106,
    "setgid"), (107, "geteuid"), (108, "getegid"), (109, "setpgid"), (110, "getppid"), (111,
    "getpgrp"), (112, "setsid"), (115, "getgroups"), (118, "getresuid"), (120, "getresgid"),
    (121, "getpgid"), (124, "getsid"), (127, "rt_sigpending"), (128, "rt_sigtimedwait"), (129,
    "rt_sigqueueinfo"), (130, "rt_sigsuspend"), (131, "sigaltstack"), (135, "personality"),
    (137, "statfs"), (138, "fstatfs"), (142, "sched_setparam"), (143, "sched_getparam"), (144,
    "sched_setscheduler"), (145, "sched_getscheduler"), (146, "sched_get_priority_max"), (147,
    "sched_get_priority_min"), (149, "mlock"), (150, "munlock"), (151, "mlockall"), (152,
    "munlockall"), (157, "prctl"), (158, "arch_prctl"), (160, "setrlimit"), (186, "gettid"),
    (200, "tkill"), (201, "time"), (202, "futex"), (203, "sched_setaffinity"), (204,
    "sched_getaffinity"), (213, "epoll_create"), (217, "getdents64"), (218, "set_tid_address"),
    (221, "fadvise64"), (222, "timer_create"), (223, "timer_settime"), (228, "clock_gettime"),
    (229, "clock_getres"), (230, "clock_nanosleep"), (231, "exit_group"), (232, "epoll_wait"),
    (233, "epoll_ctl"), (234, "tgkill"), (235, "utimes"), (247, "waitid"), (257, "openat"),
    (258, "mkdirat"), (262, "newfstatat"), (263, "unlinkat"), (264, "renameat"), (267,
    "readlinkat"), (269, "faccessat"), (270, "pselect6"), (271, "ppoll"), (273,
    "set_robust_list"), (280, "utimensat"), (281, "epoll_pwait"), (282, "signalfd"), (283,
    "timerfd_create"), (284, "eventfd"), (285, "fallocate"), (288, "accept4"), (289,
    "signalfd4"), (290, "eventfd2"), (291, "epoll_create1"), (292, "dup3"), (293, "pipe2"),
    (294, "inotify_init1"), (295, "preadv"), (296, "pwritev"), (302, "prlimit64"), (307,
    "sendmmsg"), (309, "getcpu"), (310, "process_vm_readv"), (316, "renameat2"), (317,
    "seccomp"), (318, "getrandom"), (319, "memfd_create"), (322, "execveat"), (323,
    "userfaultfd"), (324, "membarrier"), (325, "mlock2"), (326, "copy_file_range"), (332,
    "statx"), (334, "rseq"), (425, "io_uring_setup"), (426, "io_uring_enter"), (427,
    "io_uring_register"), (434, "pidfd_open"), (435, "clone3"), (436, "close_range"), (437,
    "openat2"), (439, "faccessat2"), (449, "futex_waitv"), (40, "sendfile"), (275, "splice"),
];

/// The name of a call, for messages.
pub(crate) fn name(number: i64) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
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
    pub(crate) const EAGAIN: i32 = 11;
    pub(crate) const ENOMEM: i32 = 12;
    pub(crate) const EACCES: i32 = 13;
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
