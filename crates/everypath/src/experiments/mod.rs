//! The papers' experiments: what is run, and the figures ours are held against.
//!
//! An experiment is a table of a paper; its parts are the table's sections. A row names a search
//! in the paper's own way; beside our figures the paper's are printed. `run.rs` runs them,
//! `strategy.rs` reads the names, `incremental/` is chapter 8 of Sobeih (2008), `peers.rs` and `udp/`
//! have native programs, which `sources.rs` compiles and `checks.rs` checks, the other files are the
//! tables.

mod aodv;
mod arq;
mod checks;
mod diffusion;
pub(crate) mod incremental;
mod peers;
mod run;
mod sources;
mod strategy;
mod udp;

use everypath_explore::VisitedKind;
use serde_json::Value;

pub(crate) use run::{Outcome, QUICK_REPLICATIONS, Runner, run};

/// All experiments.
pub(crate) fn all() -> Vec<Experiment> {
    vec![
        aodv::table_4_1(),
        aodv::table_4_2(),
        aodv::table_4_3(),
        aodv::table_4_5(),
        aodv::table_4_6(),
        diffusion::table_5_1(),
        diffusion::table_5_2(),
        diffusion::table_5_3(),
        arq::table_6_1(),
    ]
}

/// A table or figure of a paper about native programs, which are compiled for it.
pub(crate) trait NativeExperiment {
    /// The name on the command line, what it shows, and where the figures beside ours come from.
    fn listed(&self) -> (&'static str, &'static str, &'static str);

    /// Runs it and prints its rows as they come; or says in one line what is missing.
    fn run(&self, quick: bool, print: &dyn Fn(&str)) -> Result<Vec<Value>, String>;

    /// The rows as an SVG plot, if it is a figure.
    fn plot(&self, _rows: &[Value]) -> Option<String> {
        None
    }
}

/// All experiments with native programs.
pub(crate) fn all_native() -> Vec<Box<dyn NativeExperiment>> {
    fn boxed<E: NativeExperiment + 'static>(experiment: E) -> Box<dyn NativeExperiment> {
        Box::new(experiment)
    }
    peers::all().map(boxed).into_iter().chain(udp::all().map(boxed)).collect()
}

/// A table of a paper.
pub(crate) struct Experiment {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) title: &'static str,
    /// Where the figures beside ours come from.
    pub(crate) source: &'static str,
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

/// What is explored.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) model: &'static str,
    pub(crate) bugs: &'static [&'static str],
    pub(crate) must_contain: Option<&'static str>,
    pub(crate) disabled: &'static [&'static str],
    pub(crate) visited: VisitedKind,
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
type Paper = (&'static str, f64, f64, f64);

/// Rows that differ in the search only.
fn rows(table: &[Paper], nodes: u32, max_depth: u32) -> Vec<Row> {
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
fn chain(label: &'static str, table: &[(u32, u32, f64, f64, f64)], longest: u32) -> Vec<Row> {
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
