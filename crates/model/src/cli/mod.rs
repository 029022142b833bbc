//! The options of the commands over models, as `--help` shows them.

mod cluster;
mod disk;
mod graph;
mod other;
mod simulate;

pub(crate) use cluster::ClusterArgs;
pub(crate) use disk::DiskArgs;
pub(crate) use graph::GraphArgs;
pub(crate) use other::OtherArgs;
pub use simulate::SimulateArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use everypath_explore::{Add, SearchOrder, VisitedKind};
use everypath_trace::{ByteSize, Seconds};
use std::path::PathBuf;

/// The command line of a program that has models and nothing else.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "\
Exit codes: 0 holds, 1 violated, 2 bad usage or input, 3 inconclusive, 70 internal error.")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Its commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explore a protocol model.
    Model(Box<ModelArgs>),
    /// Simulate a protocol model and measure its performance.
    Simulate(Box<SimulateArgs>),
    /// Replay a recorded counterexample and compare every step.
    Replay(ReplayArgs),
}

/// The options of `replay`, for models.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A file written with --trace
    pub(crate) trace: PathBuf,
}

/// The options of `model`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  everypath model arq --bug unchecked-ack --strategy bfs --max-depth 10
  everypath model arq --bug unchecked-ack --strategy befs --rank 1
  everypath model arq --bug unchecked-ack --strategy dfs --shuffle --seed 7 --replications 100
  everypath model arq --bug unchecked-ack --keep-going --must-contain lose-data
  everypath model aodv --topology ring --nodes 4 --feature rerr --feature hello --max-depth 8
  everypath model aodv --bug delete-route --save-graph aodv.graph
  everypath model aodv --load-graph aodv.graph --save-graph aodv.graph
  everypath model aodv --checkpoint aodv.search --every 5 --max-memory 2G
  everypath model aodv --resume aodv.search
  everypath model aodv --processes 4
  everypath model aodv --hosts hosts.txt --process 0
  everypath model arq --events
  everypath model arq --rank list")]
pub struct ModelArgs {
    /// The model's name
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) build: BuildArgs,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// Search strategy: breadth-first, depth-first, recursive depth-first, best-first; or random walks
    /// (see --max-executions and --seed), with steps drawn at random, or with random priorities of nodes
    #[arg(long, value_enum, default_value_t = StrategyName::Bfs)]
    pub(crate) strategy: StrategyName,

    /// The weight of an event in random walks, as EVENT=N (repeatable) [default: 1]
    #[arg(long, value_name = "EVENT=N")]
    pub(crate) weight: Vec<String>,

    /// PCT bug depth: how often priorities change in a walk, plus one
    #[arg(long, value_name = "D", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) pct_depth: u32,

    /// When duplicates are removed: as states are generated, or as they are explored
    #[arg(long, value_enum, default_value_t = AddName::Next)]
    pub(crate) add: AddName,

    /// Shuffle the enabled events of every state (see --seed)
    #[arg(long)]
    pub(crate) shuffle: bool,

    /// The rank (heuristic) of befs; `list` lists the ranks [default: the model's first]
    #[arg(long, value_name = "NAME")]
    pub(crate) rank: Option<String>,

    /// The visited set: by simulation relation, by equality, or by 128-bit fingerprint [default: the
    /// relation, if the model has one and all properties respect it; else equality]
    #[arg(long, value_enum)]
    pub(crate) visited: Option<VisitedName>,

    /// Explore less: `identical` takes one step for identical packets instead of one for each copy;
    /// `symmetry` explores one of the states that differ only in which of several like nodes is which;
    /// `sleep` takes steps of different nodes that commute in one order (sleep sets; bfs only)
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub(crate) reduction: Vec<ReductionName>,

    /// Check only this property (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,

    /// A state in which nothing can happen is a violation, unless the model lets executions end there
    #[arg(long)]
    pub(crate) deadlock: bool,

    /// This event happens again and again if it is enabled all the time, at the same node, in all
    /// executions that count for liveness properties (repeatable) [default: the model's choice]
    #[arg(long, value_name = "EVENT")]
    pub(crate) weakly_fair: Vec<String>,

    /// The same if it is enabled again and again (repeatable) [default: the model's choice]
    #[arg(long, value_name = "EVENT")]
    pub(crate) strongly_fair: Vec<String>,

    /// Count only violations whose path contains this event
    #[arg(long, value_name = "EVENT")]
    pub(crate) must_contain: Option<String>,

    /// Switch an event off (repeatable)
    #[arg(long, value_name = "EVENT")]
    pub(crate) disable: Vec<String>,

    /// Repeat the search with R consecutive seeds and print minimum, maximum and average
    #[arg(long, value_name = "R", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) replications: u32,

    /// List the model's events and exit
    #[arg(long)]
    pub(crate) events: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,

    #[command(flatten)]
    pub(crate) disk: DiskArgs,

    #[command(flatten)]
    pub(crate) graph: GraphArgs,

    #[command(flatten)]
    pub(crate) other: OtherArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How a model is built, to be explored or simulated.
