//! Source-DPOR: which other schedules an executed one makes necessary.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Optimal Dynamic Partial
//! Order Reduction. POPL 2014, algorithm 1; Source Sets, J. ACM 64(4), 2017.
//!
//! For every race of an execution, some execution in which the second step comes first must be
//! explored: one of the *initials* of what has to happen for that, from the state before the first
//! step, is enough.
//!
//! Where we depart: a step has parts. Asking for a lock races with asking for it; getting it is
//! ordered after giving it back, which is no race, since it cannot be the other way round. So a lock
//! that is free is asked for and got in one step without hiding the race between those who ask.

use super::happens_before::{HappensBefore, Race};
use super::{Footprint, Taken};

/// From the state before step `at`, one of these actors must be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversal {
    /// The step that the other one shall come before.
    pub at: usize,
    /// The steps whose actors qualify; they are numbers of steps of the execution.
    pub initials: Vec<usize>,
}

/// What reverses a race: the initials of what is needed for the second step to come first.
pub fn reversal<P: Copy>(order: &HappensBefore<P>, race: Race, actors: &[u16]) -> Reversal {
    let at = order.step_of(race.earlier);
    let last = order.step_of(race.later);
    // The whole step moves, so whatever comes after any part of it stays behind.
    let needed = (at + 1..last).filter(|&step| !order.is_before(at, step));
    let mut sequence: Vec<usize> = needed.collect();
    sequence.push(last);
    let mut initials: Vec<usize> = Vec::new();
    let mut seen: Vec<u16> = Vec::new();
    for (index, &step) in sequence.iter().enumerate() {
        if seen.contains(&actors[step]) {
            continue;
        }
        seen.push(actors[step]);
        if !sequence[..index].iter().any(|&earlier| order.is_before(earlier, step)) {
            initials.push(step);
        }
    }
    Reversal { at, initials }
}

/// Adds a step to the order and returns what must be explored because of it.
pub fn extend<F: Footprint>(
    order: &mut HappensBefore<F::Part>,
    actors: &[u16],
    step: &Taken<F>,
) -> Vec<Reversal> {
    let races = order.push(step);
    races.into_iter().map(|race| reversal(order, race, actors)).collect()
}
