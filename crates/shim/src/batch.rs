//! Batches: several executions of an exhaustive search for one command.
//!
//! What came of each is kept for the checker, which may look at it while the next one runs. So neither
//! waits for the other more often than it must.

use crate::region::region;
use crate::scheduler;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use everypath_shim_abi::{
    BatchEntry, Command, MAX_ORDERED, MAX_ORDERED_ALTERNATIVES, MAX_ORDERS, Outcome, Policy, Record,
};

/// How many choices and sleeping steps of orders were used, and how many steps, ends and alternatives
/// were kept.
static CHOICES: AtomicUsize = AtomicUsize::new(0);
static SLEEPING: AtomicUsize = AtomicUsize::new(0);
static EVENTS: AtomicUsize = AtomicUsize::new(0);
static ENDS: AtomicUsize = AtomicUsize::new(0);
static ALTERNATIVES: AtomicUsize = AtomicUsize::new(0);

/// Whether a command asks for executions by orders.
pub(crate) fn are_given(command: &Command) -> bool {
    command.policy == Policy::First && command.count > 1
}

/// Begins with the first order.
pub(crate) fn begin() {
    for counter in [&CHOICES, &SLEEPING, &EVENTS, &ENDS, &ALTERNATIVES] {
        counter.store(0, Ordering::Relaxed);
    }
}

/// Copies cells.
fn copy<T: Copy>(to: &[Cell<T>], from: &[Cell<T>]) {
    to.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
}

/// Moves a counter on; where it was.
fn advance(counter: &AtomicUsize, by: usize) -> usize {
    let at = counter.load(Ordering::Relaxed);
    counter.store(at + by, Ordering::Relaxed);
    at
}

/// Takes over the order with a number: all before it have been.
pub(crate) fn take_over(number: u64) {
    let region = region();
    let order = region.orders[number as usize % MAX_ORDERS].get();
    let choices = advance(&CHOICES, order.prefix as usize);
    copy(&region.schedule, &region.ordered_choices[choices..choices + order.prefix as usize]);
    let sleeping = advance(&SLEEPING, order.sleeping as usize);
    copy(&region.sleep, &region.ordered_sleep[sleeping..sleeping + order.sleeping as usize]);
    scheduler::follow(order);
}

/// Keeps what came of an order; whether the next one shall be run.
pub(crate) fn keep(number: u64, is_expected: bool) -> bool {
    let region = region();
    let BatchEntry { known, .. } = region.orders[number as usize % MAX_ORDERS].get();
    let reply = region.reply.get();
    let (steps, known) = (reply.steps as usize, known as usize);
    let ends = &region.alternative_ends[known.min(steps)..steps];
    let events = &region.events[Record::first_kept(known).min(steps)..steps];
    let alternatives = ends.last().map_or(0, Cell::get) as usize;
    let room = |counter: &AtomicUsize, all: usize| all - counter.load(Ordering::Relaxed);
    if room(&EVENTS, MAX_ORDERED) < events.len()
        || room(&ALTERNATIVES, MAX_ORDERED_ALTERNATIVES) < alternatives
    {
        return false;
    }
    copy(&region.recorded_events[advance(&EVENTS, events.len())..], events);
    copy(&region.recorded_ends[advance(&ENDS, ends.len())..], ends);
    let at = advance(&ALTERNATIVES, alternatives);
    copy(&region.recorded_alternatives[at..], &region.alternatives[..alternatives]);
    region.records[number as usize % MAX_ORDERS].set(Record {
        outcome: reply.outcome,
        steps: reply.steps,
        alternatives: alternatives as u32,
    });
    let in_vain = match reply.outcome {
        Outcome::SleepSetBlocked => true,
        Outcome::Diverged => steps >= known,
        _ => false,
    };
    // Of what is not as expected, more is asked than is kept.
    if !(in_vain || is_expected) || region.notice_count.get() != 0 {
        return false;
    }
    region.recorded.store(number as u32 + 1, Ordering::Release);
    region.hurry.load(Ordering::Relaxed) == 0 && crate::accesses::has_room()
}
