//! A trace as data for the page's script: lanes, steps and messages placed, stacks and lines of states
//! numbered, since they repeat.

use crate::expansion::Expanded;
use crate::text::{grouped, plain};
use crate::timeline::{Flight, Timeline, location, party_name};
use everypath_trace::{Frame, Line, Message, Span, SpanKind, Target, Trace};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Things that repeat, each with a number.
struct Table<T> {
    numbers: BTreeMap<T, usize>,
    rows: Vec<Value>,
}

impl<T: Ord> Table<T> {
    fn new() -> Self {
        Table { numbers: BTreeMap::new(), rows: Vec::new() }
    }

    fn number(&mut self, thing: T, row: impl FnOnce(&T) -> Value) -> usize {
        let fresh = self.rows.len();
        match self.numbers.get(&thing) {
            Some(&number) => number,
            None => {
                self.rows.push(row(&thing));
                self.numbers.insert(thing, fresh);
                fresh
            }
        }
    }
}

/// A step; what is empty is not written.
#[derive(Serialize)]
struct StepData {
    lane: usize,
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    place: String,
    event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    preempts: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timeout: bool,
}

/// The data as JSON.
pub(super) fn json(trace: &Trace, title: &str, replay: &str) -> String {
    let expanded = Expanded::of(trace);
    let timeline = Timeline::of(&expanded);
    let (recorded, trace) = (trace, timeline.trace);
    let mut stacks: Table<Vec<Frame>> = Table::new();
    let mut lines: Table<(String, String)> = Table::new();
    let mut state = |of: &[Line]| -> Vec<usize> {
        let pair = |line: &Line| (plain(&line.part), plain(&line.text));
        of.iter().map(|line| lines.number(pair(line), |(part, text)| json!([part, text]))).collect()
    };
    let initial = state(&trace.initial);
    let steps: Vec<StepData> = trace
        .steps
        .iter()
        .zip(&timeline.lane_of)
        .map(|(step, &lane)| StepData {
            lane,
            text: timeline.action(step),
            place: location(step).unwrap_or_default(),
            event: plain(&step.event),
            object: step.object.as_deref().map(plain),
            stack: (!step.stack.is_empty())
                .then(|| stacks.number(step.stack.clone(), |stack| frames(stack))),
            state: state(&step.state),
            after: step.after.clone(),
            fault: step.fault.as_deref().map(plain),
            preempts: step.preempts,
            timeout: step.timeout,
        })
        .collect();
    let data = json!({
        "title": title,
        "property": plain(&trace.violation.property),
        "why": plain(&trace.violation.message),
        "target": target(trace),
        "facts": facts(recorded),
        "numbers": timeline.numbers,
        "critical": trace.explanation.as_ref().map(|_| timeline.critical().map_or(0, |at| at + 1)),
        "exact": trace.explanation.as_ref().is_some_and(|of| of.exact),
        "race": timeline.race().iter().map(|step| step + 1).collect::<Vec<_>>(),
        "rival": rival(trace),
        "places": trace.violation.places.iter().map(|place| json!({
            "actor": plain(&place.actor), "text": plain(&place.text), "stack": frames(&place.stack),
        })).collect::<Vec<_>>(),
        "lanes": timeline.lanes.iter().map(|lane| json!({
            "name": lane.name, "outside": lane.is_outside,
        })).collect::<Vec<_>>(),
        "steps": steps,
        "initial": initial,
        "lines": lines.rows,
        "stacks": stacks.rows,
        "sources": sources(trace),
        "spans": trace.spans.iter().filter_map(|span| placed(span, &timeline)).collect::<Vec<_>>(),
        "messages": trace.messages.iter().map(message).collect::<Vec<_>>(),
        "flights": timeline.flights.iter().map(flight).collect::<Vec<_>>(),
        "found": trace.found.iter().map(|step| json!([
            plain(&step.actor), plain(&step.text), u8::from(step.preempts),
        ])).collect::<Vec<_>>(),
        "assumptions": trace.assumptions.iter().map(|of| plain(&of.text)).collect::<Vec<_>>(),
        "replay": plain(replay),
    });
    data.to_string()
}

fn frames(stack: &[Frame]) -> Value {
    let frame = |frame: &Frame| {
        let file = frame.file.as_deref().map(plain);
        json!([plain(&frame.function), file, frame.line])
    };
    stack.iter().map(frame).collect()
}

fn target(trace: &Trace) -> String {
    match &trace.target {
        Target::Model { name, .. } => plain(name),
        Target::Native { config, .. } => plain(&config.target()),
        Target::Unconfigured { program } => plain(program),
    }
}

fn facts(trace: &Trace) -> Vec<(String, String)> {
    let number = |count: usize| grouped(count as u64);
    let several = |count: usize, one: &str| {
        (if count == 1 { one.to_string() } else { format!("{one}s") }, number(count))
    };
    let switches = |count: usize| {
        let what = if count == 1 { "context switch" } else { "context switches" };
        (what.to_string(), number(count))
    };
    let mut facts = vec![several(trace.steps.len(), "step")];
    if !matches!(trace.target, Target::Model { .. }) {
        facts.push(switches(trace.switches()));
        facts.push(several(trace.preemptions(), "preemption"));
    }
    if !trace.messages.is_empty() {
        facts.push(several(trace.messages.len(), "message"));
    }
    if !trace.found.is_empty() {
        facts.push(("steps before minimising".into(), number(trace.found.len())));
    }
    if !trace.search.strategy.is_empty() {
        facts.push(("found by".into(), plain(&trace.search.strategy)));
    }
    facts
}

/// The second step of a racing pair, if the trace does not take it.
fn rival(trace: &Trace) -> Option<String> {
    let explanation = trace.explanation.as_ref()?;
    let step = explanation.race.iter().find(|step| step.number.is_none())?;
    Some(format!("{} {}", plain(&step.actor), plain(&step.text)))
}

fn sources(trace: &Trace) -> Value {
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for excerpt in &trace.sources {
        let lines: Vec<String> = excerpt.lines.iter().map(|line| readable(line)).collect();
        files.entry(plain(&excerpt.file)).or_default().push(json!([excerpt.first, lines]));
    }
    json!(files)
}

/// A line of a source: tabs are kept as blanks.
fn readable(line: &str) -> String {
    plain(&line.replace('\t', "    "))
}

fn placed(span: &Span, timeline: &Timeline<'_>) -> Option<Value> {
    let lane = timeline.actor(&span.actor)?;
    let awaits = span.awaits.as_deref().and_then(|name| timeline.actor(name));
    let kind = if span.kind == SpanKind::Hold { 0 } else { 1 };
    Some(json!([kind, lane, plain(&span.object), span.from, span.to, awaits]))
}

fn message(message: &Message) -> Value {
    json!({
        "from": party_name(&message.from, false),
        "to": party_name(&message.to, false),
        "content": plain(&message.content),
        "length": message.length,
        "whole": message.kept == message.length,
        "datagram": message.datagram,
        "sent": message.sent.step,
        "arrivals": message.arrivals.iter().map(|at| at.step).collect::<Vec<_>>(),
        "lost": message.lost,
    })
}

fn flight(flight: &Flight<'_>) -> Value {
    let Flight { number, from, to, fate, .. } = flight;
    json!([number, from.lane, from.step, to.lane, to.step, fate.note(), u8::from(fate.arrives())])
}
