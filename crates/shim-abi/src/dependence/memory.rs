//! Futexes, atomic instructions and fences.

use super::{Step, of};
use crate::{Facet, Footprint, Global, Mode, Object};

/// Whatever may change a word, or wakes those who wait at it.
pub(super) fn write(step: &Step) -> Footprint {
    step.alone(Mode::Write)
}

/// A word is read.
pub(super) fn load(step: &Step) -> Footprint {
    step.alone(Mode::Read)
}

/// A thread waits at a word.
pub(super) fn futex_wait(step: &Step) -> Footprint {
    step.acquiring(Mode::Write)
}

/// Waiters move from one word to another.
pub(super) fn futex_requeue(step: &Step, to: Object) -> Footprint {
    of(&[step.uses(Mode::Write, Facet::Whole), (Mode::Write, to, Facet::Whole)])
}

/// All fences of a process have one order.
pub(super) fn fence(step: &Step) -> Footprint {
    of(&[(Mode::Write, Object::global(Global::Fences(step.object.owner())), Facet::Whole)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on, request};
    use super::*;
    use crate::{Attempt, Operation};

    #[test]
    fn loads_of_a_word_commute_and_stores_do_not() {
        let (load, store) = (request(Operation::Load(Attempt::First)), request(Operation::Store));
        assert!(load.commutes(&load));
        assert!(!load.commutes(&store) && !store.commutes(&store));
        assert!(store.commutes(&on(Object::memory(0, 0x2008), Operation::Store)));
        assert!(
            store.commutes(&on(Object::memory(1, 0x1008), Operation::Store)),
            "no shared memory"
        );
    }

    #[test]
    fn waiters_move_to_the_other_word() {
        let other = Object::memory(0, 0x2008);
        let requeue = request(Operation::FutexRequeue(other));
        assert!(!requeue.commutes(&on(other, Operation::FutexWake(1))));
    }

    #[test]
    fn fences_of_a_process_have_one_order() {
        let fence = |process| on(Object::process(process), Operation::Fence);
        assert!(!fence(0).commutes(&fence(0)) && fence(0).commutes(&fence(1)));
    }
}
