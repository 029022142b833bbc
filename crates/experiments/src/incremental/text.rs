//! The tables of chapter 8 in words.

use super::run::Figures;
use super::{Flagged, Observed, Part, Versions};
use serde_json::{Value, json};

/// A row: a search from scratch, and with graphs.
pub(super) struct Line {
    pub(super) part: &'static str,
    pub(super) name: String,
    pub(super) scratch: Figures,
    pub(super) cells: Vec<Cell>,
}

/// The same search with a graph.
pub(super) struct Cell {
    /// The events that count as modified, or what else tells it apart.
    pub(super) name: String,
    pub(super) figures: Figures,
}

/// What is saved of `whole`, in percent; negative if it is more.
fn saving(whole: f64, part: f64) -> f64 {
    (whole - part) / whole * 100.0
}

/// How much memory a graph takes beside the search, in percent of it.
fn overhead(figures: &Figures) -> f64 {
    figures.extra / figures.bytes * 100.0
}

impl Line {
    pub(super) fn json(&self) -> Value {
        let cell = |Cell { name, figures }: &Cell| {
            json!({
                "modified": name,
                "seconds": figures.seconds,
                "saving_percent": saving(self.scratch.seconds, figures.seconds),
                "speedup": self.scratch.seconds / figures.seconds,
                "executed": figures.executed,
                "p": figures.p,
                "q": figures.q,
                "extra_bytes": figures.extra,
                "memory_overhead_percent": overhead(figures),
                "quantities": figures.quantities,
                "condition": figures.quantities.condition(),
            })
        };
        json!({
            "part": self.part,
            "label": self.name,
            "events": self.scratch.events,
            "t": self.scratch.t,
            "v": self.scratch.v,
            "seconds": self.scratch.seconds,
            "bytes": self.scratch.bytes,
            "incremental": self.cells.iter().map(cell).collect::<Vec<_>>(),
        })
    }
}

/// A section as text.
pub(super) fn render(part: &Part, lines: &[Line]) -> String {
    match part {
        Part::Flagged(flagged) => lines.iter().map(|line| render_flagged(flagged, line)).collect(),
        Part::Versions(versions) => render_versions(versions, lines),
    }
}

fn render_flagged(flagged: &Flagged, line: &Line) -> String {
    let Line { name, scratch, cells, .. } = line;
    let paper = &flagged.paper;
    let mut out = format!(
        "{}: {name}, depth {}; paper | ours: from scratch {:.3} s | {:.5} s, {:.3} MB | {:.3} MB, \
         t {:.4} | {:.4}\n",
        flagged.title,
        flagged.search.max_depth,
        paper.seconds,
        scratch.seconds,
        paper.megabytes,
        scratch.bytes / 1e6,
        paper.tree,
        scratch.t,
    );
    out += &format!(
        "  {:<8}{:>12}{:>10}{:>10}{:>10}{:>12}{:>9}{:>12}{:>9}\n",
        "modified", "executed", "q", "speed", "saving %", "(paper)", "memory %", "(paper)", "holds"
    );
    for (number, cell) in cells.iter().enumerate() {
        let figures = &cell.figures;
        let at = |column: &[f64]| column.get(number).map_or("–".into(), |x| format!("{x:.2}"));
        let holds = figures.quantities.condition();
        out += &format!(
            "  {number:<8}{:>12.0}{:>10.4}{:>9.2}x{:>10.2}{:>12}{:>9.2}{:>12}{:>9}\n",
            figures.executed,
            figures.q,
            scratch.seconds / figures.seconds,
            saving(scratch.seconds, figures.seconds),
            at(paper.savings),
            overhead(figures),
            at(paper.overhead),
            holds.map_or("–".into(), |condition| condition.holds.to_string()),
        );
    }
    if !flagged.breakdown.is_empty() {
        out += &breakdown(flagged, line);
    }
    out + "\n"
}

