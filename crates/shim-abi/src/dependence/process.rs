//! Time, signals and whole processes.

use super::{Step, everything, nothing, of};
use crate::{Facet, Footprint, Global, Mode, Object, ProcessEnd};

/// Which of those who wait for the same signal gets it; sending one conflicts with everything.
pub(super) fn signal_wait(step: &Step) -> Footprint {
    of(&[(Mode::Write, Object::global(Global::Signals(step.object.owner())), Facet::Whole)])
}

/// A process ends. If nobody is left in it whom that could stop, and others go on, nobody sees it.
pub(super) fn exit(end: ProcessEnd) -> Footprint {
    if end.is_unnoticed { nothing() } else { everything() }
}

/// A note of a program. If it is an event of a log that is judged, its place in the log matters.
pub(super) fn note(step: &Step) -> Footprint {
    if step.object.is_none() { nothing() } else { step.alone(Mode::Write) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{on, request};
    use super::*;
    use crate::{Operation, Phase};

    #[test]
    fn notes_commute_unless_they_are_events_of_a_log() {
        let (note, event) =
            (request_note(Object::NONE), request_note(Object::global(Global::Events)));
        assert!(note.commutes(&note) && note.commutes(&event) && !event.commutes(&event));
    }

    fn request_note(log: Object) -> Footprint {
        on(log, Operation::Note)
    }

    #[test]
    fn an_unnoticed_end_commutes() {
        let end = |is_unnoticed| Operation::ProcessExit(ProcessEnd { code: 0, is_unnoticed });
        let lock = request(Operation::MutexLock);
        assert!(lock.commutes(&on(Object::NONE, end(true))));
        assert!(!lock.commutes(&on(Object::NONE, end(false))));
    }

    #[test]
    fn waking_up_conflicts_with_everything() {
        let sleep = Operation::Sleep(1);
        assert!(!on(Object::NONE, sleep).conflicts_with_all());
        assert!(Step::new(sleep, Phase::Resume, Object::NONE).footprint().conflicts_with_all());
    }

    #[test]
    fn who_waits_for_signals_sees_those_of_its_process() {
        let wait = |process| on(Object::process(process), Operation::SignalWait);
        assert!(!wait(0).commutes(&wait(0)) && wait(0).commutes(&wait(1)));
        assert!(request(Operation::Signal(15)).conflicts_with_all());
    }
}
