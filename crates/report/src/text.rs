//! A counterexample of a protocol model as text.

use everypath_trace::{Config, Line, Target, Trace};
use std::borrow::Cow;
use std::fmt::Write;

/// The verdict in one line, as [`text()`] begins.
pub fn heading(trace: &Trace) -> String {
    let steps = match trace.steps.len() {
        0 => "in the initial state".into(),
        1 => "after 1 step".into(),
        steps => format!("after {} steps", grouped(steps as u64)),
    };
    if trace.violation.property.is_empty() {
        return format!("EXECUTION of {} {steps}", target(trace));
    }
    format!("VIOLATED: {} of {} {steps}", plain(&trace.violation.property), target(trace))
}

/// The reason of a search that ended at the limit of time.
pub fn time_reached(seconds: f64) -> String {
    format!("the limit of {seconds} seconds was reached")
}

/// The reason of a search that ended at the limit of memory.
pub fn memory_reached(bytes: u64) -> String {
    format!("the memory limit of {} MiB was reached", grouped(bytes >> 20))
}

/// The counterexample: what is violated and why, each step, each state, and how to replay it.
///
/// `replay` is the command that replays traces, `path` is where this one is. Control characters in the
/// trace are escaped, so that a file from elsewhere cannot play tricks with a terminal.
pub fn text(trace: &Trace, replay: &str, path: &str) -> String {
    if !matches!(trace.target, Target::Model { .. }) {
        return crate::native::text(trace, replay, path, usize::MAX);
    }
    let mut out = String::new();
    let width = widest(trace);
    push(&mut out, format_args!("{}", heading(trace)));
    if !trace.violation.message.is_empty() {
        push(&mut out, format_args!("  {}", plain(&trace.violation.message)));
    }
    push(&mut out, format_args!(""));
    push(&mut out, format_args!("State 1 (initial)"));
    lines(&mut out, &trace.initial, width);
    for (number, step) in trace.steps.iter().enumerate() {
        if trace.repeats_from == Some(number + 1) {
            push(&mut out, format_args!("The loop, which can be repeated for ever:"));
        }
        let (actor, event) = (plain(&step.actor), plain(&step.event));
        push(
            &mut out,
            format_args!("Step {}: {event} at {actor}: {}", number + 1, plain(&step.text)),
        );
        match step.fingerprint {
            Some(_) => push(&mut out, format_args!("State {}", number + 2)),
            None => push(&mut out, format_args!("  (the step never completed)")),
        }
        lines(&mut out, &step.state, width);
    }
    if let Some(first) = trace.repeats_from {
        push(&mut out, format_args!("Back to state {first}, before step {first}."));
    }
    push(&mut out, format_args!(""));
    if let Target::Model { config, .. } = &trace.target
        && let Some(built) = built(config)
    {
        push(&mut out, format_args!("Built with {built}."));
    }
    if trace.violation.property.is_empty() {
        return out;
    }
    push(&mut out, format_args!("Found by {}.", search(trace)));
    push(&mut out, format_args!("Replay it: {replay} {}", quoted(path)));
    out
}

/// Appends a line.
pub(crate) fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(out, "{line}").expect("writing to a string never fails");
}

/// The width of the column that names the parts of the system.
fn widest(trace: &Trace) -> usize {
    let steps = trace.steps.iter().flat_map(|step| &step.state);
    trace
        .initial
        .iter()
        .chain(steps)
        .map(|line| plain(&line.part).chars().count())
        .max()
        .unwrap_or(0)
}

fn lines(out: &mut String, lines: &[Line], width: usize) {
    for line in lines {
        push(out, format_args!("  {:width$}  {}", plain(&line.part), plain(&line.text)));
    }
}

/// What was explored: the model and its bugs.
fn target(trace: &Trace) -> String {
    match &trace.target {
        Target::Model { name, config } if config.bugs.is_empty() => plain(name),
        Target::Model { name, config } => {
            format!("{} with {}", plain(name), plain(&config.bugs.join(", ")))
        }
        Target::Native { config, .. } => {
            let program = || config.program.to_string_lossy().into_owned();
            let checked = || config.test().unwrap_or_else(program);
            plain(&culprit(&config.with, &trace.violation.message).map_or_else(checked, Into::into))
        }
        Target::Unconfigured { program } => plain(program),
    }
}

/// The program that a message about a closed system begins with, if it is not the checked one.
fn culprit<'a>(others: &'a [String], message: &'a str) -> Option<&'a str> {
    let programs = others.iter().filter_map(|command| command.split_whitespace().next());
    programs.into_iter().find(|program| {
        let name = program.rsplit('/').next().unwrap_or(program);
        // Of several with the same command, each has a number.
        let numbered = |rest: &'a str| match rest.strip_prefix(' ') {
            Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => rest,
        };
        message.strip_prefix(name).is_some_and(|rest| numbered(rest).starts_with(": "))
    })
}

