//! The options with which a network is built.

use crate::{Config, Faults, NodeId, Parameter, Topology};
use std::collections::BTreeMap;

/// Everything that can be chosen about a network of a protocol.
///
/// [`Options::from`] a [`Config`] without links gives a chain of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The nodes and who hears whom.
    pub topology: Topology,
    /// The bugs, by name.
    pub bugs: Vec<String>,
    /// The features, by name; `None` leaves the choice to the protocol.
    pub features: Option<Vec<String>>,
    /// Whether packets may be duplicated in flight.
    pub duplicate: bool,
    /// In which order packets in flight are kept.
    pub order: PacketOrder,
    /// The parameters that differ from their defaults, by name.
    pub set: BTreeMap<String, i64>,
    /// How often each fault may happen.
    pub faults: Faults,
    /// Whether an event happens once for packets that are identical, rather than for each copy. It
    /// leads to the same state.
    pub identical: bool,
}

/// In which order packets in flight are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketOrder {
    /// None: the network is a multiset.
    #[default]
    None,
    /// That of sending. The network behaves alike, but states that differ in nothing else than
    /// this order are different states, and no relation prunes. For comparisons with work that
    /// kept its packets so.
    Sent,
}

impl Options {
    /// A network without bugs.
    pub fn new(topology: Topology) -> Self {
        Options {
            topology,
            bugs: Vec::new(),
            features: None,
            duplicate: false,
            order: PacketOrder::default(),
            set: BTreeMap::new(),
            faults: Faults::default(),
            identical: false,
        }
    }

    /// The value of a parameter.
    pub fn get(&self, parameter: &Parameter) -> i64 {
        self.set.get(parameter.name).copied().unwrap_or(parameter.default)
    }

    /// Whether a bug is switched on.
    pub fn has(&self, bug: &str) -> bool {
        self.bugs.iter().any(|name| name == bug)
    }

    /// Whether a feature is switched on; `default` if none was named.
    pub fn feature(&self, feature: &str, default: bool) -> bool {
        match &self.features {
            Some(features) => features.iter().any(|name| name == feature),
            None => default,
        }
    }
}

impl From<&Config> for Options {
    fn from(config: &Config) -> Self {
        let nodes = config.nodes as NodeId;
        Options {
            topology: match &config.links {
                Some(links) => Topology::of(nodes, links.iter().copied()),
                None => Topology::chain(nodes),
            },
            bugs: config.bugs.clone(),
            features: config.features.clone(),
            duplicate: config.duplicate || config.faults.contains_key("duplicate"),
            order: PacketOrder::default(),
            set: config.set.clone(),
            faults: Faults::named(&config.faults),
            identical: config.identical,
        }
    }
}
