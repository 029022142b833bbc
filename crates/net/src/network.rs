//! A protocol as a system to be explored.

use crate::{
    Action, Bug, Canonical, Cloud, Config, EventKind, Line, Model, NodeId, NodeRange, Property,
    Protocol, Rank, Step, System,
};

/// All nodes and the packets between them.
pub struct World<P: Protocol> {
    /// The nodes, by number.
    pub nodes: Vec<P::Node>,
    /// The packets in flight.
    pub cloud: Cloud<P::Packet>,
}

impl<P: Protocol> Canonical for World<P> {
    // How many nodes there are never changes, so it is not written.
    fn write(&self, bytes: &mut Vec<u8>) {
        self.nodes.iter().for_each(|node| node.write(bytes));
        self.cloud.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.nodes.iter_mut().for_each(|node| node.read(bytes));
        self.cloud.read(bytes);
    }
}

/// A protocol over a network that delivers, delays and loses packets.
///
/// In every state, for every node in order, every event in order is tried: the oldest packet of
/// its kind to that node may arrive or be lost, and the node's timer may fire.
pub struct Network<P> {
    protocol: P,
}

impl<P: Protocol> Network<P> {
    fn is_enabled(&self, world: &World<P>, node: NodeId, event: u16) -> bool {
        match P::action(event) {
            Action::Deliver(kind) | Action::Lose(kind) => world.cloud.first(node, kind).is_some(),
            Action::Timeout => self.protocol.may_time_out(node, world),
        }
    }
}

impl<P: Protocol> System for Network<P> {
    type State = World<P>;

    fn initial(&self) -> World<P> {
        let mut cloud = Cloud::default();
        let nodes = (0..self.protocol.nodes())
            .map(|node| self.protocol.start(node, &mut cloud.outbox(node)))
            .collect();
        World { nodes, cloud }
    }

    fn enabled(&self, world: &World<P>, steps: &mut Vec<Step>) {
        for node in 0..self.protocol.nodes() {
            for event in 0..P::EVENTS.len() as u16 {
                if self.is_enabled(world, node, event) {
                    steps.push(Step { actor: node, event, param: 0 });
                }
            }
        }
    }

    fn take(&self, world: &mut World<P>, step: Step) {
        let node = &mut world.nodes[step.actor as usize];
        match P::action(step.event) {
            Action::Deliver(kind) => {
                if let Some(envelope) = world.cloud.take_first(step.actor, kind) {
                    let mut outbox = world.cloud.outbox(step.actor);
                    self.protocol.receive(node, envelope.packet, &mut outbox);
                }
            }
            Action::Lose(kind) => {
                world.cloud.take_first(step.actor, kind);
            }
            Action::Timeout => {
                self.protocol.timeout(node, &mut world.cloud.outbox(step.actor));
            }
        }
    }
}

impl<P: Protocol> Model for Network<P> {
    const NAME: &'static str = P::NAME;
    const ABOUT: &'static str = P::ABOUT;
    const NODES: NodeRange = P::NODES;
    const BUGS: &'static [Bug] = P::BUGS;
    const EVENTS: &'static [EventKind] = P::EVENTS;
    const DEFAULT_DEPTH: Option<u32> = P::DEFAULT_DEPTH;

    fn build(config: &Config) -> Self {
        Network { protocol: P::build(config) }
    }

    fn properties(&self) -> Vec<Property<World<P>>> {
        self.protocol.properties()
    }

    fn ranks(&self) -> Vec<Rank<World<P>>> {
        self.protocol.ranks()
    }

    fn actor(&self, actor: u16) -> String {
        self.protocol.name(actor)
    }

    fn describe_step(&self, before: &World<P>, step: Step) -> String {
        let node = &before.nodes[step.actor as usize];
        match P::action(step.event) {
            Action::Deliver(kind) => {
                self.protocol.describe(node, before.cloud.first(step.actor, kind))
            }
            Action::Lose(kind) => match before.cloud.first(step.actor, kind) {
                Some(packet) => format!("{packet} is lost"),
                None => "nothing is lost".into(),
            },
            Action::Timeout => self.protocol.describe(node, None),
        }
    }

    fn describe_state(&self, world: &World<P>) -> Vec<Line> {
        let mut lines: Vec<Line> =
            world.nodes.iter().flat_map(|node| self.protocol.describe_node(node)).collect();
        let packets: Vec<String> =
            world.cloud.iter().map(|envelope| envelope.packet.to_string()).collect();
        let packets = if packets.is_empty() { "empty".into() } else { packets.join(", ") };
        lines.push(Line::new("network", packets));
        lines
    }
}
