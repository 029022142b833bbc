//! Syscall dispatch: every syscall of the program, by number: modelled, harmless or unsupported.
//!
//! Calls arrive from the functions that this library stands in for, from `syscall()`, and from any
//! other instruction of the program: the kernel sends those back to us as signals (Syscall User
//! Dispatch, Linux 5.11).

use crate::cancel;
use crate::descriptors;
use crate::fail::stop;
use crate::files;
use crate::futex;
use crate::libc::result;
use crate::memory::{load, store, zero};
use crate::net::syscalls::{self as net, is_object};
use crate::objects;
use crate::region::count;
use crate::signals::{self, Machine};
use crate::state::state;
use crate::sys::{call, errno, number, sys};
use crate::thread::{FIRST_TID, first_tid};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

static SELECTOR: AtomicU8 = AtomicU8::new(0);
static TEXT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Asks the kernel to send every call back that is not made by this library.
pub(crate) fn arm() {
    const SET_DISPATCH: usize = 59;
    const ON: usize = 1;
    const BLOCK: u8 = 1;
    let (start, length) = crate::start::our_text();
    TEXT[0].store(start, Relaxed);
    TEXT[1].store(length, Relaxed);
    SELECTOR.store(BLOCK, Relaxed);
    if sys!(number::PRCTL, SET_DISPATCH, ON, start, length, SELECTOR.as_ptr()) != 0 {
        crate::fail::die(
            everypath_shim_abi::Outcome::Uncontrolled,
            format_args!("this kernel has no Syscall User Dispatch (Linux 5.11 or newer has)"),
        );
    }
}

/// A call that the kernel sent back to us.
pub(crate) extern "C" fn on_system_call(_signal: i32, _info: usize, machine: &Machine) {
    let thread = state().current();
    let outer = thread.at.get();
    thread.at.set([machine.rip.get(), machine.rsp.get(), machine.rbp.get()]);
    count(|counters| counters.traps += 1);
    let arguments = [
        machine.rdi.get(),
        machine.rsi.get(),
        machine.rdx.get(),
        machine.r10.get(),
        machine.r8.get(),
        machine.r9.get(),
    ];
    let answer = perform(machine.rax.get() as i64, arguments.map(|word| word as usize));
    machine.rax.set(answer as u64);
    state().current().at.set(outer);
}

