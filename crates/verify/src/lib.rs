//! What a program can tell Everypath about itself.
//!
//! - [`choose()`]: a value that the checker chooses; every one of them is explored.
//! - [`assume()`]: executions in which something does not hold do not count.
//! - [`always()`]: an assertion. No output and no panic is needed for it.
//! - [`sometimes!`], [`reachable!`]: what shall happen in some execution, and is reported if it does in
//!   none: tests of the test.
//! - [`note()`]: a line in the trace.
//! - [`unreliable()`]: whether datagrams to the thread may be lost, duplicated or reordered.
//! - [`atomic()`]: until the section ends, no other thread moves.
//!
//! Without the checker all of them do nothing: `choose` returns 0,
//! and `assume` and `always` return whatever the condition. The first call of each function looks
//! for the checker, with one `dlsym`; all others cost a load and a branch.
//!
//! C and C++ have the same in `include/everypath.h`, which consists of nothing else.
//!
//! ```
//! use everypath_verify::{always, assume, choose, note};
//!
//! let speed = choose(4);
//! assume(speed != 2);
//! note(&format!("at speed {speed}"));
//! always(speed < 4, "faster than allowed");
//! # assert_eq!(speed, 0);
//! ```

mod checker;

use std::marker::PhantomData;

/// A number below `ways`, chosen by the checker: it explores every one. 0 without it, and 0 if
/// there is nothing to choose from. At most 65,534 ways can be explored.
pub fn choose(ways: u32) -> u32 {
    checker::choose(ways)
}

/// Executions in which `condition` does not hold end here and do not count: neither as a violation
/// nor as checked. Without the checker the program goes on.
pub fn assume(condition: bool) {
    checker::assume(i32::from(condition));
}

/// Says that `condition` holds whenever this point is reached; if not, that is a violation, and
/// `message` says of what. Without the checker the program goes on.
pub fn always(condition: bool, message: &str) {
    checker::always(i32::from(condition), message.as_ptr(), message.len());
}

/// Says that `condition` is true in some execution when this point is reached. If it is in none that
/// was explored, the verdict lists the message, which must be a literal, as *never reached*. Executions
/// that an [assumption](assume) abandons do not count.
///
/// That it is named at all is seen in the program file: nothing has to run for it. Code that the
/// compiler or the linker leaves out is not in there.
///
/// ```
/// # let queue: [u8; 0] = [];
/// everypath_verify::sometimes!(queue.len() > 2, "the queue has three entries");
/// ```
#[macro_export]
macro_rules! sometimes {
    ($condition:expr, $message:literal $(,)?) => {{
        const GOAL: &str = concat!($message, " (", file!(), ":", line!(), ")\0");
        #[used]
        #[unsafe(link_section = "everypath_goals")]
        static NAMED: [u8; GOAL.len()] = $crate::goal::bytes(GOAL);
        $crate::goal::reach($condition, &NAMED);
    }};
}

/// Says that some execution comes here: [`sometimes!`] with a condition that is true.
///
/// ```
/// # let full = false;
/// if full {
///     everypath_verify::reachable!("the queue is full");
/// }
/// ```
#[macro_export]
macro_rules! reachable {
    ($message:literal $(,)?) => {
        $crate::sometimes!(true, $message)
    };
}

/// What [`sometimes!`] expands to.
#[doc(hidden)]
pub mod goal {
    /// The bytes of a text, for the section that goals are named in.
    pub const fn bytes<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(text.as_bytes());
        bytes
    }

    /// Reaches a goal, which ends with a zero, if the condition is true.
    pub fn reach(condition: bool, goal: &'static [u8]) {
        super::checker::sometimes(i32::from(condition), goal.as_ptr(), goal.len() - 1);
    }
}

/// Makes `text` a step of the trace.
pub fn note(text: &str) {
    checker::note(text.as_ptr(), text.len());
}

/// Whether the network may lose, duplicate and reorder the datagrams that this thread receives
/// from now on, as far as the options of the checker allow it, which they do from the start. Without
/// it, what was sent arrives once and in order.
pub fn unreliable(on: bool) {
    checker::unreliable(i32::from(on));
}

/// Begins an atomic section: the checker lets no other thread move until the value is dropped.
///
/// It is meant for what happens at once in reality, or for code that is not of interest. A call
/// that has to wait inside it makes the verdict inconclusive. Sections may be nested.
pub fn atomic() -> Atomic {
    checker::atomic_begin();
    Atomic { of_this_thread: PhantomData }
}

/// An atomic section, which ends when this is dropped.
#[derive(Debug)]
#[must_use = "the section ends when this is dropped"]
pub struct Atomic {
    /// Only the thread that began the section can end it.
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Atomic {
    fn drop(&mut self) {
        checker::atomic_end();
    }
}
