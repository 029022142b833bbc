//! Every syscall of x86-64, in the order of numbers within each kind of handling.

use super::argument::{
    AT, FD, INT, PATH, changes, changes_each, opt, reads, reads_by, reads_each, writes, writes_by,
    writes_each,
};
use super::{Handling, Syscall};

macro_rules! syscalls {
    (
        modelled { $($modelled:ident = $a:literal $b:literal [$($c:expr),*] $($point:ident)?;)* }
        $(passed $why:literal { $($passed:ident = $d:literal $e:literal [$($f:expr),*];)* })*
        $(refused $reason:literal { $($refused:ident = $g:literal $h:literal;)* })*
    ) => {
        /// The numbers of syscalls, under the names of the kernel's headers.
        pub mod number {
            $(#[doc = concat!("`", $b, "`")] pub const $modelled: i64 = $a;)*
            $($(#[doc = concat!("`", $e, "`")] pub const $passed: i64 = $d;)*)*
            $($(#[doc = concat!("`", $h, "`")] pub const $refused: i64 = $g;)*)*
        }

        /// All of them.
        pub static SYSCALLS: &[Syscall] = &[
            $(Syscall {
                number: $a,
                name: $b,
                arguments: &[$($c),*],
                handling: Handling::Modelled,
                is_cancellation_point: matches!(
                    concat!("" $(, stringify!($point))?).as_bytes(),
                    b"cancellable"
                ),
            },)*
            $($(Syscall {
                number: $d,
                name: $e,
                arguments: &[$($f),*],
                handling: Handling::Passed($why),
                is_cancellation_point: false,
            },)*)*
            $($(Syscall {
                number: $g,
                name: $h,
                arguments: &[],
                handling: Handling::Refused($reason),
                is_cancellation_point: false,
            },)*)*
        ];
    };
}

syscalls! {
    modelled {
        READ = 0 "read" [FD, writes_by(2), INT] cancellable;
        WRITE = 1 "write" [FD, reads_by(2), INT] cancellable;
        OPEN = 2 "open" [PATH, INT, INT] cancellable;
        CLOSE = 3 "close" [FD] cancellable;
        STAT = 4 "stat" [PATH, writes(144)];
        FSTAT = 5 "fstat" [FD, writes(144)];
        LSTAT = 6 "lstat" [PATH, writes(144)];
        POLL = 7 "poll" [changes_each(8, 1), INT, INT] cancellable;
        LSEEK = 8 "lseek" [FD, INT, INT];
        MMAP = 9 "mmap" [INT, INT, INT, INT, FD, INT];
        MPROTECT = 10 "mprotect" [INT, INT, INT];
        MUNMAP = 11 "munmap" [INT, INT];
        BRK = 12 "brk" [INT];
        RT_SIGACTION = 13 "rt_sigaction" [INT, opt(reads(32)), opt(writes(32)), INT];
        RT_SIGPROCMASK = 14 "rt_sigprocmask" [INT, opt(reads(8)), opt(writes(8)), INT];
        IOCTL = 16 "ioctl" [FD, INT, INT];
        PREAD64 = 17 "pread64" [FD, writes_by(2), INT, INT] cancellable;
        PWRITE64 = 18 "pwrite64" [FD, reads_by(2), INT, INT] cancellable;
        READV = 19 "readv" [FD, reads_each(16, 2), INT] cancellable;
        WRITEV = 20 "writev" [FD, reads_each(16, 2), INT] cancellable;
        ACCESS = 21 "access" [PATH, INT];
        PIPE = 22 "pipe" [writes(8)];
        SELECT = 23 "select" [INT, INT, INT, INT, opt(reads(16))] cancellable;
        SCHED_YIELD = 24 "sched_yield" [];
        MREMAP = 25 "mremap" [INT, INT, INT, INT, INT];
        MSYNC = 26 "msync" [INT, INT, INT];
        MADVISE = 28 "madvise" [INT, INT, INT];
        DUP = 32 "dup" [FD];
        DUP2 = 33 "dup2" [FD, FD];
        PAUSE = 34 "pause" [] cancellable;
        NANOSLEEP = 35 "nanosleep" [reads(16), opt(writes(16))] cancellable;
        GETITIMER = 36 "getitimer" [INT, writes(32)];
        ALARM = 37 "alarm" [INT];
        SETITIMER = 38 "setitimer" [INT, opt(reads(32)), opt(writes(32))];
        GETPID = 39 "getpid" [];
        SENDFILE = 40 "sendfile" [FD, FD, opt(changes(8)), INT];
        SOCKET = 41 "socket" [INT, INT, INT];
        CONNECT = 42 "connect" [FD, reads_by(2), INT] cancellable;
        ACCEPT = 43 "accept" [FD, opt(writes(2)), opt(reads(4))] cancellable;
        SENDTO = 44 "sendto" [FD, reads_by(2), INT, INT, opt(reads_by(5)), INT] cancellable;
        RECVFROM = 45 "recvfrom"
            [FD, writes_by(2), INT, INT, opt(writes(2)), opt(reads(4))] cancellable;
        SENDMSG = 46 "sendmsg" [FD, reads(56), INT] cancellable;
        RECVMSG = 47 "recvmsg" [FD, changes(56), INT] cancellable;
        SHUTDOWN = 48 "shutdown" [FD, INT];
        BIND = 49 "bind" [FD, reads_by(2), INT];
        LISTEN = 50 "listen" [FD, INT];
        GETSOCKNAME = 51 "getsockname" [FD, writes(2), writes(4)];
        GETPEERNAME = 52 "getpeername" [FD, writes(2), writes(4)];
        SOCKETPAIR = 53 "socketpair" [INT, INT, INT, writes(8)];
        SETSOCKOPT = 54 "setsockopt" [FD, INT, INT, reads_by(4), INT];
        GETSOCKOPT = 55 "getsockopt" [FD, INT, INT, INT, writes(4)];
        EXIT = 60 "exit" [INT];
        WAIT4 = 61 "wait4" [INT, opt(writes(4)), INT, opt(writes(144))] cancellable;
        KILL = 62 "kill" [INT, INT];
        FCNTL = 72 "fcntl" [FD, INT, INT] cancellable;
        FLOCK = 73 "flock" [FD, INT];
        FSYNC = 74 "fsync" [FD] cancellable;
        FDATASYNC = 75 "fdatasync" [FD] cancellable;
        TRUNCATE = 76 "truncate" [PATH, INT];
        FTRUNCATE = 77 "ftruncate" [FD, INT];
        GETCWD = 79 "getcwd" [writes_by(1), INT];
        CHDIR = 80 "chdir" [PATH];
        FCHDIR = 81 "fchdir" [FD];
        RENAME = 82 "rename" [PATH, PATH];
        MKDIR = 83 "mkdir" [PATH, INT];
        RMDIR = 84 "rmdir" [PATH];
        CREAT = 85 "creat" [PATH, INT] cancellable;
        LINK = 86 "link" [PATH, PATH];
        UNLINK = 87 "unlink" [PATH];
        SYMLINK = 88 "symlink" [PATH, PATH];
        READLINK = 89 "readlink" [PATH, writes_by(2), INT];
        CHMOD = 90 "chmod" [PATH, INT];
        FCHMOD = 91 "fchmod" [FD, INT];
        CHOWN = 92 "chown" [PATH, INT, INT];
        FCHOWN = 93 "fchown" [FD, INT, INT];
        LCHOWN = 94 "lchown" [PATH, INT, INT];
        UMASK = 95 "umask" [INT];
        GETTIMEOFDAY = 96 "gettimeofday" [opt(writes(16)), opt(writes(8))];
        GETRLIMIT = 97 "getrlimit" [INT, writes(16)];
        GETRUSAGE = 98 "getrusage" [INT, writes(144)];
        SYSINFO = 99 "sysinfo" [writes(112)];
        TIMES = 100 "times" [opt(writes(32))];
        GETUID = 102 "getuid" [];
        GETGID = 104 "getgid" [];
        SETUID = 105 "setuid" [INT];
        SETGID = 106 "setgid" [INT];
        GETEUID = 107 "geteuid" [];
        GETEGID = 108 "getegid" [];
        SETPGID = 109 "setpgid" [INT, INT];
        GETPPID = 110 "getppid" [];
        GETPGRP = 111 "getpgrp" [];
        SETSID = 112 "setsid" [];
        SETREUID = 113 "setreuid" [INT, INT];
        SETREGID = 114 "setregid" [INT, INT];
        SETGROUPS = 116 "setgroups" [INT, reads_each(4, 0)];
        SETRESUID = 117 "setresuid" [INT, INT, INT];
        GETRESUID = 118 "getresuid" [writes(4), writes(4), writes(4)];
        SETRESGID = 119 "setresgid" [INT, INT, INT];
        GETRESGID = 120 "getresgid" [writes(4), writes(4), writes(4)];
        GETPGID = 121 "getpgid" [INT];
        GETSID = 124 "getsid" [INT];
        CAPGET = 125 "capget" [changes(8), opt(writes(24))];
        CAPSET = 126 "capset" [changes(8), reads(24)];
        RT_SIGPENDING = 127 "rt_sigpending" [writes(8), INT];
        RT_SIGTIMEDWAIT = 128 "rt_sigtimedwait"
            [reads(8), opt(writes(128)), opt(reads(16)), INT] cancellable;
        RT_SIGSUSPEND = 130 "rt_sigsuspend" [reads(8), INT] cancellable;
        SIGALTSTACK = 131 "sigaltstack" [opt(reads(24)), opt(writes(24))];
        STATFS = 137 "statfs" [PATH, writes(120)];
        FSTATFS = 138 "fstatfs" [FD, writes(120)];
        GETPRIORITY = 140 "getpriority" [INT, INT];
        SETPRIORITY = 141 "setpriority" [INT, INT, INT];
        SCHED_SETPARAM = 142 "sched_setparam" [INT, reads(4)];
        SCHED_SETSCHEDULER = 144 "sched_setscheduler" [INT, INT, reads(4)];
        MLOCK = 149 "mlock" [INT, INT];
        MUNLOCK = 150 "munlock" [INT, INT];
        MLOCKALL = 151 "mlockall" [INT];
        MUNLOCKALL = 152 "munlockall" [];
        PRCTL = 157 "prctl" [INT, INT, INT, INT, INT];
        SETRLIMIT = 160 "setrlimit" [INT, reads(16)];
        SYNC = 162 "sync" [];
        GETTID = 186 "gettid" [];
        READAHEAD = 187 "readahead" [FD, INT, INT];
        SETXATTR = 188 "setxattr" [PATH, PATH, reads_by(3), INT, INT];
        LSETXATTR = 189 "lsetxattr" [PATH, PATH, reads_by(3), INT, INT];
        FSETXATTR = 190 "fsetxattr" [FD, PATH, reads_by(3), INT, INT];
        GETXATTR = 191 "getxattr" [PATH, PATH, opt(writes_by(3)), INT];
        LGETXATTR = 192 "lgetxattr" [PATH, PATH, opt(writes_by(3)), INT];
        FGETXATTR = 193 "fgetxattr" [FD, PATH, opt(writes_by(3)), INT];
        LISTXATTR = 194 "listxattr" [PATH, opt(writes_by(2)), INT];
        LLISTXATTR = 195 "llistxattr" [PATH, opt(writes_by(2)), INT];
        FLISTXATTR = 196 "flistxattr" [FD, opt(writes_by(2)), INT];
        REMOVEXATTR = 197 "removexattr" [PATH, PATH];
        LREMOVEXATTR = 198 "lremovexattr" [PATH, PATH];
        FREMOVEXATTR = 199 "fremovexattr" [FD, PATH];
        TKILL = 200 "tkill" [INT, INT];
        TIME = 201 "time" [opt(writes(8))];
        FUTEX = 202 "futex" [INT, INT, INT, INT, INT, INT];
        SCHED_SETAFFINITY = 203 "sched_setaffinity" [INT, INT, reads_by(1)];
        SCHED_GETAFFINITY = 204 "sched_getaffinity" [INT, INT, writes_by(1)];
        EPOLL_CREATE = 213 "epoll_create" [INT];
        GETDENTS64 = 217 "getdents64" [FD, writes_by(2), INT];
        SET_TID_ADDRESS = 218 "set_tid_address" [INT];
        FADVISE64 = 221 "fadvise64" [FD, INT, INT, INT];
        TIMER_CREATE = 222 "timer_create" [INT, opt(reads(64)), writes(4)];
        TIMER_SETTIME = 223 "timer_settime" [INT, INT, reads(32), opt(writes(32))];
        TIMER_GETTIME = 224 "timer_gettime" [INT, writes(32)];
        TIMER_GETOVERRUN = 225 "timer_getoverrun" [INT];
        TIMER_DELETE = 226 "timer_delete" [INT];
        CLOCK_GETTIME = 228 "clock_gettime" [INT, writes(16)];
        CLOCK_GETRES = 229 "clock_getres" [INT, opt(writes(16))];
        CLOCK_NANOSLEEP = 230 "clock_nanosleep" [INT, INT, reads(16), opt(writes(16))] cancellable;
        EXIT_GROUP = 231 "exit_group" [INT];
        EPOLL_WAIT = 232 "epoll_wait" [FD, writes_each(12, 2), INT, INT] cancellable;
        EPOLL_CTL = 233 "epoll_ctl" [FD, INT, FD, INT];
        TGKILL = 234 "tgkill" [INT, INT, INT];
        WAITID = 247 "waitid" [INT, INT, opt(writes(128)), INT, opt(writes(144))] cancellable;
        OPENAT = 257 "openat" [AT, PATH, INT, INT] cancellable;
        MKDIRAT = 258 "mkdirat" [AT, PATH, INT];
        FCHOWNAT = 260 "fchownat" [AT, PATH, INT, INT, INT];
        NEWFSTATAT = 262 "newfstatat" [AT, PATH, writes(144), INT];
        UNLINKAT = 263 "unlinkat" [AT, PATH, INT];
        RENAMEAT = 264 "renameat" [AT, PATH, AT, PATH];
        LINKAT = 265 "linkat" [AT, PATH, AT, PATH, INT];
        SYMLINKAT = 266 "symlinkat" [PATH, AT, PATH];
        READLINKAT = 267 "readlinkat" [AT, PATH, writes_by(3), INT];
        FCHMODAT = 268 "fchmodat" [AT, PATH, INT];
        FACCESSAT = 269 "faccessat" [AT, PATH, INT];
        PSELECT6 = 270 "pselect6" [INT, INT, INT, INT, opt(reads(16)), opt(reads(16))] cancellable;
        PPOLL = 271 "ppoll"
            [changes_each(8, 1), INT, opt(reads(16)), opt(reads(8)), INT] cancellable;
        SET_ROBUST_LIST = 273 "set_robust_list" [INT, INT];
        SPLICE = 275 "splice" [FD, opt(changes(8)), FD, opt(changes(8)), INT, INT];
        SYNC_FILE_RANGE = 277 "sync_file_range" [FD, INT, INT, INT];
        UTIMENSAT = 280 "utimensat" [AT, INT, opt(reads(32)), INT];
        EPOLL_PWAIT = 281 "epoll_pwait"
            [FD, writes_each(12, 2), INT, INT, opt(reads(8)), INT] cancellable;
        TIMERFD_CREATE = 283 "timerfd_create" [INT, INT];
        EVENTFD = 284 "eventfd" [INT];
        FALLOCATE = 285 "fallocate" [FD, INT, INT, INT];
        TIMERFD_SETTIME = 286 "timerfd_settime" [FD, INT, reads(32), opt(writes(32))];
        TIMERFD_GETTIME = 287 "timerfd_gettime" [FD, writes(32)];
        ACCEPT4 = 288 "accept4" [FD, opt(writes(2)), opt(reads(4)), INT] cancellable;
        EVENTFD2 = 290 "eventfd2" [INT, INT];
        EPOLL_CREATE1 = 291 "epoll_create1" [INT];
        DUP3 = 292 "dup3" [FD, FD, INT];
        PIPE2 = 293 "pipe2" [writes(8), INT];
        PREADV = 295 "preadv" [FD, reads_each(16, 2), INT, INT, INT] cancellable;
        PWRITEV = 296 "pwritev" [FD, reads_each(16, 2), INT, INT, INT] cancellable;
        RECVMMSG = 299 "recvmmsg" [FD, changes_each(64, 2), INT, INT, opt(changes(16))] cancellable;
        PRLIMIT64 = 302 "prlimit64" [INT, INT, opt(reads(16)), opt(writes(16))];
        SYNCFS = 306 "syncfs" [FD];
        SENDMMSG = 307 "sendmmsg" [FD, changes_each(64, 2), INT, INT] cancellable;
        GETCPU = 309 "getcpu" [opt(writes(4)), opt(writes(4)), INT];
        SCHED_SETATTR = 314 "sched_setattr" [INT, reads(4), INT];
        SCHED_GETATTR = 315 "sched_getattr" [INT, writes_by(2), INT, INT];
        RENAMEAT2 = 316 "renameat2" [AT, PATH, AT, PATH, INT];
        GETRANDOM = 318 "getrandom" [writes_by(1), INT, INT];
        MEMFD_CREATE = 319 "memfd_create" [PATH, INT];
        MEMBARRIER = 324 "membarrier" [INT, INT, INT];
        MLOCK2 = 325 "mlock2" [INT, INT, INT];
        COPY_FILE_RANGE = 326 "copy_file_range"
            [FD, opt(changes(8)), FD, opt(changes(8)), INT, INT];
        PREADV2 = 327 "preadv2" [FD, reads_each(16, 2), INT, INT, INT, INT] cancellable;
        PWRITEV2 = 328 "pwritev2" [FD, reads_each(16, 2), INT, INT, INT, INT] cancellable;
        PKEY_MPROTECT = 329 "pkey_mprotect" [INT, INT, INT, INT];
        PKEY_ALLOC = 330 "pkey_alloc" [INT, INT];
        PKEY_FREE = 331 "pkey_free" [INT];
        STATX = 332 "statx" [AT, PATH, INT, INT, writes(256)];
        RSEQ = 334 "rseq" [INT, INT, INT, INT];
        IO_URING_SETUP = 425 "io_uring_setup" [INT, INT];
        CLOSE_RANGE = 436 "close_range" [INT, INT, INT];
        OPENAT2 = 437 "openat2" [AT, PATH, reads_by(3), INT] cancellable;
        FACCESSAT2 = 439 "faccessat2" [AT, PATH, INT, INT];
        EPOLL_PWAIT2 = 441 "epoll_pwait2"
            [FD, writes_each(12, 2), INT, opt(reads(16)), opt(reads(8)), INT] cancellable;
        FCHMODAT2 = 452 "fchmodat2" [AT, PATH, INT, INT];
    }
    passed "constant while the program runs" {
        UNAME = 63 "uname" [writes(390)];
        GETGROUPS = 115 "getgroups" [INT, writes_each(4, 0)];
        SCHED_GETPARAM = 143 "sched_getparam" [INT, writes(4)];
        SCHED_GETSCHEDULER = 145 "sched_getscheduler" [INT];
        SCHED_GET_PRIORITY_MAX = 146 "sched_get_priority_max" [INT];
        SCHED_GET_PRIORITY_MIN = 147 "sched_get_priority_min" [INT];
        SCHED_RR_GET_INTERVAL = 148 "sched_rr_get_interval" [INT, writes(16)];
    }
    passed "no kernel has had it for years: ENOSYS" {
        USELIB = 134 "uselib" [];
        SYSCTL = 156 "_sysctl" [];
        CREATE_MODULE = 174 "create_module" [];
        GET_KERNEL_SYMS = 177 "get_kernel_syms" [];
        QUERY_MODULE = 178 "query_module" [];
        NFSSERVCTL = 180 "nfsservctl" [];
        GETPMSG = 181 "getpmsg" [];
        PUTPMSG = 182 "putpmsg" [];
        AFS_SYSCALL = 183 "afs_syscall" [];
        TUXCALL = 184 "tuxcall" [];
        SECURITY = 185 "security" [];
        SET_THREAD_AREA = 205 "set_thread_area" [];
        GET_THREAD_AREA = 211 "get_thread_area" [];
        LOOKUP_DCOOKIE = 212 "lookup_dcookie" [];
        EPOLL_CTL_OLD = 214 "epoll_ctl_old" [];
        EPOLL_WAIT_OLD = 215 "epoll_wait_old" [];
        VSERVER = 236 "vserver" [];
    }
    refused "libc makes it only for itself" {
        RT_SIGRETURN = 15 "rt_sigreturn"; RESTART_SYSCALL = 219 "restart_syscall";
        URETPROBE = 335 "uretprobe";
    }
    refused "the layout of memory is controlled by everypath" {
        MINCORE = 27 "mincore"; MODIFY_LDT = 154 "modify_ldt";
        ARCH_PRCTL = 158 "arch_prctl"; REMAP_FILE_PAGES = 216 "remap_file_pages";
        MBIND = 237 "mbind"; SET_MEMPOLICY = 238 "set_mempolicy";
        GET_MEMPOLICY = 239 "get_mempolicy"; MIGRATE_PAGES = 256 "migrate_pages";
        MOVE_PAGES = 279 "move_pages";
        USERFAULTFD = 323 "userfaultfd";
        SET_MEMPOLICY_HOME_NODE = 450 "set_mempolicy_home_node";
        MAP_SHADOW_STACK = 453 "map_shadow_stack"; MSEAL = 462 "mseal";
    }
    refused "memory shared with other processes is not controlled" {
        SHMGET = 29 "shmget"; SHMAT = 30 "shmat"; SHMCTL = 31 "shmctl"; SHMDT = 67 "shmdt";
        PROCESS_VM_READV = 310 "process_vm_readv"; PROCESS_VM_WRITEV = 311 "process_vm_writev";
        PROCESS_MADVISE = 440 "process_madvise"; MEMFD_SECRET = 447 "memfd_secret";
        PROCESS_MRELEASE = 448 "process_mrelease";
    }
    refused "copies within the kernel are not modelled" {
        TEE = 276 "tee";
        VMSPLICE = 278 "vmsplice";
    }
    refused "the child would not be controlled" {
        CLONE = 56 "clone"; FORK = 57 "fork"; VFORK = 58 "vfork"; CLONE3 = 435 "clone3";
    }
    refused "the other program would not be controlled" {
        EXECVE = 59 "execve"; EXECVEAT = 322 "execveat";
    }
    refused "System V and POSIX message queues and semaphores are not modelled" {
        SEMGET = 64 "semget"; SEMOP = 65 "semop"; SEMCTL = 66 "semctl"; MSGGET = 68 "msgget";
        MSGSND = 69 "msgsnd"; MSGRCV = 70 "msgrcv"; MSGCTL = 71 "msgctl";
        SEMTIMEDOP = 220 "semtimedop"; MQ_OPEN = 240 "mq_open"; MQ_UNLINK = 241 "mq_unlink";
        MQ_TIMEDSEND = 242 "mq_timedsend"; MQ_TIMEDRECEIVE = 243 "mq_timedreceive";
        MQ_NOTIFY = 244 "mq_notify"; MQ_GETSETATTR = 245 "mq_getsetattr";
    }
    refused "not modelled yet" {
        GETDENTS = 78 "getdents";
    }
    refused "owners and extended attributes of files are not modelled" {
        SETXATTRAT = 463 "setxattrat"; GETXATTRAT = 464 "getxattrat";
        LISTXATTRAT = 465 "listxattrat"; REMOVEXATTRAT = 466 "removexattrat";
    }
    refused "other processes are not controlled" {
        PTRACE = 101 "ptrace";
        RT_SIGQUEUEINFO = 129 "rt_sigqueueinfo";
        GET_ROBUST_LIST = 274 "get_robust_list"; RT_TGSIGQUEUEINFO = 297 "rt_tgsigqueueinfo";
        KCMP = 312 "kcmp"; PIDFD_SEND_SIGNAL = 424 "pidfd_send_signal";
        PIDFD_OPEN = 434 "pidfd_open"; PIDFD_GETFD = 438 "pidfd_getfd";
    }
    refused "it changes the machine, not only the program" {
        SYSLOG = 103 "syslog"; MKNOD = 133 "mknod"; USTAT = 136 "ustat"; SYSFS = 139 "sysfs";
        VHANGUP = 153 "vhangup"; PIVOT_ROOT = 155 "pivot_root"; ADJTIMEX = 159 "adjtimex";
        CHROOT = 161 "chroot"; ACCT = 163 "acct"; SETTIMEOFDAY = 164 "settimeofday";
        MOUNT = 165 "mount"; UMOUNT2 = 166 "umount2"; SWAPON = 167 "swapon";
        SWAPOFF = 168 "swapoff"; REBOOT = 169 "reboot"; SETHOSTNAME = 170 "sethostname";
        SETDOMAINNAME = 171 "setdomainname"; IOPL = 172 "iopl"; IOPERM = 173 "ioperm";
        INIT_MODULE = 175 "init_module"; DELETE_MODULE = 176 "delete_module";
        QUOTACTL = 179 "quotactl"; CLOCK_SETTIME = 227 "clock_settime";
        KEXEC_LOAD = 246 "kexec_load"; ADD_KEY = 248 "add_key"; REQUEST_KEY = 249 "request_key";
        KEYCTL = 250 "keyctl"; MKNODAT = 259 "mknodat"; UNSHARE = 272 "unshare";
        PERF_EVENT_OPEN = 298 "perf_event_open"; FANOTIFY_INIT = 300 "fanotify_init";
        FANOTIFY_MARK = 301 "fanotify_mark"; NAME_TO_HANDLE_AT = 303 "name_to_handle_at";
        OPEN_BY_HANDLE_AT = 304 "open_by_handle_at"; CLOCK_ADJTIME = 305 "clock_adjtime";
        SETNS = 308 "setns"; FINIT_MODULE = 313 "finit_module";
        KEXEC_FILE_LOAD = 320 "kexec_file_load"; BPF = 321 "bpf"; OPEN_TREE = 428 "open_tree";
        MOVE_MOUNT = 429 "move_mount"; FSOPEN = 430 "fsopen"; FSCONFIG = 431 "fsconfig";
        FSMOUNT = 432 "fsmount"; FSPICK = 433 "fspick"; MOUNT_SETATTR = 442 "mount_setattr";
        QUOTACTL_FD = 443 "quotactl_fd"; CACHESTAT = 451 "cachestat"; STATMOUNT = 457 "statmount";
        LISTMOUNT = 458 "listmount"; OPEN_TREE_ATTR = 467 "open_tree_attr";
    }
    refused "it changes what the program may do" {
        SETFSUID = 122 "setfsuid"; SETFSGID = 123 "setfsgid";
        PERSONALITY = 135 "personality";
        IOPRIO_SET = 251 "ioprio_set"; IOPRIO_GET = 252 "ioprio_get";
        SECCOMP = 317 "seccomp"; LANDLOCK_CREATE_RULESET = 444 "landlock_create_ruleset";
        LANDLOCK_ADD_RULE = 445 "landlock_add_rule";
        LANDLOCK_RESTRICT_SELF = 446 "landlock_restrict_self";
        LSM_GET_SELF_ATTR = 459 "lsm_get_self_attr"; LSM_SET_SELF_ATTR = 460 "lsm_set_self_attr";
        LSM_LIST_MODULES = 461 "lsm_list_modules";
    }
    refused "times of files are not modelled this way; utimensat is" {
        UTIME = 132 "utime"; UTIMES = 235 "utimes"; FUTIMESAT = 261 "futimesat";
    }
    refused "its I/O would not be controlled" {
        IO_SETUP = 206 "io_setup"; IO_DESTROY = 207 "io_destroy";
        IO_GETEVENTS = 208 "io_getevents"; IO_SUBMIT = 209 "io_submit";
        IO_CANCEL = 210 "io_cancel"; IO_PGETEVENTS = 333 "io_pgetevents";
        IO_URING_ENTER = 426 "io_uring_enter";
        IO_URING_REGISTER = 427 "io_uring_register";
    }
    refused "events of files are not modelled" {
        INOTIFY_INIT = 253 "inotify_init"; INOTIFY_ADD_WATCH = 254 "inotify_add_watch";
        INOTIFY_RM_WATCH = 255 "inotify_rm_watch"; INOTIFY_INIT1 = 294 "inotify_init1";
    }
    refused "signals as descriptors are not modelled" {
        SIGNALFD = 282 "signalfd"; SIGNALFD4 = 289 "signalfd4";
    }
    refused "futexes are modelled by futex only" {
        FUTEX_WAITV = 449 "futex_waitv"; FUTEX_WAKE = 454 "futex_wake";
        FUTEX_WAIT = 455 "futex_wait"; FUTEX_REQUEUE = 456 "futex_requeue";
    }
}
