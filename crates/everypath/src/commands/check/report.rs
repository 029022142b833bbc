//! The report of a check, as text and as JSON.

use crate::commands::replay_command;
use everypath_check::{
    Counterexample, Coverage, Emission, Finding, FindingKind, JointStats, MAX_RELOCKS, PctBound,
    ProgramStats, Remaining, Report, Sample, Verdict,
};
use everypath_report::{grouped, native, percent};
use serde::Serialize;
use std::fmt::Write;

/// How many steps are printed; `everypath show` prints all.
const SHOWN: usize = 30;

/// One object, as the command-line contract fixes it.
#[derive(Serialize)]
pub(super) struct JsonCheck<'a> {
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

impl<'a> JsonCheck<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        JsonCheck { tool: "everypath", version, command: "check", report }
    }
}

/// The verdict, and what shows it.
fn beginning(report: &Report) -> String {
    let Report { target, coverage, stats, .. } = report;
    let path = report.violation.as_ref().map_or("", |violation| &violation.trace);
    match (&report.trace, &report.reason) {
        (Some(trace), Some(reason)) => {
            let counterexample = native::text(trace, &replay_command(), path, SHOWN);
            format!("INCONCLUSIVE: {target}: {reason}\n\n{counterexample}\n")
        }
        (Some(trace), _) => native::text(trace, &replay_command(), path, SHOWN) + "\n",
        (None, Some(reason)) => format!("INCONCLUSIVE: {target}: {reason}\n"),
        (None, None) if let Some(emission) = report.emission.as_ref().filter(|e| !e.is_judged) => {
            emission.headline(coverage.coverage) + "\n"
        }
        (None, None) => {
            let kind = coverage.coverage.kind();
            let (bound, schedules) = match coverage.coverage {
                Coverage::Exhaustive if stats.cycles > Some(0) => {
                    (String::new(), "every schedule that ends".into())
                }
                Coverage::Exhaustive if !coverage.unseen.is_empty() => {
                    (" but for code that was not seen".into(), "every schedule".into())
                }
                Coverage::Exhaustive => (String::new(), "every schedule".into()),
                Coverage::Bounded { depth } => {
                    let events = format!("at most {depth} events of each program");
                    (String::new(), format!("every schedule with {events}"))
                }
                Coverage::BoundedPreemptions { preemptions } => {
                    let bound = several(preemptions.into(), "preemption");
                    (format!(": at most {bound}"), "every such schedule".into())
                }
                Coverage::BoundedIdle => {
                    (": until only time passes".into(), "every such schedule".into())
                }
                Coverage::BoundedLocks => (
                    format!(": at most {MAX_RELOCKS} locks in a row"),
                    "every such schedule".into(),
                ),
                Coverage::Sampled | Coverage::Partial => {
                    (String::new(), format!("all {} sampled schedules", grouped(stats.executions)))
                }
            };
            let absent: String =
                report.did_not_happen.iter().map(|what| format!("; but {what}")).collect();
            let refines = report.refines.as_ref().map(|refined| {
                let (model, logs) = (&refined.model, several(refined.logs, "different log"));
                format!(", and refines {model} ({logs})")
            });
            let refines = refines.unwrap_or_default();
            format!(
                "HOLDS ({kind}{bound}): {target} ends as expected in {schedules}{refines}{absent}\n"
            )
        }
    }
}

/// The report as text.
pub(super) fn text(report: &Report) -> String {
    let Report { stats, coverage, .. } = report;
    let mut text = beginning(report);
    if let Some(violation) = &report.violation {
        communication(&mut text, violation);
    }
    text += &report.emission.as_ref().map(failures).unwrap_or_default();
    text += &report.violation.as_ref().map(confirmation).unwrap_or_default();
    if let Some(why) = &report.cut_short {
        let _ = writeln!(text, "Not minimised and explained to the end: {why}.\n");
    }
    text += &counts(report);
    text += &samples(report);
    for goal in &report.never_reached {
        let _ = writeln!(text, "Never reached: {goal}");
    }
    if let Some(joint) = &stats.joint {
        explored_jointly(&mut text, joint);
    }
    if let Some(cache) = &stats.cache {
        let _ = writeln!(
            text,
            "{} to peers, {} from them; {} answered from the cache",
            several(cache.connections, "connection"),
            several(cache.misses, "byte"),
            several(cache.hits, "message")
        );
    }
    text += &coverage.sample.as_ref().map(sampled).unwrap_or_default();
    text += &coverage.remaining.as_ref().map(remaining).unwrap_or_default();
    for suggestion in &report.suggestions {
        let _ = writeln!(text, "Try {suggestion}.");
    }
    for notice in &report.notices {
        let _ = writeln!(text, "Note that {notice}, in some executions.");
    }
    if report.verdict == Verdict::Holds {
        unsynchronised(&mut text, &report.findings);
        let _ = writeln!(text, "Memory model: {}.", coverage.memory_model);
        // What the verdict line says is not said twice.
        let texts = report.assumptions.iter().map(|assumption| &assumption.text);
        for text_of_it in texts.filter(|text| !report.did_not_happen.contains(text)) {
            let _ = writeln!(text, "Assumes that {text_of_it}.");
        }
    }
    if let Some(verified) = stats.verified_executions {
        let _ = writeln!(
            text,
            "Verified: {} of them repeated identically by fork, by tracking and on kernel threads",
            grouped(verified)
        );
    }
    text
}

