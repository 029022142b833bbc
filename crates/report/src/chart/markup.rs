//! Sequence charts as Mermaid and Graphviz text.

use super::{Arrow, Chart, End};
use std::fmt::Write;

/// So many characters are quoted of a message.
const QUOTED: usize = 60;

impl Chart {
    /// The chart as a sequence diagram of Mermaid, where arrows stand where they arrive.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("sequenceDiagram\n");
        for (number, name) in self.lifelines.iter().enumerate() {
            let _ = writeln!(out, "    participant p{number} as {}", entities(name));
        }
        let mut arrows: Vec<&Arrow> = self.arrows.iter().collect();
        arrows.sort_by_key(|arrow| arrow.last_row());
        for arrow in arrows {
            let Arrow { from, to, content, begins, end } = arrow;
            let words = entities(&content.within(QUOTED));
            let (sent, line) = (begins.row + 1, arrow.last_row() + 1);
            let (sign, note) = match end {
                End::Here => {
                    let _ = writeln!(out, "    Note over p{from}: {line}. {words}");
                    continue;
                }
                End::Lost => ("-x", " (lost)".into()),
                End::Unread => ("--x", " (not read)".into()),
                End::Arrives { copies: 1.., .. } => ("-->>", format!(" (again: sent in {sent})")),
                End::Arrives { is_late: true, .. } => ("->>", format!(" (late: sent in {sent})")),
                End::Arrives { .. } => ("->>", String::new()),
            };
            let _ = writeln!(out, "    p{from}{sign}p{to}: {line}. {words}{note}");
        }
        out
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

/// Text in which Mermaid finds nothing to act on.
fn entities(text: &str) -> String {
    let escape = |character: char| match character {
        '#' | ';' | '<' | '>' | '&' | '%' | '"' => format!("#{};", u32::from(character)),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

/// A string of the language of graphs.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