/// Where the time goes: the paper's seconds, and our milliseconds as a sample tells. A dash is what
/// no sample has timed.
fn breakdown(flagged: &Flagged, line: &Line) -> String {
    let mut out = format!("  {:<28}", "paper s | ours ms");
    for number in 0..=line.cells.len() {
        let name = match number {
            0 => "from scratch".into(),
            number => format!("{} modified", number - 1),
        };
        out += &format!("{name:>22}");
    }
    out += "\n";
    for (operation, paper) in flagged.breakdown {
        out += &format!("  {operation:<28}");
        for (number, seconds) in paper.iter().enumerate() {
            let ours = match number {
                0 => milliseconds(operation, &line.scratch, None),
                number => {
                    let cell = &line.cells[number - 1];
                    milliseconds(operation, &line.scratch, Some(&cell.figures))
                }
            };
            let ours = ours.map_or("–".into(), |ours| format!("{ours:.3}"));
            out += &format!("{:>22}", format!("{seconds:.3} | {ours}"));
        }
        out += "\n";
    }
    out
}

/// What an operation takes all together: its average cost times how often it is done; `None` if it
/// was never timed.
fn milliseconds(operation: &str, scratch: &Figures, graph: Option<&Figures>) -> Option<f64> {
    let Figures { events, quantities: q, .. } = scratch;
    let below = 1.0 - q.d;
    // With a graph, what is executed is the tree events and what was not found or modified.
    let done = graph.map_or(*events, |graph| graph.executed);
    let full =
        graph.map_or(*events, |graph| (graph.executed - q.t * events * (1.0 - graph.q)).max(0.0));
    let (average, times) = match operation {
        "execute events" => (q.x, done),
        "write and hash states" => (q.h, full * below + (done - full)),
        "check properties" => (q.y, full),
        "load and search the graph" => (graph.and_then(|graph| graph.quantities.l), *events),
        "search visited states" => (q.a, full * below + (done - full)),
        "add visited states" => (q.r, q.t * events),
        // With a graph, only states that it does not know are asked, and it is not counted which.
        "list enabled events" => (q.e.filter(|_| graph.is_none()), *events),
        "add states to explore" => (q.n, q.t * events),
        "rank states" => (q.u, q.t * events),
        _ => (Some(graph.unwrap_or(scratch).seconds * 1e9), 1.0),
    };
    average.map(|average| average * times / 1e6)
}

fn render_versions(versions: &Versions, lines: &[Line]) -> String {
    let mut out = format!(
        "{}, depth {}, {}\n",
        versions.title,
        versions.search.max_depth,
        if versions.write_each { "every version written" } else { "the first version written" },
    );
    out += &format!(
        "  {:<12}{:>10}{:>10}{:>10}{:>10}{:>11}{:>10}{:>22}{:>22}{:>10}{:>10}\n",
        "version",
        "paper s",
        "ours",
        "inc. s",
        "ours",
        "saving %",
        "ours",
        "p q v",
        "ours",
        "memory %",
        "ours"
    );
    let mut sums = [0.0; 4];
    for (version, line) in versions.versions.iter().zip(lines) {
        let (paper, ours) = (&version.paper, &line.cells[0].figures);
        let observed = match paper.observed {
            Observed::Found { p, q } => format!("{p:.4} {q:.4}"),
            Observed::Safe(v) => format!("v {v:.6}"),
        };
        let ours_observed = match paper.observed {
            Observed::Found { .. } => format!("{:.4} {:.4}", ours.p, ours.q),
            Observed::Safe(_) => format!("v {:.6}", line.scratch.v),
        };
        let times = [paper.seconds[0], line.scratch.seconds, paper.seconds[1], ours.seconds];
        sums = std::array::from_fn(|at| sums[at] + times[at]);
        out += &format!(
            "  {:<12}{:>10.3}{:>10.5}{:>10.3}{:>10.5}{:>11.2}{:>10.2}{observed:>22}\
             {ours_observed:>22}{:>10.2}{:>10.2}\n",
            line.name,
            times[0],
            times[1],
            times[2],
            times[3],
            saving(times[0], times[2]),
            saving(times[1], times[3]),
            -saving(paper.megabytes[0], paper.megabytes[1]),
            overhead(ours),
        );
    }
    out += &format!(
        "  {:<12}{:>10.3}{:>10.5}{:>10.3}{:>10.5}{:>11.2}{:>10.2}\n\n",
        "sum",
        sums[0],
        sums[1],
        sums[2],
        sums[3],
        saving(sums[0], sums[2]),
        saving(sums[1], sums[3]),
    );
    out
}
