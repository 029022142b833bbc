//! A trace for Perfetto (<https://ui.perfetto.dev>): TrackEvents in Protocol Buffers, with flows for
//! messages and for what happens before what.
//!
//! A trace has no times: each step is a microsecond. Field numbers are those of
//! `protos/perfetto/trace/trace_packet.proto` and the files beside it.

use super::protobuf::Message;
use crate::expansion::Expanded;
use crate::timeline::{Timeline, content, location};
use everypath_trace::{SpanKind, Trace};
use std::collections::BTreeSet;

/// How long a step is, and how much of it is drawn, in nanoseconds.
const STEP: u64 = 1000;
const DRAWN: u64 = 900;

mod field {
    pub(super) const PACKET: u64 = 1;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
    pub(super) const DESCRIPTOR_UUID: u64 = 1;
    pub(super) const DESCRIPTOR_NAME: u64 = 2;
    pub(super) const DESCRIPTOR_PARENT: u64 = 5;
    pub(super) const ANNOTATION: u64 = 4;
    pub(super) const ANNOTATION_TEXT: u64 = 6;
    pub(super) const ANNOTATION_NAME: u64 = 10;
    pub(super) const TYPE: u64 = 9;
    pub(super) const TRACK: u64 = 11;
    pub(super) const CATEGORIES: u64 = 22;
    pub(super) const NAME: u64 = 23;
    pub(super) const FLOW: u64 = 47;
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const SEQUENCE: u64 = 1;

/// The bytes of a Perfetto trace.
pub fn perfetto(trace: &Trace) -> Vec<u8> {
    let expanded = Expanded::of(trace);
    let timeline = Timeline::of(&expanded);
    let mut events = Events::default();
    let root = 1;
    events.track(root, &crate::heading(trace), None);
    for (lane, of) in timeline.lanes.iter().enumerate() {
        events.track(lane_track(lane), &of.name, Some(root));
    }
    steps(&mut events, &timeline);
    outside(&mut events, &timeline);
    spans(&mut events, &timeline);
    events.finish()
}

fn lane_track(lane: usize) -> u64 {
    100 + lane as u64
}

/// The flow of a message, and of a step to those that it happens before.
fn message_flow(number: usize) -> u64 {
    2 * number as u64 + 1
}

fn order_flow(step: usize) -> u64 {
    2 * step as u64 + 2
}

fn steps(events: &mut Events, timeline: &Timeline<'_>) {
    let before: BTreeSet<usize> =
        timeline.trace.steps.iter().flat_map(|step| step.after.iter().copied()).collect();
    for (at, step) in timeline.trace.steps.iter().enumerate() {
        let lane = timeline.lane_of[at];
        let mut flows: Vec<u64> = step.after.iter().map(|&before| order_flow(before)).collect();
        if before.contains(&(at + 1)) {
            flows.push(order_flow(at + 1));
        }
        let mut notes: Vec<(&str, String)> = Vec::new();
        for flight in timeline.flights_at(at) {
            let sends = (flight.from.lane, flight.from.step) == (lane, at);
            let receives = (flight.to.lane, flight.to.step) == (lane, at) && flight.fate.arrives();
            if sends || receives {
                flows.push(message_flow(flight.number));
                let what = if sends { "sends" } else { "receives" };
                let note = format!("{} {}", content(flight.message, 96), flight.fate.note());
                notes.push((what, note.trim_end().into()));
            }
        }
        flows.sort_unstable();
        flows.dedup();
        notes.extend(location(step).map(|place| ("source", place)));
        notes.extend(step.object.clone().map(|object| ("object", object)));
        notes.extend(step.fault.clone().map(|fault| ("fault", fault)));
        let category = match () {
            () if timeline.critical() == Some(at) => "critical",
            () if step.fault.is_some() => "fault",
            () if step.preempts => "preemption",
            () => "step",
        };
        let slice =
            Slice { track: lane_track(lane), name: timeline.action(step), category, flows, notes };
        events.slice(&slice, at as u64 * STEP, at as u64 * STEP + DRAWN);
    }
}

/// What processes outside send and receive.
fn outside(events: &mut Events, timeline: &Timeline<'_>) {
    let mut sent = BTreeSet::new();
    for flight in &timeline.flights {
        // A message that was duplicated was sent once.
        let is_first = sent.insert(flight.number);
        let ends =
            [(flight.from, is_first, "sends"), (flight.to, flight.fate.arrives(), "receives")];
        for (point, happens, what) in ends {
            if happens && timeline.lanes[point.lane].is_outside {
                let slice = Slice {
                    track: lane_track(point.lane),
                    name: format!("{what} {}", content(flight.message, 40)),
                    category: "message",
                    flows: vec![message_flow(flight.number)],
                    notes: Vec::new(),
                };
                // Several in one step come one after the other.
                let start = point.step as u64 * STEP + flight.number as u64 % 64 * 10;
                events.slice(&slice, start, start + 8);
            }
        }
    }
}

/// Lock holds and waits, each lane's on tracks of its own: slices of one track must be nested.
fn spans(events: &mut Events, timeline: &Timeline<'_>) {
    let mut busy: Vec<Vec<usize>> = vec![Vec::new(); timeline.lanes.len()];
    for span in &timeline.trace.spans {
        let Some(lane) = timeline.actor(&span.actor) else { continue };
        let until = span.to.unwrap_or(timeline.trace.steps.len() + 1);
        let free = busy[lane].iter().position(|&end| end <= span.from);
        let slot = free.unwrap_or(busy[lane].len());
        let track = 1_000_000 + lane as u64 * 1000 + slot as u64;
        if slot == busy[lane].len() {
            busy[lane].push(until);
            events.track(track, "locks and waits", Some(lane_track(lane)));
        } else {
            busy[lane][slot] = until;
        }
        let (verb, category) = match span.kind {
            SpanKind::Hold => ("holds", "lock"),
            SpanKind::Wait => ("waits for", "wait"),
        };
        let name = format!("{verb} {}", span.object);
        let slice = Slice { track, name, category, flows: Vec::new(), notes: Vec::new() };
        let start = span.from.saturating_sub(1) as u64 * STEP;
        events.slice(&slice, start, (until.saturating_sub(1) as u64 * STEP).max(start + 1));
    }
}

struct Slice<'a> {
    track: u64,
    name: String,
    category: &'a str,
    flows: Vec<u64>,
    notes: Vec<(&'a str, String)>,
}

#[derive(Default)]
struct Events {
    /// Descriptors of tracks first, then events with their times.
    tracks: Vec<Message>,
    events: Vec<(u64, Message)>,
}

impl Events {
    fn track(&mut self, uuid: u64, name: &str, parent: Option<u64>) {
        let mut descriptor = Message::default();
        descriptor.number(field::DESCRIPTOR_UUID, uuid).text(field::DESCRIPTOR_NAME, name);
        if let Some(parent) = parent {
            descriptor.number(field::DESCRIPTOR_PARENT, parent);
        }
        let mut packet = Message::default();
        packet.number(field::SEQUENCE, SEQUENCE).message(field::TRACK_DESCRIPTOR, &descriptor);
        if self.tracks.is_empty() {
            // The state of this sequence begins here.
            packet.number(field::SEQUENCE_FLAGS, 1);
        }
        self.tracks.push(packet);
    }

