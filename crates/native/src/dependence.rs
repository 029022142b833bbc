//! Steps of executions, and what they touch, as the search sees them.

use crate::semaphores::{self, Unit};
use crate::symmetry::Symmetry;
use everypath_schedules::{Alternative, Taken};
use everypath_shim_abi::{
    Choice, Completion, EnabledStep, Event, Footprint, Object, OperationKind, Phase, Providers,
    Span, Step, TIMEOUT,
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
/// second step, so it touched what that would have. The start of an atomic section depends on
/// every step, and steps inside cannot be reordered by themselves.
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
            let provided = providers.pop().unwrap_or(Provided::NOTHING);
            let unit = unit_of.pop().unwrap_or(Unit::Found);
            let turn = turns.pop().unwrap_or_default();
            let completion = event.completion();
            let granted = granted && completion != Completion::NoUnits;
            let providers =
                if unit == Unit::Lost { Providers::Unknown } else { provided.providers };
            let step = Step { granted, providers, ..event.step() };
            let is_free = is_inside.pop() != Some(true);
            let footprint = if is_free { step.footprint() } else { Footprint::nothing() };
            let may_touch = if is_free { step.may_touch() } else { None };
            Taken {
                choice: Choice { thread: event.thread, outcome: event.outcome },
                // Turns first: whoever must come before does not race.
                footprint: turn.parts().chain(footprint.into_parts()).collect(),
                may_touch: may_touch.map(|of| turn.parts().chain(of.into_parts()).collect()),
                creates: match completion {
                    Completion::Created(thread) => Some(thread),
                    _ => None,
                },
                after: (event.granted_by as usize).checked_sub(1),
                provided_by: provided.by.or(unit.from()),
                // A time-out is its own doing.
                resumes: event.phase == Phase::Resume && event.outcome != TIMEOUT,
                comes_last: event.is_last,
            }
        })
        .collect();
    steps.reverse();
    steps
}

/// For each step, whether it is inside an atomic section; nothing if there are none.
fn insides(events: &[Event]) -> Vec<bool> {
    if !events.iter().any(|event| event.kind() == OperationKind::AtomicBegin) {
        return Vec::new();
    }
    let mut inside = false;
    let is_inside = |event: &Event| {
        let was = inside;
        inside = (inside || event.kind() == OperationKind::AtomicBegin)
            && event.kind() != OperationKind::AtomicEnd;
        was
    };
    events.iter().map(is_inside).collect()
}

/// Where the bytes came from that a step took out of a stream.
#[derive(Clone, Copy, Debug)]
struct Provided {
    /// The step that put the first of them in: without it there was nothing to take.
    by: Option<usize>,
    /// Whether that one put in all of them. If others put in the rest, the step would have taken less
    /// without those, so it could have come earlier, and that makes a difference.
    providers: Providers,
}

impl Provided {
    /// Of a step that takes nothing, or nothing that a step put in.
    const NOTHING: Provided = Provided { by: None, providers: Providers::Known };
}

/// For each step that took bytes out of a stream, where they came from; nothing if there are none.
fn providers(events: &[Event]) -> Vec<Provided> {
    let takes = |event: &Event| {
        matches!(
            event.kind(),
            OperationKind::ReceiveWhole
                | OperationKind::ReceiveAny
                | OperationKind::AcceptQueued
                | OperationKind::ConnectQueued
        )
    };
    if !events.iter().any(takes) {
        return Vec::new();
    }
    // Where the bytes that each step put in begin and end, by stream.
    let mut sent: BTreeMap<Object, BTreeMap<u64, (u64, usize)>> = BTreeMap::new();
    // The step from which on somebody listens, by address.
    let mut listening: BTreeMap<Object, usize> = BTreeMap::new();
    let provided = |(step, event): (usize, &Event)| {
        if event.kind() == OperationKind::Listen {
            listening.insert(event.object, step);
            sent.remove(&event.object);
        }
        // Without a span nothing was moved that another step would have to know: it never came to be,
        // or another receiver put it there.
        let Some(span) = event.moved() else { return Provided::NOTHING };
        match event.kind() {
            OperationKind::ConnectQueued => {
                sent.entry(event.object).or_default().insert(span.start(), (span.end, step));
                match listening.get(&event.object) {
                    Some(&step) => Provided { by: Some(step), providers: Providers::Known },
                    None => Provided { by: None, providers: Providers::Unknown },
                }
            }
            OperationKind::Send | OperationKind::SendWhole if span.count > 0 => {
                sent.entry(event.object).or_default().insert(span.start(), (span.end, step));
                Provided::NOTHING
            }
            // It could have come before them, and timed out.
            OperationKind::ReceiveWhole
            | OperationKind::ReceiveAny
            | OperationKind::AcceptQueued
                if event.phase == Phase::Limited =>
            {
                Provided::NOTHING
            }
            OperationKind::ReceiveWhole
            | OperationKind::ReceiveAny
            | OperationKind::AcceptQueued => provider(sent.get(&event.object), span),
            _ => Provided::NOTHING,
        }
    };
    events.iter().enumerate().map(provided).collect()
}

/// Who put the bytes of a span into a stream, of which is known where the bytes of each step begin and
/// end.
fn provider(runs: Option<&BTreeMap<u64, (u64, usize)>>, span: Span) -> Provided {
    let run = runs.and_then(|runs| runs.range(..=span.start()).next_back());
    match run.map(|(_, &run)| run).filter(|&(end, _)| end > span.start()) {
        Some((end, step)) if end < span.end => {
            Provided { by: Some(step), providers: Providers::Unknown }
        }
        Some((_, step)) => Provided { by: Some(step), providers: Providers::Known },
        // They were put in while nothing was a step, at least the first.
        None => Provided { by: None, providers: Providers::Unknown },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_shim_abi::{Facet, Operation};

    /// By this the search knows programs for which wakeup trees do not do.
    #[test]
    fn the_search_is_told_where_something_may_be_missed() {
        let socket = Object::socket(1);
        let event = |operation| Event::new(0, operation, socket);
        let told = |operation| {
            let steps = taken(&[event(operation)], &Symmetry::default());
            steps[0].footprint.misses_at()
        };
        assert_eq!(told(Operation::ReceiveAny), Some(socket.facet(Facet::Whole)));
        assert_eq!(told(Operation::MutexLock), None);
    }
}
