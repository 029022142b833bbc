//! A counterexample of a native program as text.

use crate::chart::Chart;
use crate::text::{grouped, heading, plain, push, quoted};
use everypath_trace::{Explanation, RacingStep, Trace};

/// The counterexample: what is violated and why, its last `shown` steps one a line, its messages, its
/// critical step, the stacks of its threads at the end, and how to replay it.
pub fn text(trace: &Trace, replay: &str, path: &str, shown: usize) -> String {
    let mut out = String::new();
    push(&mut out, format_args!("{}{}", heading(trace), switches(trace)));
    push(&mut out, format_args!("  {}", plain(&trace.violation.message)));
    push(&mut out, format_args!(""));
    let hidden = trace.steps.len().saturating_sub(shown);
    if hidden > 0 {
        push(&mut out, format_args!("  … {} earlier steps", grouped(hidden as u64)));
    }
    let actors = trace.steps.iter().map(|step| plain(&step.actor).chars().count());
    let width = actors.max().unwrap_or(0);
    let digits = trace.steps.len().to_string().len();
    for (number, step) in trace.steps.iter().enumerate().skip(hidden) {
        let (actor, text) = (plain(&step.actor), plain(&step.text));
        let mark = if step.preempts { '*' } else { ' ' };
        push(&mut out, format_args!("  {:digits$}{mark} {actor:width$}  {text}", number + 1));
    }
    push(&mut out, format_args!(""));
    if let Some(chart) = Chart::of_messages(trace) {
        push(&mut out, format_args!("Sent and received:\n{}", chart.text(shown)));
    }
    if let Some(explanation) = &trace.explanation {
        explain(&mut out, explanation);
        push(&mut out, format_args!(""));
    }
    let end = trace.steps.last().map_or(&trace.initial, |step| &step.state);
    push(&mut out, format_args!("At the end:"));
    let width = end.iter().map(|line| plain(&line.part).chars().count()).max().unwrap_or(0);
    for line in end {
        let (part, text) = (plain(&line.part), plain(&line.text));
        push(&mut out, format_args!("  {part:width$}  {text}"));
    }
    push(&mut out, format_args!(""));
    if let Some(shuffle) = &trace.search.shuffle {
        let strategy = plain(&trace.search.strategy);
        push(&mut out, format_args!("Found by {strategy} choice with seed {}.", shuffle.seed));
    }
    push(&mut out, format_args!("Replay it: {replay} {}", quoted(path)));
    out
}

/// The critical step, after which every continuation fails, and the step that races with it.
fn explain(out: &mut String, explanation: &Explanation) {
    let Explanation { critical_step: step, exact, race } = explanation;
    match (step, exact, race.as_slice()) {
        (0, ..) => push(out, format_args!("Every schedule fails.")),
        (_, false, _) => {
            push(
                out,
                format_args!("Critical step {step} at the latest: every continuation fails."),
            );
        }
        (_, true, []) => push(out, format_args!("Critical step {step}: every continuation fails.")),
        (_, true, race) => {
            push(out, format_args!("Critical step {step}: every continuation fails. Racing pair:"));
            race.iter().for_each(|step| racing(out, step));
            push(out, format_args!("Reversing the pair avoids the failure."));
        }
    }
}

fn racing(out: &mut String, step: &RacingStep) {
    let number = step.number.map(|number| format!("step {number}: ")).unwrap_or_default();
    push(out, format_args!("  {number}{} {}", plain(&step.actor), plain(&step.text)));
    // The first frame stands in the text.
    for frame in step.stack.iter().skip(1) {
        push(out, format_args!("    from {}", plain(frame)));
    }
}

/// The context switches, and how many of them are preemptions: the steps that are marked.
fn switches(trace: &Trace) -> String {
    match (trace.switches(), trace.preemptions()) {
        (0, _) => String::new(),
        (1, 0) => ", 1 context switch, which is not a preemption".into(),
        (1, _) => ", 1 context switch, a preemption (*)".into(),
        (switches, 0) => format!(", {} context switches, no preemption", grouped(switches as u64)),
        (switches, 1) => {
            format!(", {} context switches, 1 of them a preemption (*)", grouped(switches as u64))
        }
        (switches, preemptions) => format!(
            ", {} context switches, {} of them preemptions (*)",
            grouped(switches as u64),
            grouped(preemptions as u64)
        ),
    }
}
