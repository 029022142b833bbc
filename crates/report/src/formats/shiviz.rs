//! A trace as a log for ShiViz: each event with its vector clock.
//!
//! The log has two lines an event, as ShiViz expects by default: what happens, then the host and its
//! clock.

use crate::expansion::Expanded;
use crate::timeline::{Timeline, location};
use everypath_trace::Trace;
use serde_json::{Map, Value};

/// The log.
pub fn shiviz(trace: &Trace) -> String {
    let expanded = Expanded::of(trace);
    let timeline = Timeline::of(&expanded);
    let hosts = hosts(&timeline);
    let mut clocks: Vec<Vec<u64>> = vec![vec![0; hosts.len()]; hosts.len()];
    let mut after_step: Vec<Vec<u64>> = Vec::new();
    let mut out = String::new();
    for (at, step) in timeline.trace.steps.iter().enumerate() {
        let lane = timeline.lane_of[at];
        let mut clock = clocks[lane].clone();
        let messages = timeline.flights.iter().filter(|flight| {
            let is_inside = |lane: usize| !timeline.lanes[lane].is_outside;
            let arrives = flight.fate.arrives() && is_inside(flight.from.lane);
            flight.to.step == at && arrives && flight.from.step < at
        });
        let sent = messages.map(|flight| flight.from.step);
        let before = step.after.iter().filter_map(|number| number.checked_sub(1));
        for other in before.chain(sent).filter_map(|step| after_step.get(step)) {
            clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
        }
        clock[lane] += 1;
        let known = hosts.iter().zip(&clock).filter(|(_, count)| **count > 0);
        let json: Map<String, Value> =
            known.map(|(host, count)| (host.clone(), Value::from(*count))).collect();
        let place = location(step).map(|place| format!(" ({place})")).unwrap_or_default();
        let text = format!("{}{place}", timeline.action(step));
        out += &format!("{text}\n{} {}\n", hosts[lane], Value::Object(json));
        clocks[lane].clone_from(&clock);
        after_step.push(clock);
    }
    out
}

/// The names of the lanes without blanks, each its own.
fn hosts(timeline: &Timeline<'_>) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for lane in &timeline.lanes {
        let name = lane.name.replace(|c: char| c.is_whitespace() || "{}\"".contains(c), "_");
        let is_known = hosts.contains(&name);
        hosts.push(if is_known { format!("{name}_{}", hosts.len()) } else { name });
    }
    hosts
}
