//! Sequence charts as Mermaid and Graphviz text.

use super::{Arrow, Chart, End};
use std::fmt::Write;

/// So many characters are quoted of a message.
const QUOTED: usize = 60;

/// A language of sequence diagrams.
struct Language {
    first: &'static str,
    last: &'static str,
    note: &'static str,
    /// Declares a lifeline of a number and a name.
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
}

impl Chart {
    /// The chart as a sequence diagram of Mermaid.
    pub fn mermaid(&self) -> String {
        self.sequence(&MERMAID)
    }

    /// The chart as a sequence diagram of PlantUML.
    pub fn plantuml(&self) -> String {
        self.sequence(&PLANTUML)
    }

    /// The chart as a sequence diagram, where arrows stand where they arrive.
    fn sequence(&self, language: &Language) -> String {
        let mut out = String::from(language.first);
        for (number, name) in self.lifelines.iter().enumerate() {
            let _ = writeln!(out, "    {}", (language.participant)(number, &language.plain(name)));
        }
        let mut arrows: Vec<&Arrow> = self.arrows.iter().collect();
        arrows.sort_by_key(|arrow| arrow.last_row());
        for arrow in arrows {
            let Arrow { from, to, content, begins, end } = arrow;
            let words = language.plain(&content.within(QUOTED));
            let (sent, line) = (begins.row + 1, arrow.last_row() + 1);
            let (sign, note) = match end {
                End::Here => {
                    let _ = writeln!(out, "    {} p{from}: {line}. {words}", language.note);
                    continue;
                }
                End::Lost => (language.lost, " (lost)".into()),
                End::Unread => (language.unread, " (not read)".into()),
                End::Arrives { copies: 1.., .. } => {
                    (language.again, format!(" (again: sent in {sent})"))
                }
                End::Arrives { is_late: true, .. } => {
                    (language.arrives, format!(" (late: sent in {sent})"))
                }
                End::Arrives { .. } => (language.arrives, String::new()),
            };
            let _ = writeln!(out, "    p{from}{sign}p{to}: {line}. {words}{note}");
        }
        out + language.last
    }

    /// The chart as a graph of what comes before what: each lifeline's events one after the other,
    /// and what was sent before what arrived.
    pub fn dot(&self) -> String {
        let mut out = format!("digraph {} {{\n    rankdir=TB;\n", quoted(&self.title));
        let mut events: Vec<Vec<usize>> = vec![Vec::new(); self.lifelines.len()];
        let mut edges = String::new();
        for arrow in &self.arrows {
            let Arrow { from, to, content, begins, end } = arrow;
            events[*from].push(begins.row);
            let words = content.within(QUOTED);
            match end {
                End::Arrives { at, copies, .. } => {
                    events[*to].push(at.row);
                    let style = if *copies > 0 { "dashed" } else { "solid" };
                    let label = quoted(&words);
                    let (one, other) = (node(*from, begins.row), node(*to, at.row));
                    let _ = writeln!(edges, "    {one} -> {other} [label={label}, style={style}];");
                }
                End::Lost | End::Unread => {
                    let what = if *end == End::Lost { "lost" } else { "not read" };
                    let (one, label) = (node(*from, begins.row), quoted(&words));
                    let gone = format!("{one}_{to}");
                    let _ =
                        writeln!(edges, "    {gone} [shape=plaintext, label={}];", quoted(what));
                    let _ = writeln!(edges, "    {one} -> {gone} [label={label}, arrowhead=tee];");
                }
                End::Here => {
                    let _ = writeln!(
                        edges,
                        "    {} [shape=box, label={}];",
                        node(*from, begins.row),
                        quoted(&format!("{}. {words}", begins.row + 1))
                    );
                }
            }
        }
        for (number, (name, events)) in self.lifelines.iter().zip(&mut events).enumerate() {
            events.sort_unstable();
            events.dedup();
            let _ = writeln!(out, "    subgraph cluster_{number} {{ label={};", quoted(name));
            for &row in events.iter() {
                let _ = writeln!(out, "        {} [label=\"{}\"];", node(number, row), row + 1);
            }
            let chain: Vec<String> = events.iter().map(|&row| node(number, row)).collect();
            let _ = writeln!(out, "        {} [style=bold];\n    }}", chain.join(" -> "));
        }
        out + &edges + "}\n"
    }
}

impl Arrow {
    fn last_row(&self) -> usize {
        match self.end {
            End::Arrives { at, .. } => at.row,
            _ => self.begins.row,
        }
    }
}

fn node(lifeline: usize, row: usize) -> String {
    format!("e{lifeline}_{row}")
}

/// A string of the language of graphs.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
