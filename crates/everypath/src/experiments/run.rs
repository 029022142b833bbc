//! Running an experiment.

use super::strategy::{Strategy, strategy};
use super::{Figures, Part, Row, Space};
use crate::catalog::{Catalog, Request};
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use everypath_explore::{Config, Exploration, Search};

/// How often shuffled rows are run in small versions.
pub(crate) const QUICK_REPLICATIONS: u64 = 5;

/// What came of a row.
pub(crate) struct Outcome {
    /// Our averages.
    pub(crate) ours: Figures,
    /// In how many replications a violation was found.
    pub(crate) violated: u64,
    /// How many replications were run.
    pub(crate) replications: u64,
    /// Why the last of them did not come to its end.
    pub(crate) stopped: Option<Stopped>,
}

/// How experiments are run.
pub(crate) struct Runner<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) watch: &'a Watch,
    /// Run small versions.
    pub(crate) quick: bool,
}

/// Runs a row as often as it may before it is stopped.
pub(crate) fn run(
    runner: &Runner<'_>,
    part: &Part,
    row: &Row,
    replications: u64,
    space: Space,
) -> Result<Outcome, Usage> {
    let setup = &part.setup;
    let entry = runner.catalog.find(setup.model)?;
    let bugs: Vec<String> = setup.bugs.iter().map(ToString::to_string).collect();
    let nodes = row.nodes.unwrap_or(entry.nodes.default);
    let model = entry.build(Config { bugs, ..Config::new(nodes) })?;
    let Strategy { order, add, shuffle, rank } =
        strategy(row.label).ok_or_else(|| Usage::new(format!("unknown search {}", row.label)))?;
    let mut search = Search {
        order,
        add,
        visited: setup.visited,
        max_depth: Some(row.max_depth),
        must_contain: setup.must_contain.map(|event| entry.event(event)).transpose()?,
        disabled: setup.disabled.iter().map(|e| entry.event(e)).collect::<Result<_, _>>()?,
        ..Search::default()
    };
    let most = match (shuffle, runner.quick) {
        (false, _) => 1,
        (true, true) => replications.min(QUICK_REPLICATIONS),
        (true, false) => replications,
    };
    let mut explorations = Vec::new();
    let (mut seconds, mut stopped) = (0.0, None);
    while (explorations.len() as u64) < most && stopped.is_none() {
        search.shuffle = shuffle.then_some(explorations.len() as u64 + 1);
        let rank = rank.map(ToString::to_string);
        let request = Request { search: search.clone(), rank, properties: model.properties() };
        let (result, took, why) = runner.watch.run(|control| model.explore(&request, control));
        explorations.push(result);
        seconds += took.as_secs_f64();
        stopped = why;
    }
    Ok(summarize(&explorations, seconds, space, stopped))
}

fn summarize(
    explorations: &[Exploration],
    seconds: f64,
    space: Space,
    stopped: Option<Stopped>,
) -> Outcome {
    let count = explorations.len() as f64;
    let average = |number: fn(&Exploration) -> u64| {
        explorations.iter().map(|exploration| number(exploration) as f64).sum::<f64>() / count
    };
    Outcome {
        ours: Figures {
            seconds: seconds / count,
            space: match space {
                Space::Stored => average(|exploration| exploration.counts.stored),
                Space::Visited => average(|exploration| exploration.counts.states),
            },
            events: average(|exploration| exploration.counts.events),
        },
        violated: explorations.iter().filter(|e| !e.found.is_empty()).count() as u64,
        replications: explorations.len() as u64,
        stopped,
    }
}
