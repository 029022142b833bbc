//! Running an experiment.

use super::{Experiment, Figures, Row, Space};
use crate::catalog::{Catalog, Request};
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use everypath_explore::Search;

/// What came of a row.
pub(crate) struct Outcome {
    /// The paper's name for the row.
    pub(crate) label: &'static str,
    /// The paper's averages.
    pub(crate) paper: Figures,
    /// Ours.
    pub(crate) ours: Figures,
    /// In how many replications a violation was found.
    pub(crate) violated: u64,
    /// How many replications were run.
    pub(crate) replications: u64,
}

/// Runs all rows, or as many as it may before it is stopped.
pub(crate) fn run(
    experiment: &Experiment,
    catalog: &Catalog,
    watch: &Watch,
    quick: bool,
) -> Result<(Vec<Outcome>, Option<Stopped>), Usage> {
    let replications = if quick { experiment.quick_replications } else { experiment.replications };
    let mut outcomes = Vec::new();
    for row in &experiment.rows {
        let (outcome, stopped) = run_row(row, experiment.space, catalog, watch, replications)?;
        outcomes.push(outcome);
        if stopped.is_some() {
            return Ok((outcomes, stopped));
        }
    }
    Ok((outcomes, None))
}

fn run_row(
    row: &Row,
    space: Space,
    catalog: &Catalog,
    watch: &Watch,
    replications: u64,
) -> Result<(Outcome, Option<Stopped>), Usage> {
    let bugs: Vec<String> = row.setup.bugs.iter().map(ToString::to_string).collect();
    let model = catalog.find(row.setup.model)?.build(row.setup.nodes, &bugs)?;
    let mut totals = Figures { seconds: 0.0, space: 0.0, events: 0.0 };
    let (mut violated, mut done, mut stopped) = (0, 0, None);
    while done < replications && stopped.is_none() {
        done += 1;
        let search = Search {
            order: row.order,
            add: row.add,
            shuffle: row.shuffle.then_some(done),
            visited: row.setup.visited,
            max_depth: Some(row.setup.max_depth),
            ..Search::default()
        };
        let rank = row.rank.map(ToString::to_string);
        let request = Request { search, rank, properties: model.properties() };
        let (result, took, why) = watch.run(|control| model.explore(&request, control));
        stopped = why;
        violated += u64::from(!result.found.is_empty());
        totals.seconds += took.as_secs_f64();
        totals.events += result.counts.events as f64;
        totals.space += match space {
            Space::Stored => result.counts.stored as f64,
        };
    }
    let count = done as f64;
    let ours = Figures {
        seconds: totals.seconds / count,
        space: totals.space / count,
        events: totals.events / count,
    };
    let outcome =
        Outcome { label: row.label, paper: row.paper, ours, violated, replications: done };
    Ok((outcome, stopped))
}
