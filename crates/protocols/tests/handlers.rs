//! The handlers outside exploration: what they achieve, and that they say which timers they set.
//!
//! Here they run in a world of their own, where packets arrive one after the other or everything
//! happens that can. It knows nothing of exploration, so this is also the smallest example of
//! driving a protocol from elsewhere.

use everypath_net::{Context, NodeId, Options, Protocol, Report, Shape, Topology};
use everypath_protocols::{Aodv, Arq, Diffusion, aodv, diffusion};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// A network in which handlers run.
struct Network<P: Protocol> {
    protocol: P,
    topology: Topology,
    nodes: Vec<P::Node>,
    effects: Effects<P>,
}

/// What handlers have done to the world.
struct Effects<P: Protocol> {
    /// The timers of each node that are active.
    timers: Vec<BTreeSet<P::Timer>>,
    /// The packets in flight, oldest first: from, to, what.
    packets: VecDeque<(NodeId, NodeId, P::Packet)>,
    reports: Vec<(NodeId, Report)>,
}

/// What one handler acts on.
struct Handle<'a, P: Protocol> {
    id: NodeId,
    neighbours: &'a [NodeId],
    effects: &'a mut Effects<P>,
}

impl<P: Protocol> Context<P> for Handle<'_, P> {
    fn id(&self) -> NodeId {
        self.id
    }

    fn neighbours(&self) -> &[NodeId] {
        self.neighbours
    }

    fn send(&mut self, to: NodeId, packet: P::Packet) {
        assert!(self.neighbours.contains(&to), "{} does not hear {to}", self.id);
        self.effects.packets.push_back((self.id, to, packet));
    }

    fn broadcast(&mut self, packet: P::Packet) {
        let copies = self.neighbours.iter().map(|&to| (self.id, to, packet.clone()));
        self.effects.packets.extend(copies);
    }

    fn set(&mut self, timer: P::Timer, delay: Duration) {
        assert!(delay > Duration::ZERO);
        self.effects.timers[self.id as usize].insert(timer);
    }

    fn cancel(&mut self, timer: &P::Timer) {
        self.effects.timers[self.id as usize].remove(timer);
    }

    fn choose(&mut self, _among: u32) -> u32 {
        0
    }

    fn ghost(&mut self, _change: impl FnOnce(&mut P::Ghost)) {}

    fn report(&mut self, report: Report) {
        self.effects.reports.push((self.id, report));
    }
}

impl<P: Protocol> Network<P> {
    fn new(options: &Options) -> Self {
        let topology = options.topology.clone();
        let timers = (0..topology.nodes()).map(|_| BTreeSet::new()).collect();
        let effects = Effects { timers, packets: VecDeque::new(), reports: Vec::new() };
        let mut network =
            Network { protocol: P::build(options), topology, nodes: Vec::new(), effects };
        for id in 0..network.topology.nodes() {
            let node = network.handle(id, |protocol, handle| protocol.start(handle));
            network.nodes.push(node);
        }
        network
    }

