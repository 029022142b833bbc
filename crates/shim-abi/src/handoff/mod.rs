//! The hand-off between checker and worker: which of them may use the region.
//!
//! One word says whose turn it is. Whoever waits may spin for a while, since most turns are short; then
//! it announces in the word that it sleeps. So the other side makes a syscall only if somebody is to
//! be woken. Both sides call this code, and loom checks it in every interleaving (`tests.rs`).

use crate::futex::{Futex, Word};
use core::sync::atomic::{AtomicU32, Ordering};

/// One of the two that take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Side {
    /// The checker. While it has the turn, the worker waits for a command.
    Checker,
    /// The worker. While it has the turn, the checker waits for a reply.
    Worker,
}

impl Side {
    const fn other(self) -> Side {
        match self {
            Side::Checker => Side::Worker,
            Side::Worker => Side::Checker,
        }
    }
}

/// Of the word: the side that waits for the turn sleeps, and must be woken.
const ASLEEP: u32 = 1 << 31;

/// Whose turn it is. Zeros are the checker's turn.
#[derive(Debug)]
#[repr(transparent)]
pub struct Handoff<W = AtomicU32>(W);

impl<W: Word> Handoff<W> {
    /// The checker's turn, given a word of zeros.
    pub const fn new(word: W) -> Self {
        Handoff(word)
    }

    /// Whether a side has the turn; then everything that the other side wrote before is visible.
    pub fn has(&self, side: Side) -> bool {
        self.0.load(Ordering::Acquire) & !ASLEEP == side as u32
    }

    /// Whether the word is one that a side wrote, and not a program that should not know of it.
    pub fn is_valid(&self) -> bool {
        self.0.load(Ordering::Acquire) & !ASLEEP <= Side::Worker as u32
    }

    /// Gives a side the turn, and wakes it if it sleeps.
    pub fn give(&self, to: Side, futex: &impl Futex<W>) {
        if self.0.swap(to as u32, Ordering::AcqRel) & ASLEEP != 0 {
            futex.wake(&self.0);
        }
    }

    /// Waits until this side has the turn.
    pub fn wait(&self, me: Side, futex: &impl Futex<W>) {
        while let Some(asleep) = self.announce_sleep(me) {
            futex.wait(&self.0, asleep);
        }
    }

    /// Sleeps at most once if this side does not have the turn; whether it has it then.
    pub fn wait_once(&self, me: Side, futex: &impl Futex<W>) -> bool {
        if let Some(asleep) = self.announce_sleep(me) {
            futex.wait(&self.0, asleep);
        }
        self.has(me)
    }

    /// Announces that this side goes to sleep; the word as it is then, unless this side has the turn.
    fn announce_sleep(&self, me: Side) -> Option<u32> {
        let awake = me.other() as u32;
        let asleep = awake | ASLEEP;
        match self.0.compare_exchange(awake, asleep, [Ordering::AcqRel, Ordering::Acquire]) {
            Ok(_) => Some(asleep),
            // It slept before, and was woken by something else.
            Err(now) => (now == asleep).then_some(asleep),
        }
    }
}

#[cfg(test)]
mod tests;
