//! AODV as an explored scenario: events, properties and ranks (Sobeih 2008, section 4.2).

use super::{Aodv, Command, DELETE_ROUTE, HELLO, Node, Packet, REBOOT_FORGETS, RERR, Route};
use super::{STALE_SEQNO, Timer, WAIT};
use everypath_net::{
    Action, Anatomy, Bug, Cause, Cloud, Envelope, EventKind, Feature, Kind, Line, NodeId,
    NodeRange, Pool, Property, Rank, Scenario, World, of_nodes, sources, switches,
};

type AodvWorld = World<Aodv>;

/// All nodes ask for routes to one destination, and only these routes time out: the paper's
/// reduction, without which nothing can be explored to a useful depth.
impl Scenario for Aodv {
    type Cloud = Pool<Packet>;

    const NAME: &'static str = "aodv";
    const ABOUT: &'static str = "ad-hoc on-demand distance vector routing to the last node";
    const NODES: NodeRange = NodeRange { min: 2, max: 1000, default: 3 };
    const BUGS: &'static [Bug] = &[
        Bug { name: REBOOT_FORGETS, about: "a rebooted node routes at once, with nothing known" },
        Bug { name: STALE_SEQNO, about: "an invalidated route keeps its sequence number" },
        Bug { name: DELETE_ROUTE, about: "a route that times out is deleted, not invalidated" },
    ];
    const FEATURES: &'static [Feature] = &[
        Feature { name: WAIT, about: "a rebooted node waits until routes through it are gone" },
        Feature { name: HELLO, about: "nodes announce themselves and notice silent neighbours" },
        Feature { name: RERR, about: "routes that are lost are announced" },
    ];
    // The order of the paper's implementation, as far as its counts tell: T0, T4, T5, T1, T2, T3.
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "request", about: "a node without a route asks for one (T0)" },
        EventKind { name: "deliver", about: "a packet arrives (T4)" },
        EventKind { name: "lose", about: "a packet is lost (T5)" },
        EventKind { name: "reboot", about: "a node loses its state (T1)" },
        EventKind { name: "broadcast-id-timeout", about: "a request is forgotten (T2)" },
        EventKind { name: "route-timeout", about: "a route was not used for too long (T3)" },
        EventKind { name: "end-wait", about: "a rebooted node takes part again (wait)" },
        EventKind { name: "neighbour-timeout", about: "a neighbour is silent (hello)" },
        EventKind { name: "hello", about: "a node announces itself (hello)" },
        EventKind { name: "duplicate", about: "a packet is duplicated, if the network may" },
    ];
    const DEFAULT_DEPTH: Option<u32> = Some(10);

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            3 => Action::Reboot,
            4 => Action::Fire(|timer| matches!(timer, Timer::BroadcastId { .. })),
            5 => Action::Fire(|timer| matches!(timer, Timer::Route(_))),
            6 => Action::Fire(|timer| matches!(timer, Timer::Wait)),
            7 => Action::Fire(|timer| matches!(timer, Timer::Neighbour(_))),
            8 => Action::Fire(|timer| matches!(timer, Timer::Hello)),
            _ => Action::Duplicate,
        }
    }

    /// A node without a route may ask for one, even if that changes nothing (see the module).
    fn commands(&self, id: NodeId, node: &Node) -> impl Iterator<Item = Command> {
        let lacks = id != self.destination && node.valid_route(self.destination).is_none();
        (lacks && !node.waiting).then_some(Command::Discover(self.destination)).into_iter()
    }

    /// Routes to other nodes than the destination do not time out, and requests are not made
    /// again: as if another node had made them. A rebooted node waits longer than routes live.
    fn may_fire(&self, world: &AodvWorld, id: NodeId, timer: &Timer) -> bool {
        match timer {
            Timer::BroadcastId { .. } | Timer::Neighbour(_) | Timer::Hello => true,
            Timer::Route(destination) => *destination == self.destination,
            Timer::Request(_) => false,
            Timer::Wait => {
                valid_to(&world.nodes, self.destination).all(|(_, route)| route.next != id)
            }
        }
    }

    /// A rebooted node waits longer than its packets live. Of its announcements, only the last
    /// is in flight.
    fn bury(&self, cloud: &mut Pool<Packet>, id: NodeId, timer: &Timer) {
        match timer {
            Timer::Wait => cloud.lose(|e| e.from == id),
            Timer::Hello => cloud.lose(|e| e.from == id && e.packet == Packet::Hello),
            _ => {}
        }
    }

    fn properties(&self) -> Vec<Property<AodvWorld>> {
        let destination = self.destination;
        vec![of_nodes("loop-free", move |nodes: &[Node]| loop_free(nodes, destination))]
    }

    fn ranks(&self) -> Vec<Rank<AodvWorld>> {
        let d = self.destination;
        vec![
            Rank::new("1", "most valid routes", |world, b| b.push(valid(world))),
            Rank::new("2", "next hops with the oldest and longest routes", move |world, b| {
                b.push(discord(world, d));
            }),
            Rank::new(
                "3",
                "most valid routes to the destination, then 1",
                move |world: &AodvWorld, b| {
                    b.extend([valid_to(&world.nodes, d).count() as i64, valid(world)]);
                },
            ),
            Rank::new("4", "most RREP packets", |world, b| b.push(replies(world))),
            Rank::new("5", "most RREP packets, then 1", |world, b| {
                b.extend([replies(world), valid(world)]);
            }),
        ]
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let sources = sources!["mod.rs", "explored.rs", "handlers.rs", "node.rs", "packet.rs"];
        let switches =
            switches!(self, Aodv { destination, stale_seqno, delete_route, rerr, hello, wait });
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

/// The valid routes to a destination, with the nodes that have them.
fn valid_to(nodes: &[Node], destination: NodeId) -> impl Iterator<Item = (NodeId, &Route)> {
    let nodes = (0..).zip(nodes).filter(move |(id, _)| *id != destination);
    nodes.filter_map(move |(id, node)| Some((id, node.valid_route(destination)?)))
}

/// Pairs of valid routes to a destination: that of a node, and that of its next hop.
fn hops(nodes: &[Node], destination: NodeId) -> impl Iterator<Item = (NodeId, &Route, &Route)> {
    valid_to(nodes, destination).filter_map(move |(id, route)| {
        let next = nodes[route.next as usize].valid_route(destination)?;
        Some((id, route, next))
    })
}

/// Along a path the routes get fresher, or shorter and equally fresh.
fn loop_free(nodes: &[Node], destination: NodeId) -> Result<(), String> {
    for (id, route, next) in hops(nodes, destination) {
        if route.sequence > next.sequence
            || route.sequence == next.sequence && route.hops <= next.hops
        {
            return Err(format!(
                "the route of node {id} to node {destination} has sequence number {} and {}, and \
                 leads to node {}, whose route is not fresher and shorter: sequence number {}, {}",
                route.sequence,
                super::words::hops(route.hops),
                route.next,
                next.sequence,
                super::words::hops(next.hops),
            ));
        }
    }
    Ok(())
}

/// How many routes are valid, to any destination.
fn valid(world: &AodvWorld) -> i64 {
    let routes = world.nodes.iter().flat_map(|node| &node.routes);
    routes.filter(|route| route.is_valid()).count() as i64
}

/// How much older and longer the routes of next hops are, all together.
fn discord(world: &AodvWorld, destination: NodeId) -> i64 {
    if valid_to(&world.nodes, destination).next().is_none() {
        return i64::MIN;
    }
    let pairs = hops(&world.nodes, destination).map(|(_, route, next)| {
        i64::from(route.sequence) - i64::from(next.sequence) + i64::from(next.hops)
            - i64::from(route.hops)
    });
    pairs.sum()
}

/// How many RREP packets are in flight.
fn replies(world: &AodvWorld) -> i64 {
    world.cloud.envelopes().filter(|envelope| envelope.packet.is_reply()).count() as i64
}
