//! The papers' experiments: what is run, and the figures ours are held against.
//!
//! An experiment is a table of a paper. A row says which search to run; beside our figures the
//! paper's are printed. `run.rs` runs them, the other files are the tables.

mod arq;
mod run;

use everypath_explore::{Add, Order, VisitedKind};

pub(crate) use run::{Outcome, run};

/// All experiments.
pub(crate) fn all() -> Vec<Experiment> {
    vec![arq::table_6_1()]
}

/// A table of a paper.
pub(crate) struct Experiment {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) title: &'static str,
    /// Where the figures beside ours come from.
    pub(crate) source: &'static str,
    /// How often each row is run, with as many seeds.
    pub(crate) replications: u64,
    /// How often with `--quick`.
    pub(crate) quick_replications: u64,
    /// What the paper calls space.
    pub(crate) space: Space,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// What the paper counts as space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Visited states and states to be explored.
    Stored,
}

/// A row of a table.
pub(crate) struct Row {
    /// The paper's name for it.
    pub(crate) label: &'static str,
    /// What is explored.
    pub(crate) setup: Setup,
    /// In which order.
    pub(crate) order: Order,
    /// When duplicates are removed.
    pub(crate) add: Add,
    /// Whether events are shuffled.
    pub(crate) shuffle: bool,
    /// The rank, in best-first search.
    pub(crate) rank: Option<&'static str>,
    /// The paper's averages.
    pub(crate) paper: Figures,
}

/// What is explored.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) model: &'static str,
    pub(crate) nodes: Option<u32>,
    pub(crate) bugs: &'static [&'static str],
    pub(crate) max_depth: u32,
    pub(crate) visited: VisitedKind,
}

/// Average time in seconds, space and events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) seconds: f64,
    pub(crate) space: f64,
    pub(crate) events: f64,
}
