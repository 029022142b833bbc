//! Source-DPOR: which other schedules an executed one makes necessary.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Optimal Dynamic Partial
//! Order Reduction. POPL 2014, algorithm 1; Source Sets, J. ACM 64(4), 2017.
//!
//! For every race of an execution, some execution in which the second step comes first must be
//! explored: one of the *initials* of what has to happen for that, from the state before the first
//! step, is enough. It is the simpler of two ways, and the oracle for the other.
//!
//! Where we depart: a step has parts. Asking for a lock races with asking for it; getting it is
//! ordered after giving it back, which is no race, since it cannot be the other way round. So a lock
//! that is free is asked for and got in one step without hiding the race between those who ask.

use super::happens_before::{HappensBefore, Race};

/// The steps whose threads qualify to go first, for the second event of a race to come before the
/// first one.
pub fn initials(order: &HappensBefore, race: Race) -> Vec<usize> {
    let at = order.step_of(race.earlier);
    let last = order.step_of(race.later);
    let first = order.first_event(at);
    // The whole step moves, so whatever comes after any part of it stays behind.
    let needed = (at + 1..last).filter(|&step| !order.is_before(first, order.first_event(step)));
    let sequence: Vec<usize> = needed.chain([last]).collect();
    let mut initials: Vec<usize> = Vec::new();
    let mut seen: Vec<u16> = Vec::new();
    for (index, &step) in sequence.iter().enumerate() {
        let event = order.first_event(step);
        if seen.contains(&order.thread_of(event)) {
            continue;
        }
        seen.push(order.thread_of(event));
        let before = |&earlier: &usize| order.is_before(order.first_event(earlier), event);
        if !sequence[..index].iter().any(before) {
            initials.push(step);
        }
    }
    initials
}
