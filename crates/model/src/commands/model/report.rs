//! The report of `everypath model`, as text and JSON.

use super::graph::omission;
use super::{Plan, Run};
use super::{covered, increment};
use crate::catalog::Entry;
use crate::commands::replay_command;
use crate::result::{
    JsonCoverage, JsonParameters, JsonProperty, JsonReplications, JsonResult, JsonStats,
    JsonViolation, Spread,
};
use everypath_explore::AnyModel;
use everypath_explore::{Counts, Ended, Limit, PANIC};
use everypath_machine::peak_memory;
use everypath_report::{built, grouped, text};
use everypath_trace::{Coverage, Trace, Verdict};

/// The verdict with everything that goes with it.
pub(super) struct Report {
    pub(super) verdict: Verdict,
    pub(super) trace: Option<Trace>,
    pub(super) json: JsonResult,
    pub(super) text: String,
}

/// The conclusion from one or more searches.
struct Conclusion<'a> {
    /// The search that is shown: the first that found a violation, else the first that did not
    /// come to its end, else the first.
    run: &'a Run,
    verdict: Verdict,
    coverage: Coverage,
    reason: Option<String>,
}

impl Report {
    pub(super) fn new(entry: &Entry, model: &dyn AnyModel, plan: &Plan, runs: &[Run]) -> Report {
        let mut conclusion = conclude(plan, runs);
        if let Ended::NotSimulated(breach) = &conclusion.run.exploration.ended {
            conclusion.reason = Some(covered::not_simulated(entry, model, breach));
        }
        let found = conclusion.run.exploration.found.first();
        let described = found.map(|found| model.describe(found, conclusion.run.record.clone()));
        let trace = match described {
            Some(Ok(trace)) => Some(trace),
            None => None,
            Some(Err(error)) => {
                conclusion.verdict = Verdict::Inconclusive;
                conclusion.reason =
                    Some(format!("a violation was found but could not be repeated: {error}"));
                None
            }
        };
        let mut json = json(entry, plan, runs, &conclusion, trace.as_ref());
        json.event_counts = covered::events(entry, model, plan, conclusion.run);
        let text = match &trace {
            Some(trace) => text(trace, &replay_command(), &plan.trace.path()) + "\n",
            None => headline(entry, plan, &json),
        };
        let text = text + &table(&json);
        Report { verdict: conclusion.verdict, trace, json, text }
    }
}

fn conclude<'a>(plan: &Plan, runs: &'a [Run]) -> Conclusion<'a> {
    let violated = runs.iter().find(|run| !run.exploration.found.is_empty());
    let unfinished = runs.iter().find(|run| run.exploration.ended != Ended::Complete);
    let run = violated.or(unfinished).unwrap_or(&runs[0]);
    let exploration = &run.exploration;
    let bounded = exploration.counts.deepest > 0
        || run.liveness.as_ref().is_some_and(|liveness| liveness.bounded);
    let unreached = exploration.witnesses.iter().find(|(_, steps)| steps.is_none());
    let verdict = match (violated, unfinished) {
        (Some(_), _) => Verdict::Violated,
        (None, Some(_)) => Verdict::Inconclusive,
        (None, None) if unreached.is_some() && (bounded || run.walked.is_some()) => {
            Verdict::Inconclusive
        }
        (None, None) if unreached.is_some() => Verdict::Violated,
        (None, None) => Verdict::Holds,
    };
    let sampled = run.walked.is_some();
    let coverage = match (&exploration.ended, plan.request.search.max_depth) {
        _ if sampled => Coverage::Sampled,
        (Ended::Complete, Some(depth)) if bounded => Coverage::Bounded { depth },
        (Ended::Complete, _) => Coverage::Exhaustive,
        _ if exploration.checked_depth > 0 => {
            Coverage::Bounded { depth: exploration.checked_depth }
        }
        _ => Coverage::Partial,
    };
    let reason = match &exploration.ended {
        Ended::Complete if violated.is_none() => {
            unreached.map(|(name, _)| covered::unreached(name))
        }
        Ended::Complete | Ended::Violation | Ended::NotSimulated(_) => None,
        Ended::Stopped => {
            run.stopped.map(|stopped| stopped.to_string()).or_else(|| run.hint.clone())
        }
        Ended::Limit(Limit::States(limit)) => {
            Some(format!("the limit of {} stored states was reached", grouped(*limit)))
        }
        Ended::Limit(Limit::Executions(limit)) => {
            Some(format!("the limit of {} executions was reached", grouped(*limit)))
        }
        Ended::NotSymmetric(why) | Ended::NotIndependent(why) | Ended::Failed(why) => {
            Some(why.clone())
        }
        Ended::Stale(_) => run.session.as_ref().map(increment::stale),
        Ended::Unconfirmed(reason) => Some(format!(
            "{reason}; the model is not a function of its state and steps (clock, randomness, \
             global variable?)"
        )),
    };
    let goes_on = matches!(exploration.ended, Ended::Stopped | Ended::Limit(_) | Ended::Failed(_));
    let reason = match (&run.hint, reason) {
        (Some(hint), Some(reason)) if goes_on && reason != *hint => {
            Some(format!("{reason} ({hint})"))
        }
        (_, reason) => reason,
    };
    let differs = run.session.as_ref().and_then(|session| session.verified.as_ref()?.clone().err());
    if let Some(differs) = differs {
        return Conclusion { run, verdict: Verdict::Inconclusive, coverage, reason: Some(differs) };
    }
    Conclusion { run, verdict, coverage, reason }
}

