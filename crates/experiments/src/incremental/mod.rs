//! Sobeih (2008), chapter 8: incremental exploration.
//!
//! There are two kinds of table. In the first, events are only said to be modified: the graph of
//! a search is loaded by the same search with none, one, two, … events flagged. In the second, a
//! handler evolves: the graph of one version is loaded by the next. Memory tables are beside the
//! times. `tables.rs` has the paper's figures, `run.rs` runs them, `text.rs` prints them.

mod run;
mod tables;
mod text;

use crate::experiment::{About, Experiment, ExperimentError, Host, QUICK_REPLICATIONS, Rows};
use crate::models::Setup;
use run::{run_flagged, run_versions};
use text::Line;

/// A table of chapter 8.
pub(crate) struct IncrementalTable {
    about: About,
    /// How often each row is run, with as many seeds.
    pub(super) replications: u64,
    pub(super) parts: Vec<Part>,
}

impl Experiment for IncrementalTable {
    fn about(&self) -> About {
        self.about
    }

    fn run(&self, host: &Host<'_>) -> Result<Rows, ExperimentError> {
        (host.print)(&format!("{} ({})\n\n", self.about.title, self.about.source));
        let seeds = match host.quick {
            true => self.replications.min(QUICK_REPLICATIONS),
            false => self.replications,
        };
        let mut results = Rows::default();
        for part in &self.parts {
            let (lines, stopped) = match part {
                Part::Flagged(flagged) => run_flagged(host, flagged, seeds)?,
                Part::Versions(versions) => run_versions(host, versions, seeds)?,
            };
            (host.print)(&text::render(part, &lines));
            results.rows.extend(lines.iter().map(Line::json));
            if stopped.is_some() {
                return Ok(Rows { stopped, ..results });
            }
        }
        Ok(results)
    }
}

/// All experiments of this kind.
pub(crate) fn all() -> Vec<IncrementalTable> {
    tables::all()
}

/// A section of a table.
pub(super) enum Part {
    Flagged(Flagged),
    Versions(Versions),
}

/// A search with several numbers of events that are said to be modified.
pub(super) struct Flagged {
    title: &'static str,
    setup: Setup,
    search: Searched,
    /// The events, a list for each column.
    modified: &'static [&'static [&'static str]],
    paper: PaperFlagged,
    /// Seconds for each operation, from scratch and for each column; empty if the paper has none.
    breakdown: &'static [(&'static str, &'static [f64])],
    /// The version whose graph is read, if it is another one.
    graph_of: Option<Setup>,
}

/// What a search is.
#[derive(Clone, Copy)]
pub(super) struct Searched {
    /// The paper's name of the strategy.
    label: &'static str,
    nodes: u32,
    max_depth: u32,
    keep_going: bool,
}

/// The paper's figures: seconds from scratch, the savings of each column in percent; megabytes
/// from scratch, the overhead of each column in percent.
#[derive(Clone, Copy)]
pub(super) struct PaperFlagged {
    seconds: f64,
    savings: &'static [f64],
    megabytes: f64,
    overhead: &'static [f64],
    /// The share of tree events.
    tree: f64,
}

/// Versions of a model, one after the other.
pub(super) struct Versions {
    title: &'static str,
    search: Searched,
    /// Whether every version writes its graph, or only the first.
    write_each: bool,
    versions: Vec<Version>,
}

/// A version of a model.
pub(super) struct Version {
    name: &'static str,
    setup: Setup,
    paper: PaperVersion,
}

/// The paper's figures for a version: seconds and megabytes, from scratch and incremental; p and q,
/// or v where nothing is read.
#[derive(Clone, Copy)]
pub(super) struct PaperVersion {
    seconds: [f64; 2],
    megabytes: [f64; 2],
    observed: Observed,
}

#[derive(Clone, Copy)]
pub(super) enum Observed {
    Found { p: f64, q: f64 },
    Safe(f64),
}
