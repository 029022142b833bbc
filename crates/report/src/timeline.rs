//! Who did what when: the lanes, steps and messages of a trace, placed for charts.
//!
//! Every picture is drawn from a [`Timeline`]: lanes are threads or nodes, in the order in which they
//! first act, then real processes outside of the exploration; rows are steps. What is shown as text
//! is safe for a terminal: control characters and directional overrides are escaped.

use crate::expansion::Expanded;
use crate::text::plain;
use everypath_trace::{Message, Party, Target, Trace, TraceStep};
use std::collections::{BTreeMap, BTreeSet};

/// If there are more sockets outside than this, those of a process are one lane.
const MOST_OUTSIDE: usize = 4;

/// A trace, placed.
pub(crate) struct Timeline<'a> {
    pub(crate) trace: &'a Trace,
    /// The number of each step in the recorded trace; none of those that stand for messages.
    pub(crate) numbers: &'a [Option<usize>],
    pub(crate) lanes: Vec<Lane>,
    /// The lane of each step.
    pub(crate) lane_of: Vec<usize>,
    pub(crate) flights: Vec<Flight<'a>>,
    /// Of each step, the numbers of the flights that begin or end in it.
    flights_of: Vec<Vec<usize>>,
    /// The number of each lane, by whether it is outside, and its name.
    known: BTreeMap<(bool, String), usize>,
}

/// A vertical line of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) name: String,
    /// Whether it is a process that takes no steps of its own.
    pub(crate) is_outside: bool,
}

/// A message on one of its ways: a duplicated one has several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight<'a> {
    pub(crate) message: &'a Message,
    /// Its number among all messages, from 0.
    pub(crate) number: usize,
    pub(crate) from: Point,
    /// Where it arrives or, if it does not, where it was going.
    pub(crate) to: Point,
    pub(crate) fate: Fate,
}

/// A lane and a step, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) lane: usize,
    pub(crate) step: usize,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    /// After something that was sent later.
    Late,
    /// Once more.
    Again,
    Lost,
    Unread,
}

impl Fate {
    /// What is said beside the content.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Fate::Arrives => "",
            Fate::Late => "late",
            Fate::Again => "duplicate",
            Fate::Lost => "lost",
            Fate::Unread => "not read",
        }
    }

    pub(crate) fn arrives(self) -> bool {
        !matches!(self, Fate::Lost | Fate::Unread)
    }
}

impl<'a> Timeline<'a> {
    pub(crate) fn of(expanded: &'a Expanded<'_>) -> Self {
        let (trace, numbers) = (expanded.trace.as_ref(), expanded.numbers.as_slice());
        let mut timeline = Timeline {
            trace,
            numbers,
            lanes: Vec::new(),
            lane_of: Vec::new(),
            flights: Vec::new(),
            flights_of: vec![Vec::new(); trace.steps.len()],
            known: BTreeMap::new(),
        };
        for step in &trace.steps {
            let lane = timeline.lane(plain(&step.actor), false);
            timeline.lane_of.push(lane);
        }
        timeline.add_flights();
        for (number, flight) in timeline.flights.iter().enumerate() {
            let (from, to) = (flight.from.step, flight.to.step);
            for step in [Some(from), Some(to).filter(|to| *to != from)].into_iter().flatten() {
                if let Some(of) = timeline.flights_of.get_mut(step) {
                    of.push(number);
                }
            }
        }
        timeline
    }

    /// The number of a lane, which is added if it is new.
    fn lane(&mut self, name: String, is_outside: bool) -> usize {
        let fresh = self.lanes.len();
        let number = *self.known.entry((is_outside, name.clone())).or_insert(fresh);
        if number == fresh {
            self.lanes.push(Lane { name, is_outside });
        }
        number
    }

