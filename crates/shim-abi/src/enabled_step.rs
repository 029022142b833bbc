//! Steps that could be taken.

use crate::{
    Footprint, Object, Operation, OperationKind, PackedOperation, Payload, Phase, Step, TIMEOUT,
};
use everypath_dependence::Enabled;

/// A step that could be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct EnabledStep {
    /// The thread's number.
    pub thread: u16,
    kind: OperationKind,
    /// Whether it would be a request or go on.
    pub phase: Phase,
    /// In how many ways; [`TIMEOUT`] if its timeout would fire.
    pub outcomes: u16,
    /// Whether the thread has let others go first, again and again, and waits for that. It can go on
    /// all the same.
    pub stands_back: bool,
    /// Whether it is a timeout that would fire only because no thread can go on.
    pub is_last: bool,
    /// What it would work on.
    pub object: Object,
    payload: Payload,
}

impl EnabledStep {
    /// Where its kind is.
    pub(crate) const KIND: usize = core::mem::offset_of!(EnabledStep, kind);

    /// The step that a thread has announced in shared memory.
    #[inline]
    pub fn announced(thread: u16, operation: PackedOperation, object: Object) -> Self {
        let (kind, payload) = (operation.kind(), operation.payload());
        EnabledStep { thread, kind, payload, object, ..EnabledStep::default() }
    }

    /// What it would do.
    #[inline]
    pub fn operation(&self) -> Operation {
        Operation::unpack(self.kind, self.payload)
    }

    /// The same without what goes with it.
    #[inline]
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// Whether its timeout would fire.
    pub fn is_timeout(&self) -> bool {
        self.outcomes == TIMEOUT
    }
}

impl Enabled for EnabledStep {
    /// What it would touch, if it got everything that it asks for.
    fn footprint(&self) -> Footprint {
        let step = Step::new(self.operation(), self.phase, self.object);
        Step { timed_out: self.is_timeout(), ..step }.footprint()
    }

    /// Asked of every step that could be taken, so most are told apart by their kind.
    fn conflicts_with_all(&self) -> bool {
        let may_be = matches!(
            self.kind,
            OperationKind::Sleep
                | OperationKind::Exit
                | OperationKind::Shutdown
                | OperationKind::Close
                | OperationKind::Signal
                | OperationKind::Cancel
                | OperationKind::ProcessExit
                | OperationKind::Kill
                | OperationKind::Partition
                | OperationKind::AtomicBegin
        );
        self.is_timeout() || may_be && self.footprint().conflicts_with_all()
    }

    fn comes_last(&self) -> bool {
        self.is_last
    }

    fn yields(&self) -> bool {
        self.stands_back
    }

    fn spins(&self) -> bool {
        self.kind == OperationKind::Spin
    }

    /// A partition changes what others find, and always comes to rest.
    fn may_disable(&self) -> bool {
        self.kind != OperationKind::Partition && self.conflicts_with_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependence::tests::all_operations;

    #[test]
    fn who_may_conflict_with_all_is_known_beforehand() {
        for operation in all_operations() {
            for phase in [Phase::Request, Phase::Limited, Phase::Patient, Phase::Resume] {
                for object in [Object::NONE, Object::socket(1)] {
                    let enabled = EnabledStep::announced(0, operation.pack(), object);
                    let enabled = EnabledStep { phase, ..enabled };
                    let everything = enabled.footprint().conflicts_with_all();
                    assert_eq!(enabled.conflicts_with_all(), everything, "{enabled:?}");
                }
            }
        }
    }
}
