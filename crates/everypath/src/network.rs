//! The network that a person describes.

use crate::suggest;
use crate::usage::Usage;
use everypath_net::{NodeId, NodeRange, Shape, Topology};
use std::fs;

/// A network that was asked for: a shape, or links from a file.
pub(crate) enum Asked {
    /// A shape by name, which a seed may change.
    Shape(String),
    /// The links of a file.
    Links(Topology),
}

impl Asked {
    /// Finds the shape, or reads the file. Returns the network and its number of nodes: `nodes`
    /// if given, else as many as a file names, else the default.
    pub(crate) fn new(
        topology: &str,
        nodes: Option<u32>,
        range: NodeRange,
    ) -> Result<(Asked, NodeId), Usage> {
        let Some(path) = topology.strip_prefix("file:") else {
            let names = Shape::NAMES.into_iter().chain(["file:PATH"]);
            suggest::find("topology", topology, names)?;
            if Shape::named(topology, 0).is_none() {
                return Err(Usage::new("file:PATH: name a file of links, such as file:links.txt"));
            }
            let nodes = nodes.unwrap_or(range.default);
            return Ok((Asked::Shape(topology.into()), node_count(nodes)?));
        };
        let cannot = |error: &dyn std::fmt::Display| {
            Usage::new(format!("cannot read the topology in {path}: {error}"))
        };
        let text = fs::read_to_string(path).map_err(|error| cannot(&error))?;
        let nodes = node_count(nodes.unwrap_or_else(|| count(&text)))?;
        let links = Topology::parse(&text, nodes).map_err(|error| cannot(&error))?;
        Ok((Asked::Links(links), nodes))
    }

    /// The network with this seed.
    pub(crate) fn build(&self, nodes: NodeId, seed: u64) -> Topology {
        match self {
            Asked::Links(topology) => topology.clone(),
            Asked::Shape(name) => {
                let shape = Shape::named(name, seed).expect("the name was checked");
                Topology::new(shape, nodes)
            }
        }
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
