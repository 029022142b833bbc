//! The process as a whole: exit, identity, unsupported calls.

use crate::descriptors;
use crate::ending::ended;
use crate::fail::stop;
use crate::idle;
use crate::libc;
use crate::multi_process;
use crate::scheduler::{point, reschedule, withdraw};
use crate::signals::{self, SIGABRT};
use crate::state::{FIRST_TID, Status, first_tid, state};
use crate::symmetry;
use crate::sys::{errno, number, sys};
use everypath_shim_abi::{Object, Operation, OperationKind, Outcome, ProcessEnd};

/// The process ends: what its threads left behind is looked at last.
pub(crate) fn finish(code: i32) -> ! {
    let code = code & 0xff;
    let end = ProcessEnd { code: code as u8, is_unnoticed: multi_process::ends_unnoticed() };
    crate::scheduler::begin_to_exit();
    point(Operation::ProcessExit(end), Object::NONE);
    let unseen = state().own_threads().find(|thread| {
        thread.panicked.get() && thread.status() != Status::Free && !thread.joined.get()
    });
    let is_expected = code == crate::region::setup().exit_code || !multi_process::is_first();
    match unseen {
        Some(thread) if is_expected => ended(Outcome::Panicked, i32::from(thread.number.get())),
        // Others go on, and may yet do what nobody expects.
        _ if multi_process::is_one_of_several() => {
            if multi_process::is_first() {
                state().exit_code.set(code);
            } else if is_failure(code) {
                match idle::failed_before() {
                    Some(code) => ended(Outcome::Exited, code),
                    None => ended(Outcome::OtherExited, code),
                }
            }
            leave()
        }
        _ => {
            if is_expected {
                crate::heap::check_at_exit();
            }
            ended(Outcome::Exited, code)
        }
    }
}

/// Ends this process, while others go on. What it has open is closed, one step each.
fn leave() -> ! {
    let state = state();
    let me = state.current();
    state.exclusive.set(0);
    state.sections.set(0);
    symmetry::be_seen(state, multi_process::process());
    for other in state.own_threads().filter(|other| other.is_alive()) {
        if !core::ptr::eq(other, me) && other.kind.get() != OperationKind::Partition {
            withdraw(other);
        }
    }
    descriptors::close_objects();
    withdraw(me);
    reschedule(state);
    unreachable!("a thread of a process that has ended is never chosen")
}

/// Whether a process that is not the one to be checked ends as it should not: as Rust's programs do
/// that panic, or with another code than expected.
fn is_failure(code: i32) -> bool {
    const PANICKED: i32 = 101;
    code == PANICKED || !crate::region::setup().others_may_exit_with(code)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn _exit(code: i32) -> ! {
    if !crate::region::is_open() {
        loop {
            sys!(number::EXIT_GROUP, code);
        }
    }
    finish(code)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn _Exit(code: i32) -> ! {
    _exit(code)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn abort() -> ! {
    signals::handle_here(SIGABRT);
    ended(Outcome::Aborted, SIGABRT)
}

/// Interposes libc's function: says what failed, then aborts.
#[unsafe(no_mangle)]
extern "C" fn __assert_fail(expression: usize, file: usize, line: u32, function: usize) -> ! {
    let text = |address| core::str::from_utf8(crate::memory::c_string(address)).unwrap_or("?");
    let function = if function == 0 { "?" } else { text(function) };
    let (file, expression) = (text(file), text(expression));
    let message = crate::fail::Message::new(format_args!(
        "{file}:{line}: {function}: Assertion `{expression}' failed.\n"
    ));
    crate::output::append(2, everypath_shim_abi::text(&message.bytes()));
    signals::handle_here(SIGABRT);
    let line = line as i32;
    crate::ending::ended_with(
        Outcome::Assertion,
        line,
        format_args!("`{expression}' failed in {function} ({file}:{line})"),
    )
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn getpid() -> i32 {
    first_tid()
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn gettid() -> i32 {
    FIRST_TID + i32::from(state().current.get())
}

/// Interposes libc's function: one thread runs at a time, on one processor.
#[unsafe(no_mangle)]
extern "C" fn sched_getcpu() -> i32 {
    0
}

/// Interposes libc's function: hides the kernel's own clock from programs that look for it.
#[unsafe(no_mangle)]
extern "C" fn getauxval(kind: u64) -> u64 {
    const KERNEL_CODE: u64 = 33;
    if kind == KERNEL_CODE {
        libc::fail(errno::ENOENT);
        return 0;
    }
    let real = libc::real_cached!("getauxval", "GLIBC_2.16");
    libc::call!(real, fn(u64) -> u64, kind)
}

macro_rules! refused {
    ($($name:ident: $what:literal,)*) => {
        $(
            /// Interposes libc's function.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> isize {
                stop!(concat!(stringify!($name), " is not modelled: ", $what))
            }
        )*
    };
}

refused! {
    fork: "the child process would not be controlled",
    vfork: "the child process would not be controlled",
    system: "the other program would not be controlled; start it with --with or --peer",
    popen: "the other program would not be controlled; start it with --with or --peer",
    posix_spawn: "the other program would not be controlled; start it with --with or --peer",
    posix_spawnp: "the other program would not be controlled; start it with --with or --peer",
    execve: "the other program would not be controlled; start it with --with or --peer",
    execv: "the other program would not be controlled; start it with --with or --peer",
    execvp: "the other program would not be controlled; start it with --with or --peer",
    execl: "the other program would not be controlled; start it with --with or --peer",
    execlp: "the other program would not be controlled; start it with --with or --peer",
    dlmopen: "libraries must be loaded before main; link the program with it",
}
