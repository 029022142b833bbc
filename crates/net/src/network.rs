//! A protocol on a topology as a `System` to be explored.

use crate::world::key_len;
use crate::{
    Action, Bug, Cause, Cloud, Config, Context, Envelope, EventKind, Feature, Kind, Line, Model,
    MultisetSketch, NodeId, NodeRange, Options, PacketOrder, Property, Rank, Report, Scenario,
    Shape, Step, System, Topology, World,
};
use everypath_explore::graph::Makeup;
use everypath_explore::{Fairness, Packet, SimulationRelation, Transit};
use std::time::Duration;

/// A protocol over a network that delivers, delays and loses packets.
///
/// In every state, for every node in order, every event in order can happen in all its ways: each
/// packet to the node may arrive or be lost, each active timer fire, each command be given.
pub struct Network<P> {
    pub(crate) protocol: P,
    pub(crate) options: Options,
}

impl<P: Scenario> Network<P> {
    /// The protocol over a network with these options.
    pub fn new(options: Options) -> Self {
        Network { protocol: P::build(&options), options }
    }

    /// The protocol.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn ids(&self) -> std::ops::Range<NodeId> {
        0..self.options.topology.nodes()
    }

    /// In how many ways an event can happen at a node.
    fn ways(&self, world: &World<P>, id: NodeId, event: u16) -> u32 {
        match P::action(event) {
            Action::Deliver(kind) | Action::Lose(kind) => world.cloud.choices(id, &kind),
            Action::Duplicate if self.options.duplicate => world.cloud.choices(id, &Kind::Any),
            Action::Duplicate => 0,
            Action::Fire(kind) => self.timers(world, id, kind).count() as u32,
            Action::Command => self.protocol.commands(id, &world.nodes[id as usize]).count() as u32,
            Action::Reboot => 1,
        }
    }

    /// The timers of a node that may fire, of those of which `kind` is true.
    fn timers(
        &self,
        world: &World<P>,
        id: NodeId,
        kind: fn(&P::Timer) -> bool,
    ) -> impl Iterator<Item = P::Timer> {
        let active = self.protocol.timers(&world.nodes[id as usize]);
        active.filter(move |timer| kind(timer) && self.protocol.may_fire(world, id, timer))
    }

    /// What a handler of a node acts on.
    fn outbox<'a>(&'a self, id: NodeId, cloud: &'a mut P::Cloud) -> Outbox<'a, P> {
        Outbox { id, neighbours: self.options.topology.neighbours(id), cloud }
    }

    fn describe_fate(&self, packet: Option<Envelope<P::Packet>>, fate: &str) -> String {
        match packet {
            Some(envelope) => format!("{} is {fate}", self.protocol.describe_packet(&envelope)),
            None => format!("nothing is {fate}"),
        }
    }
}

/// What is wrong with a packet to a node that is no neighbour: an error of the protocol.
pub(crate) fn no_neighbour(from: NodeId, to: NodeId) -> String {
    format!("node {from} sends a packet to node {to}, which is no neighbour")
}

/// What handlers act on in exploration: packets go into the cloud, and delays mean nothing.
struct Outbox<'a, P: Scenario> {
    id: NodeId,
    neighbours: &'a [NodeId],
    cloud: &'a mut P::Cloud,
}

impl<P: Scenario> Context<P> for Outbox<'_, P> {
    fn id(&self) -> NodeId {
        self.id
    }

    fn neighbours(&self) -> &[NodeId] {
        self.neighbours
    }

    fn send(&mut self, to: NodeId, packet: P::Packet) {
        assert!(self.neighbours.contains(&to), "{}", no_neighbour(self.id, to));
        self.cloud.put(self.id, to, packet);
    }

    fn broadcast(&mut self, packet: P::Packet) {
        for &to in self.neighbours {
            self.cloud.put(self.id, to, packet.clone());
        }
    }

    // The state of the node determines which timers are active.
    fn set(&mut self, _timer: P::Timer, _delay: Duration) {}
    fn cancel(&mut self, _timer: &P::Timer) {}
    fn report(&mut self, _report: Report) {}
}

impl<P: Scenario> System for Network<P> {
    type State = World<P>;

