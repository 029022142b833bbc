//! A counterexample of a native program as text.

use crate::chart::Chart;
use crate::text::{grouped, heading, plain, push, quoted};
use everypath_trace::{Explanation, RacingStep, Trace};
use std::collections::BTreeSet;

/// How wide the message of a deadlock is: of many threads it is a long sentence.
const WIDTH: usize = 80;

/// The counterexample: what is violated and why, the `shown` steps that matter most one a line, its
/// messages, its critical step, the stacks of its threads at the end, and how to replay it.
pub fn text(trace: &Trace, replay: &str, path: &str, shown: usize) -> String {
    let mut out = String::new();
    push(&mut out, format_args!("{}{}", heading(trace), switches(trace)));
    let message = plain(&trace.violation.message);
    let lines =
        if trace.violation.property == "deadlock" { wrapped(&message) } else { vec![message] };
    lines.iter().for_each(|line| push(&mut out, format_args!("  {line}")));
    push(&mut out, format_args!(""));
    let chosen = steps_that_matter(trace, shown);
    let hidden = trace.steps.len() - chosen.len();
    let mut next = 0;
    let actors = trace.steps.iter().map(|step| plain(&step.actor).chars().count());
    let width = actors.max().unwrap_or(0);
    let digits = trace.steps.len().to_string().len();
    for number in chosen {
        fold(&mut out, number - next);
        next = number + 1;
        let step = &trace.steps[number];
        let (actor, text) = (plain(&step.actor), plain(&step.text));
        let mark = if step.preempts { '*' } else { ' ' };
        push(&mut out, format_args!("  {:digits$}{mark} {actor:width$}  {text}", number + 1));
    }
    fold(&mut out, trace.steps.len() - next);
    if hidden > 0 {
        push(&mut out, format_args!("  (everypath show {} prints all steps)", quoted(path)));
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

/// The numbers of the steps to show, from 0 and in order: the critical step and the one that races
/// with it, preemptions with the step before each, outcomes that were chosen, then the last ones.
fn steps_that_matter(trace: &Trace, shown: usize) -> BTreeSet<usize> {
    let count = trace.steps.len();
    if count <= shown {
        return (0..count).collect();
    }
    let explained = trace.explanation.iter().flat_map(|explanation| {
        let race = explanation.race.iter().filter_map(|step| step.number);
        race.chain([explanation.critical_step])
    });
    let mut chosen: BTreeSet<usize> =
        explained.filter_map(|number| number.checked_sub(1)).filter(|&at| at < count).collect();
    // At least a third of them are the last ones, which say how it ended.
    let room = |chosen: &BTreeSet<usize>| chosen.len() + 2 <= shown - shown / 3;
    for (at, step) in trace.steps.iter().enumerate().rev() {
        if (step.preempts || step.step.param != 0) && room(&chosen) {
            chosen.extend([at.saturating_sub(usize::from(step.preempts)), at]);
        }
    }
    for at in (0..count).rev() {
        if chosen.len() >= shown {
            break;
        }
        chosen.insert(at);
    }
    chosen
}

/// Says how many steps are left out in one place.
fn fold(out: &mut String, steps: usize) {
    match steps {
        0 => {}
        1 => push(out, format_args!("  … 1 step")),
        _ => push(out, format_args!("  … {} steps", grouped(steps as u64))),
    }
}

/// A sentence in lines, broken between words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH - 2 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_trace::{SearchRecord, Step, Target, TraceStep, Violation};

    fn trace(steps: usize) -> Trace {
        let step = |at: usize| TraceStep {
            step: Step { actor: 0, event: 0, param: 0 },
            actor: "main".into(),
            event: "lock".into(),
            text: format!("does {}", at + 1),
            ..TraceStep::default()
        };
        Trace {
            target: Target::Unconfigured { program: "./program".into() },
            search: SearchRecord::default(),
            violation: Violation {
                property: "deadlock".into(),
                message: "stuck ".repeat(40),
                ..Violation::default()
            },
            steps: (0..steps).map(step).collect(),
            ..Trace::default()
        }
    }

    #[test]
    fn critical_steps_preemptions_and_choices_are_shown() {
        let mut trace = trace(1000);
        trace.explanation = Some(Explanation { critical_step: 100, exact: true, race: Vec::new() });
        trace.steps[299].preempts = true;
        trace.steps[499].step.param = 1;
        let said = text(&trace, "everypath replay", "trace.json", 30);
        let shown = |number: usize| said.contains(&format!("does {number}\n"));
        assert!([100, 299, 300, 500, 975, 1000].into_iter().all(shown), "{said}");
        assert!(![1, 99, 101, 298, 499, 974].into_iter().any(shown), "{said}");
        assert!(said.contains("  … 99 steps\n   100  main  does 100\n  … 198 steps\n"), "{said}");
        assert!(said.contains("(everypath show trace.json prints all steps)"), "{said}");
        assert!(said.lines().skip(1).all(|line| line.chars().count() <= WIDTH), "{said}");
    }

    #[test]
    fn a_trace_of_preemptions_alone_still_shows_its_end() {
        let mut trace = trace(1000);
        trace.steps.iter_mut().for_each(|step| step.preempts = true);
        let chosen = steps_that_matter(&trace, 30);
        assert_eq!((chosen.len(), chosen.last()), (30, Some(&999)));
        assert_eq!(steps_that_matter(&trace, 2000).len(), 1000);
    }
}
