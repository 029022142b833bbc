//! A protocol on a topology as a `System` to be explored.

use crate::choices::{self, Choices};
use crate::faults::{CRASHING, Fault, PARTITIONED, partitions, side};
use crate::outbox::Outbox;
use crate::symmetry;
use crate::world::key_len;
use crate::{
    Action, Bug, Canonical as _, Cause, Cloud, Config, Envelope, EventKind, FaultState, Faults,
    Feature, Kind, Line, Model, MultisetSketch, NodeId, NodeRange, Options, PacketOrder, Parameter,
    Property, Rank, Scenario, Shape, Step, System, Topology, World,
};
use everypath_explore::graph::Makeup;
use everypath_explore::{Fairness, Packet, SimulationRelation, Transit, panic_capture};

/// A protocol over a network that delivers, delays and loses packets.
///
/// In every state, for every node in order, every event in order can happen in all its ways: each
/// packet to the node may arrive or be lost, each active timer fire, each command be given; and a
/// handler that chooses can choose anything.
pub struct Network<P> {
    pub(crate) protocol: P,
    pub(crate) options: Options,
    /// The choices of the initial states, by number.
    starts: Vec<u32>,
    /// The nodes that are alike.
    pub(crate) alike: Vec<NodeId>,
}

impl<P: Scenario> Network<P> {
    /// The protocol over a network with these options.
    ///
    /// # Panics
    ///
    /// If the protocol chooses when it starts and has no event for that ([`Action::Start`]).
    pub fn new(options: Options) -> Self {
        let protocol = P::build(&options);
        let alike = protocol.symmetric();
        let mut network = Network { protocol, options, starts: vec![0], alike };
        if P::CHOOSES {
            network.starts = choices::all(|choices| drop(network.start(choices)));
            let several = network.starts.len() > 1;
            assert!(!several || has::<P>(|action| matches!(action, Action::Start)), "{NO_START}");
        }
        network
    }