/// Interposes libc's function, which takes any number of arguments: they are in the registers
/// in which these six are.
#[unsafe(no_mangle)]
extern "C" fn syscall(
    number: i64,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> isize {
    if !crate::controller::is_running() && number != number::GETRANDOM {
        return result(call(number, [a, b, c, d, e, f]));
    }
    result(perform(number, [a, b, c, d, e, f]))
}

/// Does what a system call does, or ends control.
pub(crate) fn perform(number: i64, arguments: [usize; 6]) -> isize {
    let answer = synchronisation(number, arguments)
        .or_else(|| crate::net::syscalls::perform(number, arguments))
        .or_else(|| files_of(number, arguments))
        .or_else(|| memory_of(number, arguments))
        .or_else(|| identity(number, arguments))
        .or_else(|| harmless(number, arguments));
    answer.unwrap_or_else(|| uncontrolled(number, arguments))
}

#[cold]
fn uncontrolled(number: i64, [a, b, c, ..]: [usize; 6]) -> ! {
    let why = match number {
        number::CLONE | number::CLONE3 | number::FORK | number::VFORK => {
            "the child would not be controlled"
        }
        number::EXECVE | number::EXECVEAT => "the other program would not be controlled",
        number::IO_URING_SETUP..=number::IO_URING_REGISTER => "its I/O would not be controlled",
        _ => "its effects are unknown",
    };
    match crate::sys::name(number) {
        Some(name) => stop!("syscall {name}({a:#x}, {b:#x}, {c:#x}) is not modelled: {why}"),
        None => stop!("syscall {number}({a:#x}, {b:#x}, {c:#x}) is not modelled: {why}"),
    }
}

fn synchronisation(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<isize> {
    Some(match number {
        number::FUTEX => futex::futex(futex::Call {
            word: a,
            operation: b as i32,
            value: c as u32,
            timeout: d,
            other: e,
            third: f as u32,
        }),
        number::SCHED_YIELD => crate::thread::sched_yield() as isize,
        number::CLOCK_GETTIME => crate::time::get(a as i32, b),
        number::CLOCK_NANOSLEEP => crate::time::nanosleep(a as i32, b as i32, c, d),
        number::NANOSLEEP => crate::time::nanosleep(crate::time::MONOTONIC, 0, a, b),
        number::GETTIMEOFDAY => crate::time::gettimeofday(a, b) as isize,
        number::TIME => crate::time::time(a) as isize,
        number::GETRANDOM => {
            crate::random::fill(a, b);
            b as isize
        }
        number::TGKILL => signals::kill_thread(b as i32, c as i32),
        number::TKILL => signals::kill_thread(a as i32, b as i32),
        number::KILL => signals::kill_process(a as i32, b as i32),
        number::RT_SIGPROCMASK => -(signals::change_mask(a as i32, b, c) as isize),
        number::RT_SIGACTION => kernel_action(a, b, c),
        number::RT_SIGTIMEDWAIT => signals::timed_wait(a, b, c),
        number::RT_SIGSUSPEND => signals::suspend(a),
        number::PAUSE => signals::pause(),
        number::ALARM => crate::alarm::alarm_after(a as u32),
        number::GETITIMER => crate::alarm::get_timer(a as i32, b),
        number::SETITIMER => crate::alarm::set_timer(a as i32, b, c),
        number::SIGALTSTACK => 0,
        number::EXIT_GROUP | number::EXIT => crate::process::finish(a as i32),
        _ => return None,
    })
}

/// The kernel's layout of an action, which libc's `sigaction` would have hidden.
fn kernel_action(signal: usize, new: usize, old: usize) -> isize {
    let slot = &state().actions[signal % crate::state::SIGNALS];
    let before = slot.get();
    if old != 0 {
        store(old, [before.handler, before.flags as usize, 0, before.mask as usize]);
    }
    if new != 0 {
        let [handler, flags, _, mask] = load::<[usize; 4]>(new);
        let (flags, mask) = (flags as i32, mask as u64);
        slot.set(crate::state::Action { handler, mask, flags });
    }
    0
}

fn vector(count: usize, address: usize, mut each: impl FnMut(usize, usize) -> isize) -> isize {
    let mut total = 0;
    for at in 0..count {
        let [start, length] = load::<[usize; 2]>(address + at * 16);
        if length == 0 {
            continue;
        }
        let done = each(start, length);
        if done < 0 {
            return if total > 0 { total } else { done };
        }
        total += done;
        if (done as usize) < length {
            break;
        }
    }
    total
}

fn files_of(number: i64, [a, b, c, d, ..]: [usize; 6]) -> Option<isize> {
    const HERE: i32 = -100;
    let fd = a as i32;
    Some(match number {
        number::READ => files::read(fd, b, c, None),
        number::WRITE => files::write_to(fd, b, c, None),
        number::PREAD64 => files::read(fd, b, c, Some(d as u64)),
        number::PWRITE64 => files::write_to(fd, b, c, Some(d as u64)),
        number::READV if is_object(fd) => net::read_vector(fd, b, c),
        number::WRITEV if is_object(fd) => net::write_vector(fd, b, c),
        number::READV => vector(c, b, |start, length| files::read(fd, start, length, None)),
        number::WRITEV => vector(c, b, |start, length| files::write_to(fd, start, length, None)),
        number::OPEN => files::open(HERE, a, b as i32, c as u32),
        number::CREAT => files::open(HERE, a, 0o1101, b as u32),
        number::OPENAT => files::open(fd, b, c as i32, d as u32),
        number::CLOSE => descriptors::close(fd),
        number::LSEEK => files::seek(fd, b as i64, c as i32),
        number::FSTAT => files::status(fd, b),
        number::STAT => files::path_status(HERE, a, b, 0),
        number::LSTAT => files::path_status(HERE, a, b, 0x100),
        number::NEWFSTATAT => files::path_status(fd, b, c, d as i32),
        number::STATX => -(errno::ENOSYS as isize),
        number::ACCESS => files::access(HERE, a, b as i32),
        number::FACCESSAT | number::FACCESSAT2 => files::access(fd, b, c as i32),
        number::UNLINK => files::remove(HERE, a, false),
        number::RMDIR => files::remove(HERE, a, true),
        number::UNLINKAT => files::remove(fd, b, c & 0x200 != 0),
        number::RENAME => files::rename((HERE, a), (HERE, b)),
        number::RENAMEAT | number::RENAMEAT2 => files::rename((fd, b), (c as i32, d)),
        number::GETDENTS64 => files::list(fd, b, c),
        number::MKDIR => files::make_directory(HERE, a, b as u32),
        number::MKDIRAT => files::make_directory(fd, b, c as u32),
        number::FTRUNCATE => files::truncate(fd, b as i64),
        number::DUP => descriptors::duplicate(fd, 0, None),
        number::DUP2 | number::DUP3 => descriptors::duplicate(fd, 0, Some(b)),
        number::FCNTL => descriptors::control(fd, b as i32, c),
        number::IOCTL => net::device_control(fd, b, c),
        // All files are of one time.
        number::UTIMENSAT => 0,
        number::FLOCK => files::flock::lock(fd, b as i32),
        // Nothing that is written outlives the execution, so there is nothing to flush.
        number::FSYNC | number::FDATASYNC | number::SYNC | number::SYNCFS => 0,
        number::FADVISE64 => 0,
        _ => return None,
    })
}

fn memory_of(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<isize> {
    Some(match number {
        number::MMAP => crate::mapping::map(crate::mapping::Request {
            address: a,
            length: b,
            protection: c as i32,
            flags: d as i32,
            descriptor: e as i32,
            offset: f,
        }),
        number::MUNMAP => crate::mapping::unmap(a, b),
        number::MREMAP => crate::mapping::remap(a, b, c, d as i32),
        number::MPROTECT => crate::mapping::protect(a, b, c as i32),
        number::MADVISE => crate::mapping::advise(a, b, c as i32),
        // There is no break: whoever wants one must use mappings.
        number::BRK => 0,
        number::MLOCK | number::MUNLOCK | number::MLOCKALL | number::MUNLOCKALL => 0,
        _ => return None,
    })
}

fn identity(number: i64, [a, b, c, d, ..]: [usize; 6]) -> Option<isize> {
    Some(match number {
        number::GETPID | number::GETPGRP => first_tid() as isize,
        number::GETTID => FIRST_TID as isize + state().current.get() as isize,
        number::GETPPID => FIRST_TID as isize - 1,
        number::SET_TID_ADDRESS => first_tid() as isize,
        number::SET_ROBUST_LIST => 0,
        // Who becomes who it is stays that; to which groups else it belongs, nothing here asks.
        number::SETUID if is_own(number::GETUID, &[a]) => 0,
        number::SETGID if is_own(number::GETGID, &[a]) => 0,
        number::SETREUID if is_own(number::GETUID, &[a, b]) => 0,
        number::SETREGID if is_own(number::GETGID, &[a, b]) => 0,
        number::SETRESUID if is_own(number::GETUID, &[a, b, c]) => 0,
        number::SETRESGID if is_own(number::GETGID, &[a, b, c]) => 0,
        number::SETGROUPS => 0,
        number::RSEQ => -(errno::ENOSYS as isize),
        number::UMASK => {
            // Whoever makes a file sees it.
            crate::scheduler::point(everypath_shim_abi::Operation::FileWrite(0), objects::paths());
            state().umask.replace(a as u32 & 0o777) as isize
        }
        number::SCHED_GETAFFINITY => {
            // Two processors, so that nothing decides that threads are pointless.
            if b < 8 {
                return Some(-(errno::EINVAL as isize));
            }
            zero(c, b);
            store(c, 3u64);
            8
        }
        number::SCHED_SETAFFINITY | number::SCHED_SETSCHEDULER | number::SCHED_SETPARAM => 0,
        number::GETRUSAGE => {
            zero(b, 144);
            0
        }
        number::SYSINFO => {
            system_information(a);
            0
        }
        number::TIMES => {
            if a != 0 {
                zero(a, 32);
            }
            (state().clock.get() / 10_000_000) as isize
        }
        number::GETCPU => {
            for address in [a, b].into_iter().filter(|&address| address != 0) {
                store(address, 0u32);
            }
            0
        }
        number::PRLIMIT64 if c != 0 => 0,
        number::PRLIMIT64 => {
            crate::write_protect::expect_write(d, 16);
            sys!(number, 0, b, 0, d)
        }
        number::SETRLIMIT => 0,
        number::PRCTL => process_control(a, b),
        number::MEMBARRIER => 0,
        _ => return None,
    })
}

/// Whether these are what a call says that we are, or mean no change.
fn is_own(number: i64, identities: &[usize]) -> bool {
    let own = sys!(number) as u32;
    identities.iter().all(|&identity| identity as u32 == own || identity as u32 == u32::MAX)
}

/// A machine with four gigabytes of memory, half of them free, that runs nothing else.
fn system_information(at: usize) {
    const GIGABYTE: u64 = 1 << 30;
    zero(at, 112);
    store(at, state().clock.get() / 1_000_000_000);
    store(at + 32, [4 * GIGABYTE, 2 * GIGABYTE]);
    store(at + 80, 1u16);
    store(at + 104, 1u32);
}

fn process_control(what: usize, value: usize) -> isize {
    const SET_NAME: usize = 15;
    const GET_NAME: usize = 16;
    let thread = state().current();
    match what {
        SET_NAME => {
            let mut name = [0; 16];
            let given = crate::memory::c_string(value);
            let kept = given.len().min(15);
            name[..kept].copy_from_slice(&given[..kept]);
            thread.name.set(name);
            0
        }
        GET_NAME => {
            crate::memory::write(value, &thread.name.get());
            0
        }
        _ => -(errno::EINVAL as isize),
    }
}

/// Calls that only look, at what does not change while the program runs.
fn harmless(number: i64, arguments: [usize; 6]) -> Option<isize> {
    match number {
        number::GETUID
        | number::GETGID
        | number::GETEUID
        | number::GETEGID
        | number::GETGROUPS
        | number::GETRESUID
        | number::GETRESGID
        | number::GETRLIMIT
        | number::UNAME
        | number::GETCWD
        | number::READLINK
        | number::READLINKAT
        | number::STATFS
        | number::CLOCK_GETRES
        | number::SCHED_GETPARAM
        | number::SCHED_GETSCHEDULER
        | number::SCHED_GET_PRIORITY_MAX
        | number::SCHED_GET_PRIORITY_MIN => Some(call(number, arguments)),
        _ => None,
    }
}

/// Whether libc's function for a call is a cancellation point. What libc calls for itself is not,
/// but for `read` and `write`, in which its streams end.
const fn is_cancellation_point(number: i64) -> bool {
    matches!(
        number,
        number::READ
            | number::WRITE
            | number::READV
            | number::WRITEV
            | number::PREAD64
            | number::PWRITE64
            | number::OPEN
            | number::OPENAT
            | number::CLOSE
            | number::CONNECT
            | number::ACCEPT
            | number::ACCEPT4
            | number::SENDTO
            | number::RECVFROM
            | number::SENDMSG
            | number::RECVMSG
            | number::SENDMMSG
            | number::RECVMMSG
            | number::POLL
            | number::PPOLL
            | number::SELECT
            | number::PSELECT6
            | number::EPOLL_WAIT
            | number::EPOLL_PWAIT
            | number::EPOLL_PWAIT2
    )
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
                if !crate::controller::is_running() {
                    return result(call(number::$number, arguments));
                }
                let call = || perform(number::$number, arguments);
                result(match is_cancellation_point(number::$number) {
                    true => cancel::at_system_call(call),
                    false => call(),
                })
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
