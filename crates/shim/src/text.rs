//! Where code and stacks are: the program's, the shim's and the controller's.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::address_space::{FILE_COPIES, KERNEL_STACKS};

/// Where the program is, with its static variables: start and end.
pub(crate) static PROGRAM: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
/// Our own text and data: start and end of each.
pub(crate) static OWN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
/// The top of the stack that the process began with, below its arguments.
pub(crate) static STACK_TOP: AtomicUsize = AtomicUsize::new(0);

/// Where our instructions are: start and length.
pub(crate) fn our_text() -> (usize, usize) {
    let start = OWN[0].load(Relaxed);
    (start, OWN[1].load(Relaxed) - start)
}

/// Whether an address is one of the program's static variables, constants or instructions.
pub(crate) fn is_of_program(address: usize) -> bool {
    (PROGRAM[0].load(Relaxed)..PROGRAM[1].load(Relaxed)).contains(&address)
}

/// Whether an address is one of our instructions.
pub(crate) fn is_our_text(address: usize) -> bool {
    (OWN[0].load(Relaxed)..OWN[1].load(Relaxed)).contains(&address)
}

/// Whether a stack is the controller's: the one that the process began with, below its arguments, or
/// that of a kernel thread. Threads of the program have their own.
pub(crate) fn is_stack_of_controller(pointer: usize) -> bool {
    const LARGEST: usize = 8 << 20;
    let top = STACK_TOP.load(Relaxed);
    (top.saturating_sub(LARGEST)..top).contains(&pointer)
        || (KERNEL_STACKS..FILE_COPIES).contains(&pointer)
}