    /// The protocol.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn ids(&self) -> std::ops::Range<NodeId> {
        0..self.options.topology.nodes()
    }

    /// An initial state.
    pub(crate) fn start(&self, choices: &mut Choices) -> World<P> {
        let mut cloud = P::Cloud::new(&self.options);
        let mut ghost = P::Ghost::default();
        let faults = FaultState::new(&self.options.faults, self.starts.len() > 1);
        let start = |id| {
            let neighbours = self.options.topology.neighbours(id);
            let (cloud, ghost) = (&mut cloud, &mut ghost);
            let (faults, choices) = (&faults, &mut *choices);
            self.protocol.start(&mut Outbox { id, neighbours, cloud, ghost, faults, choices })
        };
        let nodes = self.ids().map(start).collect();
        World { nodes, ghost, faults, cloud }
    }

    /// In how many ways an event can happen at a node, whatever its handler chooses.
    fn ways(&self, world: &World<P>, id: NodeId, event: u16) -> u32 {
        let World { cloud, faults, .. } = world;
        let ways = |may: bool, ways: u32| if may { ways } else { 0 };
        match P::action(event) {
            Action::Lose(kind) if faults.may(Fault::Loss) => cloud.choices(id, &kind),
            Action::Duplicate if self.options.duplicate && faults.may(Fault::Duplicate) => {
                cloud.choices(id, &Kind::Any)
            }
            Action::Lose(_) | Action::Duplicate => 0,
            Action::Partition => {
                let may = faults.may(Fault::Partition) && !faults.is_partitioned();
                ways(may, partitions(self.options.topology.nodes(), id))
            }
            Action::Heal => ways(id == 0 && faults.is_partitioned(), 1),
            Action::Start => ways(id == 0 && faults.fresh, self.starts.len() as u32 - 1),
            _ if !faults.is_up(id) => 0,
            Action::Deliver(kind) => cloud.choices(id, &kind),
            Action::Fire(kind) => self.timers(world, id, kind).count() as u32,
            Action::Command => self.protocol.commands(id, &world.nodes[id as usize]).count() as u32,
            Action::Reboot => ways(faults.may(Fault::Reboot), 1),
            Action::Crash => ways(faults.may(Fault::Crash), 1),
        }
    }

    /// The steps of an event at a node, one for each of its ways and of what its handler may choose.
    fn choosing(&self, world: &World<P>, (actor, event): (NodeId, u16), steps: &mut Vec<Step>) {
        let ways = self.ways(world, actor, event);
        let first = steps.len();
        for way in 0..ways {
            let made = self.outcomes(world, Step { actor, event, param: way });
            let step = |choices| Step { actor, event, param: choices::join(way, choices) };
            steps.extend(made.into_iter().map(step));
        }
        steps[first..].sort_unstable_by_key(|step| step.param);
    }

    /// The numbers of all that the handler of a step may choose.
    fn outcomes(&self, world: &World<P>, step: Step) -> Vec<u32> {
        let mut bytes = Vec::new();
        world.write(&mut bytes);
        let mut scratch = self.start(&mut Choices::default());
        choices::all(|choices| {
            scratch.read(&mut &bytes[..]);
            let outcome = panic_capture::run(|| self.happen(&mut scratch, step, choices));
            if outcome.is_err() {
                // The step itself will panic, too, and is reported then.
                scratch = self.start(&mut Choices::default());
            }
        })
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

    /// A node, and what its handlers act on.
    fn at<'a>(
        &'a self,
        world: &'a mut World<P>,
        id: NodeId,
        choices: &'a mut Choices,
    ) -> (&'a mut P::Node, Outbox<'a, P>) {
        let World { nodes, ghost, faults, cloud } = world;
        let neighbours = self.options.topology.neighbours(id);
        (nodes.change(id), Outbox { id, neighbours, cloud, ghost, faults, choices })
    }

    /// Takes a step whose handler makes these choices.
    fn happen(&self, world: &mut World<P>, step: Step, choices: &mut Choices) {
        let Step { actor: id, event, param } = step;
        world.faults.fresh = false;
        match P::action(event) {
            Action::Deliver(kind) => {
                if let Some(arrived) = world.cloud.take(id, &kind, param) {
                    let (node, mut outbox) = self.at(world, id, choices);
                    self.protocol.receive(node, arrived.from, arrived.packet, &mut outbox);
                }
            }
            Action::Lose(kind) => {
                world.faults.happens(Fault::Loss);
                world.cloud.take(id, &kind, param);
            }
            Action::Duplicate => {
                world.faults.happens(Fault::Duplicate);
                world.cloud.duplicate(id, &Kind::Any, param);
            }
            Action::Fire(kind) => {
                let fired = self.timers(world, id, kind).nth(param as usize);
                if let Some(timer) = fired {
                    self.protocol.bury(&mut world.cloud, id, &timer);
                    let (node, mut outbox) = self.at(world, id, choices);
                    self.protocol.fire(node, timer, &mut outbox);
                }
            }
            Action::Command => {
                let (node, mut outbox) = self.at(world, id, choices);
                let given = self.protocol.commands(id, node).nth(param as usize);
                if let Some(command) = given {
                    self.protocol.command(node, command, &mut outbox);
                }
            }
            Action::Reboot => {
                world.faults.happens(Fault::Reboot);
                let (node, mut outbox) = self.at(world, id, choices);
                self.protocol.reboot(node, &mut outbox);
            }
            Action::Crash => world.faults.crash(id),
            Action::Partition => world.faults.cut(side(id, param)),
            Action::Heal => world.faults.heal(),
            Action::Start => {
                *world = self.start(&mut Choices::numbered(self.starts[param as usize + 1]));
                world.faults.fresh = false;
            }
        }
    }

    /// A step without what its handler chooses, and the number of that.
    fn resolve(&self, step: Step) -> (Step, u32) {
        if !P::CHOOSES || !runs_handler(&P::action(step.event)) {
            return (step, 0);
        }
        let (param, choices) = choices::split(step.param);
        (Step { param, ..step }, choices)
    }

    /// What the handler of a step chooses, in words; nothing if it does not choose.
    fn describe_choices(&self, before: &World<P>, (step, choices): (Step, u32)) -> String {
        if !P::CHOOSES || !runs_handler(&P::action(step.event)) {
            return String::new();
        }
        let mut bytes = Vec::new();
        before.write(&mut bytes);
        let mut after = self.start(&mut Choices::default());
        after.read(&mut &bytes[..]);
        let mut choices = Choices::numbered(choices);
        // A handler that panics has chosen before.
        let _ = panic_capture::run(|| self.happen(&mut after, step, &mut choices));
        let made: Vec<String> = choices.made().map(|chosen| chosen.to_string()).collect();
        if made.is_empty() { String::new() } else { format!("; it chooses {}", made.join(", ")) }
    }

    fn describe_fate(&self, packet: Option<Envelope<P::Packet>>, fate: &str) -> String {
        match packet {
            Some(envelope) => format!("{} is {fate}", self.protocol.describe_packet(&envelope)),
            None => format!("nothing is {fate}"),
        }
    }
}

