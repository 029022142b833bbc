//! The part of the report of `everypath model` about incremental exploration.

use super::Run;
use super::graph::Session;
use crate::result::{JsonChange, JsonIncremental, JsonKnown, JsonSaved};
use everypath_explore::Change;
use everypath_explore::Quantities;
use everypath_report::grouped;

/// Why a search ended because of its graph.
pub(super) fn stale(session: &Session) -> String {
    let event = session.increment.reuse.stale;
    let event = event.and_then(|event| session.events.get(usize::from(event)));
    let event = event.copied().unwrap_or("an event");
    format!(
        "the graph is wrong about {event}, which is said not to be modified; explore without \
         --load-graph, or name what was modified with --modified"
    )
}

/// The machine-readable part.
pub(super) fn json(session: &Session, run: &Run) -> JsonIncremental {
    let increment = &session.increment;
    let reuse = &increment.reuse;
    let quantities =
        Quantities::new(&run.exploration.counts, reuse, &increment.costs, session.load);
    let saves = session.written.is_some();
    let changes = session.modified.iter().map(|event| {
        let number = session.events.iter().position(|name| name == event);
        let change = number.and_then(|number| reuse.changes.get(number)).copied();
        let Change { same, different, worse, new } = change.unwrap_or_default();
        JsonChange { event: event.to_string(), same, different, worse, new }
    });
    JsonIncremental {
        mode: match (session.reads, saves) {
            (true, true) => "read-write",
            (true, false) => "read-only",
            (false, true) => "write-only",
            (false, false) => "none",
        },
        fresh: session.fresh.clone(),
        hits: reuse.hits,
        misses: reuse.misses,
        modified: reuse.modified,
        executed: reuse.executed,
        quantities,
        condition: quantities.condition().filter(|_| session.reads),
        estimated_speedup: quantities.speedup().filter(|_| session.reads),
        abandoned: reuse.abandoned,
        damaged: reuse.damaged,
        modified_events: changes.collect(),
        known: JsonKnown {
            kept: session.known.kept,
            still_violates: session.known.found.as_ref().map(|found| found.property.clone()),
            steps: session.known.found.as_ref().map(|found| found.schedule.len()),
        },
        verified: session.verified.as_ref().map(Result::is_ok),
        load_seconds: session.load.as_secs_f64(),
        extra_bytes: increment.extra_bytes,
        search_bytes: increment.search_bytes,
        saved: session.written.map(|written| JsonSaved {
            states: written.states,
            transitions: written.transitions,
            bytes: written.bytes,
        }),
    }
}

/// The part as text, without times.
pub(super) fn text(json: &JsonIncremental) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if let Some(why) = &json.fresh {
        rows.push(("from scratch", why.clone()));
    }
    if json.mode.starts_with("read") {
        rows.extend(reading(json));
    }
    if json.verified == Some(true) {
        rows.push(("verified", "a search from scratch gives the same".into()));
    }
    if let Some(saved) = &json.saved {
        rows.push((
            "graph",
            format!(
                "saved: {} states, {} transitions, {:.1} bytes a transition",
                grouped(saved.states),
                grouped(saved.transitions),
                saved.bytes as f64 / saved.transitions.max(1) as f64,
            ),
        ));
    }
    rows.into_iter().map(|(name, value)| format!("{name:11} {value}\n")).collect()
}

fn reading(json: &JsonIncremental) -> Vec<(&'static str, String)> {
    let mut rows = vec![(
        "executed",
        format!(
            "{} events; in the graph {}, not in it {}, modified {}",
            grouped(json.executed),
            grouped(json.hits),
            grouped(json.misses),
            grouped(json.modified)
        ),
    )];
    for (number, change) in json.modified_events.iter().enumerate() {
        rows.push((if number == 0 { "modified" } else { "" }, describe(change)));
    }
    if json.damaged > 0 {
        let count = grouped(json.damaged);
        rows.push(("damaged", format!("the graph, in {count} states, which were explored again")));
    }
    let Quantities { p, q, t, .. } = json.quantities;
    let shares = format!("p {p:.4}, q {q:.4}, t {t:.4}");
    let events = json.hits + json.misses + json.modified;
    let spared = events.saturating_sub(json.executed) as f64 / events.max(1) as f64 * 100.0;
    let measured = json.condition.is_some_and(|condition| !condition.holds);
    let gain = match (json.abandoned, measured) {
        (true, _) => {
            format!(
                "small: hardly any of the later events were in the graph, so it was dropped; {shares}"
            )
        }
        // The only line that depends on the clock, and only where there is nothing to lose.
        (false, true) => format!(
            "none: a lookup costs more than it saves; explore without the graph (see --pilot); \
             {shares}"
        ),
        (false, false) => format!("{spared:.1} % of the events were not executed; {shares}"),
    };
    rows.push(("gain", gain));
    rows
}

/// The effect of a modification as text.
fn describe(JsonChange { event, same, different, worse, new }: &JsonChange) -> String {
    let changed = different + worse;
    let compared = same + changed;
    let new = match new {
        0 => String::new(),
        new => format!("; {} times in states that are not in the graph", grouped(*new)),
    };
    let worse = match worse {
        0 => String::new(),
        worse => format!(", {} of them violations", grouped(*worse)),
    };
    match (changed, compared) {
        (_, 0) => format!("{event}{new}"),
        (0, _) => format!("{event}: behaves as before, {} times{new}", grouped(compared)),
        _ => format!(
            "{event}: behaves differently in {} of {} states{worse}{new}",
            grouped(changed),
            grouped(compared)
        ),
    }
}

/// The measurements of a pilot as text.
pub(super) fn pilot(json: &JsonIncremental) -> String {
    let q = &json.quantities;
    let rows = [
        ("X", "execute an event", q.x),
        ("H", "write and hash a state", q.h),
        ("Y", "check the properties", q.y),
        ("A", "search the visited states", q.a),
        ("R", "add a visited state", q.r),
        ("N", "add a state to explore", q.n),
        ("U", "rank a state", q.u),
        ("L", "search the graph", q.l),
        ("F", "load the graph, share of an event", Some(q.f)),
        ("E", "list enabled events, share of an event", q.e),
    ];
    let mut out = String::from("\n    nanoseconds\n");
    for (name, about, value) in rows {
        let value = value.map_or("–".into(), |value| format!("{value:.1}"));
        out += &format!("{name}   {value:>11}  {about}\n");
    }
    for (name, about, value) in [
        ("p", "of unmodified events found in the graph", q.p),
        ("q", "modified", q.q),
        ("t", "tree", q.t),
        ("d", "deepest", q.d),
        ("v", "safe", q.v),
    ] {
        out += &format!("{name}   {value:>11.4}  share of events: {about}\n");
    }
    // Of a graph that was dropped, what was measured before says nothing.
    if let Some(condition) = json.condition.filter(|_| !json.abandoned) {
        let left = condition.left.map_or("infinite".into(), |left| format!("{left:.1}"));
        out += &format!(
            "F/(p(1-q)) + L/p < H + Y + (1-t)X: {left} < {:.1} is {}\n",
            condition.right, condition.holds
        );
    }
    if let Some(speedup) = json.estimated_speedup.filter(|_| !json.abandoned) {
        out += &format!("the graph should make the search {speedup:.1} times as fast\n");
    }
    out
}
