//! What the author of a protocol writes.

use crate::{Bug, Canonical, Config, EventKind, Line, NodeRange, Outbox, Property, Rank, World};
use std::fmt::Display;

/// The number of a node.
pub type NodeId = u16;

/// A protocol: the state of a node and its handlers.
///
/// Handlers change the state of their own node and send packets. They have no clocks, sockets or
/// randomness: when a packet arrives or a timer fires is decided from outside.
pub trait Protocol: Sync + Sized {
    /// The state of one node.
    type Node: Canonical + Send;
    /// A packet; its text names it in traces.
    type Packet: Canonical + Default + Display + Send;

    /// The name on the command line.
    const NAME: &'static str;
    /// One line that says what it models.
    const ABOUT: &'static str;
    /// How many nodes there can be.
    const NODES: NodeRange;
    /// The bugs that can be switched on.
    const BUGS: &'static [Bug] = &[];
    /// The events.
    const EVENTS: &'static [EventKind];
    /// The depth bound when none is given.
    const DEFAULT_DEPTH: Option<u32> = None;

    /// Builds the protocol.
    fn build(config: &Config) -> Self;

    /// How many nodes there are.
    fn nodes(&self) -> NodeId;

    /// What the event with this number does.
    fn action(event: u16) -> Action<Self::Packet>;

    /// The state in which a node starts, and what it sends then.
    fn start(&self, node: NodeId, outbox: &mut Outbox<'_, Self::Packet>) -> Self::Node;

    /// A packet arrives.
    fn receive(
        &self,
        node: &mut Self::Node,
        packet: Self::Packet,
        outbox: &mut Outbox<'_, Self::Packet>,
    );

    /// A timer fires.
    fn timeout(&self, node: &mut Self::Node, outbox: &mut Outbox<'_, Self::Packet>);

    /// Whether the timer of a node may fire.
    fn may_time_out(&self, node: NodeId, world: &World<Self>) -> bool;

    /// The properties.
    fn properties(&self) -> Vec<Property<World<Self>>>;

    /// The ranks for best-first search.
    fn ranks(&self) -> Vec<Rank<World<Self>>> {
        Vec::new()
    }

    /// The name of a node.
    fn name(&self, node: NodeId) -> String {
        format!("node {node}")
    }

    /// What happens when a packet arrives at, or a timer fires at, a node in this state.
    fn describe(&self, node: &Self::Node, packet: Option<&Self::Packet>) -> String;

    /// The state of a node in words.
    fn describe_node(&self, node: &Self::Node) -> Vec<Line>;
}

/// What an event does.
pub enum Action<P> {
    /// The oldest packet to the node of which the function is true arrives.
    Deliver(fn(&P) -> bool),
    /// The oldest packet to the node of which the function is true is lost.
    Lose(fn(&P) -> bool),
    /// A timer of the node fires.
    Timeout,
}
