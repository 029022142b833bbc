//! The happens-before order of a trace as a graph, for Graphviz.

use crate::expansion::Expanded;
use crate::timeline::{Fate, Timeline, content, location, shortened};
use everypath_trace::Trace;
use std::fmt::Write;

/// The steps of each lane one after the other; dashed edges lead from a step to those of other lanes
/// that it happens before, and solid ones, with their contents, are messages.
pub fn dot(trace: &Trace) -> String {
    let expanded = Expanded::of(trace);
    let timeline = Timeline::of(&expanded);
    let trace = timeline.trace;
    let mut out = format!("digraph {} {{\n    rankdir=TB;\n", quoted(&crate::heading(trace)));
    out += "    node [shape=box, fontname=\"sans-serif\", fontsize=10];\n";
    for (number, lane) in timeline.lanes.iter().enumerate() {
        let _ = writeln!(out, "    subgraph cluster_{number} {{ label={};", quoted(&lane.name));
        let own: Vec<usize> =
            (0..trace.steps.len()).filter(|&step| timeline.lane_of[step] == number).collect();
        for &step in &own {
            node(&mut out, &timeline, step);
        }
        if lane.is_outside {
            outside_events(&mut out, &timeline, number);
        }
        if own.len() > 1 {
            let chain: Vec<String> = own.iter().map(|step| format!("s{}", step + 1)).collect();
            let _ = writeln!(out, "        {} [style=bold];", chain.join(" -> "));
        }
        out += "    }\n";
    }
    for (step, of) in trace.steps.iter().enumerate() {
        for before in of.after.iter().filter(|before| (1..=step).contains(before)) {
            let _ = writeln!(out, "    s{before} -> s{} [style=dashed];", step + 1);
        }
    }
    messages(&mut out, &timeline);
    out + "}\n"
}

fn node(out: &mut String, timeline: &Timeline<'_>, step: usize) {
    let of = &timeline.trace.steps[step];
    let place = location(of).map(|place| format!("\n{}", shortened(&place, 40)));
    let words = shortened(&timeline.action(of), 60);
    let number = timeline.number(step).map(|number| format!("{number}. ")).unwrap_or_default();
    let marks = timeline.marks(step);
    let marks = if marks.is_empty() { String::new() } else { format!("\n({})", marks.join(", ")) };
    let label = format!("{number}{words}{}{marks}", place.unwrap_or_default());
    let mark = match () {
        () if timeline.critical() == Some(step) => ", color=red, penwidth=2",
        () if timeline.race().contains(&step) => ", color=orange, penwidth=2",
        () => "",
    };
    let _ = writeln!(out, "        s{} [label={}{mark}];", step + 1, quoted(&label));
}

/// What a process outside sends and receives, as far as messages tell.
fn outside_events(out: &mut String, timeline: &Timeline<'_>, lane: usize) {
    let mut events: Vec<(usize, String)> = Vec::new();
    for (number, flight) in timeline.flights.iter().enumerate() {
        if flight.from.lane == lane {
            events.push((flight.message.sent.order, format!("o{}", flight.number)));
        }
        if flight.to.lane == lane && flight.fate.arrives() {
            events.push((flight.message.sent.order, format!("i{number}")));
        }
    }
    events.sort();
    events.dedup();
    for (_, name) in &events {
        let _ = writeln!(out, "        {name} [shape=point];");
    }
    let chain: Vec<String> = events.into_iter().map(|(_, name)| name).collect();
    if chain.len() > 1 {
        let _ = writeln!(out, "        {} [style=bold];", chain.join(" -> "));
    }
}

fn messages(out: &mut String, timeline: &Timeline<'_>) {
    for (number, flight) in timeline.flights.iter().enumerate() {
        let is_outside = |lane: usize| timeline.lanes[lane].is_outside;
        let from = match is_outside(flight.from.lane) {
            true => format!("o{}", flight.number),
            false => format!("s{}", flight.from.step + 1),
        };
        let label = quoted(&content(flight.message, 60));
        if !flight.fate.arrives() {
            let what = quoted(flight.fate.note());
            let _ = writeln!(out, "    x{number} [shape=plaintext, label={what}];");
            let _ = writeln!(out, "    {from} -> x{number} [label={label}, arrowhead=tee];");
            continue;
        }
        let to = match is_outside(flight.to.lane) {
            true => format!("i{number}"),
            false => format!("s{}", flight.to.step + 1),
        };
        let color = match flight.fate {
            Fate::Again | Fate::Late => "orange",
            _ => "blue",
        };
        if from != to {
            let _ = writeln!(out, "    {from} -> {to} [label={label}, color={color}];");
        }
    }
}

/// A string of the language of graphs.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::dot;
    use crate::fixtures;

    #[test]
    fn threads_are_ordered_by_what_happens_before_what() {
        let graph = dot(&fixtures::deadlock());
        for line in [
            "        s1 -> s2 -> s3 -> s4 [style=bold];",
            "    s11 -> s13 [style=dashed];",
            "        s11 [label=\"11. locks mutex forks[2]\\nphilosophers.c:18\\n(critical step, racing)\", \
             color=red, penwidth=2];",
        ] {
            assert!(graph.lines().any(|found| found == line), "{line}\n{graph}");
        }
    }

    #[test]
    fn messages_are_edges() {
        let graph = dot(&fixtures::exchange());
        assert!(graph.contains("s1 -> i0 [label=\"\\\"GET /a\\\"\", color=blue]"), "{graph}");
        assert!(graph.contains("o1 -> s2 [label="), "{graph}");
        assert!(graph.contains("label=\"lost\"") && graph.contains("arrowhead=tee"), "{graph}");
    }
}
