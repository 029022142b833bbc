//! A counterexample of a native program as text.

use crate::chart::Chart;
use crate::text::{grouped, heading, plain, push, quoted};
use everypath_trace::{Explanation, RacingStep, Trace, TraceStep};
use std::collections::BTreeSet;
use std::ops::Range;

/// How wide a message that names all threads is: of many it is a long sentence.
const WIDTH: usize = 80;
/// More steps that switch threads or choose an outcome are not shown.
const MOST_SHOWN: usize = 120;

/// The counterexample: what is violated and why, the `shown` steps that matter most one a line, its
/// messages, its critical step, the stacks of its threads at the end, and how to replay it.
pub fn text(trace: &Trace, replay: &str, path: &str, shown: usize) -> String {
    let mut out = String::new();
    push(&mut out, format_args!("{}{}", heading(trace), switches(trace)));
    let message = plain(&trace.violation.message);
    let names_threads = matches!(trace.violation.property.as_str(), "deadlock" | "idle");
    let lines = if names_threads { wrapped(&message) } else { vec![message] };
    if !trace.is_passing() {
        lines.iter().for_each(|line| push(&mut out, format_args!("  {line}")));
    }
    push(&mut out, format_args!(""));
    let cycle = Cycle::of(trace, shown);
    let chosen = steps_that_matter(trace, cycle, shown);
    list(&mut out, trace, cycle, &chosen);
    if chosen.len() < trace.steps.len() {
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
    let end = end(trace, &out);
    if !end.is_empty() {
        push(&mut out, format_args!("At the end:"));
        let width = end.iter().map(|(part, _)| part.chars().count()).max().unwrap_or(0);
        for (part, text) in end {
            push(&mut out, format_args!("  {part:width$}  {text}"));
        }
        push(&mut out, format_args!(""));
    }
    if let Some(shuffle) = &trace.search.shuffle {
        let strategy = plain(&trace.search.strategy);
        let found = if trace.is_passing() { "Drawn" } else { "Found" };
        push(&mut out, format_args!("{found} by {strategy} choice with seed {}.", shuffle.seed));
    }
    push(&mut out, format_args!("Replay it: {replay} {}", quoted(path)));
    out
}

/// The steps, one a line.
fn list(out: &mut String, trace: &Trace, cycle: Option<Cycle>, chosen: &BTreeSet<usize>) {
    let mut next = 0;
    let actors = trace.steps.iter().map(|step| plain(&step.actor).chars().count());
    let width = actors.max().unwrap_or(0);
    let digits = trace.steps.len().to_string().len();
    for &number in chosen {
        fold(out, trace, next..number);
        next = number + 1;
        if let Some(Cycle { period, .. }) = cycle.filter(|cycle| cycle.start == number) {
            let steps = if period == 1 {
                "This step repeats".into()
            } else {
                format!("These {period} steps repeat")
            };
            push(out, format_args!("  {steps} without end:"));
        }
        let step = &trace.steps[number];
        let (actor, text) = (plain(&step.actor), plain(&step.text));
        let mark = if step.preempts { '*' } else { ' ' };
        push(out, format_args!("  {:digits$}{mark} {actor:width$}  {text}", number + 1));
    }
    match cycle {
        Some(Cycle { start, period }) => {
            let rounds = (trace.steps.len() - start) / period - 1;
            push(out, format_args!("  … {} more rounds", grouped(rounds as u64)));
        }
        None => fold(out, trace, next..trace.steps.len()),
    }
}

/// The numbers of the steps to show, from 0 and in order: the critical step and the one that races
/// with it, preemptions with the step before each, outcomes that were chosen, the cycle of a livelock;
/// and the last ones that are the program's own.
fn steps_that_matter(trace: &Trace, cycle: Option<Cycle>, shown: usize) -> BTreeSet<usize> {
    let count = cycle.map_or(trace.steps.len(), |cycle| cycle.start + cycle.period);
    if shown == usize::MAX {
        return (0..count).collect();
    }
    let explained = trace.explanation.iter().flat_map(|explanation| {
        let race = explanation.race.iter().filter_map(|step| step.number);
        race.chain([explanation.critical_step])
    });
    let mut chosen: BTreeSet<usize> =
        explained.filter_map(|number| number.checked_sub(1)).filter(|&at| at < count).collect();
    if let Some(Cycle { start, period }) = cycle {
        chosen.extend(start..start + period);
    }
    // The last of more preemptions than that, and at least a third of what is usually shown is the end.
    let room = |chosen: &BTreeSet<usize>| chosen.len() < shown.max(MOST_SHOWN) - shown / 3;
    for (at, step) in trace.steps[..count].iter().enumerate().rev() {
        if (step.preempts || step.step.param != 0) && room(&chosen) {
            chosen.extend([at.saturating_sub(usize::from(step.preempts)), at]);
        }
    }
    let least = chosen.len() + shown / 3;
    for (at, step) in trace.steps[..count].iter().enumerate().rev() {
        if chosen.len() >= shown.max(least) {
            break;
        }
        if !step.runtime {
            chosen.insert(at);
        }
    }
    chosen
}

/// The steps that a livelock repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cycle {
    /// Where it is first seen, from 0.
    start: usize,
    period: usize,
}