impl<P: Scenario> System for Network<P> {
    type State = World<P>;

    fn initial(&self) -> World<P> {
        self.start(&mut Choices::default())
    }

    fn enabled(&self, world: &World<P>, steps: &mut Vec<Step>) {
        for actor in self.ids() {
            for event in 0..P::EVENTS.len() as u16 {
                if P::CHOOSES && runs_handler(&P::action(event)) {
                    self.choosing(world, (actor, event), steps);
                } else {
                    let ways = self.ways(world, actor, event);
                    steps.extend((0..ways).map(|param| Step { actor, event, param }));
                }
            }
        }
    }

    fn take(&self, world: &mut World<P>, step: Step) {
        let (step, choices) = self.resolve(step);
        self.happen(world, step, &mut Choices::numbered(choices));
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

/// What is wrong with a protocol that has several initial states and no event to choose one.
const NO_START: &str = "a node chooses when it starts: declare an event with Action::Start";

/// Whether a protocol has an event with such an action.
fn has<P: Scenario>(is: impl Fn(&Action<P>) -> bool) -> bool {
    (0..P::EVENTS.len() as u16).any(|event| is(&P::action(event)))
}

/// Whether a fault can happen in a protocol.
fn can<P: Scenario>(fault: Fault) -> bool {
    has::<P>(|action| match fault {
        Fault::Loss => matches!(action, Action::Lose(_)),
        Fault::Duplicate => matches!(action, Action::Duplicate),
        Fault::Reboot => matches!(action, Action::Reboot),
        Fault::Crash => matches!(action, Action::Crash),
        Fault::Partition => matches!(action, Action::Partition),
    })
}

/// Whether a handler of the protocol runs, which may choose.
fn runs_handler<P: Scenario>(action: &Action<P>) -> bool {
    matches!(action, Action::Deliver(_) | Action::Fire(_) | Action::Command | Action::Reboot)
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
    const PARAMETERS: &'static [Parameter] = P::PARAMETERS;
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
        let missing = |fault: &str| format!("it has no event for {fault}");
        if config.duplicate && !can::<P>(Fault::Duplicate) {
            return Err("it has no event that duplicates packets".into());
        }
        let faults = [Fault::Loss, Fault::Duplicate, Fault::Reboot, Fault::Crash, Fault::Partition];
        for (fault, name) in faults.into_iter().zip(Faults::NAMES) {
            if config.faults.contains_key(name) && !can::<P>(fault) {
                return Err(missing(name));
            }
        }
        for (fault, most) in [("partition", PARTITIONED), ("crash", CRASHING)] {
            if config.faults.contains_key(fault) && config.nodes > most.into() {
                return Err(format!("--faults {fault} needs a network of at most {most} nodes"));
            }
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
        let faults = &self.options.faults;
        match P::action(event) {
            Action::Duplicate => self.options.duplicate && faults.duplicate != Some(0),
            Action::Lose(_) => faults.loss != Some(0),
            Action::Reboot => faults.reboot != Some(0),
            Action::Crash => faults.crash > 0,
            Action::Partition | Action::Heal => faults.partition > 0,
            Action::Start => self.starts.len() > 1,
            Action::Deliver(_) | Action::Fire(_) | Action::Command => true,
        }
    }

    fn is_unobserved(&self, event: u16) -> bool {
        match P::action(event) {
            Action::Lose(_) | Action::Duplicate | Action::Crash => true,
            Action::Partition | Action::Heal | Action::Start => true,
            Action::Deliver(_) | Action::Fire(_) | Action::Command | Action::Reboot => false,
        }
    }

    fn symmetric(&self) -> Result<Vec<u16>, String> {
        symmetry::check(self)
    }

    fn exchange(&self, world: &mut World<P>, a: NodeId, b: NodeId) {
        self.exchanged(world, a, b);
    }

    fn representative(&self, world: &mut World<P>) {
        self.representative_of(world);
    }

    fn commuting(&self) -> Result<(), String> {
        if size_of::<P::Ghost>() > 0 {
            return Err("its handlers share ghost state, so their order matters".into());
        }
        if !P::Cloud::COMMUTES || self.options.order != PacketOrder::None {
            return Err("its packets keep their order, so that of their senders matters".into());
        }
        Ok(())
    }

    /// A packet is named by what it is; a command by its number, which only its node determines. Timers
    /// may look at the whole network, and faults with a budget leave less of it to others.
    fn letter(&self, world: &World<P>, step: Step) -> Option<u128> {
        let (Step { actor, event, param }, choices) = self.resolve(step);
        let faults = &self.options.faults;
        let packet = |kind| world.cloud.look(actor, &kind, param);
        let mut bytes = Vec::new();
        match P::action(event) {
            Action::Deliver(kind) => packet(kind)?.write(&mut bytes),
            Action::Lose(kind) if faults.loss.is_none() => packet(kind)?.write(&mut bytes),
            Action::Duplicate if faults.duplicate.is_none() => {
                packet(Kind::Any)?.write(&mut bytes);
            }
            Action::Command => param.write(&mut bytes),
            Action::Reboot if faults.reboot.is_none() => {}
            _ => return None,
        }
        event.write(&mut bytes);
        choices.write(&mut bytes);
        Some(everypath_explore::fingerprint(&bytes).0)
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
        let (step, choices) = self.resolve(step);
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
            Action::Crash => return "the node stops for good".into(),
            Action::Partition => return "the network falls into two parts".into(),
            Action::Heal => return "the partition ends".into(),
            Action::Start => return format!("the network begins in initial state {}", param + 2),
        };
        match cause {
            Some(cause) => {
                let text = self.protocol.describe(id, node, cause);
                text + &self.describe_choices(before, (step, choices))
            }
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
        lines.extend(
            self.protocol.describe_ghost(&world.ghost).map(|text| Line::new("ghost", text)),
        );
        let faults = world.faults.describe(&self.options.faults);
        lines.extend(faults.map(|text| Line::new("faults", text)));
        lines
    }

    fn in_flight(&self, world: &World<P>) -> Vec<Packet> {
        world.cloud.envelopes().map(|envelope| self.packet(&envelope)).collect()
    }

    fn transit(&self, before: &World<P>, step: Step, after: &World<P>) -> Transit {
        let (Step { actor, event, param }, _) = self.resolve(step);
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
            // What is in flight at the start was sent before.
            Action::Start => return Transit::default(),
            _ => {}
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
