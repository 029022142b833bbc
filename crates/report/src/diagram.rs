//! Sequence diagrams as text for Mermaid and PlantUML.

use crate::expansion::Expanded;
use crate::timeline::{Fate, Timeline, content, location, shortened};
use everypath_trace::Trace;
use std::fmt::Write;

/// So many characters are quoted of a message or a step.
const QUOTED: usize = 60;

/// A language of sequence diagrams.
struct Language {
    first: &'static str,
    last: &'static str,
    note: &'static str,
    /// Declares a lane of a number and a name.
    participant: fn(usize, &str) -> String,
    lost: &'static str,
    unread: &'static str,
    again: &'static str,
    arrives: &'static str,
    /// What a character must be written as, if not as itself.
    escape: fn(char) -> Option<String>,
}

const MERMAID: Language = Language {
    first: "sequenceDiagram\n",
    last: "",
    note: "Note over",
    participant: |number, name| format!("participant p{number} as {name}"),
    lost: "-x",
    unread: "--x",
    again: "-->>",
    arrives: "->>",
    escape: |character| match character {
        '#' | ';' | '<' | '>' | '&' | '%' | '"' => Some(format!("#{};", u32::from(character))),
        _ => None,
    },
};

const PLANTUML: Language = Language {
    first: "@startuml\n",
    last: "@enduml\n",
    note: "note over",
    participant: |number, name| format!("participant \"{name}\" as p{number}"),
    lost: "->x ",
    unread: "-->x ",
    again: "-->",
    arrives: "->",
    // Everything that can be markup: links, formats, variables, directives.
    escape: |character| match character {
        '"' | '<' | '>' | '&' | '~' | '\\' | '*' | '_' | '-' | '/' | '%' | '$' | '!' | '[' => {
            Some(format!("<U+{:04X}>", u32::from(character)))
        }
        _ => None,
    },
};

impl Language {
    /// Text in which the language finds nothing to act on.
    fn plain(&self, text: &str) -> String {
        let written = |character| (self.escape)(character).unwrap_or_else(|| character.into());
        text.chars().map(written).collect()
    }

    /// The trace, where arrows stand where they arrive.
    fn diagram(&self, trace: &Trace) -> String {
        let expanded = Expanded::of(trace);
        let timeline = Timeline::of(&expanded);
        let trace = timeline.trace;
        let mut out = String::from(self.first);
        for (number, lane) in timeline.lanes.iter().enumerate() {
            let _ = writeln!(out, "    {}", (self.participant)(number, &self.plain(&lane.name)));
        }
        for step in 0..trace.steps.len() {
            self.step(&mut out, &timeline, step);
            self.messages(&mut out, &timeline, step);
        }
        let message = self.plain(&shortened(&crate::text::plain(&trace.violation.message), 120));
        let last = timeline.lanes.len().saturating_sub(1);
        let whom = if last == 0 { "p0".into() } else { format!("p0,p{last}") };
        if !timeline.lanes.is_empty() && !trace.is_passing() {
            let property = self.plain(&crate::text::plain(&trace.violation.property));
            let _ = writeln!(out, "    {} {whom}: VIOLATED {property}: {message}", self.note);
        }
        out + self.last
    }

    fn step(&self, out: &mut String, timeline: &Timeline<'_>, step: usize) {
        let of = &timeline.trace.steps[step];
        let lane = timeline.lane_of[step];
        let mut words = shortened(&timeline.action(of), QUOTED);
        if let Some(place) = location(of) {
            let _ = write!(words, ", {}", shortened(&place, QUOTED / 2));
        }
        let marks = timeline.marks(step);
        if !marks.is_empty() {
            let _ = write!(words, " ({})", marks.join(", "));
        }
        // What only stands for a message is the arrow.
        if let Some(number) = timeline.number(step) {
            let words = self.plain(&words);
            let _ = writeln!(out, "    {} p{lane}: {number}. {words}", self.note);
        }
    }

    /// The messages that arrive in a step, or are sent in it and never arrive.
    fn messages(&self, out: &mut String, timeline: &Timeline<'_>, step: usize) {
        for flight in timeline.flights_at(step).filter(|flight| flight.to.step == step) {
            let before = (0..=flight.from.step).rev().find_map(|step| timeline.number(step));
            let sent = before.map_or("the beginning".into(), |number| number.to_string());
            let (sign, note) = match flight.fate {
                Fate::Lost => (self.lost, " (lost)".into()),
                Fate::Unread => (self.unread, " (not read)".into()),
                Fate::Again => (self.again, format!(" (duplicate: sent in {sent})")),
                Fate::Late => (self.arrives, format!(" (late: sent in {sent})")),
                Fate::Arrives if flight.from.step == step => (self.arrives, String::new()),
                Fate::Arrives => (self.arrives, format!(" (sent in {sent})")),
            };
            let (from, to) = (flight.from.lane, flight.to.lane);
            let words = self.plain(&content(flight.message, QUOTED));
            let _ = writeln!(out, "    p{from}{sign}p{to}: {words}{note}");
        }
    }
}

/// The trace as a sequence diagram of Mermaid.
pub fn mermaid(trace: &Trace) -> String {
    MERMAID.diagram(trace)
}

/// The trace as a sequence diagram of PlantUML.
pub fn plantuml(trace: &Trace) -> String {
    PLANTUML.diagram(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn messages_of_every_fate_are_told_to_mermaid() {
        let text = mermaid(&fixtures::exchange());
        for line in [
            "    participant p1 as thread 1 (worker)",
            "    participant p2 as server :7000",
            "    p0->>p2: #34;GET /a#34;",
            "    p2->>p0: #34;200 OK#34; (sent in 1)",
            "    p1-xp2: #34;lost one#34; (lost)",
            "    p2->>p0: #34;slow#34; (late: sent in 5)",
            "    p2-->>p0: #34;slow#34; (duplicate: sent in 5)",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("<script"), "{text}");
    }

    #[test]
    fn the_same_is_told_to_plantuml() {
        let text = plantuml(&fixtures::exchange());
        for line in [
            "    participant \"server :7000\" as p2",
            "    p1->x p2: <U+0022>lost one<U+0022> (lost)",
            "    p2-->p0: <U+0022>slow<U+0022> (duplicate: sent in 5)",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.starts_with("@startuml\n") && text.ends_with("@enduml\n"), "{text}");
    }

    #[test]
    fn steps_are_notes_with_what_is_special_about_them() {
        let text = mermaid(&fixtures::deadlock());
        let critical = "    Note over p3: 11. locks mutex forks[2], philosophers.c:18 (critical \
                        step, racing)";
        assert!(text.lines().any(|line| line == critical), "{text}");
        assert!(text.contains("    Note over p0,p3: VIOLATED deadlock: thread 1 waits"), "{text}");
    }
}