impl Cycle {
    /// The cycle at the end of a livelock, if its steps can be shown.
    fn of(trace: &Trace, shown: usize) -> Option<Self> {
        if trace.violation.property != "livelock" || shown == usize::MAX {
            return None;
        }
        let steps = &trace.steps;
        // Of the last ones of very many, no source lines are known.
        let same = |a: &TraceStep, b: &TraceStep| {
            let texts = a.text.starts_with(&b.text) || b.text.starts_with(&a.text);
            a.step == b.step && texts
        };
        let repeats = |at: usize, period: usize| same(&steps[at], &steps[at + period]);
        let is_period = |period: &usize| {
            let seen = (4 * period).max(64);
            seen <= steps.len()
                && (steps.len() - seen..steps.len() - period).all(|at| repeats(at, *period))
        };
        let period = (1..=shown).find(is_period)?;
        let start = (0..steps.len() - period).rev().find(|&at| !repeats(at, period));
        Some(Cycle { start: start.map_or(0, |at| at + 1), period })
    }
}

/// Says how many steps are left out in one place, and whether all of them are of libraries.
fn fold(out: &mut String, trace: &Trace, steps: Range<usize>) {
    let whose =
        if trace.steps[steps.clone()].iter().all(|step| step.runtime) { "runtime " } else { "" };
    match steps.len() {
        0 => {}
        1 => push(out, format_args!("  … 1 {whose}step")),
        count => push(out, format_args!("  … {} {whose}steps", grouped(count as u64))),
    }
}

/// What is said of the end; of objects with a number only if these were mentioned before.
fn end(trace: &Trace, mentioned: &str) -> Vec<(String, String)> {
    let end = trace.steps.last().map_or(&trace.initial, |step| &step.state);
    let is_mentioned = |part: &str| {
        let rest = mentioned.match_indices(part).map(|(at, _)| &mentioned[at + part.len()..]);
        let mut whole = rest.filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        !part.contains('#') || whole.next().is_some()
    };
    let lines = end.iter().map(|line| (plain(&line.part), plain(&line.text)));
    lines.filter(|(part, _)| is_mentioned(part)).collect()
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
    use everypath_trace::{Line, SearchRecord, Step, Target, Violation};

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
        let chosen = steps_that_matter(&trace, None, 30);
        assert_eq!((chosen.len(), chosen.last()), (120, Some(&999)));
        assert_eq!(steps_that_matter(&trace, None, usize::MAX).len(), 1000);
    }

    #[test]
    fn steps_of_the_runtime_are_folded() {
        let mut trace = trace(40);
        trace.steps[20..38].iter_mut().for_each(|step| step.runtime = true);
        let said = text(&trace, "everypath replay", "trace.json", 30);
        assert!(said.contains("  20  main  does 20\n  … 18 runtime steps\n  39  main"), "{said}");
        assert!(said.contains("   1  main  does 1\n"), "{said}");
        assert!(said.contains("(everypath show trace.json prints all steps)"), "{said}");
        let all = text(&trace, "everypath replay", "trace.json", usize::MAX);
        assert!(all.contains("  21  main  does 21\n") && !all.contains("runtime"), "{all}");
    }

    #[test]
    fn of_a_livelock_the_cycle_is_shown() {
        let mut trace = trace(90_014);
        trace.violation.property = "livelock".into();
        for (at, step) in trace.steps.iter_mut().enumerate().skip(14) {
            let place = if at < 20_000 { ", look at spin.c:7" } else { "" };
            step.text = ["loads word a", "yields"][at % 2].to_string() + place;
        }
        let said = text(&trace, "everypath replay", "trace.json", 30);
        let cycle = "  These 2 steps repeat without end:\n     15  main  loads word a, look at spin.c:7\n     16  main  yields, look at spin.c:7\n  … 44,999 more rounds\n";
        assert!(said.contains(cycle), "{said}");
        assert!(said.contains("does 14\n"), "{said}");
    }

    #[test]
    fn objects_are_explained_if_they_are_mentioned() {
        let mut trace = trace(2);
        trace.steps[0].text = "locks mutex #1".into();
        trace.steps[1].text = "locks mutex #12".into();
        let part = |number| Line::new(format!("mutex #{number}"), "is in a block");
        trace.steps[1].state = vec![part(1), part(2), part(12)];
        let said = text(&trace, "everypath replay", "trace.json", 30);
        assert!(
            said.contains("  mutex #1   is in a block\n  mutex #12  is in a block\n"),
            "{said}"
        );
        assert!(!said.contains("mutex #2"), "{said}");
    }
}
