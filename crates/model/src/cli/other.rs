//! What can be done with a model other than checking its properties.

use clap::Args;
use std::path::PathBuf;

/// What to do instead of a search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of a search")]
pub(crate) struct OtherArgs {
    /// Step through the model by hand, with commands from standard input
    #[arg(long)]
    pub(crate) interactive: bool,

    /// Write the graph of all states and steps (within --max-depth and --max-states): for Graphviz if
    /// the name ends in .dot, as GraphML if it ends in .graphml
    #[arg(long, value_name = "FILE", conflicts_with = "interactive")]
    pub(crate) export_graph: Option<PathBuf>,

    /// Write executions that cover all events, and all pairs of events that can follow each other, into
    /// this folder, in the Informal Trace Format
    #[arg(long, value_name = "DIR", conflicts_with_all = ["interactive", "export_graph"])]
    pub(crate) tests: Option<PathBuf>,

    /// Print N executions, drawn at random, as examples of what the model does
    #[arg(long, value_name = "N", conflicts_with_all = ["interactive", "export_graph", "tests"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) sample_traces: Option<u32>,

    /// Check that a log is a path of the model: on each line a JSON object with `event` and, as far as
    /// they are known, `actor` (a number or a name), `received` (a packet) and `sent` (a packet, or a
    /// list); or a file in the Informal Trace Format, with `action`
    #[arg(long, value_name = "LOG")]
    #[arg(conflicts_with_all = ["interactive", "export_graph", "tests", "sample_traces"])]
    pub(crate) validate: Option<PathBuf>,

    /// This event may happen without being in the log (repeatable) [default: what the network does, such
    /// as losing packets, if the log has no event of that kind]
    #[arg(long, value_name = "EVENT", requires = "validate")]
    pub(crate) hidden: Vec<String>,
}

impl OtherArgs {
    /// Whether anything is asked for instead of a search.
    pub(crate) fn asked(&self) -> bool {
        self.interactive
            || self.export_graph.is_some()
            || self.tests.is_some()
            || self.sample_traces.is_some()
            || self.validate.is_some()
    }
}
