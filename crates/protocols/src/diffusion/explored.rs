//! Directed diffusion as an explored scenario (Sobeih 2008, section 5.2).

use super::{CACHE_TIMEOUT, Command, Diffusion, Gradient, NEGATIVE, Node, Packet, REBOOT, Timer};
use everypath_net::{
    Action, Anatomy, Bug, Cause, Cloud, Envelope, EventKind, Feature, Kind, Line, NodeId,
    NodeRange, Pool, Property, Rank, Scenario, Ties, World, of_nodes, sources, switches,
};

type DiffusionWorld = World<Diffusion>;

impl Scenario for Diffusion {
    type Cloud = Pool<Packet>;

    const NAME: &'static str = "diffusion";
    const ABOUT: &'static str = "directed diffusion from the last node to node 0";
    const NODES: NodeRange = NodeRange { min: 2, max: 1000, default: 4 };
    const BUGS: &'static [Bug] = &[
        Bug { name: CACHE_TIMEOUT, about: "data caches forget data that is still in flight" },
        Bug { name: REBOOT, about: "a rebooted node takes part at once, with nothing known" },
    ];
    const FEATURES: &'static [Feature] = &[Feature {
        name: NEGATIVE,
        about: "neighbours that bring nothing new are told to send less",
    }];
    // The order of the paper's implementation, as its counts tell: T0, T5, T3, T4, T2, T1.
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "start-task", about: "the sink asks for data (T0)" },
        EventKind { name: "lose", about: "a packet is lost (T5)" },
        EventKind { name: "data-cache-timeout", about: "a data cache forgets a sample (T3)" },
        EventKind { name: "deliver", about: "a packet arrives (T4)" },
        EventKind { name: "gradient-timeout", about: "a gradient is removed (T2)" },
        EventKind { name: "reboot", about: "a node loses its state (T1)" },
        EventKind { name: "end-wait", about: "a rebooted node takes part again" },
        EventKind { name: "duplicate", about: "a packet is duplicated, if the network may" },
    ];
    const DEFAULT_DEPTH: Option<u32> = Some(13);

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Lose(Kind::Any),
            2 => Action::Fire(|timer| matches!(timer, Timer::Data(_))),
            3 => Action::Deliver(Kind::Any),
            4 => Action::Fire(|timer| matches!(timer, Timer::Gradient(_))),
            5 => Action::Reboot,
            6 => Action::Fire(|timer| matches!(timer, Timer::Wait)),
            _ => Action::Duplicate,
        }
    }

    fn commands(&self, id: NodeId, node: &Node) -> impl Iterator<Item = Command> {
        (id == self.sink && !node.waiting).then_some(Command::Subscribe).into_iter()
    }

    /// What a node sensed itself stays in its cache, and interests are not passed on again.
    fn may_fire(&self, world: &DiffusionWorld, id: NodeId, timer: &Timer) -> bool {
        match timer {
            Timer::Gradient(_) | Timer::Wait => true,
            Timer::Data(data) => {
                let samples = &world.nodes[id as usize].samples;
                samples.iter().any(|sample| sample.data == *data && sample.from != id)
            }
            Timer::Quiet => false,
        }
    }

    /// Samples stay in the caches, and rebooted nodes wait, for longer than data is in flight.
    fn bury(&self, cloud: &mut Pool<Packet>, _id: NodeId, timer: &Timer) {
        match timer {
            Timer::Data(data) if !self.early_timeout => {
                let dead = data.number;
                cloud.lose(|e| matches!(e.packet, Packet::Data(data) if data.number == dead));
            }
            Timer::Wait => cloud.lose(|e| matches!(e.packet, Packet::Data(_))),
            _ => {}
        }
    }

    fn properties(&self) -> Vec<Property<DiffusionWorld>> {
        vec![of_nodes("loop-free", |nodes: &[Node]| match round_trip(nodes) {
            None => Ok(()),
            Some((a, b)) => Err(format!(
                "the reinforced path leads from node {a} to node {b} and back to node {a}"
            )),
        })]
    }

    /// With the last of equals first, long chains take many times as many events.
    fn ranks(&self) -> Vec<Rank<DiffusionWorld>> {
        let ranks = [
            Rank::new("1", "most gradients", |world: &DiffusionWorld, b| {
                b.push(gradients(&world.nodes).count() as i64);
            }),
            Rank::new("2", "most reinforced gradients, then 1", |world: &DiffusionWorld, b| {
                let reinforced =
                    gradients(&world.nodes).filter(|(_, gradient)| gradient.reinforced);
                b.extend([reinforced.count() as i64, gradients(&world.nodes).count() as i64]);
            }),
            Rank::new("3", "most positive reinforcements", |world: &DiffusionWorld, b| {
                b.push(positive(world));
            }),
            Rank::new("4", "most positive reinforcements, then 1", |world: &DiffusionWorld, b| {
                b.extend([positive(world), gradients(&world.nodes).count() as i64]);
            }),
            Rank::new("5", "most samples in data caches", |world: &DiffusionWorld, b| {
                b.push(samples(world));
            }),
            Rank::new("6", "most samples in data caches, then 1", |world: &DiffusionWorld, b| {
                b.extend([samples(world), gradients(&world.nodes).count() as i64]);
            }),
        ];
        ranks.into_iter().map(|rank| rank.with_ties(Ties::First)).collect()
    }

    fn name(&self, id: NodeId) -> String {
        match id {
            _ if id == self.sink => format!("node {id} (sink)"),
            _ if id == self.source => format!("node {id} (source)"),
            _ => format!("node {id}"),
        }
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let sources = sources!["mod.rs", "explored.rs", "handlers.rs", "node.rs", "packet.rs"];
        let switches = switches!(self, Diffusion { sink, source, early_timeout, wait, negative });
        Some(Anatomy { sources, switches })
    }

    fn describe(&self, id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        self.words(id, node, cause)
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        vec![Line::new(self.name(id), node.to_string())]
    }

    fn describe_packet(&self, envelope: &Envelope<Packet>) -> String {
        super::words::packet(envelope)
    }
}

/// All gradients, with the nodes that have them.
fn gradients(nodes: &[Node]) -> impl Iterator<Item = (NodeId, &Gradient)> {
    let nodes = (0..).zip(nodes);
    nodes.flat_map(|(id, node)| node.gradients.iter().map(move |gradient| (id, gradient)))
}

/// How many samples are in the data caches.
fn samples(world: &DiffusionWorld) -> i64 {
    world.nodes.iter().map(|node| node.samples.len() as i64).sum()
}

/// How many positive reinforcements are in flight.
fn positive(world: &DiffusionWorld) -> i64 {
    world.cloud.envelopes().filter(|envelope| envelope.packet == Packet::Positive).count() as i64
}

/// Two nodes, neighbours on a reinforced path, such that another leads back.
fn round_trip(nodes: &[Node]) -> Option<(NodeId, NodeId)> {
    let links = || {
        let reinforced = gradients(nodes).filter(|(_, gradient)| gradient.reinforced);
        reinforced.map(|(from, gradient)| (from, gradient.to))
    };
    // Most states have less than two reinforced gradients.
    links().nth(1)?;
    links().find(|&(from, to)| {
        let mut reached = vec![to];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for (_, onward) in links().filter(|(a, _)| *a == at) {
                if !reached.contains(&onward) {
                    reached.push(onward);
                }
            }
        }
        reached.contains(&from)
    })
}