    fn handle<R>(&mut self, id: NodeId, handler: impl FnOnce(&P, &mut Handle<'_, P>) -> R) -> R {
        let neighbours = self.topology.neighbours(id);
        handler(&self.protocol, &mut Handle { id, neighbours, effects: &mut self.effects })
    }

    /// Runs a handler of a node, after which the timers must be as the protocol says.
    fn at(&mut self, id: NodeId, handler: impl FnOnce(&P, &mut P::Node, &mut Handle<'_, P>)) {
        let neighbours = self.topology.neighbours(id);
        let handle = &mut Handle { id, neighbours, effects: &mut self.effects };
        let node = &mut self.nodes[id as usize];
        handler(&self.protocol, node, handle);
        let said: BTreeSet<P::Timer> = self.protocol.timers(node).collect();
        assert!(said == self.effects.timers[id as usize], "the timers of node {id}");
    }

    fn command(&mut self, id: NodeId, command: P::Command) {
        self.at(id, |protocol, node, handle| protocol.command(node, command, handle));
    }

    fn fire(&mut self, id: NodeId, timer: &P::Timer) {
        if let Some(timer) = self.effects.timers[id as usize].take(timer) {
            self.at(id, |protocol, node, handle| protocol.fire(node, timer, handle));
        }
    }

    fn deliver(&mut self, which: usize) {
        if let Some((from, id, packet)) = self.effects.packets.remove(which) {
            self.at(id, |protocol, node, handle| protocol.receive(node, from, packet, handle));
        }
    }

    /// Delivers packets, oldest first, until none is left.
    fn settle(&mut self) {
        while !self.effects.packets.is_empty() {
            self.deliver(0);
        }
    }

    fn reports(&mut self) -> Vec<(NodeId, Report)> {
        std::mem::take(&mut self.effects.reports)
    }
}

#[test]
fn aodv_finds_a_route_and_delivers_what_waited_for_it() {
    let mut network = Network::<Aodv>::new(&Options::new(Topology::chain(5)));
    network.command(0, aodv::Command::Send { to: 4, number: 7 });
    assert_eq!(network.reports(), [(0, Report::Searching(4))]);
    network.settle();
    let delivered = |number| Report::Delivered { source: 0, number, hops: Some(4) };
    assert_eq!(network.reports(), [(0, Report::Found(4)), (4, delivered(7))]);
    network.command(0, aodv::Command::Send { to: 4, number: 8 });
    network.settle();
    assert_eq!(network.reports(), [(4, delivered(8))], "the route is known by now");
}

#[test]
fn aodv_gives_up_after_three_tries() {
    let mut network = Network::<Aodv>::new(&Options::new(Topology::chain(3)));
    network.command(0, aodv::Command::Send { to: 2, number: 7 });
    for _ in 0..3 {
        assert_eq!(network.effects.packets.len(), 1);
        network.effects.packets.clear();
        network.fire(0, &aodv::Timer::Request(2));
    }
    assert_eq!(network.effects.packets.len(), 0);
    let given_up = Report::Dropped { source: 0, number: 7 };
    assert_eq!(network.reports(), [(0, Report::Searching(2)), (0, given_up)]);
}

/// Node 1 falls silent: node 0 learns it from the missing announcements and tells node 4 behind it.
#[test]
fn aodv_drops_the_routes_through_a_silent_neighbour() {
    let links = "4 0\n0 1\n1 2\n2 3\n";
    let options = Options::new(Topology::parse(links, 5).unwrap());
    let mut network = Network::<Aodv>::new(&options);
    (0..5).for_each(|id| network.fire(id, &aodv::Timer::Hello));
    network.command(4, aodv::Command::Send { to: 3, number: 1 });
    network.settle();
    assert!(network.nodes[4].valid_route(3).is_some());
    network.fire(0, &aodv::Timer::Neighbour(1));
    network.settle();
    for id in [0, 4] {
        let route = network.nodes[id].route(3).unwrap();
        assert!(!route.is_valid());
        assert_eq!(route.sequence % 2, 1, "the number of a route that was lost");
    }
    assert!(network.nodes[1].valid_route(3).is_some());
}

#[test]
fn a_rebooted_node_takes_no_part_until_it_has_waited() {
    let mut network = Network::<Aodv>::new(&Options::new(Topology::chain(3)));
    network.effects.timers[1].clear();
    network.at(1, |protocol, node, handle| protocol.reboot(node, handle));
    network.command(0, aodv::Command::Discover(2));
    network.settle();
    assert!(network.nodes[1].routes.is_empty());
    network.fire(1, &aodv::Timer::Wait);
    network.fire(0, &aodv::Timer::Request(2));
    network.settle();
    assert!(network.nodes[0].valid_route(2).is_some());
}

#[test]
fn diffusion_reinforces_the_path_along_which_data_came_first() {
    // The sink is node 0 and the source node 3; there are two ways between them.
    let options = Options::new(Topology::new(Shape::Ring, 4));
    let mut network = Network::<Diffusion>::new(&options);
    network.command(0, diffusion::Command::Subscribe);
    network.settle();
    let delivered = |number| (0, Report::Delivered { source: 3, number, hops: None });
    assert_eq!(network.reports(), [delivered(0)]);
    let reinforced = |network: &Network<Diffusion>| -> Vec<(usize, NodeId)> {
        let nodes = network.nodes.iter().enumerate();
        let gradients = nodes.flat_map(|(id, node)| node.gradients.iter().map(move |g| (id, g)));
        gradients.filter(|(_, g)| g.reinforced).map(|(id, g)| (id, g.to)).collect()
    };
    assert_eq!(reinforced(&network), [(3, 0)]);
    // An ordinary sample goes along the reinforced path only.
    network.command(3, diffusion::Command::Sense(1));
    assert_eq!(network.effects.packets.len(), 1);
    network.settle();
    assert_eq!(network.reports(), [delivered(1)]);
}

/// Lets things happen as `choices` say.
fn muddle<P: Protocol>(
    options: &Options,
    command: impl Fn(u16) -> P::Command,
    choices: &[(u8, NodeId, u16)],
) {
    let mut network = Network::<P>::new(options);
    for &(what, who, which) in choices {
        let id = who % network.topology.nodes();
        let pick = |among: usize| which as usize % among.max(1);
        match what {
            0 => {
                network.effects.packets.remove(pick(network.effects.packets.len()));
            }
            1..=5 => network.deliver(pick(network.effects.packets.len())),
            6 | 7 => {
                let active = &network.effects.timers[id as usize];
                let fired = active.iter().nth(pick(active.len())).cloned();
                fired.iter().for_each(|timer| network.fire(id, timer));
            }
            8 => network.command(id, command(which)),
            _ => {
                network.effects.timers[id as usize].clear();
                network.at(id, |protocol, node, handle| protocol.reboot(node, handle));
            }
        }
    }
}

fn choices() -> impl Strategy<Value = Vec<(u8, NodeId, u16)>> {
    prop::collection::vec((0..10u8, any::<NodeId>(), any::<u16>()), 0..300)
}

fn networks(bugs: &'static [&'static str]) -> impl Strategy<Value = Options> {
    let bugs = prop::sample::subsequence(bugs, 0..=bugs.len());
    (bugs, any::<u64>()).prop_map(|(bugs, seed)| {
        let bugs = bugs.into_iter().map(String::from).collect();
        Options { bugs, ..Options::new(Topology::new(Shape::Random { seed }, 6)) }
    })
}

proptest! {
    #[test]
    fn arq_says_which_timers_are_active(choices in choices()) {
        let without_commands: Vec<_> = choices.into_iter().filter(|choice| choice.0 < 8).collect();
        let options = Options::new(Topology::chain(2));
        muddle::<Arq>(&options, |_| unreachable!("there are none"), &without_commands);
    }

    #[test]
    fn aodv_says_which_timers_are_active(
        choices in choices(),
        options in networks(&["reboot-forgets", "stale-seqno", "delete-route"]),
    ) {
        let command = |which: u16| match which % 2 {
            0 => aodv::Command::Discover(which % 6),
            _ => aodv::Command::Send { to: which % 6, number: u32::from(which) },
        };
        muddle::<Aodv>(&options, command, &choices);
    }

    #[test]
    fn diffusion_says_which_timers_are_active(
        choices in choices(),
        options in networks(&["cache-timeout", "reboot"]),
        negative: bool,
    ) {
        let features = negative.then(|| vec!["negative-reinforcement".to_string()]);
        let command = |which: u16| match which % 2 {
            0 => diffusion::Command::Subscribe,
            _ => diffusion::Command::Sense(u32::from(which) % 50),
        };
        muddle::<Diffusion>(&Options { features, ..options }, command, &choices);
    }
}
