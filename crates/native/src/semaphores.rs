//! Which steps put the units into semaphores that others took out.
//!
//! Units are taken out in the order in which they were put in. How many a step leaves is its
//! [`Completion`], so units that were there from the start, or were moved while nothing was a step, are
//! told from those of known steps.

use everypath_shim_abi::{Completion, Event, Object, OperationKind, Phase};
use std::collections::{BTreeMap, VecDeque};

/// Where a unit came from that a step took out at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// From no step, or the step took none.
    Found,
    /// From this step.
    From(usize),
    /// Nobody knows.
    Lost,
}

impl Unit {
    /// The step that it came from.
    pub(crate) fn from(self) -> Option<usize> {
        match self {
            Unit::From(step) => Some(step),
            Unit::Found | Unit::Lost => None,
        }
    }
}

/// The units in a semaphore, those that were there before all known steps first.
#[derive(Debug, Default)]
struct Units {
    found: u64,
    from: VecDeque<usize>,
    /// Whether a step moved units without saying how many it left.
    lost: bool,
}

impl Units {
    /// Makes it so many. If there were others, they were moved while nothing was a step, so whatever
    /// comes now comes after that anyway.
    fn expect(&mut self, count: u64) {
        if self.found + self.from.len() as u64 != count {
            (self.found, self.from) = (count, VecDeque::new());
        }
    }

    fn take(&mut self) -> Unit {
        if self.found > 0 {
            self.found -= 1;
            return Unit::Found;
        }
        self.from.pop_front().map_or(Unit::Found, Unit::From)
    }

    /// Follows a step; where the unit came from that it took at once.
    fn follow(&mut self, step: usize, event: &Event) -> Unit {
        match (event.kind(), event.completion()) {
            (_, Completion::NoUnits) => self.expect(0),
            // Whoever waited for it has it.
            (OperationKind::SemPost, Completion::Units(0)) => self.expect(0),
            (OperationKind::SemPost, Completion::Units(left)) => {
                self.expect(u64::from(left) - 1);
                self.from.push_back(step);
            }
            (OperationKind::SemWait, Completion::Units(left)) => {
                self.expect(u64::from(left) + 1);
                let unit = self.take();
                return if self.lost { Unit::Lost } else { unit };
            }
            // It may have taken one, and may not.
            (_, Completion::Units(left)) => {
                let left = u64::from(left);
                if self.found + self.from.len() as u64 == left + 1 {
                    self.take();
                }
                self.expect(left);
            }
            _ => self.lost = true,
        }
        if self.lost { Unit::Lost } else { Unit::Found }
    }
}

/// For each step, where the unit came from that it took out of a semaphore.
pub(crate) fn taken(events: &[Event]) -> Vec<Unit> {
    if !events.iter().any(|event| event.kind() == OperationKind::SemWait) {
        return Vec::new();
    }
    let mut semaphores: BTreeMap<Object, Units> = BTreeMap::new();
    let unit = |(step, event): (usize, &Event)| match event.kind() {
        OperationKind::SemWait | OperationKind::SemPost | OperationKind::SemTrywait
            if event.phase != Phase::Resume =>
        {
            semaphores.entry(event.object).or_default().follow(step, event)
        }
        _ => Unit::Found,
    };
    events.iter().enumerate().map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_shim_abi::{Operation, Overflow};

    const POST: Operation = Operation::SemPost(Overflow::Impossible);

    fn units_of(steps: &[(Operation, Completion)]) -> Vec<Unit> {
        let event = |&(operation, completion): &(Operation, Completion)| {
            Event::new(0, operation, Object::memory(0, 8)).completed(completion.pack())
        };
        taken(&steps.iter().map(event).collect::<Vec<_>>())
    }

    #[test]
    fn units_come_out_as_they_were_put_in() {
        use Completion::{NoUnits, Units};
        use Operation::{SemTrywait, SemWait};
        // One was there from the start.
        let units = units_of(&[
            (POST, Units(2)),
            (POST, Units(3)),
            (SemWait, Units(2)),
            (SemWait, Units(1)),
            (SemTrywait, Units(0)),
            (SemTrywait, Units(0)),
            (SemWait, NoUnits),
            (POST, Units(0)),
            (POST, Units(1)),
            (SemWait, Units(0)),
        ]);
        assert_eq!((units[2], units[3], units[9]), (Unit::Found, Unit::From(0), Unit::From(8)));
    }

    #[test]
    fn what_moved_unseen_is_not_guessed() {
        use Completion::{None, Units};
        use Operation::SemWait;
        let units = units_of(&[
            (POST, Units(1)),
            (SemWait, Units(6)),
            (POST, Units(7)),
            (SemWait, Units(6)),
        ]);
        assert_eq!((units[1], units[3]), (Unit::Found, Unit::Found));
        let units = units_of(&[(POST, None), (POST, Units(2)), (SemWait, Units(1))]);
        assert_eq!(units[2], Unit::Lost);
    }
}
