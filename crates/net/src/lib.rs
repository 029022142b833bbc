//! The protocol-model framework: a protocol is written once, as handlers on the state of a node.
//!
//! - [`Protocol`]: the handlers, for exploration and simulation alike. [`Context`]: what they act
//!   on; they have no sockets, clocks or randomness of their own.
//! - [`Scenario`]: what exploring a protocol needs besides: events, properties, words.
//! - [`Network`]: a scenario as a [`System`] to be explored. [`World`]: its states,
//!   [`Nodes`] and packets.
//! - [`Cloud`]: the packets in flight. [`Pool`]: any may come next. [`List`]: the oldest only.
//! - [`Faults`]: how often packets are lost, nodes crash, networks are cut.
//! - [`Topology`]: who hears whom, from a [`Shape`] or a file of links.
//! - [`simulate`]: the same handlers in time. [`Traffic`]: what a protocol says for that.
//! - [`Anatomy`]: the source of a protocol, by which changes of it are noticed.
//! - [`Options`]: everything that can be chosen about a network.
//!
//! What protocols need of the engine is re-exported here, so that they depend on this crate alone.

mod anatomy;
mod choices;
mod cloud;
mod faults;
mod links;
mod list;
mod network;
mod nodes;
mod options;
mod outbox;
mod pool;
mod protocol;
mod scenario;
pub mod simulate;
mod symmetry;
mod topology;
mod world;

pub use anatomy::Anatomy;
pub use cloud::{Cloud, Envelope};
pub use everypath_explore::{
    Bug, Canonical, Config, EventKind, Fairness, Feature, Line, Model, MultisetSketch, NodeRange,
    Parameter, Property, Rank, SimulationRelation, Step, System, Ties, canonical,
};
pub use everypath_source::{Source, sources, switches};
pub use faults::{FaultState, Faults};
pub use links::{LinkError, LinkFault};
pub use list::List;
pub use network::Network;
pub use nodes::Nodes;
pub use options::{Options, PacketOrder};
pub use pool::Pool;
pub use protocol::{Context, Protocol, Report};
pub use scenario::{Action, Cause, Kind, Scenario};
pub use simulate::{Sources, Traffic};
pub use symmetry::Renaming;
pub use topology::{Shape, Topology};
pub use world::{World, of_nodes, of_nodes_and_ghost};

/// The number of a node.
pub type NodeId = u16;
