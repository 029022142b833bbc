//! Giving up: unsupported calls (inconclusive) and internal errors, each with a reason.

use crate::guest;
use crate::machine::Machine;
use crate::region::{SysFutex, is_open, own, region, reply};
use crate::sys::{number, sys};
use crate::worker::Worker;
use core::fmt::{self, Write};
use everypath_shim_abi::{MAX_TEXT, Outcome, Side};

/// A message of bounded length.
pub(crate) struct Message {
    bytes: [u8; MAX_TEXT],
    length: usize,
}

impl Message {
    /// What `arguments` say, cut off where the space ends.
    pub(crate) fn new(arguments: fmt::Arguments<'_>) -> Self {
        let mut message = Message { bytes: [0; MAX_TEXT], length: 0 };
        let _ends_early = message.write_fmt(arguments);
        message
    }

    /// The bytes, padded with zeros.
    pub(crate) fn bytes(&self) -> [u8; MAX_TEXT] {
        self.bytes
    }
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.length == MAX_TEXT - 1 {
                return Err(fmt::Error);
            }
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        Ok(())
    }
}

/// Ends the process because of a defect.
pub(crate) fn fatal(text: &str) -> ! {
    die(Outcome::Defect, format_args!("{text}"))
}

/// Ends the process because the machine, or a limit of it, does not allow what we need: no defect.
pub(crate) fn unable(text: &str) -> ! {
    die(Outcome::Uncontrolled, format_args!("{text}"))
}

/// Ends the process with a reply for the checker.
pub(crate) fn die(outcome: Outcome, arguments: fmt::Arguments<'_>) -> ! {
    let message = Message::new(arguments);
    if is_open() {
        reply(|reply| {
            reply.outcome = outcome;
            reply.text = message.bytes();
        });
        own().reply.set(region().reply.get());
        // The checker waits for this process while it starts, and later for the first.
        for turn in [&own().turn, &region().turn] {
            turn.give(Side::Checker, &SysFutex);
        }
    } else {
        sys!(number::WRITE, 2, message.bytes.as_ptr(), message.length);
    }
    loop {
        sys!(number::EXIT_GROUP, 99);
    }
}

/// Ends the process because an instruction of ours faulted: the checker names the functions.
pub(crate) fn faulted(signal: i32, address: u64, machine: &Machine) -> ! {
    if is_open() {
        keep_stack(machine.rip.get(), machine.rsp.get() as usize);
    }
    let rip = machine.rip.get();
    die(
        Outcome::Defect,
        format_args!("signal {signal} in the shim at {rip:#x}: address {address:#x}"),
    )
}

/// Writes down the instruction, and what lies on the stack and may be a return address.
fn keep_stack(rip: u64, stack: usize) {
    const WORDS: usize = 1024;
    let words = (0..WORDS).map_while(|at| guest::load::<u64>(stack + at * 8).ok());
    let ours = words.filter(|&word| crate::text::is_our_text(word as usize));
    let frames = &region().fault_stack;
    frames.iter().for_each(|frame| frame.set(0));
    for (frame, address) in frames.iter().zip([rip].into_iter().chain(ours)) {
        frame.set(address);
    }
}

/// How executions end because the program does what we cannot control.
pub(crate) trait Stop {
    /// Ends the exploration.
    fn uncontrolled(&self, why: fmt::Arguments<'_>) -> !;
}

/// Ends the exploration: the program does what we cannot control.
pub(crate) fn uncontrolled(why: fmt::Arguments<'_>) -> ! {
    Worker.uncontrolled(why)
}

/// The same, with a message of its own.
macro_rules! stop {
    ($($argument:tt)*) => {
        $crate::fail::uncontrolled(format_args!($($argument)*))
    };
}
pub(crate) use stop;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    die(Outcome::Defect, format_args!("the shim failed: {info}"))
}

/// What to say of a program that ends before its `main`.
pub(crate) struct EarlyEnd(pub(crate) Outcome, pub(crate) i32);

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program ended before main ({:?} {})", self.0, self.1)
    }
}