fn json(
    entry: &Entry,
    plan: &Plan,
    runs: &[Run],
    conclusion: &Conclusion<'_>,
    trace: Option<&Trace>,
) -> JsonResult {
    let Conclusion { run, verdict, coverage, reason } = conclusion;
    let counts = &run.exploration.counts;
    JsonResult {
        tool: "everypath",
        version: env!("CARGO_PKG_VERSION"),
        command: "model",
        target: entry.kind.name.into(),
        parameters: parameters(plan),
        verdict: verdict.to_string(),
        coverage: JsonCoverage {
            kind: coverage.kind(),
            depth: match coverage {
                Coverage::Bounded { depth } => Some(*depth),
                _ => None,
            },
            disabled: plan.record.disabled.clone(),
            must_contain: plan.record.must_contain.clone(),
            reduction: [
                plan.config.identical.then_some("identical"),
                plan.request.symmetry.then_some("symmetry"),
                plan.request.sleep.then_some("sleep"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            omission_probability: omission(&plan.request.search, run),
        },
        reason: reason.clone(),
        violation: violation(plan, conclusion, trace),
        violations: counts.violations,
        properties: properties(plan, run),
        stats: stats(counts, run.took.as_secs_f64()),
        event_counts: Vec::new(),
        witnesses: covered::witnesses(run),
        liveness: covered::liveness(run),
        walks: covered::walks(run),
        replications: (plan.replications > 1).then(|| replications(runs)),
        incremental: run.session.as_ref().map(|session| increment::json(session, run)),
    }
}

fn violation(
    plan: &Plan,
    conclusion: &Conclusion<'_>,
    trace: Option<&Trace>,
) -> Option<JsonViolation> {
    let unreached = || {
        let witnesses = &conclusion.run.exploration.witnesses;
        let (name, _) = witnesses.iter().find(|(_, steps)| steps.is_none())?;
        let (property, message) = (name.clone(), covered::unreached(name));
        (conclusion.verdict == Verdict::Violated).then(|| JsonViolation {
            property,
            message,
            ..JsonViolation::default()
        })
    };
    let found = trace.map(|trace| JsonViolation {
        property: trace.violation.property.clone(),
        message: trace.violation.message.clone(),
        depth: trace.steps.len(),
        trace: Some(plan.trace.path()),
        repeats_from: trace.repeats_from,
    });
    found.or_else(unreached)
}

fn parameters(plan: &Plan) -> JsonParameters {
    let config = plan.config.clone();
    JsonParameters {
        nodes: config.nodes,
        topology: plan.topology.clone(),
        bugs: config.bugs,
        features: config.features,
        duplicate: config.duplicate,
        set: config.set,
        faults: config.faults,
    }
}

fn properties(plan: &Plan, run: &Run) -> Vec<JsonProperty> {
    let names = plan.request.properties.iter().map(String::as_str).chain([PANIC]);
    let found = &run.exploration.found;
    names
        .zip(&run.exploration.counts.by_property)
        .filter(|&(name, &violations)| name != PANIC || violations > 0)
        .map(|(name, &violations)| JsonProperty {
            name: name.into(),
            violations,
            depth: found.iter().find(|f| f.property == name).map(|f| f.schedule.len()),
        })
        .collect()
}

fn stats(counts: &Counts, seconds: f64) -> JsonStats {
    JsonStats {
        states: counts.states,
        stored: counts.stored,
        events: counts.events,
        executions: counts.executions(),
        transitions: counts.events,
        safe_events: counts.safe,
        unsafe_events: counts.unsafe_events,
        tree_events: counts.tree,
        non_tree_events: counts.non_tree,
        deepest_events: counts.deepest,
        dead_ends: counts.dead_ends,
        depth: counts.depth,
        seconds,
        peak_rss_bytes: peak_memory(),
    }
}

fn replications(runs: &[Run]) -> JsonReplications {
    JsonReplications {
        count: runs.len(),
        violated: runs.iter().filter(|run| !run.exploration.found.is_empty()).count(),
        seconds: Spread::of(runs.iter().map(|run| run.took.as_secs_f64())),
        stored: Spread::of(runs.iter().map(|run| run.exploration.counts.stored as f64)),
        events: Spread::of(runs.iter().map(|run| run.exploration.counts.events as f64)),
    }
}

/// The counts as text, without times, so that the same search prints the same.
fn table(json: &JsonResult) -> String {
    let rows = details(json).into_iter().map(|(name, value)| format!("{name:11} {value}\n"));
    let rows = rows.chain(covered::rows(json));
    let incremental = json.incremental.as_ref().map_or(String::new(), increment::text);
    rows.collect::<String>() + &incremental + &replication_table(json)
}

/// The verdict when there is no counterexample to show.
fn headline(entry: &Entry, plan: &Plan, json: &JsonResult) -> String {
    let extent = match (json.coverage.kind, json.coverage.depth) {
        ("exhaustive", _) => "in all executions".to_string(),
        ("sampled", _) => "in the executions that were sampled".to_string(),
        (_, Some(depth)) => format!("in all executions of up to {depth} steps"),
        _ => "in the executions explored".to_string(),
    };
    let names: Vec<&str> = json.properties.iter().map(|p| p.name.as_str()).collect();
    let subject = match names.as_slice() {
        [] => format!("{} shows no panic", entry.kind.name),
        names => format!("{} of {} holds", names.join(", "), entry.kind.name),
    };
    let built =
        built(&plan.config).map_or(String::new(), |built| format!("  built with {built}\n"));
    match &json.reason {
        Some(reason) if json.verdict == "violated" => {
            format!("VIOLATED: {reason} {extent}\n{built}")
        }
        None => format!("HOLDS: {subject} {extent}\n{built}"),
        Some(reason) => format!("INCONCLUSIVE: {reason}; so far, {subject} {extent}\n{built}"),
    }
}

/// What was explored, as names and values.
fn details(json: &JsonResult) -> Vec<(&'static str, String)> {
    let stats = &json.stats;
    let mut details = vec![(
        "explored",
        format!(
            "{} states, {} events, depth {}",
            grouped(stats.states),
            grouped(stats.events),
            stats.depth
        ),
    )];
    details.push((
        "events",
        format!(
            "{} tree, {} non-tree, {} deepest, {} unsafe",
            grouped(stats.tree_events),
            grouped(stats.non_tree_events),
            grouped(stats.deepest_events),
            grouped(stats.unsafe_events)
        ),
    ));
    let coverage = match (json.coverage.kind, json.coverage.depth) {
        (kind, Some(depth)) => format!("{kind}: all executions of up to {depth} steps"),
        ("exhaustive", None) => "exhaustive: all executions".into(),
        ("sampled", None) => "sampled: random walks".into(),
        (kind, None) => format!("{kind}: the search stopped early"),
    };
    details.push(("coverage", coverage));
    if !json.coverage.disabled.is_empty() {
        details.push(("disabled", json.coverage.disabled.join(", ")));
    }
    if !json.coverage.reduction.is_empty() {
        details.push(("reduction", json.coverage.reduction.join(", ")));
    }
    if let Some(event) = &json.coverage.must_contain {
        details.push(("only paths", format!("with {event}")));
    }
    if let Some(probability) = json.coverage.omission_probability {
        details.push(("missed", format!("a state with probability below {probability:.0e}")));
    }
    if let (Some(reason), "violated", true) =
        (&json.reason, json.verdict.as_str(), json.violation.as_ref().is_some_and(|v| v.depth > 0))
    {
        details.push(("stopped", reason.clone()));
    }
    if json.violations > 1 {
        details.push(("violations", grouped(json.violations)));
        for property in json.properties.iter().filter(|property| property.violations > 0) {
            let depth = property.depth.map_or(String::new(), |d| format!(", shortest {d} steps"));
            let count = grouped(property.violations);
            details.push(("", format!("{} of {}{depth}", count, property.name)));
        }
    }
    details
}

fn replication_table(json: &JsonResult) -> String {
    let Some(replications) = &json.replications else {
        return String::new();
    };
    let mut out = format!(
        "\n{} replications, {} violated{:>14}{:>14}{:>14}\n",
        replications.count, replications.violated, "minimum", "maximum", "average"
    );
    let width = out.trim().lines().next().map_or(0, |line| line.len() - 42);
    let rows = [
        ("time (ms)", replications.seconds, 1e3),
        ("stored states", replications.stored, 1.0),
        ("events", replications.events, 1.0),
    ];
    for (name, Spread { min, max, average }, scale) in rows {
        let [min, max, average] = [min, max, average].map(|value| value * scale);
        out += &format!("{name:width$}{min:>14.2}{max:>14.2}{average:>14.2}\n");
    }
    out
}
