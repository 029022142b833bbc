//! Steps of executions, and what they touch, as the search sees them.

use crate::semaphores::{self, Unit};
use crate::symmetry::Symmetry;
use everypath_schedules::{Alternative, Taken};
use everypath_shim_abi::{
    Choice, EnabledStep, Event, Footprint, Operation, Phase, TIMEOUT, footprint, may_touch, units,
};
use std::collections::BTreeMap;

pub(crate) fn alternative(pending: EnabledStep) -> Alternative<EnabledStep> {
    let timeout = pending.is_timeout().then_some(TIMEOUT);
    Alternative {
        thread: pending.thread,
        timeout,
        outcomes: if pending.is_timeout() { 1 } else { pending.outcomes },
        step: pending,
    }
}

/// The steps of an execution with what they touched: a request that was granted at once has no
/// second step, so it touched what that would have. An atomic section touches everything when it
/// begins, and what happens inside cannot be moved by itself.
pub(crate) fn taken(events: &[Event], symmetry: &Symmetry) -> Vec<Taken> {
    taken_after(0, events, symmetry)
}

/// The same without the first steps, so many.
pub(crate) fn taken_after(left_out: usize, events: &[Event], symmetry: &Symmetry) -> Vec<Taken> {
    let mut is_inside = insides(events);
    let mut providers = providers(events);
    let mut unit_of = semaphores::taken(events);
    let mut turns = symmetry.turns(events);
    let threads = events.iter().map(|event| usize::from(event.thread) + 1).max();
    let mut waited = vec![false; threads.unwrap_or(0)];
    let mut steps: Vec<Taken> = events[left_out.min(events.len())..]
        .iter()
        .rev()
        .map(|event| {
            let thread = usize::from(event.thread);
            let granted = !waited[thread];
            waited[thread] = event.phase == Phase::Resume;
            let provided = providers.pop().unwrap_or_default();
            let unit = unit_of.pop().unwrap_or(Unit::Found);
            let turn = turns.pop().unwrap_or_default();
            let what = (unit.operation(provided.operation(event)), event.phase);
            let granted = granted && event.value != units::NONE_YET;
            let (object, is_free) = ((event.object, event.value), is_inside.pop() != Some(true));
            let footprint = match is_free {
                false => Footprint::nothing(),
                true => footprint(what, object, event.outcome, granted),
            };
            let is_certain = !is_free || event.outcome == TIMEOUT;
            let may_touch = may_touch(what, object).filter(|_| !is_certain);
            let creates = event.operation == Operation::Create;
            Taken {
                choice: Choice { thread: event.thread, outcome: event.outcome },
                // Turns first: whoever must come before does not race.
                footprint: turn.parts().chain(footprint.into_parts()).collect(),
                may_touch: may_touch.map(|of| turn.parts().chain(of.into_parts()).collect()),
                creates: creates.then_some(event.value as u16),
                after: (event.granted_by as usize).checked_sub(1),
                provided_by: provided.by.or(unit.from()),
                // A time-out is its own doing.
                resumes: event.phase == Phase::Resume && event.outcome != TIMEOUT,
            }
        })
        .collect();
    steps.reverse();
    steps
}

/// For each step, whether it is inside an atomic section; nothing if there are none.
fn insides(events: &[Event]) -> Vec<bool> {
    if !events.iter().any(|event| event.operation == Operation::AtomicBegin) {
        return Vec::new();
    }
    let mut inside = false;
    let is_inside = |event: &Event| {
        let was = inside;
        inside = (inside || event.operation == Operation::AtomicBegin)
            && event.operation != Operation::AtomicEnd;
        was
    };
    events.iter().map(is_inside).collect()
}

/// Where the bytes came from that a step took out of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Provided {
    /// The step that put the first of them in: without it there was nothing to take.
    by: Option<usize>,
    /// Whether others put in the rest: without those, the step would have taken less, so it could
    /// have come earlier, and that makes a difference.
    in_parts: bool,
}

impl Provided {
    /// What a step is to the others.
    fn operation(&self, event: &Event) -> Operation {
        match event.operation {
            Operation::ReceiveWhole | Operation::ReceiveAny if self.in_parts => Operation::Receive,
            Operation::AcceptQueued if self.in_parts => Operation::Accept,
            // Who let it in is not known.
            Operation::ConnectQueued if self.by.is_none() => Operation::Connect,
            other => other,
        }
    }
}

/// For each step that took bytes out of a stream, where they came from; nothing if there are none.
fn providers(events: &[Event]) -> Vec<Provided> {
    let takes = |event: &Event| {
        matches!(
            event.operation,
            Operation::ReceiveWhole
                | Operation::ReceiveAny
                | Operation::AcceptQueued
                | Operation::ConnectQueued
        )
    };
    if !events.iter().any(takes) {
        return Vec::new();
    }
    // Where the bytes that each step put in begin and end, by stream.
    let mut sent: BTreeMap<u64, BTreeMap<u64, (u64, usize)>> = BTreeMap::new();
    // The step from which on somebody listens, by address.
    let mut listening: BTreeMap<u64, usize> = BTreeMap::new();
    let provided = |(step, event): (usize, &Event)| {
        let (before, after) = event.bytes_moved();
        match event.operation {
            Operation::Listen => {
                listening.insert(event.object, step);
                sent.remove(&event.object);
                Provided::default()
            }
            // What was not known beforehand and never came to be put nothing in; and what another
            // receiver put there has no value.
            _ if event.value == u64::MAX || event.value == 0 => Provided::default(),
            Operation::ConnectQueued => {
                sent.entry(event.object).or_default().insert(before, (after, step));
                Provided { by: listening.get(&event.object).copied(), in_parts: false }
            }
            Operation::Send | Operation::SendWhole if after > before => {
                sent.entry(event.object).or_default().insert(before, (after, step));
                Provided::default()
            }
            // It could have come before them, and given up.
            Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AcceptQueued
                if event.phase == Phase::Limited =>
            {
                Provided::default()
            }
            Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AcceptQueued => {
                let runs = sent.get(&event.object);
                let run = runs.and_then(|runs| runs.range(..=before).next_back());
                match run.map(|(_, &run)| run).filter(|&(end, _)| end > before) {
                    Some((end, step)) => Provided { by: Some(step), in_parts: end < after },
                    // They were put in while nothing was a step, at least the first.
                    None => Provided { by: None, in_parts: true },
                }
            }
            _ => Provided::default(),
        }
    };
    events.iter().enumerate().map(provided).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By this the search knows programs for which wakeup trees do not do.
    #[test]
    fn the_search_is_told_where_something_may_be_missed() {
        let event = |operation| Event { operation, object: 64, ..Event::default() };
        let told = |operation| {
            let steps = taken(&[event(operation)], &Symmetry::default());
            steps[0].footprint.misses_at()
        };
        assert_eq!(told(Operation::ReceiveAny), Some(64));
        assert_eq!(told(Operation::MutexLock), None);
    }
}
