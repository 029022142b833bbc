//! Which steps put the units into semaphores that others took out.
//!
//! Units are taken out in the order in which they were put in. How many a step leaves is its value, so
//! units that were there from the start, or were moved while nothing was a step, are told from those of
//! known steps.

use everypath_shim_abi::{Event, Operation, Phase, units};
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

    /// What the step is to the others: if nobody knows what let it go on, all that went before did.
    pub(crate) fn operation(self, operation: Operation) -> Operation {
        match (self, operation) {
            (Unit::Lost, Operation::SemWait) => Operation::SemTrywait,
            _ => operation,
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
    fn follow(&mut self, step: usize, operation: Operation, left: u64) -> Unit {
        match (operation, left) {
            (_, units::UNKNOWN | units::OVERFLOW) => self.lost = true,
            (_, units::NONE_YET) => self.expect(0),
            // Whoever waited for it has it.
            (Operation::SemPost, 0) => self.expect(0),
            (Operation::SemPost, _) => {
                self.expect(left - 1);
                self.from.push_back(step);
            }
            (Operation::SemWait, _) => {
                self.expect(left + 1);
                let unit = self.take();
                return if self.lost { Unit::Lost } else { unit };
            }
            // It may have taken one, and may not.
            _ => {
                if self.found + self.from.len() as u64 == left + 1 {
                    self.take();
                }
                self.expect(left);
            }
        }
        if self.lost { Unit::Lost } else { Unit::Found }
    }
}

/// For each step, where the unit came from that it took out of a semaphore.
pub(crate) fn taken(events: &[Event]) -> Vec<Unit> {
    if !events.iter().any(|event| event.operation == Operation::SemWait) {
        return Vec::new();
    }
    let mut semaphores: BTreeMap<u64, Units> = BTreeMap::new();
    let unit = |(step, event): (usize, &Event)| match event.operation {
        Operation::SemWait | Operation::SemPost | Operation::SemTrywait
            if event.phase != Phase::Resume =>
        {
            let semaphore = semaphores.entry(event.object).or_default();
            semaphore.follow(step, event.operation, event.value)
        }
        _ => Unit::Found,
    };
    events.iter().enumerate().map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units_of(steps: &[(Operation, u64)]) -> Vec<Unit> {
        let event = |&(operation, value)| Event { operation, value, object: 8, ..Event::default() };
        taken(&steps.iter().map(event).collect::<Vec<_>>())
    }

    #[test]
    fn units_come_out_as_they_were_put_in() {
        use Operation::{SemPost, SemTrywait, SemWait};
        // One was there from the start.
        let units = units_of(&[
            (SemPost, 2),
            (SemPost, 3),
            (SemWait, 2),
            (SemWait, 1),
            (SemTrywait, 0),
            (SemTrywait, 0),
            (SemWait, units::NONE_YET),
            (SemPost, 0),
            (SemPost, 1),
            (SemWait, 0),
        ]);
        assert_eq!((units[2], units[3], units[9]), (Unit::Found, Unit::From(0), Unit::From(8)));
    }

    #[test]
    fn what_moved_unseen_is_not_guessed() {
        use Operation::{SemPost, SemWait};
        let units = units_of(&[(SemPost, 1), (SemWait, 6), (SemPost, 7), (SemWait, 6)]);
        assert_eq!((units[1], units[3]), (Unit::Found, Unit::Found));
        let units = units_of(&[(SemPost, units::UNKNOWN), (SemPost, 2), (SemWait, 1)]);
        assert_eq!(units[2], Unit::Lost);
    }
}
