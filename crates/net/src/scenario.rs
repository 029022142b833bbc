//! The trait `Scenario`: which events, bugs, features and properties of a protocol are explored.

use crate::{
    Anatomy, Bug, Cloud, Envelope, EventKind, Fairness, Feature, Line, NodeId, NodeRange, Options,
    Parameter, Property, Protocol, Rank, Renaming, Shape, World,
};
use everypath_explore::SimulationRelation;

/// A protocol with what is needed to explore it: its events and what must hold.
pub trait Scenario: Protocol {
    /// The network between the nodes.
    type Cloud: Cloud<Self::Packet>;

    /// The name on the command line.
    const NAME: &'static str;
    /// One line that says what it models.
    const ABOUT: &'static str;
    /// How many nodes there can be.
    const NODES: NodeRange;
    /// The topology if none is asked for.
    const SHAPE: Shape = Shape::Chain;
    /// The bugs that can be switched on.
    const BUGS: &'static [Bug] = &[];
    /// The parts of the protocol that can be switched on and off.
    const FEATURES: &'static [Feature] = &[];
    /// The numeric parameters that can be set.
    const PARAMETERS: &'static [Parameter] = &[];
    /// Whether handlers [choose](crate::Context::choose). Each then runs once more in advance, to find
    /// out among how many.
    const CHOOSES: bool = false;
    /// The events.
    const EVENTS: &'static [EventKind];
    /// The depth bound when none is given.
    const DEFAULT_DEPTH: Option<u32> = None;

    /// Says why exploring such a network would show nothing, if so.
    fn check(_options: &Options) -> Result<(), String> {
        Ok(())
    }

    /// What the event with this number does.
    fn action(event: u16) -> Action<Self>;

    /// The commands that may be given to a node in this state.
    fn commands(&self, id: NodeId, node: &Self::Node) -> impl Iterator<Item = Self::Command>;

    /// Whether an active timer may fire now.
    ///
    /// Time has no place in exploration, but protocols rely on some of its order. Assumptions of
    /// that kind are stated here and in [`Scenario::bury`], and nowhere else. If this depends
    /// on the packets in flight, the relation of a [`Pool`](crate::Pool) is not a simulation.
    fn may_fire(&self, _world: &World<Self>, _id: NodeId, _timer: &Self::Timer) -> bool {
        true
    }

    /// Takes packets out of the cloud that are dead by the time a timer of node `id` fires.
    ///
    /// This is called just before it does. To forbid the timer while they are in flight would
    /// come to the same, but then more packets would make less possible.
    fn bury(&self, _cloud: &mut Self::Cloud, _id: NodeId, _timer: &Self::Timer) {}

    /// The properties. Those [of nodes](crate::of_nodes) alone let a search prune by the relation.
    fn properties(&self) -> Vec<Property<World<Self>>>;

    /// Which events are fair, by number, where properties of infinite executions are checked.
    fn fairness(&self) -> Fairness {
        Fairness::default()
    }

    /// Whether an execution may end in a state in which nothing can happen.
    fn may_end(&self, _world: &World<Self>) -> bool {
        false
    }

    /// The ranks for best-first search; the first is the default.
    fn ranks(&self) -> Vec<Rank<World<Self>>> {
        Vec::new()
    }

    /// A simulation relation that is stronger than the framework's own.
    ///
    /// [`World`] says how states are written. The properties and all that the relation leaves out
    /// of account must not tell the states apart.
    fn relation(&self) -> Option<&dyn SimulationRelation> {
        None
    }

    /// The nodes that are alike, in ascending order: exchanging any two of them changes neither what can
    /// happen nor what is violated. With `--reduction symmetry` states that differ by exchanges are one.
    ///
    /// A state, packet or ghost state that contains numbers of nodes must be able to rename them.
    fn symmetric(&self) -> Vec<NodeId> {
        Vec::new()
    }

    /// Renames the nodes that the state of a node mentions.
    fn rename_node(&self, _node: &mut Self::Node, _names: &Renaming) {}

    /// Renames the nodes that a packet mentions; its sender and receiver are renamed already.
    fn rename_packet(&self, _packet: &mut Self::Packet, _names: &Renaming) {}

    /// Renames the nodes that the ghost state mentions.
    fn rename_ghost(&self, _ghost: &mut Self::Ghost, _names: &Renaming) {}

    /// The source of the protocol. With it, the graph of one version can be used for the next.
    fn anatomy(&self) -> Option<Anatomy> {
        None
    }

    /// The name of a node.
    fn name(&self, id: NodeId) -> String {
        format!("node {id}")
    }

    /// The description of an event at a node in this state.
    fn describe(&self, id: NodeId, node: &Self::Node, cause: Cause<Self>) -> String;

    /// The description of the state of a node.
    fn describe_node(&self, id: NodeId, node: &Self::Node) -> Vec<Line>;

    /// The description of the state that only the specification sees.
    fn describe_ghost(&self, _ghost: &Self::Ghost) -> Option<String> {
        None
    }

    /// The description of a packet in flight.
    fn describe_packet(&self, envelope: &Envelope<Self::Packet>) -> String {
        envelope.packet.to_string()
    }
}

/// What an event does. Its parameter tells apart the packets, timers or commands it can act on.
pub enum Action<P: Protocol> {
    /// A packet arrives.
    Deliver(Kind<P::Packet>),
    /// A packet is lost.
    Lose(Kind<P::Packet>),
    /// A packet is in flight once more. Only if the network may duplicate packets.
    Duplicate,
    /// A timer of which the function is true fires.
    Fire(fn(&P::Timer) -> bool),
    /// An application gives a command.
    Command,
    /// The node reboots.
    Reboot,
    /// The node stops for good. Only within a budget ([`Faults`](crate::Faults)).
    Crash,
    /// The network falls into two parts: what is sent from one to the other is lost, what is in flight
    /// is not. Only within a budget. In the step, the node is the lowest on the side without node 0.
    Partition,
    /// The partition ends.
    Heal,
    /// The network begins in another initial state. For protocols that choose when they
    /// [start](Protocol::start): the first step of an execution that does not begin with the first
    /// choices.
    Start,
}

/// Which packets an event acts on.
pub enum Kind<P> {
    /// All of them.
    Any,
    /// Those of which the function is true.
    Where(fn(&P) -> bool),
}

impl<P> Kind<P> {
    /// Whether a packet is of this kind.
    pub fn is(&self, packet: &P) -> bool {
        match self {
            Kind::Any => true,
            Kind::Where(test) => test(packet),
        }
    }
}

/// Why a handler runs.
pub enum Cause<P: Protocol> {
    /// A packet arrives from a node.
    Packet(NodeId, P::Packet),
    /// A timer fires.
    Timer(P::Timer),
    /// An application gives a command.
    Command(P::Command),
    /// The node reboots.
    Reboot,
}
