//! What a worker wrote, looked at before it is believed: the program could have overwritten it.
//!
//! What the shim writes while it ends an execution, the reply and the threads, is read before any
//! instruction of the program runs again. Everything else lies in the region while the program runs.

use super::{Kept, Recorded, Worker, split};
use crate::error::Error;
use crate::region::Mapping;
use everypath_shim_abi::{Command, Event, MAX_ACCEPTED, MAX_EVENTS, Outcome, Record, Request};
use std::cell::Cell;
use std::ops::Range;

/// A part of an array, if it is one.
pub(super) fn part<'a, T>(
    cells: &'a [Cell<T>],
    range: Range<usize>,
    what: &'static str,
) -> Result<&'a [Cell<T>], Error> {
    cells.get(range).ok_or(Error::Overwritten { what })
}

fn ensure(is_so: bool, what: &'static str) -> Result<(), Error> {
    if is_so { Ok(()) } else { Err(Error::Overwritten { what }) }
}

fn is_same(one: &Command, other: &Command) -> bool {
    let words = |command: &Command| {
        (command.prefix, command.known, command.count, command.seed, command.first, command.slot)
    };
    one.request == other.request && words(one) == words(other)
}

impl Worker {
    /// Looks at what came of a command, once it is our turn.
    pub(super) fn check(&self) -> Result<(), Error> {
        let region = &self.first.region;
        ensure(Mapping::are_valid(std::slice::from_ref(&region.reply)), "the reply")?;
        let reply = region.last_reply();
        let steps = reply.steps as usize;
        ensure(steps <= MAX_EVENTS, "the number of steps")?;
        let request = self.command.request;
        let has_run = matches!(request, Request::Run | Request::Continue | Request::Resume);
        ensure(!has_run || reply.outcome != Outcome::None, "the outcome")?;
        let is_wanted = reply.outcome != Outcome::Unwanted || self.is_hurried.get();
        ensure(is_wanted, "what is wanted")?;
        ensure(is_same(&region.command.get(), &self.command), "the command")?;
        ensure(region.setup.get().exit_code == self.setup.exit_code, "the settings")?;
        let threads = region.thread_count.get() as usize;
        let threads = part(&region.threads, 0..threads, "the threads")?;
        ensure(Mapping::are_valid(threads), "the threads")?;
        let notices = region.notice_count.get() as usize;
        let notices = part(&region.notices, 0..notices, "the notices")?;
        ensure(Mapping::are_valid(notices), "the notices")?;
        let reached = region.reached_count.get() as usize;
        self.reached.add(part(&region.reached, 0..reached, "the reached goals")?);
        ensure(region.accepted_count.get() as usize <= MAX_ACCEPTED, "the accepted outputs")?;
        // Of an execution that pauses at every step, the others were looked at when it did before; all of
        // them are once it has ended.
        let seen = match reply.outcome {
            Outcome::Paused if request == Request::Continue => self.seen_steps.get().min(steps),
            _ => 0,
        };
        self.seen_steps.set(steps);
        let events = part(&region.events, seen..steps, "the steps")?;
        ensure(Mapping::are_valid(events), "the steps")?;
        let is_granted = |event: &Cell<Event>| event.get().granted_by as usize <= steps;
        ensure(events.iter().all(is_granted), "the steps")
    }

    /// What came of one of several executions, which begins where those before it end.
    pub(crate) fn record(
        &self,
        number: usize,
        known: usize,
        at: &mut Kept,
    ) -> Result<Recorded, Error> {
        const WHAT: &str = "the recorded executions";
        let region = &self.first.region;
        let record = part(&region.records, number..number + 1, WHAT)?;
        ensure(Mapping::are_valid(record), WHAT)?;
        let Record { outcome, steps, alternatives } = record[0].get();
        let steps = steps as usize;
        let ends = steps.saturating_sub(known);
        let first = Record::first_kept(known).min(steps);
        let begin = *at;
        at.events += steps - first;
        at.ends += ends;
        at.alternatives += alternatives as usize;
        let events = part(&region.recorded_events, begin.events..at.events, WHAT)?;
        ensure(Mapping::are_valid(events), WHAT)?;
        let ends = part(&region.recorded_ends, begin.ends..at.ends, WHAT)?;
        let all = part(&region.recorded_alternatives, begin.alternatives..at.alternatives, WHAT)?;
        Ok(Recorded {
            outcome,
            first,
            events: Mapping::copy_of(events),
            alternatives: split(all, ends.iter().map(Cell::get))?,
        })
    }
}
