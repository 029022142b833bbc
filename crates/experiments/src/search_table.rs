//! Tables of searches over models: a row names a search in the paper's own way.

use crate::experiment::{About, Experiment, ExperimentError, Host, QUICK_REPLICATIONS, Rows};
use crate::models::Setup;
use crate::strategy::{Strategy, strategy};
use everypath_explore::{Exploration, Request, Search};
use serde_json::{Value, json};

/// A table of a paper.
pub(crate) struct SearchTable {
    /// What it is.
    pub(crate) about: About,
    /// How often each shuffled row is run, with as many seeds.
    pub(crate) replications: u64,
    /// What the paper calls space.
    pub(crate) space: Space,
    /// The sections of the table.
    pub(crate) parts: Vec<Part>,
}

/// What the paper counts as space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Visited states and states to be explored.
    Stored,
    /// Visited states.
    Visited,
}

/// A section of a table.
pub(crate) struct Part {
    /// Its heading.
    pub(crate) title: &'static str,
    /// What is explored.
    pub(crate) setup: Setup,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
pub(crate) struct Row {
    /// The paper's name of the search, such as `AODV-3-BeFS-ANS`.
    pub(crate) label: &'static str,
    /// How many nodes there are; the model's own number if nothing is said.
    pub(crate) nodes: Option<u32>,
    /// The depth bound.
    pub(crate) max_depth: u32,
    /// The paper's averages; `None` where it has none.
    pub(crate) paper: Option<Figures>,
}

/// Average time in seconds, space and events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) seconds: f64,
    pub(crate) space: f64,
    pub(crate) events: f64,
}

