//! What a search has covered: events, states that should be reachable, infinite executions.

use super::{Plan, Run};
use crate::catalog::Entry;
use crate::result::{JsonEvent, JsonLiveness, JsonResult, JsonWalks, JsonWitness};
use everypath_explore::{AnyModel, Line, NotSimulated};
use everypath_report::grouped;

/// How often each event was executed.
pub(super) fn events(
    entry: &Entry,
    model: &dyn AnyModel,
    plan: &Plan,
    run: &Run,
) -> Vec<JsonEvent> {
    let executed = |number: usize| run.exploration.by_event.get(number).copied().unwrap_or(0);
    let off = &plan.request.search.disabled;
    let possible = |number: usize| {
        let event = number as u16;
        !off.contains(&event) && model.is_possible(event)
    };
    let events = entry.kind.events.iter().enumerate();
    events
        .map(|(number, event)| JsonEvent {
            name: event.name,
            executed: executed(number),
            possible: possible(number),
        })
        .collect()
}

/// What some state must satisfy.
pub(super) fn witnesses(run: &Run) -> Vec<JsonWitness> {
    let witness = |(property, steps): &(String, Option<Vec<_>>)| JsonWitness {
        property: property.clone(),
        depth: steps.as_ref().map(Vec::len),
    };
    run.exploration.witnesses.iter().map(witness).collect()
}

/// The graph in which infinite executions were looked for.
pub(super) fn liveness(run: &Run) -> Option<JsonLiveness> {
    run.liveness.as_ref().map(|liveness| JsonLiveness {
        states: liveness.states,
        transitions: liveness.steps,
        weakly_fair: run.record.weakly_fair.clone(),
        strongly_fair: run.record.strongly_fair.clone(),
    })
}

/// What random walks have seen.
pub(super) fn walks(run: &Run) -> Option<JsonWalks> {
    run.walked.as_ref().map(|walked| JsonWalks {
        walks: walked.walks,
        met: walked.met,
        once: walked.once,
        unseen_probability: walked.unseen(),
    })
}

/// That no state was found of which something is true.
pub(super) fn unreached(name: &str) -> String {
    format!("no state was reached in which {name} is true")
}

/// Why the simulation relation cannot be trusted.
pub(super) fn not_simulated(entry: &Entry, model: &dyn AnyModel, breach: &NotSimulated) -> String {
    let state = |bytes: &[u8]| {
        let line = |line: Line| format!("{} {}", line.part, line.text);
        let lines = model.describe_bytes(bytes).into_iter().map(line);
        format!("[{}]", lines.collect::<Vec<_>>().join(" | "))
    };
    let event = entry.kind.events[usize::from(breach.step.event)].name;
    format!(
        "the simulation relation is wrong: {} is said to simulate {}, which can take the step {event} at \
         actor {}, and it cannot match that; explore with --visited equality",
        state(&breach.larger),
        state(&breach.smaller),
        breach.step.actor
    )
}

/// The lines of the report.
pub(super) fn rows(json: &JsonResult) -> Vec<String> {
    let mut rows = Vec::new();
    for witness in &json.witnesses {
        let how = match witness.depth {
            Some(depth) => format!("reached after {depth} steps"),
            None => "never reached".into(),
        };
        rows.push(row("sometimes", &format!("{}: {how}", witness.property)));
    }
    if let Some(liveness) = &json.liveness {
        let (states, steps) = (grouped(liveness.states), grouped(liveness.transitions));
        rows.push(row("liveness", &format!("{states} states, {steps} transitions")));
        let fair = [("weakly", &liveness.weakly_fair), ("strongly", &liveness.strongly_fair)];
        for (how, events) in fair.into_iter().filter(|(_, events)| !events.is_empty()) {
            rows.push(row("fairness", &format!("{how} fair: {}", events.join(", "))));
        }
    }
    if let Some(walks) = &json.walks {
        let unseen = walks.unseen_probability * 100.0;
        rows.push(row(
            "walks",
            &format!(
                "{}; the next state is about {unseen:.2} % likely to be one that was not seen",
                grouped(walks.walks)
            ),
        ));
    }
    if json.stats.dead_ends > 0 {
        let states = match json.stats.dead_ends {
            1 => "1 state".into(),
            count => format!("{} states", grouped(count)),
        };
        rows.push(row("dead ends", &format!("{states} in which nothing can happen")));
    }
    rows.extend(event_rows(json));
    rows
}

/// How often each event happened, and which never did.
fn event_rows(json: &JsonResult) -> Option<String> {
    // A counterexample ends a search early, and a graph leaves events out.
    if json.verdict != "holds" || json.incremental.is_some() {
        return None;
    }
    let possible = || json.event_counts.iter().filter(|event| event.possible);
    let counts = possible().map(|event| format!("{} {}", event.name, grouped(event.executed)));
    let mut rows = row("executed", &counts.collect::<Vec<_>>().join(", "));
    let never: Vec<&str> =
        possible().filter(|event| event.executed == 0).map(|event| event.name).collect();
    if !never.is_empty() {
        rows += &row("warning", &format!("never happened: {}", never.join(", ")));
    }
    Some(rows)
}

fn row(name: &str, value: &str) -> String {
    format!("{name:11} {value}\n")
}