    /// The flights that begin or end in a step.
    pub(crate) fn flights_at(&self, step: usize) -> impl Iterator<Item = &Flight<'a>> {
        let numbers = self.flights_of.get(step).into_iter().flatten();
        numbers.map(|&number| &self.flights[number])
    }

    fn add_flights(&mut self) {
        let messages = &self.trace.messages;
        let parties = messages.iter().flat_map(|message| [&message.from, &message.to]);
        let outside: BTreeSet<&Party> = parties.filter(|party| party.outside).collect();
        let is_merged = outside.len() > MOST_OUTSIDE;
        let ways = Ways::of(messages);
        for (number, message) in messages.iter().enumerate() {
            let from = self.point(&message.from, message.sent.step, is_merged);
            let arrivals = message.arrivals.iter().enumerate();
            let mut ends: Vec<(usize, Fate)> = arrivals
                .map(|(copies, at)| {
                    let fate = match copies {
                        0 if ways.is_overtaken(message, at.order) => Fate::Late,
                        0 => Fate::Arrives,
                        _ => Fate::Again,
                    };
                    (at.step, fate)
                })
                .collect();
            if ends.is_empty() {
                let fate = if message.lost { Fate::Lost } else { Fate::Unread };
                ends.push((message.sent.step, fate));
            }
            for (step, fate) in ends {
                let to = if fate.arrives() {
                    self.point(&message.to, step, is_merged)
                } else {
                    Point { lane: self.receiver(message, is_merged), step: from.step }
                };
                self.flights.push(Flight { message, number, from, to, fate });
            }
        }
    }

    /// Where a party is in a step, counted from 1: at the lane of the actor whose step it is, or at
    /// its own.
    fn point(&mut self, party: &Party, step: usize, is_merged: bool) -> Point {
        let step = step.saturating_sub(1).min(self.lane_of.len().saturating_sub(1));
        let own = self.lane_of.get(step).copied().filter(|_| !party.outside);
        let lane = own.unwrap_or_else(|| self.lane_of_party(party, is_merged));
        Point { lane, step }
    }

    fn lane_of_party(&mut self, party: &Party, is_merged: bool) -> usize {
        self.lane(party_name(party, is_merged), true)
    }

    /// The lane that a message was going to: that of whoever received or sent something at the same
    /// address, or of an actor of that process.
    fn receiver(&mut self, message: &Message, is_merged: bool) -> usize {
        let to = &message.to;
        if to.outside {
            return self.lane_of_party(to, is_merged);
        }
        let messages = self.trace.messages.iter();
        let known = messages.filter_map(|other| {
            let sent = (other.from == *to).then_some(other.sent.step);
            let received = (other.to == *to).then(|| other.arrivals.first()).flatten();
            sent.or(received.map(|at| at.step))
        });
        let by_address = known.filter_map(|step| self.lane_of.get(step.checked_sub(1)?)).next();
        let process = plain(&to.process);
        let by_name = || {
            let is_its = |lane: &Lane| {
                lane.name == process || lane.name.starts_with(&format!("{process}: "))
            };
            self.lanes.iter().position(is_its)
        };
        let found = by_address.copied().or_else(by_name);
        found.unwrap_or_else(|| self.lane_of_party(to, is_merged))
    }

    /// The lane of an actor by its name.
    pub(crate) fn actor(&self, name: &str) -> Option<usize> {
        self.known.get(&(false, plain(name))).copied()
    }

    /// The number of a step, counted from 0, as people know it.
    pub(crate) fn number(&self, step: usize) -> Option<usize> {
        self.numbers.get(step).copied().flatten()
    }

    /// The number of the critical step, counted from 0.
    pub(crate) fn critical(&self) -> Option<usize> {
        let step = self.trace.explanation.as_ref()?.critical_step.checked_sub(1)?;
        (step < self.trace.steps.len()).then_some(step)
    }

    /// What a step does, without the place that [`location`] gives; of a model, with its event.
    pub(crate) fn action(&self, step: &TraceStep) -> String {
        match &self.trace.target {
            Target::Model { .. } => format!("{}: {}", plain(&step.event), action(step)),
            Target::Native { .. } | Target::Unconfigured { .. } => action(step),
        }
    }

    /// What is special about a step, in words.
    pub(crate) fn marks(&self, step: usize) -> Vec<String> {
        let of = &self.trace.steps[step];
        let known = [
            (self.critical() == Some(step), "critical step"),
            (self.race().contains(&step), "racing"),
            (of.preempts, "preemption"),
            (of.timeout, "time-out"),
        ];
        let marks = known.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words.into());
        marks.chain(of.fault.iter().map(|fault| format!("fault: {}", plain(fault)))).collect()
    }

    /// The steps of the racing pair that the trace has, counted from 0.
    pub(crate) fn race(&self) -> Vec<usize> {
        let race = self.trace.explanation.iter().flat_map(|known| &known.race);
        let steps = race.filter_map(|step| step.number?.checked_sub(1));
        steps.filter(|&step| step < self.trace.steps.len()).collect()
    }
}