/// Passing executions, a line each, and what did not happen in those that were drawn.
fn samples(report: &Report) -> String {
    let mut text = String::new();
    if !report.sample_traces.is_empty() {
        text.push_str("Passing executions that differ most (everypath show, everypath replay):\n");
    }
    for sample in &report.sample_traces {
        let steps = several(sample.steps as u64, "step");
        let switches = match sample.switches {
            1 => "1 context switch".into(),
            more => format!("{} context switches", grouped(more as u64)),
        };
        let _ = writeln!(text, "  {}  {steps}, {switches}", everypath_report::quoted(&sample.file));
    }
    for fault in &report.never_exercised {
        let _ = writeln!(text, "Never exercised: {fault}");
    }
    text
}

/// How many executions there were, and of which kinds.
fn counts(report: &Report) -> String {
    let stats = &report.stats;
    let mut text = String::new();
    if stats.executions == 0 {
        return text;
    }
    if let Some(states) = stats.states {
        let _ = write!(text, "{} states, ", grouped(states));
    }
    text.push_str(&several(stats.executions, "execution"));
    let unexpected = Some(stats.unexpected_executions).filter(|count| *count > 1).unwrap_or(0);
    for (count, what) in [
        (stats.redundant_executions, "of them redundant"),
        (stats.abandoned_executions, "abandoned by assumptions"),
        (unexpected, "executions not as expected"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {} {what}", grouped(count));
        }
    }
    text.push('\n');
    text
}

/// The failures of a program, a line each.
fn failures(emission: &Emission) -> String {
    let mut text = String::new();
    for (failure, number) in emission.failures.iter().zip(1..) {
        let what = match failure.propagates {
            None => String::new(),
            Some(true) => "  propagates".into(),
            Some(false) => "  does not propagate".into(),
        };
        let _ = writeln!(text, "  {number:2}  {}{what}", failure.text());
    }
    if !text.is_empty() && emission.is_judged {
        text.insert_str(0, &format!("What becomes of the failures of {}:\n", emission.component));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Whether all programs together show what was found of them one by one.
fn confirmation(violation: &Counterexample) -> String {
    match (violation.confirmed, &violation.unconfirmed) {
        (Some(true), _) => {
            "Confirmed: the execution above is one of all programs together.\n\n".into()
        }
        (_, Some(reason)) => {
            format!("Unconfirmed by an execution of all programs together: {reason}.\n\n")
        }
        _ => String::new(),
    }
}

/// What programs did with each other.
fn communication(text: &mut String, violation: &Counterexample) {
    let messages = &violation.messages;
    if messages.is_empty() {
        return;
    }
    text.push_str("What the programs did with each other, in an order in which it happens:\n");
    for (number, message) in messages.iter().enumerate() {
        let _ = writeln!(text, "  {:2}  {message}", number + 1);
    }
    text.push('\n');
}

/// Accesses that may be data races: some of them, since a program with atomics has many.
fn unsynchronised(text: &mut String, findings: &[Finding]) {
    const SHOWN: usize = 3;
    let notes: Vec<&Finding> =
        findings.iter().filter(|finding| finding.kind == FindingKind::Note).collect();
    for note in notes.iter().take(SHOWN) {
        let _ = writeln!(text, "Note that {}.", note.text);
    }
    if notes.len() > SHOWN {
        let more = notes.len() - SHOWN;
        let _ = writeln!(text, "Note that there are {more} more such pairs (findings, --json).");
    }
}

/// What was explored of each program.
fn explored_jointly(text: &mut String, joint: &JointStats) {
    let _ = writeln!(text, "{}; in the last one:", several(joint.rounds.into(), "round"));
    for ProgramStats { name, last_executions, histories, .. } in &joint.programs {
        let executions = several(*last_executions, "execution");
        let histories = match histories {
            1 => "1 history".into(),
            more => format!("{} histories", grouped(*more)),
        };
        let _ = writeln!(text, "  {name}: {executions}, {histories}");
    }
}

/// So many of something.
fn several(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// What a sample of executions says of those that are not in it, a line each.
fn sampled(sample: &Sample) -> String {
    let mut text = match sample.is_a_part {
        true => format!("In the first {} executions ", grouped(sample.executions_classified)),
        false => String::new(),
    };
    let _ = writeln!(
        text,
        "{} orders of dependent steps were seen, {} of them once: about {} of further executions \
         would show a new one, at most {} (95 % confidence)",
        grouped(sample.classes),
        grouped(sample.classes_seen_once),
        percent(sample.new_class_probability),
        percent(sample.new_class_probability_at_most)
    );
    if let Some(bound) = &sample.pct {
        let PctBound { depth, threads, steps, longest_execution, .. } = bound;
        let _ = writeln!(
            text,
            "A bug of depth {depth} is met with a probability of at least \
             1/({threads} threads * ({steps} steps)^{}) in each, {} in all; if executions have at \
             most {steps} steps (the longest had {longest_execution})",
            depth - 1,
            percent(bound.probability)
        );
    }
    text
}

/// What is left of a search that did not come to its end, a line.
fn remaining(remaining: &Remaining) -> String {
    let left = grouped(remaining.alternatives_left);
    match remaining.executions_at_least {
        None => format!(
            "{left} steps from states that were met are left; how many states lie behind them is \
             unknown\n"
        ),
        Some(executions) => format!(
            "{} left: all of the search has at least {} executions, how many more is unknown\n",
            several(remaining.alternatives_left, "alternative"),
            grouped(executions)
        ),
    }
}
