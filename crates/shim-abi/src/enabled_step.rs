//! Steps that could be taken.

use crate::{Footprint, Operation, Phase, TIMEOUT};
use everypath_dependence::Enabled;

/// A step that could be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct EnabledStep {
    /// The thread's number.
    pub thread: u16,
    /// What it would do.
    pub operation: Operation,
    /// Whether it would ask or go on.
    pub phase: Phase,
    /// In how many ways; [`TIMEOUT`] if its time-out would fire.
    pub outcomes: u16,
    /// Whether the thread has let others go first, again and again, and waits for that. It can go on
    /// all the same.
    pub stands_back: bool,
    /// The address of what it would work on.
    pub object: u64,
    /// A value that goes with it.
    pub value: u64,
}

impl EnabledStep {
    /// Whether its time-out would fire.
    pub fn is_timeout(&self) -> bool {
        self.outcomes == TIMEOUT
    }
}

impl Enabled for EnabledStep {
    /// What it would touch, if it got everything that it asks for.
    fn footprint(&self) -> Footprint {
        let outcome = if self.is_timeout() { TIMEOUT } else { 0 };
        crate::footprint((self.operation, self.phase), (self.object, self.value), outcome, true)
    }

    /// Asked of every step that could be taken, so most are told apart by their operation.
    fn conflicts_with_all(&self) -> bool {
        let may_be = matches!(
            self.operation,
            Operation::Sleep
                | Operation::Exit
                | Operation::Shutdown
                | Operation::Close
                | Operation::Signal
                | Operation::Cancel
                | Operation::ProcessExit
                | Operation::Kill
                | Operation::Partition
                | Operation::AtomicBegin
        );
        self.is_timeout() || may_be && self.footprint().conflicts_with_all()
    }

    fn yields(&self) -> bool {
        self.stands_back
    }

    /// A partition changes what others find, and always comes to rest.
    fn may_disable(&self) -> bool {
        self.operation != Operation::Partition && self.conflicts_with_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ABANDONED;

    #[test]
    fn who_may_touch_everything_is_known_beforehand() {
        for &operation in Operation::ALL {
            let is_closing = matches!(operation, Operation::Shutdown | Operation::Close);
            let abandoned = if is_closing { ABANDONED } else { 0 };
            for phase in [Phase::Request, Phase::Limited, Phase::Resume] {
                for (object, value) in [(0, 0), (8, 0), (8, 1), (8, abandoned)] {
                    let pending =
                        EnabledStep { operation, phase, object, value, ..EnabledStep::default() };
                    let everything = pending.footprint().conflicts_with_all();
                    assert_eq!(pending.conflicts_with_all(), everything, "{pending:?}");
                }
            }
        }
    }
}