/// How the model was built, apart from its bugs, if it was not built as usual.
pub fn built(config: &Config) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(features) = &config.features {
        parts.push(format!("features: {}", plain(&features.join(", "))));
    }
    if let Some(links) = &config.links {
        let pairs: Vec<String> = links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        let links = if pairs.is_empty() { "none".into() } else { pairs.join(", ") };
        parts.push(format!("{} nodes, links: {links}", config.nodes));
    }
    if config.duplicate {
        parts.push("packets may be duplicated".into());
    }
    if config.identical {
        parts.push("one step for identical packets".into());
    }
    let pair = |name: &str, value: &dyn std::fmt::Display| format!("{} {value}", plain(name));
    parts.extend(config.set.iter().map(|(name, value)| pair(name, value)));
    if !config.faults.is_empty() {
        let faults = config.faults.iter().map(|(name, most)| pair(name, most));
        parts.push(format!("faults at most: {}", faults.collect::<Vec<_>>().join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// How it was found.
fn search(trace: &Trace) -> String {
    let search = &trace.search;
    let mut text = format!("{}, adding {}", plain(&search.strategy), plain(&search.add));
    if let Some(rank) = &search.rank {
        write!(text, ", rank {}", plain(rank)).expect("writing to a string never fails");
    }
    if let Some(shuffle) = &search.shuffle {
        write!(text, ", shuffled with seed {}", shuffle.seed)
            .expect("writing to a string never fails");
    }
    text
}

/// Whether a terminal would act on a character, or readers be deceived: directional overrides make text
/// look like another.
fn is_trick(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// The lines of a text as [`plain`] has them, for what is put together from files and programs.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_layout = |c: char| matches!(c, '\n' | '\t');
    if !text.contains(|c: char| is_trick(c) && !is_layout(c)) {
        return text.into();
    }
    let parts = text.split_inclusive(is_layout).map(|part| match part.strip_suffix(is_layout) {
        Some(before) => plain(before) + &part[before.len()..],
        None => plain(part),
    });
    parts.collect::<String>().into()
}

/// The text in one line, without characters that a terminal would act on.
pub fn plain(text: &str) -> String {
    // Nearly all texts are like that.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.into();
    }
    text.chars()
        .flat_map(|c| {
            let escape = is_trick(c).then(|| c.escape_default());
            let itself = (!is_trick(c)).then_some(c);
            escape.into_iter().flatten().chain(itself)
        })
        .collect()
}

/// The path as a shell takes it.
pub fn quoted(path: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !path.is_empty() && path.chars().all(harmless) {
        path.into()
    } else {
        format!("'{}'", plain(path).replace('\'', r"'\''"))
    }
}

/// Smaller shares are not told apart.
const SMALLEST: f64 = 0.0001;

/// A probability or a share with two digits that matter.
///
/// ```
/// let percent = everypath_report::percent;
/// assert_eq!([percent(0.0), percent(0.123), percent(1.0)], ["0 %", "12 %", "100 %"]);
/// assert_eq!([percent(0.0123), percent(0.000_056_7)], ["1.2 %", "0.0057 %"]);
/// assert_eq!([percent(1e-9), percent(0.999_999_9)], ["less than 0.0001 %", "99.9999 %"]);
/// assert_eq!([percent(0.997_219), percent(0.992)], ["99.72 %", "99 %"]);
/// ```
pub fn percent(probability: f64) -> String {
    let percent = probability * 100.0;
    if percent > 0.0 && percent < SMALLEST {
        return format!("less than {SMALLEST} %");
    }
    // Certain is only what is.
    if percent < 100.0 && percent > 99.5 {
        let parts = if percent > 99.99 { 1e4 } else { 1e2 };
        return format!("{} %", (percent * parts).floor() / parts);
    }
    let digits = if percent >= 10.0 || percent == 0.0 {
        0
    } else {
        (1.0 - percent.log10().floor()).clamp(0.0, 5.0) as usize
    };
    format!("{percent:.digits$} %")
}

/// A number with its digits in groups of three.
///
/// ```
/// assert_eq!(everypath_report::grouped(1234567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_trace::{SearchRecord, Violation};

    fn trace(message: &str) -> Trace {
        Trace {
            target: Target::Model { name: "m".into(), config: Config::new(1) },
            search: SearchRecord {
                strategy: "bfs".into(),
                add: "next".into(),
                ..SearchRecord::default()
            },
            violation: Violation {
                property: "p".into(),
                message: message.into(),
                ..Violation::default()
            },
            initial: vec![Line::new("a", "x")],
            ..Trace::default()
        }
    }

    #[test]
    fn a_trace_from_elsewhere_cannot_send_escape_sequences() {
        let text = text(&trace("\u{1b}[2J\u{7}gone"), "replay", "t.json");
        assert!(text.contains("\\u{1b}[2J\\u{7}gone"), "{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }

    #[test]
    fn lines_are_kept_and_what_is_in_them_is_escaped() {
        assert_eq!(printable("a\n\tb"), "a\n\tb");
        assert_eq!(printable("\u{1b}[2Ja\n\rb\n"), "\\u{1b}[2Ja\n\\rb\n");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
    }

    #[test]
    fn a_path_is_quoted_as_a_shell_wants_it() {
        assert!(text(&trace(""), "x replay", "a b's").contains(r"replay 'a b'\''s'"));
        assert!(text(&trace(""), "x replay", "dir/t-1.json").contains("replay dir/t-1.json\n"));
    }
}