/// The name of a party; if its sockets are merged, without the address.
pub(crate) fn party_name(party: &Party, is_merged: bool) -> String {
    let (process, address) = (plain(&party.process), plain(&party.address));
    match is_merged || address.is_empty() {
        true => process,
        false => format!("{process} {address}"),
    }
}

/// What was sent from one party to another, to find out what was overtaken.
pub(crate) struct Ways<'a> {
    /// In the order of sending: when each was sent, and when it or a later one first arrived.
    sent: BTreeMap<(&'a Party, &'a Party), Vec<(usize, usize)>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn of(messages: &'a [Message]) -> Self {
        let mut sent: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
        for message in messages {
            let arrives = message.arrivals.iter().map(|at| at.order).min().unwrap_or(usize::MAX);
            sent.entry((&message.from, &message.to))
                .or_default()
                .push((message.sent.order, arrives));
        }
        for way in sent.values_mut() {
            way.sort_unstable();
            let mut first = usize::MAX;
            for (_, arrives) in way.iter_mut().rev() {
                first = first.min(*arrives);
                *arrives = first;
            }
        }
        Ways { sent }
    }

    /// Whether something that was sent later on the same way arrived before a moment.
    pub(crate) fn is_overtaken(&self, message: &Message, order: usize) -> bool {
        let Some(way) = self.sent.get(&(&message.from, &message.to)) else { return false };
        let later = way.partition_point(|(sent, _)| *sent <= message.sent.order);
        way.get(later).is_some_and(|(_, first)| *first < order)
    }
}

/// Where a step was made: file and line of its innermost frame.
pub(crate) fn location(step: &TraceStep) -> Option<String> {
    let frame = step.stack.first()?;
    let file = plain(frame.file.as_ref()?);
    Some(frame.line.map_or(file.clone(), |line| format!("{file}:{line}")))
}

/// What a step does, without the place that [`location`] gives.
fn action(step: &TraceStep) -> String {
    let text = plain(&step.text);
    let frame = step.stack.first();
    let place = frame.and_then(|frame| {
        let place = location(step)?;
        text.strip_suffix(&format!(", {} at {place}", plain(&frame.function)))
    });
    place.map_or(text.clone(), Into::into)
}

/// The content of a message in so many characters, about.
pub(crate) fn content(message: &Message, width: usize) -> String {
    let shown = plain(&message.content);
    if message.kept == message.length && shown.chars().count() + 2 <= width {
        return format!("\"{shown}\"");
    }
    let count = format!(" {} bytes", message.length);
    let room = width.saturating_sub(count.len() + 3).max(4);
    let beginning: String = shown.chars().take(room).collect();
    let rest =
        if beginning.len() < shown.len() || message.kept < message.length { "…" } else { "" };
    format!("\"{beginning}{rest}\"{count}")
}

/// The text in so many characters; what is left out is left out in the middle.
pub fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.into();
    }
    let tail = width / 2;
    let head = width - tail - 1;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn threads_are_lanes_and_processes_outside_are_others() {
        let trace = fixtures::exchange();
        let expanded = Expanded::of(&trace);
        let timeline = Timeline::of(&expanded);
        let names: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["main", "thread 1 (worker)", "server :7000"]);
        assert!(timeline.lanes[2].is_outside && !timeline.lanes[1].is_outside);
        let fates: Vec<Fate> = timeline.flights.iter().map(|flight| flight.fate).collect();
        assert_eq!(
            fates,
            [Fate::Arrives, Fate::Arrives, Fate::Lost, Fate::Late, Fate::Again, Fate::Arrives]
        );
    }

    #[test]
    fn what_is_long_is_shortened_in_the_middle() {
        assert_eq!(shortened("short", 9), "short");
        assert_eq!(shortened("a/very/long/path.rs:123", 12), "a/ver…rs:123");
        assert_eq!(shortened("a/very/long/path.rs:123", 12).chars().count(), 12);
    }

    #[test]
    fn the_place_of_a_step_is_not_said_twice() {
        let trace = fixtures::deadlock();
        assert_eq!(action(&trace.steps[5]), "locks mutex forks[1]");
        assert_eq!(location(&trace.steps[5]).unwrap(), "philosophers.c:18");
    }
}
