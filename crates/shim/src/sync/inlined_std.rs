//! Steps that are whole functions of Rust's standard library.
//!
//! Such a step is taken where the function begins; the patched instructions and the calls inside,
//! which would be steps by themselves, belong to it.

use super::rust_mutex;
use crate::memory::load;
use crate::state::{Stage, Thread, Within, state};

/// Notes that a step was taken of which something is left to do.
pub(crate) fn enter(stage: Stage, word: usize, mutex: usize) {
    state().current().within.set(Within { stage, word, mutex });
}

/// How an instruction works on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It only looks.
    Look,
    /// It changes the word if it finds this.
    Compare(u32),
    /// Any other.
    Other,
}

/// Whether an instruction that works on a word belongs to the step that the thread has taken.
pub(crate) fn belongs(thread: &Thread, operand: usize, how: Use) -> bool {
    let within = thread.within.get();
    match within.stage {
        Stage::Nothing => return false,
        // Who locks looks before, and the lock is taken only by what follows.
        Stage::Lock if operand == within.word && how == Use::Look => return true,
        Stage::Sleep if operand == within.mutex => {
            rust_mutex::watch(operand);
            return true;
        }
        // One function calls another, and notifying adds before it wakes.
        Stage::Sleep | Stage::Notify if operand == within.word => return true,
        // Where a function begins, nothing is compared yet.
        Stage::ReadWriteLock if operand == within.word => {
            if how == Use::Compare(load(operand)) {
                thread.within.set(Within::default());
            }
            return true;
        }
        _ => {}
    }
    thread.within.set(Within::default());
    match within.stage {
        Stage::Lock => operand == within.word,
        Stage::Wake if operand == within.mutex => {
            rust_mutex::take(operand);
            true
        }
        _ => false,
    }
}
