//! Messages as steps of their own, where an execution has fewer steps than messages.
//!
//! A program with one thread takes a step only where something is to be chosen, so many messages may
//! belong to one step. In charts each of them needs a row.

use crate::text::plain;
use crate::timeline::{content, party_name};
use everypath_trace::{Message, Moment, Target, Trace, TraceStep};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A trace in which no step of a native program sends or receives more than one message.
pub(crate) struct Expanded<'a> {
    pub(crate) trace: Cow<'a, Trace>,
    /// The number of each step in the recorded trace; none of those that were added.
    pub(crate) numbers: Vec<Option<usize>>,
}

/// Something that a program does with a message.
struct Deed<'a> {
    message: &'a Message,
    moment: Moment,
    sends: bool,
}

impl<'a> Expanded<'a> {
    pub(crate) fn of(trace: &'a Trace) -> Self {
        let mut of_step: BTreeMap<usize, Vec<Deed<'_>>> = BTreeMap::new();
        for deed in deeds(trace) {
            of_step.entry(deed.moment.step.min(trace.steps.len())).or_default().push(deed);
        }
        let is_crowded = |(&step, deeds): (&usize, &Vec<Deed<'_>>)| step == 0 || deeds.len() > 1;
        let is_model = matches!(trace.target, Target::Model { .. });
        if is_model || !of_step.iter().any(is_crowded) {
            let numbers = (1..=trace.steps.len()).map(Some).collect();
            return Expanded { trace: Cow::Borrowed(trace), numbers };
        }
        let mut growing = Growing::default();
        for step in 0..=trace.steps.len() {
            let mut deeds = of_step.remove(&step).unwrap_or_default();
            deeds.sort_by_key(|deed| deed.moment.order);
            growing.add(trace, step, &deeds);
        }
        growing.finish(trace)
    }
}

/// What programs under control do with messages. What a process outside does is no row of its own.
fn deeds(trace: &Trace) -> impl Iterator<Item = Deed<'_>> {
    trace.messages.iter().flat_map(|message| {
        let sent =
            (!message.from.outside).then_some(Deed { message, moment: message.sent, sends: true });
        let arrivals = message.arrivals.iter().filter(|_| !message.to.outside);
        let received = arrivals.map(move |&moment| Deed { message, moment, sends: false });
        sent.into_iter().chain(received)
    })
}

#[derive(Default)]
struct Growing {
    steps: Vec<TraceStep>,
    numbers: Vec<Option<usize>>,
    /// The new number of each recorded step, from 1 on.
    new: Vec<usize>,
    /// The new step of each moment, by its order.
    moments: BTreeMap<usize, usize>,
}

impl Growing {
    /// Adds a recorded step, counted from 1, and what was sent and received in it; 0 is what came before
    /// the first.
    fn add(&mut self, trace: &Trace, step: usize, deeds: &[Deed<'_>]) {
        if let Some(recorded) = step.checked_sub(1).and_then(|at| trace.steps.get(at)) {
            self.steps.push(recorded.clone());
            self.numbers.push(Some(step));
        }
        self.new.push(self.steps.len());
        for (at, deed) in deeds.iter().enumerate() {
            // The step itself is the first of them.
            if at > 0 || step == 0 {
                self.steps.push(added(trace, step, deed));
                self.numbers.push(None);
            }
            self.moments.insert(deed.moment.order, self.steps.len());
        }
    }

    fn finish(self, trace: &Trace) -> Expanded<'static> {
        let new = |step: usize| self.new.get(step).copied().unwrap_or(step);
        let moment = |at: &Moment| {
            let known = self.moments.range(..=at.order).next_back();
            let step = known.map_or(1, |(_, &step)| step).max(new(at.step).min(1));
            Moment { order: at.order, step }
        };
        let mut trace = Trace { steps: self.steps, ..trace.clone() };
        for step in &mut trace.steps {
            step.after.iter_mut().for_each(|before| *before = new(*before));
        }
        for message in &mut trace.messages {
            message.sent = moment(&message.sent);
            message.arrivals.iter_mut().for_each(|at| *at = moment(at));
        }
        for span in &mut trace.spans {
            span.from = new(span.from);
            span.to = span.to.map(new);
        }
        if let Some(explanation) = &mut trace.explanation {
            explanation.critical_step = new(explanation.critical_step);
            let race = explanation.race.iter_mut().filter_map(|step| step.number.as_mut());
            race.for_each(|number| *number = new(*number));
        }
        Expanded { trace: Cow::Owned(trace), numbers: self.numbers }
    }
}

/// A step that stands for a message.
fn added(trace: &Trace, step: usize, deed: &Deed<'_>) -> TraceStep {
    let Deed { message, sends, .. } = deed;
    let own = if *sends { &message.from } else { &message.to };
    let process = format!("{}: ", own.process);
    // The last actor of that process, or else of all, that took a step before.
    let before = trace.steps[..step.min(trace.steps.len())].iter().rev();
    let mut candidates = before.chain(&trace.steps).map(|step| step.actor.as_str());
    let nearest = candidates.clone().next().unwrap_or("main");
    let actor = candidates.find(|actor| actor.starts_with(&process)).unwrap_or(nearest);
    let text = match sends {
        true => format!("sends {} to {}", content(message, 40), party_name(&message.to, false)),
        false => {
            format!("receives {} from {}", content(message, 40), party_name(&message.from, false))
        }
    };
    TraceStep {
        actor: actor.into(),
        event: if *sends { "send" } else { "receive" }.into(),
        text: plain(&text),
        ..TraceStep::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_step_with_several_messages_becomes_several() {
        let mut trace = fixtures::exchange();
        // All that the first thread does in the beginning is one step.
        trace.steps.drain(1..3);
        for message in &mut trace.messages {
            for moment in message.arrivals.iter_mut().chain([&mut message.sent]) {
                moment.step = if moment.step <= 3 { 1 } else { moment.step - 2 };
            }
        }
        trace.steps[1].after = vec![1];
        let expanded = Expanded::of(&trace);
        let texts: Vec<&str> =
            expanded.trace.steps.iter().take(3).map(|step| step.text.as_str()).collect();
        assert_eq!(expanded.numbers[..4], [Some(1), None, Some(2), Some(3)]);
        assert_eq!(texts[1], "receives \"200 OK\" from server :7000");
        assert_eq!(expanded.trace.messages[1].arrivals[0].step, 2);
        assert_eq!(expanded.trace.steps[2].after, [1]);
    }

    #[test]
    fn one_message_a_step_stays_as_it_is() {
        let trace = fixtures::exchange();
        let expanded = Expanded::of(&trace);
        assert!(matches!(expanded.trace, Cow::Borrowed(_)));
        assert_eq!(expanded.numbers.len(), trace.steps.len());
    }
}