    fn slice(&mut self, slice: &Slice<'_>, start: u64, end: u64) {
        let mut begin = Message::default();
        begin
            .number(field::TYPE, SLICE_BEGIN)
            .number(field::TRACK, slice.track)
            .text(field::CATEGORIES, slice.category)
            .text(field::NAME, &slice.name);
        for &flow in &slice.flows {
            begin.fixed(field::FLOW, flow);
        }
        for (name, text) in &slice.notes {
            let mut annotation = Message::default();
            annotation.text(field::ANNOTATION_NAME, name).text(field::ANNOTATION_TEXT, text);
            begin.message(field::ANNOTATION, &annotation);
        }
        let mut finish = Message::default();
        finish.number(field::TYPE, SLICE_END).number(field::TRACK, slice.track);
        self.event(start, &begin);
        self.event(end, &finish);
    }

    fn event(&mut self, time: u64, event: &Message) {
        let mut packet = Message::default();
        packet
            .number(field::TIMESTAMP, time)
            .number(field::SEQUENCE, SEQUENCE)
            .message(field::TRACK_EVENT, event);
        self.events.push((time, packet));
    }

    fn finish(mut self) -> Vec<u8> {
        self.events.sort_by_key(|(time, _)| *time);
        let mut trace = Message::default();
        let packets = self.tracks.iter().chain(self.events.iter().map(|(_, packet)| packet));
        for packet in packets {
            trace.message(field::PACKET, packet);
        }
        trace.finish()
    }
}
