//! Futexes, atomic instructions and fences.

use super::{Step, everything, of, part};
use crate::{Facet, Footprint, Global, Mode, Object};

/// Whatever may change words, or wakes those who wait at one.
pub(super) fn write(step: &Step) -> Footprint {
    words(step, Mode::Write)
}

/// Words are read.
pub(super) fn load(step: &Step) -> Footprint {
    words(step, Mode::Read)
}

/// A use of each word, so that accesses that overlap are dependent whatever their addresses and sizes.
fn words(step: &Step, mode: Mode) -> Footprint {
    match step.object.words() {
        Some(words) => words.map(|word| part((mode, word, Facet::Whole))).collect(),
        None => everything(),
    }
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
    fn accesses_that_overlap_do_not_commute() {
        let store = |address, size| on(Object::bytes(0, address, size), Operation::Store);
        let (first, second) = (store(0x1000, 4), store(0x1004, 4));
        assert!(first.commutes(&second));
        for (address, size) in [(0x1000, 8), (0x1003, 2), (0x0ff0, 24), (0x0fc0, 128)] {
            let wide = store(address, size);
            assert!(!wide.commutes(&first) && !first.commutes(&wide), "{address:#x} {size}");
            assert!(!wide.commutes(&second) && !second.commutes(&wide), "{address:#x} {size}");
        }
        assert!(!store(0x1005, 1).commutes(&store(0x1000, 8)));
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
