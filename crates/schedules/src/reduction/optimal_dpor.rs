//! Optimal DPOR: which other schedules an executed one makes necessary, and no more.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Optimal Dynamic Partial
//! Order Reduction. POPL 2014, algorithm 2; Source Sets, J. ACM 64(4), 2017, algorithm 3.
//!
//! For every race of a whole execution, one must be explored in which the second event comes first.
//! It begins with all that does not depend on the first event: so it is known to be possible, and
//! what it has in common with others is explored once. [`wakeup_tree`](super::wakeup_tree) keeps it.
//!
//! Where we depart:
//! - The paper reverses all races of every execution. A race in the part that an execution shares
//!   with earlier ones need not be reversed again once a thread goes first, or has gone first, with
//!   an event that is not after the second one of the race: source sets ask for no more. If only an
//!   event that comes later, or none of the sequence, was found to do, the next execution may have
//!   another sequence for which it does not.
//! - It takes for granted that a step which can be taken stays so until it is, and that executions
//!   end when nothing can be done. Time-outs, the end of the process, crashes and threads that stand
//!   back are not like that. [`is_suitable`] says so, and then source sets must do, for which it
//!   does not matter. So must they if several threads may miss something at one place ([`Takers`]).

use super::happens_before::{HappensBefore, Race};
use super::{Alternative, Ended, Executed, Taken};
use everypath_dependence::Enabled;
use std::collections::BTreeMap;

/// Whether an execution, as far as it can be told, is of a kind for which this reduction is meant.
pub fn is_suitable<E: Enabled>(executed: &Executed<E>) -> bool {
    let may_disable = |these: &Vec<Alternative<E>>| {
        these.len() > 1 && these.iter().any(|of| of.step.may_disable())
    };
    executed.ended == Ended::Complete && !executed.alternatives.iter().any(may_disable)
}

/// Who takes what may have been missed, by place.
///
/// If several threads do so at one place, the sequences that wakeup trees keep do not tell what each of
/// them would get instead: some were found to be missing then.
#[derive(Debug, Default)]
pub struct Takers(BTreeMap<u64, u16>);

impl Takers {
    /// Takes note of steps; whether there is still only one taker at each place.
    pub fn are_alone(&mut self, steps: &[Taken]) -> bool {
        steps.iter().all(|step| {
            let thread = step.choice.thread;
            let place = step.footprint.misses_at();
            place.is_none_or(|place| *self.0.entry(place).or_insert(thread) == thread)
        })
    }
}

/// The events that reverse a race, in an order in which they can happen before the first of its two
/// events: those that do not depend on it, and the second one.
pub fn reversal(order: &HappensBefore, race: Race) -> Vec<usize> {
    let at = order.step_of(race.earlier);
    // The whole step moves, so whatever comes after any part of it stays behind.
    let first = order.first_event(at);
    let mut events: Vec<usize> =
        order.events_after(at).filter(|&event| !order.is_before(first, event)).collect();
    // What the first one missed is among them, and what comes after that is, too.
    if order.is_before(first, race.later) {
        events.push(race.later);
    }
    events
}
