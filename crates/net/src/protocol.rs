//! The trait `Protocol`: the handlers that the author of a protocol writes.

use crate::{Canonical, NodeId, Options};
use std::fmt::Display;
use std::time::Duration;

/// A protocol: the state of a node, and what a node does when something happens to it.
///
/// The same handlers are explored and simulated. They change the state of their own node and act
/// on the world through a [`Context`]; they have no clocks, sockets or randomness. When a packet
/// arrives or a timer fires is decided from outside, and so is whether it does, and what a handler
/// that [chooses](Context::choose) gets.
pub trait Protocol: Send + Sync + Sized {
    /// The state of one node.
    type Node: Canonical + Send;
    /// A packet; its text names it in traces.
    type Packet: Canonical + Clone + Default + Display + Send;
    /// A timer of a node. Two timers that are equal are one timer.
    type Timer: Clone + Ord;
    /// What an application can ask of a node.
    type Command: Clone;
    /// State for the specification alone, of the network as a whole; `()` if it needs none. Handlers
    /// can write it and never read it.
    type Ghost: Canonical + Default + Send;

    /// Builds the protocol.
    fn build(options: &Options) -> Self;

    /// The state in which a node starts, and what it does then. If it [chooses](Context::choose), there
    /// are several initial states.
    fn start(&self, context: &mut impl Context<Self>) -> Self::Node;

    /// A packet arrives from a neighbour.
    fn receive(
        &self,
        node: &mut Self::Node,
        from: NodeId,
        packet: Self::Packet,
        context: &mut impl Context<Self>,
    );

    /// A timer fires. It is not active any more, unless it is set again.
    fn fire(&self, node: &mut Self::Node, timer: Self::Timer, context: &mut impl Context<Self>);

    /// An application asks for something.
    fn command(
        &self,
        node: &mut Self::Node,
        command: Self::Command,
        context: &mut impl Context<Self>,
    );

    /// The node loses its state and starts again. Its timers are gone before this is called.
    fn reboot(&self, node: &mut Self::Node, context: &mut impl Context<Self>) {
        *node = self.start(context);
    }

    /// The timers that are active in a state.
    ///
    /// They must be those that were set and have neither fired nor been cancelled. Exploration
    /// asks for them instead of keeping them beside the node, where they would double the size of
    /// a state: whether an entry of a table can expire is mostly told by the entry itself.
    fn timers(&self, node: &Self::Node) -> impl Iterator<Item = Self::Timer>;

    /// Whether a packet carries application data, rather than being control overhead.
    fn is_data(_packet: &Self::Packet) -> bool {
        false
    }
}

/// What a handler can do to the world.
///
/// Exploration puts packets into the cloud and ignores delays, because an active timer may fire at
/// any time. A simulation lets packets and timers take the time they take.
pub trait Context<P: Protocol> {
    /// The node whose handler runs.
    fn id(&self) -> NodeId;

    /// The nodes that hear it, in ascending order.
    fn neighbours(&self) -> &[NodeId];

    /// Sends a packet to one neighbour. To any other node it is an error of the protocol: a panic.
    fn send(&mut self, to: NodeId, packet: P::Packet);

    /// Sends a packet to all neighbours.
    fn broadcast(&mut self, packet: P::Packet);

    /// Chooses a number below `among`: exploration takes every one, a simulation draws.
    ///
    /// A protocol that chooses declares so by [`Scenario::CHOOSES`](crate::Scenario::CHOOSES).
    fn choose(&mut self, among: u32) -> u32;

    /// Changes the state that only the specification sees.
    fn ghost(&mut self, change: impl FnOnce(&mut P::Ghost));

    /// Starts a timer that nominally fires after `delay`; if it is active, it starts anew.
    fn set(&mut self, timer: P::Timer, delay: Duration);

    /// Stops a timer, if it is active.
    fn cancel(&mut self, timer: &P::Timer);

    /// Tells an observer what the protocol has achieved. Nothing may depend on it.
    fn report(&mut self, report: Report);
}

/// What a protocol tells about itself, for those who measure it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The node sends application data without having been asked: its next, numbered from zero.
    Offered,
    /// Application data arrived where it was sent to.
    Delivered {
        /// The node that sent it.
        source: NodeId,
        /// The number that it was sent with.
        number: u32,
        /// Over how many links it came, if the protocol counts them.
        hops: Option<u16>,
    },
    /// Application data was given up.
    Dropped {
        /// The node that sent it.
        source: NodeId,
        /// The number that it was sent with.
        number: u32,
    },
    /// The node begins to look for a way to another. If it was looking for one, that was in vain;
    /// so it does not tell when it merely asks again.
    Searching(NodeId),
    /// The node has found a way to another that it was looking for.
    Found(NodeId),
}