/// A row of a paper: the search, then seconds, space and events; NAN where it has none.
pub(crate) type Paper = (&'static str, f64, f64, f64);

/// Rows that differ in the search only.
pub(crate) fn rows(table: &[Paper], nodes: u32, max_depth: u32) -> Vec<Row> {
    let row = |&(label, seconds, space, events): &Paper| Row {
        label,
        nodes: Some(nodes),
        max_depth,
        paper: Some(Figures { seconds, space, events }).filter(|paper| !paper.events.is_nan()),
    };
    table.iter().map(row).collect()
}

/// Rows that differ in the length of a chain: the paper's, with its depth bounds, and longer ones
/// up to `longest` nodes, five steps deeper each.
pub(crate) fn chain(
    label: &'static str,
    table: &[(u32, u32, f64, f64, f64)],
    longest: u32,
) -> Vec<Row> {
    let mut rows: Vec<Row> = table
        .iter()
        .map(|&(nodes, max_depth, seconds, space, events)| Row {
            label,
            nodes: Some(nodes),
            max_depth,
            paper: Some(Figures { seconds, space, events }),
        })
        .collect();
    if let Some(&(last, depth, ..)) = table.last() {
        rows.extend((last + 1..=longest).map(|nodes| Row {
            label,
            nodes: Some(nodes),
            max_depth: depth + 5 * (nodes - last),
            paper: None,
        }));
    }
    rows
}

impl Experiment for SearchTable {
    fn about(&self) -> About {
        self.about
    }

    fn run(&self, host: &Host<'_>) -> Result<Rows, ExperimentError> {
        let mut results = Rows::default();
        (host.print)(&format!("{} ({})\n", self.about.title, self.about.source));
        for part in &self.parts {
            (host.print)(&header(part.title));
            for row in &part.rows {
                let outcome = self.run_row(host, part, row)?;
                (host.print)(&line(row, &outcome));
                results.rows.push(in_json(part.title, row, &outcome));
                if outcome.stopped.is_some() {
                    return Ok(Rows { stopped: outcome.stopped, ..results });
                }
            }
        }
        (host.print)("\n");
        Ok(results)
    }
}

/// What came of a row.
struct RowResult {
    /// Our averages, minima and maxima.
    ours: Figures,
    least: Figures,
    most: Figures,
    /// In how many replications a violation was found.
    violated: u64,
    /// How many replications were run.
    replications: u64,
    /// Why the last of them did not come to its end.
    stopped: Option<String>,
}

impl SearchTable {
    /// Runs a row as often as it may before it is stopped.
    fn run_row(
        &self,
        host: &Host<'_>,
        part: &Part,
        row: &Row,
    ) -> Result<RowResult, ExperimentError> {
        let model = part.setup.build(row.nodes)?;
        let Strategy { order, add, shuffle, rank } = strategy(row.label)?;
        let mut search =
            Search { order, add, max_depth: Some(row.max_depth), ..part.setup.search()? };
        let most = match (shuffle, host.quick) {
            (false, _) => 1,
            (true, true) => self.replications.min(QUICK_REPLICATIONS),
            (true, false) => self.replications,
        };
        let mut explorations = Vec::new();
        let (mut seconds, mut stopped) = (Vec::new(), None);
        while (explorations.len() as u64) < most && stopped.is_none() {
            search.shuffle = shuffle.then_some(explorations.len() as u64 + 1);
            let rank = rank.map(ToString::to_string);
            let request = Request::new(model.as_ref(), search.clone(), rank);
            let (result, timed) = host.watched(|control| model.explore(&request, control));
            explorations.push(result);
            seconds.push(timed.took.as_secs_f64());
            stopped = timed.stopped;
        }
        Ok(summarize(&explorations, &seconds, self.space, stopped))
    }
}

fn summarize(
    explorations: &[Exploration],
    seconds: &[f64],
    space: Space,
    stopped: Option<String>,
) -> RowResult {
    let numbers = |number: fn(&Exploration) -> u64| -> Vec<f64> {
        explorations.iter().map(|exploration| number(exploration) as f64).collect()
    };
    let space = match space {
        Space::Stored => numbers(|exploration| exploration.counts.stored),
        Space::Visited => numbers(|exploration| exploration.counts.states),
    };
    let events = numbers(|exploration| exploration.counts.events);
    let figures = |of: fn(&[f64]) -> f64| Figures {
        seconds: of(seconds),
        space: of(&space),
        events: of(&events),
    };
    RowResult {
        ours: figures(|values| values.iter().sum::<f64>() / values.len() as f64),
        least: figures(|values| values.iter().copied().fold(f64::INFINITY, f64::min)),
        most: figures(|values| values.iter().copied().fold(0.0, f64::max)),
        violated: explorations.iter().filter(|e| !e.found.is_empty()).count() as u64,
        replications: explorations.len() as u64,
        stopped,
    }
}

/// The names of the columns: the paper's figures, each with ours beside it.
fn header(title: &str) -> String {
    let columns = ["states", "ours", "events", "ours", "seconds", "ours", "found"];
    let columns: String = columns.iter().map(|column| format!("{column:>12}")).collect();
    format!("{title:24}{columns}{:>19}{:>19}\n", "states min–max", "events min–max")
}

fn line(row: &Row, outcome: &RowResult) -> String {
    let RowResult { ours, least, most, violated, replications, .. } = outcome;
    let nodes = row.nodes.map_or(String::new(), |nodes| format!(", {nodes} nodes"));
    let name = format!("{}{nodes}", row.label);
    let paper = |figure: fn(&Figures) -> f64, digits: usize| match &row.paper {
        Some(paper) => format!("{:.digits$}", figure(paper)),
        None => "–".into(),
    };
    let found = format!("{violated}/{replications}");
    let range = |figure: fn(&Figures) -> f64| match *replications {
        1 => "–".into(),
        _ => format!("{}–{}", figure(least), figure(most)),
    };
    let (space, events) = (range(|figures| figures.space), range(|figures| figures.events));
    format!(
        "{name:24}{:>12}{:>12.2}{:>12}{:>12.2}{:>12}{:>12.5}{found:>12}{space:>19}{events:>19}\n",
        paper(|figures| figures.space, 2),
        ours.space,
        paper(|figures| figures.events, 2),
        ours.events,
        paper(|figures| figures.seconds, 5),
        ours.seconds,
    )
}

fn in_json(part: &str, row: &Row, outcome: &RowResult) -> Value {
    let figures = |figures: &Figures| json!({"states": figures.space, "events": figures.events, "seconds": figures.seconds});
    json!({
        "part": part,
        "label": row.label,
        "nodes": row.nodes,
        "replications": outcome.replications,
        "violated": outcome.violated,
        "paper": row.paper.as_ref().map(figures),
        "ours": figures(&outcome.ours),
        "min": figures(&outcome.least),
        "max": figures(&outcome.most),
    })
}
