//! Threads: creating, joining, yielding, cancelling.

use super::{Step, everything};
use crate::{Footprint, Mode, RobustMutexes};

/// A thread ends, for which others may wait. It releases its robust mutexes, whichever they are.
pub(super) fn exit(step: &Step, robust: RobustMutexes) -> Footprint {
    match robust {
        RobustMutexes::None => step.alone(Mode::Release),
        RobustMutexes::Owned => everything(),
    }
}

/// A thread is to be joined.
pub(super) fn join(step: &Step) -> Footprint {
    step.acquiring(Mode::Request)
}

/// Finds out or changes how a thread is to be joined, without waiting.
pub(super) fn look(step: &Step) -> Footprint {
    step.alone(Mode::Write)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{is_ordered, on, request};
    use crate::{Object, Operation, RobustMutexes};

    #[test]
    fn a_thread_is_joined_after_its_end() {
        let end = request(Operation::Exit(RobustMutexes::None));
        assert!(is_ordered(end, request(Operation::Join)));
        assert!(
            !end.commutes(&request(Operation::TryJoin)),
            "who only tries sees whether it ended"
        );
        assert!(end.commutes(&on(Object::memory(0, 0x2008), Operation::TryJoin)));
    }

    #[test]
    fn robust_mutexes_are_released_whichever_they_are() {
        let end = request(Operation::Exit(RobustMutexes::Owned));
        assert!(!end.commutes(&on(Object::memory(0, 0x2008), Operation::MutexLock)));
    }
}