    fn initial(&self) -> World<P> {
        let mut cloud = P::Cloud::new(&self.options);
        let start = |id| self.protocol.start(&mut self.outbox(id, &mut cloud));
        World { nodes: self.ids().map(start).collect(), cloud }
    }

    fn enabled(&self, world: &World<P>, steps: &mut Vec<Step>) {
        for actor in self.ids() {
            for event in 0..P::EVENTS.len() as u16 {
                let ways = self.ways(world, actor, event);
                steps.extend((0..ways).map(|param| Step { actor, event, param }));
            }
        }
    }

    fn take(&self, world: &mut World<P>, Step { actor: id, event, param }: Step) {
        match P::action(event) {
            Action::Deliver(kind) => {
                if let Some(arrived) = world.cloud.take(id, &kind, param) {
                    let node = world.nodes.change(id);
                    let outbox = &mut self.outbox(id, &mut world.cloud);
                    self.protocol.receive(node, arrived.from, arrived.packet, outbox);
                }
            }
            Action::Lose(kind) => {
                world.cloud.take(id, &kind, param);
            }
            Action::Duplicate => {
                if let Some(copy) = world.cloud.look(id, &Kind::Any, param) {
                    world.cloud.put(copy.from, copy.to, copy.packet);
                }
            }
            Action::Fire(kind) => {
                let fired = self.timers(world, id, kind).nth(param as usize);
                if let Some(timer) = fired {
                    self.protocol.bury(&mut world.cloud, id, &timer);
                    let outbox = &mut self.outbox(id, &mut world.cloud);
                    self.protocol.fire(world.nodes.change(id), timer, outbox);
                }
            }
            Action::Command => {
                let node = world.nodes.change(id);
                let given = self.protocol.commands(id, node).nth(param as usize);
                if let Some(command) = given {
                    self.protocol.command(node, command, &mut self.outbox(id, &mut world.cloud));
                }
            }
            Action::Reboot => {
                let node = world.nodes.change(id);
                self.protocol.reboot(node, &mut self.outbox(id, &mut world.cloud));
            }
        }
    }

    fn restore(&self, original: &World<P>, bytes: &[u8], world: &mut World<P>) {
        world.restore(original, bytes);
    }

    fn relation(&self) -> Option<&dyn SimulationRelation> {
        let own = P::Cloud::RELATED && self.options.order == PacketOrder::None;
        self.protocol.relation().or_else(|| own.then_some(self as &dyn SimulationRelation))
    }
}

/// The same nodes, and packets included in packets (Sobeih 2008, appendix A).
///
/// Where packets can be lost and come in any order, whatever can happen with some packets in
/// flight can happen with more of them. Properties must look at the nodes alone. The paper asks
/// only that each packet of the smaller network be found in the larger one; we also count how
/// often, because two copies of a packet can do what one cannot.
impl<P: Scenario> SimulationRelation for Network<P> {
    #[inline]
    fn key_len(&self, bytes: &[u8]) -> usize {
        key_len(bytes)
    }

    #[inline]
    fn sketch(&self, rest: &[u8]) -> MultisetSketch {
        P::Cloud::sketch(rest)
    }

    #[inline]
    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        P::Cloud::includes(larger, smaller)
    }
}

/// The configuration with the links that the protocol has if none are asked for.
fn with_links<P: Scenario>(config: &Config) -> Config {
    let links = config.links.clone().or_else(|| Network::<P>::default_links(config.nodes));
    Config { links, ..config.clone() }
}

impl<P: Scenario> Model for Network<P> {
    const NAME: &'static str = P::NAME;
    const ABOUT: &'static str = P::ABOUT;
    const NODES: NodeRange = P::NODES;
    const BUGS: &'static [Bug] = P::BUGS;
    const FEATURES: &'static [Feature] = P::FEATURES;
    const EVENTS: &'static [EventKind] = P::EVENTS;
    const DEFAULT_DEPTH: Option<u32> = P::DEFAULT_DEPTH;

    fn build(config: &Config) -> Self {
        Network::new(Options::from(&with_links::<P>(config)))
    }

    fn default_links(nodes: u32) -> Option<Vec<(u16, u16)>> {
        let nodes = NodeId::try_from(nodes).ok()?;
        (P::SHAPE != Shape::Chain).then(|| Topology::new(P::SHAPE, nodes).links().collect())
    }

