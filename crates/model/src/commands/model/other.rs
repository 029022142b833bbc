//! What is done with a model other than checking its properties.

use super::{Plan, interactive};
use crate::catalog::Entry;
use crate::cli::OtherArgs;
use crate::log::{self, Comparison, Judged};
use crate::output::{self, OutputFile};
use crate::usage::Usage;
use crate::watch::Watch;
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use everypath_explore::{AnyModel, Edge, Ended, Found, Line, StateGraph, Step, Walk, WalkChoice};
use everypath_report::{grouped, itf, text};
use everypath_trace::Trace;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

/// How many states a graph that is written may have, unless more are asked for.
const MOST_EXPORTED: u64 = 10_000;

/// Does what is asked for instead of a search, if anything is.
pub(super) fn run(
    entry: &Entry,
    model: &dyn AnyModel,
    (plan, asked): (&Plan, &OtherArgs),
    watch: &Watch<'_>,
) -> Option<Result<u8, Usage>> {
    if asked.interactive {
        return Some(interactive::run(model, plan));
    }
    if let Some(file) = &asked.export_graph {
        return Some(export(entry, model, plan, (file, watch)));
    }
    if let Some(folder) = &asked.tests {
        return Some(tests(entry, model, plan, (folder, watch)));
    }
    if let Some(count) = asked.sample_traces {
        return Some(samples(model, plan, count, watch));
    }
    let log = asked.validate.as_ref()?;
    Some(validate(entry, model, asked, log))
}

/// The whole graph, and whether it is whole.
fn graph(
    model: &dyn AnyModel,
    plan: &Plan,
    watch: &Watch<'_>,
) -> (StateGraph, Vec<Vec<Line>>, bool) {
    let mut request = plan.requests().next().expect("there is at least one replication").0;
    request.search.max_states = request.search.max_states.or(Some(MOST_EXPORTED));
    let ((graph, states), ..) = watch.run(|control| model.state_graph(&request, control));
    let whole = graph.ended == Ended::Complete && graph.is_expanded(graph.len() as u32 - 1);
    (graph, states, whole)
}

fn size(graph: &StateGraph, whole: bool) -> String {
    let more = if whole { "" } else { ", not all there are: see --max-depth and --max-states" };
    format!("{} states, {} steps{more}", grouped(graph.len() as u64), grouped(graph.steps() as u64))
}

/// Writes the graph of all states.
fn export(
    entry: &Entry,
    model: &dyn AnyModel,
    plan: &Plan,
    (file, watch): (&Path, &Watch<'_>),
) -> Result<u8, Usage> {
    let target = OutputFile::new("--export-graph", file)?;
    let extension = file.extension().and_then(|extension| extension.to_str());
    let write = match extension {
        Some("dot") => dot,
        Some("graphml") => graphml,
        _ => {
            return Err(Usage::new(format!(
                "--export-graph {}: end the name in .dot or .graphml, which says the format",
                file.display()
            )));
        }
    };
    let (graph, states, whole) = graph(model, plan, watch);
    let label = |edge: &Edge| {
        format!(
            "{} at {}",
            entry.kind.events[usize::from(edge.event)].name,
            model.actor(edge.actor)
        )
    };
    target.write_or_say(write(&graph, &states, &label).as_bytes())?;
    output::print(&format!("{}: {}\n", file.display(), size(&graph, whole)));
    Ok(HOLDS)
}

fn words(lines: &[Line], between: &str) -> String {
    let line = |line: &Line| format!("{}: {}", line.part, line.text);
    lines.iter().map(line).collect::<Vec<_>>().join(between)
}

/// The graph for Graphviz.
fn dot(graph: &StateGraph, states: &[Vec<Line>], label: &dyn Fn(&Edge) -> String) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l");
    let mut out = String::from("digraph states {\n  node [shape=box, fontname=monospace];\n");
    for (state, lines) in (0..).zip(states) {
        out += &format!("  s{state} [label=\"{}\\l\"];\n", quoted(&words(lines, "\n")));
        for edge in graph.edges(state) {
            out += &format!("  s{state} -> s{} [label=\"{}\"];\n", edge.to, quoted(&label(edge)));
        }
    }
    out + "}\n"
}

