//! Whose turn it is: the worker's or the checker's.

use core::sync::atomic::{AtomicU32, Ordering};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Handoff {
    /// The checker's: the worker waits for a command.
    Checker,
    /// The worker's: the checker waits for a reply.
    Worker,
}

/// Of the word: whoever waits for the turn sleeps, and must be woken.
const ASLEEP: u32 = 1 << 31;

/// The word that tells, at which who waits may sleep. Zeros are the checker's turn.
#[derive(Debug)]
#[repr(transparent)]
pub struct Handoffs(AtomicU32);

impl Handoffs {
    /// Whether it is somebody's turn.
    pub fn is(&self, turn: Handoff) -> bool {
        self.0.load(Ordering::Acquire) & !ASLEEP == turn as u32
    }

    /// Gives somebody the turn; whether it sleeps and must be woken.
    pub fn give(&self, to: Handoff) -> bool {
        self.0.swap(to as u32, Ordering::AcqRel) & ASLEEP != 0
    }

    /// Says that who waits while it is somebody else's turn goes to sleep; what the word is then, unless
    /// the turn has changed.
    pub fn doze(&self, turn: Handoff) -> Option<u32> {
        let awake = turn as u32;
        let said =
            self.0.compare_exchange(awake, awake | ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        (said == Ok(awake) || said == Err(awake | ASLEEP)).then_some(awake | ASLEEP)
    }

    /// The word.
    pub fn word(&self) -> &AtomicU32 {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_sleeps_is_woken() {
        let turns = Handoffs(AtomicU32::new(0));
        assert!(turns.is(Handoff::Checker) && !turns.give(Handoff::Worker));
        assert_eq!(turns.doze(Handoff::Checker), None, "the turn has changed");
        let asleep = turns.doze(Handoff::Worker);
        assert_eq!(asleep, Some(turns.word().load(Ordering::Relaxed)));
        assert_eq!(turns.doze(Handoff::Worker), asleep, "it was woken by something else");
        assert!(turns.is(Handoff::Worker) && turns.give(Handoff::Checker));
        assert!(turns.is(Handoff::Checker) && !turns.give(Handoff::Worker));
    }
}
