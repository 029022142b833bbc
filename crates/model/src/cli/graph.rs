//! The options of incremental exploration.

use clap::Args;
use std::path::PathBuf;

/// Options of incremental exploration.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Incremental exploration")]
pub(crate) struct GraphArgs {
    /// Write the graph of safe transitions, for the next version (with --load-graph: update it)
    #[arg(long, value_name = "FILE")]
    pub(crate) save_graph: Option<PathBuf>,

    /// Use the graph of an earlier version: its transitions are not executed again
    #[arg(long, value_name = "FILE")]
    pub(crate) load_graph: Option<PathBuf>,

    /// Explore from scratch if the graph cannot be used; with FILE it says which graph, too
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) load_graph_or_fresh: Option<Option<PathBuf>>,

    /// Which events were modified since; `none` for none [default: detected]
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',')]
    pub(crate) modified: Vec<String>,

    /// Explore from scratch as well and compare: states, counts, violations, counterexample
    #[arg(long)]
    pub(crate) verify: bool,

    /// Measure for two seconds whether the graph pays, and print the cost of each operation
    #[arg(long)]
    pub(crate) pilot: bool,

    /// Stop at once if a counterexample stored in the graph still violates
    #[arg(long)]
    pub(crate) stop_if_known: bool,
}

impl GraphArgs {
    /// The graph to load, and whether to go on without it.
    pub(crate) fn loaded(&self) -> (Option<&PathBuf>, bool) {
        let or_fresh = self.load_graph_or_fresh.as_ref();
        (or_fresh.and_then(Option::as_ref).or(self.load_graph.as_ref()), or_fresh.is_some())
    }

    /// Whether any graph is asked for.
    pub(crate) fn asked(&self) -> bool {
        self.save_graph.is_some() || self.loaded().0.is_some()
    }
}
