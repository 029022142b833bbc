//! Syscall dispatch: every syscall of the program, by number: modelled, passed on or refused.
//!
//! Calls arrive from the functions that this library stands in for, from `syscall()`, and from any
//! other instruction of the program: the kernel sends those back to us as signals (Syscall User
//! Dispatch, Linux 5.11). What becomes of each says the table of syscalls (`shim-abi`); each family
//! here has a list of handlers for those that are modelled, and it does not compile if one is
//! missing.

mod credentials;
mod files;
mod identity;
mod memory;
mod network;
mod process_control;
mod threads;
mod wrappers;

pub(crate) use wrappers::{close, fstat64, lseek64, read, write};

use crate::fail::stop;
use crate::libc::result;
use crate::log::log;
use crate::machine::Machine;
use crate::region::count;
use crate::state::state;
use crate::sys::{Answer, answer, call, number, returned, sys};
use crate::write_protect::expect_write;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::LogKind;
use everypath_shim_abi::syscalls::{Argument, Handling, LIMIT, SYSCALLS, Syscall, syscall as find};

/// What models a call: it gets the call's number and arguments.
type Handler = fn(i64, [usize; 6]) -> Answer;
/// The calls of a family.
type Handlers = &'static [(i64, Handler)];

const FAMILIES: [Handlers; 7] = [
    threads::HANDLERS,
    network::HANDLERS,
    files::HANDLERS,
    memory::HANDLERS,
    identity::HANDLERS,
    credentials::HANDLERS,
    process_control::HANDLERS,
];

/// The handler of each number.
static HANDLERS: [Option<Handler>; LIMIT] = {
    let mut handlers = [None; LIMIT];
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        let mut at = 0;
        while at < FAMILIES[family].len() {
            let (number, handler) = FAMILIES[family][at];
            handlers[number as usize] = Some(handler);
            (at, count) = (at + 1, count + 1);
        }
        family += 1;
    }
    let mut at = 0;
    while at < SYSCALLS.len() {
        let is_modelled = matches!(SYSCALLS[at].handling, Handling::Modelled);
        let is_handled = handlers[SYSCALLS[at].number as usize].is_some();
        assert!(is_modelled == is_handled, "a call is modelled if and only if it has a handler");
        count -= is_modelled as usize;
        at += 1;
    }
    assert!(count == 0, "a call has two handlers");
    handlers
};

static SELECTOR: AtomicU8 = AtomicU8::new(0);
static TEXT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Asks the kernel to send every call back that is not made by this library.
pub(crate) fn arm() {
    const SET_DISPATCH: usize = 59;
    const ON: usize = 1;
    const BLOCK: u8 = 1;
    let (start, length) = crate::text::our_text();
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
    let (number, arguments) = (machine.rax.get() as i64, arguments.map(|word| word as usize));
    // What libc calls for itself is not recorded: it orders that by locks of its own.
    let answer = match crate::accesses::is_copy(machine.rip.get() as usize) {
        true => wrappers::recorded(number, arguments),
        false => perform(number, arguments),
    };
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
    if !crate::ending::is_running() && number != number::GETRANDOM {
        return result(call(number, [a, b, c, d, e, f]));
    }
    result(wrappers::recorded(number, [a, b, c, d, e, f]))
}

/// Does what a system call does, or ends control.
pub(crate) fn perform(number: i64, arguments: [usize; 6]) -> isize {
    log(LogKind::Syscall, [number as u64, arguments[0] as u64, arguments[1] as u64]);
    let thread = state().current();
    let outer = thread.in_syscall.replace(true);
    let handler = usize::try_from(number).ok().and_then(|number| *HANDLERS.get(number)?);
    let answer = returned(match handler {
        Some(handler) => handler(number, arguments),
        None => not_modelled(number, arguments),
    });
    thread.in_syscall.set(outer);
    log(LogKind::Returned, [number as u64, answer as u64, 0]);
    answer
}

#[cold]
fn not_modelled(number: i64, arguments: [usize; 6]) -> Answer {
    /// What makes a shim fault that was made defective for a test.
    const DEFECT: i64 = -77;
    let [a, b, c, ..] = arguments;
    if number == DEFECT && crate::region::setup().defective {
        return Ok(crate::memory::load::<usize>(a) as isize);
    }
    match find(number) {
        Some(known @ Syscall { handling: Handling::Passed(_), .. }) => pass(known, arguments),
        Some(Syscall { name, handling: Handling::Refused(why), .. }) => {
            stop!("syscall {name}({a:#x}, {b:#x}, {c:#x}) is not modelled: {why}")
        }
        _ => stop!("syscall {number}({a:#x}, {b:#x}, {c:#x}) is not modelled: it is unknown"),
    }
}

/// Lets the kernel answer a call. It fails to write to pages that are read-only by our doing.
fn pass(known: &Syscall, arguments: [usize; 6]) -> Answer {
    for (argument, &address) in known.arguments.iter().zip(&arguments) {
        if let Argument::Pointer(pointer) = argument
            && pointer.is_written
        {
            expect_write(address, pointer.bytes(&arguments));
        }
    }
    answer(call(known.number, arguments))
}