/// The graph as GraphML.
fn graphml(graph: &StateGraph, states: &[Vec<Line>], label: &dyn Fn(&Edge) -> String) -> String {
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n  \
         <key id=\"state\" for=\"node\" attr.name=\"state\" attr.type=\"string\"/>\n  \
         <key id=\"event\" for=\"edge\" attr.name=\"event\" attr.type=\"string\"/>\n  \
         <graph id=\"states\" edgedefault=\"directed\">\n",
    );
    for (state, lines) in (0..).zip(states) {
        let text = escaped(&words(lines, "\n"));
        out += &format!("    <node id=\"s{state}\"><data key=\"state\">{text}</data></node>\n");
    }
    for state in 0..states.len() as u32 {
        for edge in graph.edges(state) {
            let text = escaped(&label(edge));
            out += &format!(
                "    <edge source=\"s{state}\" target=\"s{}\"><data key=\"event\">{text}</data></edge>\n",
                edge.to
            );
        }
    }
    out + "  </graph>\n</graphml>\n"
}

/// An execution that violates nothing, as a trace.
fn passing(model: &dyn AnyModel, plan: &Plan, schedule: Vec<Step>) -> Result<Trace, Usage> {
    let found =
        Found { property: String::new(), message: String::new(), schedule, loop_start: None };
    model.describe(&found, plan.record.clone()).map_err(Usage::new)
}