#[derive(Clone, Debug, Args)]
pub(crate) struct BuildArgs {
    /// Number of nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<u32>,

    /// The topology: chain, ring, grid, star, mesh, random (see --seed), or file:PATH with a link, two
    /// numbers of nodes, on each line [default: the model's, mostly a chain]
    #[arg(long, value_name = "SHAPE")]
    pub(crate) topology: Option<String>,

    /// Switch a bug on (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) bug: Vec<String>,

    /// Switch on the features that are named, and no others (repeatable) [default: the
    /// model's choice]
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Vec<String>,

    /// Set a parameter of the model (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

/// What the network of a model that is explored may do.
#[derive(Debug, Args)]
pub(crate) struct NetworkArgs {
    /// Let the network duplicate packets, any number of times
    #[arg(long)]
    pub(crate) duplicate: bool,

    /// How often faults may happen in an execution, as FAULT=N, separated by commas: loss, duplicate,
    /// reboot, crash, partition [default: no crashes and partitions; the rest any number of times,
    /// duplicates with --duplicate]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) faults: Vec<String>,
}

/// What is left out of a search because it makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReductionName {
    Identical,
    Symmetry,
    Sleep,
}

/// Where the result goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the result as JSON (`-` for standard output, which then carries nothing else)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write the result as SARIF, with violations at their source lines
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Where to write the counterexample
    #[arg(long, value_name = "FILE", default_value = "everypath-trace.json")]
    pub trace: PathBuf,

    /// Print nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

/// Options that every exploration of a model has.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Check executions of up to N steps [default: the model's own bound, if it needs one]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_depth: Option<u32>,

    /// Stop when N states are stored
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,

    /// Stop after N executions
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_executions: Option<u64>,

    /// Stop after S seconds
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<Seconds>,

    /// Stop when this much memory is used, such as 500M or 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) max_memory: Option<ByteSize>,

    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Worker threads of bfs (dfs and befs use one); any number gives the same result [default: all
    /// cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Continue after a violation and count them all
    #[arg(long)]
    pub(crate) keep_going: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyName {
    Bfs,
    Dfs,
    DfsRecursive,
    Befs,
    Random,
    Pct,
}

impl StrategyName {
    /// Whether it is a strategy of random walks.
    pub(crate) fn walks(self) -> bool {
        matches!(self, StrategyName::Random | StrategyName::Pct)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StrategyName::Random => "random",
            StrategyName::Pct => "pct",
            StrategyName::Bfs => "bfs",
            StrategyName::Dfs => "dfs",
            StrategyName::DfsRecursive => "dfs-recursive",
            StrategyName::Befs => "befs",
        }
    }
}

/// The order of a search; walks have none, and it does not matter.
impl From<StrategyName> for SearchOrder {
    fn from(name: StrategyName) -> SearchOrder {
        match name {
            StrategyName::Bfs | StrategyName::Random | StrategyName::Pct => SearchOrder::Bfs,
            StrategyName::Dfs => SearchOrder::Dfs,
            StrategyName::DfsRecursive => SearchOrder::DfsRecursive,
            StrategyName::Befs => SearchOrder::Befs,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AddName {
    Next,
    Current,
}

impl From<AddName> for Add {
    fn from(name: AddName) -> Add {
        match name {
            AddName::Next => Add::Next,
            AddName::Current => Add::Current,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VisitedName {
    Relation,
    Equality,
    Hash,
}

impl From<VisitedName> for VisitedKind {
    fn from(name: VisitedName) -> VisitedKind {
        match name {
            VisitedName::Relation => VisitedKind::Relation,
            VisitedName::Equality => VisitedKind::Equality,
            VisitedName::Hash => VisitedKind::Hash,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_well_formed() {
        Cli::command().debug_assert();
    }
}