    fn check(config: &Config) -> Result<(), String> {
        let mut events = 0..P::EVENTS.len() as u16;
        if config.duplicate && !events.any(|event| matches!(P::action(event), Action::Duplicate)) {
            return Err("it has no event that duplicates packets".into());
        }
        P::check(&Options::from(&with_links::<P>(config)))
    }

    fn properties(&self) -> Vec<Property<World<P>>> {
        self.protocol.properties()
    }

    fn fairness(&self) -> Fairness {
        self.protocol.fairness()
    }

    fn may_end(&self, world: &World<P>) -> bool {
        self.protocol.may_end(world)
    }

    fn is_possible(&self, event: u16) -> bool {
        !matches!(P::action(event), Action::Duplicate) || self.options.duplicate
    }

    fn makeup(&self) -> Option<Makeup> {
        self.anatomize()
    }

    fn ranks(&self) -> Vec<Rank<World<P>>> {
        self.protocol.ranks()
    }

    fn actor(&self, actor: u16) -> String {
        self.protocol.name(actor)
    }

    fn describe_step(&self, before: &World<P>, step: Step) -> String {
        let Step { actor: id, event, param } = step;
        let node = &before.nodes[id as usize];
        let packet = |kind| before.cloud.look(id, &kind, param);
        let cause = match P::action(event) {
            Action::Deliver(kind) => packet(kind).map(|e| Cause::Packet(e.from, e.packet)),
            Action::Fire(kind) => {
                self.timers(before, id, kind).nth(param as usize).map(Cause::Timer)
            }
            Action::Command => {
                self.protocol.commands(id, node).nth(param as usize).map(Cause::Command)
            }
            Action::Reboot => Some(Cause::Reboot),
            Action::Lose(kind) => return self.describe_fate(packet(kind), "lost"),
            Action::Duplicate => return self.describe_fate(packet(Kind::Any), "duplicated"),
        };
        match cause {
            Some(cause) => self.protocol.describe(id, node, cause),
            None => "nothing happens".into(),
        }
    }

    fn describe_state(&self, world: &World<P>) -> Vec<Line> {
        let nodes = (0..).zip(&world.nodes[..]);
        let mut lines: Vec<Line> =
            nodes.flat_map(|(id, node)| self.protocol.describe_node(id, node)).collect();
        let packets: Vec<String> = world
            .cloud
            .envelopes()
            .map(|envelope| self.protocol.describe_packet(&envelope))
            .collect();
        let packets = if packets.is_empty() { "empty".into() } else { packets.join(", ") };
        lines.push(Line::new("network", packets));
        lines
    }

    fn in_flight(&self, world: &World<P>) -> Vec<Packet> {
        world.cloud.envelopes().map(|envelope| self.packet(&envelope)).collect()
    }

    fn transit(&self, before: &World<P>, step: Step, after: &World<P>) -> Transit {
        let Step { actor, event, param } = step;
        let look = |kind| before.cloud.look(actor, &kind, param);
        let (mut gone, mut sent) = (self.in_flight(before), Vec::new());
        for packet in self.in_flight(after) {
            match gone.iter().position(|other| *other == packet) {
                Some(at) => {
                    gone.remove(at);
                }
                None => sent.push(packet),
            }
        }
        let mut transit = Transit { lost: gone, sent, ..Transit::default() };
        match P::action(event) {
            Action::Deliver(kind) => {
                transit.arrived = look(kind).map(|envelope| self.packet(&envelope));
                let own = transit
                    .arrived
                    .as_ref()
                    .and_then(|packet| transit.lost.iter().position(|lost| lost == packet));
                match own {
                    Some(at) => {
                        transit.lost.remove(at);
                    }
                    // A packet that is answered by one of its own kind is sent again.
                    None => transit.sent.extend(transit.arrived.clone()),
                }
            }
            Action::Duplicate => {
                transit.duplicated = transit.sent.pop();
            }
            Action::Lose(_) | Action::Fire(_) | Action::Command | Action::Reboot => {}
        }
        transit
    }
}

impl<P: Scenario> Network<P> {
    /// A packet in words.
    fn packet(&self, envelope: &Envelope<P::Packet>) -> Packet {
        let text = envelope.packet.to_string();
        Packet { from: envelope.from, to: envelope.to, text }
    }
}