/// Writes executions that cover all pairs of events.
fn tests(
    entry: &Entry,
    model: &dyn AnyModel,
    plan: &Plan,
    (folder, watch): (&Path, &Watch<'_>),
) -> Result<u8, Usage> {
    let cannot = |error: std::io::Error| {
        Usage::new(format!("cannot write to {}: {error}; choose another folder", folder.display()))
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    let (graph, _, whole) = graph(model, plan, watch);
    let paths = covering(&graph);
    let request = plan.requests().next().expect("there is at least one replication").0;
    for (number, path) in paths.iter().enumerate() {
        let trace = passing(model, plan, model.schedule(&graph, &request, path))?;
        let file = folder.join(format!("{}-{:03}.itf.json", entry.kind.name, number + 1));
        fs::write(file, itf(&trace)).map_err(cannot)?;
    }
    let (pairs, events) = covered(&graph, &paths);
    output::print(&format!(
        "{} executions in {} cover {} of {} events and {} pairs of events ({})\n",
        grouped(paths.len() as u64),
        folder.display(),
        events.len(),
        entry.kind.events.len(),
        grouped(pairs.len() as u64),
        size(&graph, whole)
    ));
    Ok(HOLDS)
}

/// The events of a path, and where it ends.
fn follow(graph: &StateGraph, path: &[u32]) -> (Vec<u16>, u32) {
    let (mut events, mut state) = (Vec::new(), 0);
    for &edge in path {
        let edge = graph.edges(state)[edge as usize];
        events.push(edge.event);
        state = edge.to;
    }
    (events, state)
}

/// The pairs of events that follow each other on some paths, and the events.
fn covered(graph: &StateGraph, paths: &[Vec<u32>]) -> (BTreeSet<(u16, u16)>, BTreeSet<u16>) {
    let (mut pairs, mut events) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let (taken, _) = follow(graph, path);
        pairs.extend(taken.windows(2).map(|pair| (pair[0], pair[1])));
        events.extend(taken);
    }
    (pairs, events)
}

/// Paths from the initial state that cover all pairs of events that can follow each other, and all
/// events: each goes on to the nearest pair that is not covered as long as there is one, so that there
/// are few of them.
fn covering(graph: &StateGraph) -> Vec<Vec<u32>> {
    let (mut missing, mut alone) = (BTreeSet::new(), BTreeSet::new());
    for state in 0..graph.len() as u32 {
        for first in graph.edges(state) {
            alone.insert(first.event);
            missing.extend(graph.edges(first.to).iter().map(|second| (first.event, second.event)));
        }
    }
    let mut paths = Vec::new();
    loop {
        let (mut path, mut state, mut last) = (Vec::new(), 0, None);
        while let Some(more) = nearest(graph, (state, last), &missing) {
            for edge in more {
                let taken = graph.edges(state)[edge as usize];
                if let Some(before) = last {
                    missing.remove(&(before, taken.event));
                }
                alone.remove(&taken.event);
                (state, last) = (taken.to, Some(taken.event));
                path.push(edge);
            }
        }
        if path.is_empty() {
            break;
        }
        paths.push(path);
    }
    // An event that nothing can come before or after is in no pair.
    for (edge, first) in (0..).zip(graph.edges(0)) {
        if alone.remove(&first.event) {
            paths.push(vec![edge]);
        }
    }
    paths
}

/// The shortest continuation from a state, in which the last event was `last`, whose last two events are
/// a pair that is missing.
fn nearest(
    graph: &StateGraph,
    from: (u32, Option<u16>),
    missing: &BTreeSet<(u16, u16)>,
) -> Option<Vec<u32>> {
    let mut came = std::collections::BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some((state, last)) = queue.pop_front() {
        for (number, edge) in (0..).zip(graph.edges(state)) {
            let next = (edge.to, Some(edge.event));
            let found = last.is_some_and(|before| missing.contains(&(before, edge.event)));
            if found {
                let (mut path, mut at) = (vec![number], (state, last));
                while at != from {
                    let (before, edge) = came[&at];
                    path.push(edge);
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if next != from && !came.contains_key(&next) {
                came.insert(next, ((state, last), number));
                queue.push_back(next);
            }
        }
    }
    None
}

/// Prints executions that are drawn at random.
fn samples(model: &dyn AnyModel, plan: &Plan, count: u32, watch: &Watch<'_>) -> Result<u8, Usage> {
    for number in 0..u64::from(count) {
        let depth = plan.request.search.max_depth.unwrap_or(20);
        let choice = WalkChoice::Weighted(Vec::new());
        let walk = Walk { walks: 1, depth, seed: plan.seed.wrapping_add(number), choice };
        let ((schedule, stopped), ..) =
            watch.run(|control| (model.draw(&plan.request, &walk), control.stopped()));
        if stopped {
            return Ok(INCONCLUSIVE);
        }
        let trace = passing(model, plan, schedule.map_err(Usage::new)?)?;
        output::print(&(text(&trace, "", "") + "\n"));
    }
    Ok(HOLDS)
}

/// Checks that a log is a path of the model.
fn validate(
    entry: &Entry,
    model: &dyn AnyModel,
    asked: &OtherArgs,
    log: &Path,
) -> Result<u8, Usage> {
    let path = log.display();
    let text = fs::read_to_string(log)
        .map_err(|error| Usage::new(format!("cannot read {path}: {error}")))?;
    let hidden = asked.hidden.iter().map(|name| entry.event(name));
    let comparison = Comparison { entry, model, hidden: hidden.collect::<Result<_, _>>()? };
    let entries = log::read(&text).map_err(|why| Usage::new(format!("{path}: {why}")))?;
    let judged = comparison.judge(&entries).map_err(|why| Usage::new(format!("{path}: {why}")))?;
    let name = entry.kind.name;
    let (text, code) = match judged {
        Judged::Path => {
            let count = entries.len();
            (format!("HOLDS: the {count} entries of {path} are a path of {name}\n"), HOLDS)
        }
        Judged::Refused { number, entry, possible } => {
            let lines = possible.iter().map(|step| format!("  possible there: {step}\n"));
            let lines: String = lines.collect();
            let which = format!("entry {number} of {path}, {entry}");
            (format!("VIOLATED: no path of {name} allows {which}\n{lines}"), VIOLATED)
        }
        Judged::TooMany(why) => (format!("INCONCLUSIVE: {why}\n"), INCONCLUSIVE),
    };
    output::print(&text);
    Ok(code)
}
