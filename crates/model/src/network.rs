//! From the options of the command line to the network of a model.

use crate::catalog::{Entry, assignments};
use crate::cli::{BuildArgs, NetworkArgs};
use crate::suggest;
use crate::usage::Usage;
use everypath_explore::{AnyModel, Config};
use everypath_net::{NodeId, NodeRange, Options, Shape, Topology};
use std::fs;

impl NetworkArgs {
    /// Builds a model with these faults, from its other options and whether identical packets are one.
    pub(crate) fn build(
        &self,
        entry: &Entry,
        (build, identical): (&BuildArgs, bool),
        seed: u64,
    ) -> Result<Box<dyn AnyModel>, Usage> {
        let duplicate = self.duplicate;
        let faults = assignments("--faults", "FAULT=N", &self.faults)?;
        if duplicate && faults.contains_key("duplicate") {
            return Err(Usage::new(
                "--duplicate sets no bound and --faults does; drop one of them",
            ));
        }
        let links = Asked::new(entry, build, entry.kind.nodes)?.with_links(seed);
        entry.build(Config { duplicate, faults, identical, ..links })
    }
}

/// A model as it was asked for: checked, but for its links, which a seed may change.
pub(crate) struct Asked {
    /// How it is to be built, but for its links.
    pub(crate) config: Config,
    /// The topology as it was asked for.
    pub(crate) topology: Option<String>,
    links: Links,
    /// The model's own links, if it is no chain.
    default_links: Option<Vec<(NodeId, NodeId)>>,
}

/// Where links come from.
enum Links {
    /// The model's own.
    Default,
    /// A shape by name.
    Shape(String),
    /// A file.
    File(Topology),
}

impl Asked {
    /// Finds the shape or reads the file, and checks all names. There are as many nodes as asked
    /// for, else as many as a file names, else the default.
    pub(crate) fn new(entry: &Entry, args: &BuildArgs, range: NodeRange) -> Result<Asked, Usage> {
        if let Some(nodes) = args.nodes {
            entry.check_nodes("--nodes", nodes, range)?;
        }
        let (links, nodes) = match &args.topology {
            None => (Links::Default, args.nodes.unwrap_or(range.default)),
            Some(topology) => Links::find(topology, args.nodes, range)?,
        };
        let origin = args.topology.as_deref().unwrap_or("the chain");
        entry.check_nodes(&format!("the number of nodes in {origin} is"), nodes, range)?;
        let config = Config {
            nodes,
            bugs: entry.bugs(&args.bug)?,
            features: entry.features((!args.feature.is_empty()).then_some(&args.feature))?,
            set: entry.set(&args.set)?,
            ..Config::default()
        };
        let default_links = (entry.kind.default_links)(nodes);
        Ok(Asked { config, topology: args.topology.clone(), links, default_links })
    }

    /// How the model is to be built, with this seed.
    pub(crate) fn with_links(&self, seed: u64) -> Config {
        let topology = match &self.links {
            Links::Default => {
                return Config { links: self.default_links.clone(), ..self.config.clone() };
            }
            Links::File(topology) => topology,
            Links::Shape(name) => {
                let shape = Shape::named(name, seed).expect("the name was checked");
                &Topology::new(shape, self.config.nodes as NodeId)
            }
        };
        Config { links: Some(topology.links().collect()), ..self.config.clone() }
    }

    /// The topology as people name it.
    pub(crate) fn topology(&self) -> &str {
        let own = if self.default_links.is_some() { "its own topology" } else { "chain" };
        self.topology.as_deref().unwrap_or(own)
    }

    /// What a person should know before trusting results from this network.
    pub(crate) fn warning(&self, seed: u64) -> Option<String> {
        match &self.links {
            Links::Default => None,
            _ => Options::from(&self.with_links(seed)).topology.warning(),
        }
    }
}

impl Links {
    fn find(topology: &str, nodes: Option<u32>, range: NodeRange) -> Result<(Links, u32), Usage> {
        let Some(path) = topology.strip_prefix("file:") else {
            let names = Shape::NAMES.into_iter().chain(["file:PATH"]);
            suggest::find("topology", topology, names)?;
            if Shape::named(topology, 0).is_none() {
                return Err(Usage::new("file:PATH: name a file of links, such as file:links.txt"));
            }
            return Ok((Links::Shape(topology.into()), nodes.unwrap_or(range.default)));
        };
        let cannot = |error: &dyn std::fmt::Display| {
            Usage::new(format!("cannot read the topology in {path}: {error}"))
        };
        let text = fs::read_to_string(path).map_err(|error| cannot(&error))?;
        let nodes = nodes.unwrap_or_else(|| count(&text));
        let links = Topology::parse(&text, node_count(nodes)?).map_err(|error| cannot(&error))?;
        Ok((Links::File(links), nodes))
    }
}

/// Checks links that were recorded.
pub(crate) fn check_links(nodes: u32, links: &[(NodeId, NodeId)]) -> Result<(), Usage> {
    let lines: String = links.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
    match Topology::parse(&lines, node_count(nodes)?) {
        Ok(_) => Ok(()),
        Err(error) => Err(Usage::new(format!("link {}: {}", error.line, error.fault))),
    }
}

fn node_count(nodes: u32) -> Result<NodeId, Usage> {
    NodeId::try_from(nodes).map_err(|_| {
        Usage::new(format!("--nodes {nodes}: a network has at most {} nodes", NodeId::MAX))
    })
}

/// As many nodes as the highest number in a file of links needs. What is no number is reported
/// when the file is parsed.
fn count(text: &str) -> u32 {
    let words =
        text.lines().filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
    words
        .filter_map(|word| word.parse::<NodeId>().ok())
        .map(|node| u32::from(node) + 1)
        .max()
        .unwrap_or(0)
}
