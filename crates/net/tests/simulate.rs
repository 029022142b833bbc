//! Simulations whose outcome can be computed by hand, and what must be true of all of them.

use everypath_net::simulate::{Arrivals, Counts, Run, Settings, simulate};
use everypath_net::{
    Canonical, Context, NodeId, NodeRange, Options, Protocol, Report, Shape, Topology, Traffic,
    canonical,
};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// Data floods the network: every node passes on what it has not seen yet.
struct Flood {
    /// Nodes panic when they have seen so much.
    patience: usize,
}

/// What a node has seen.
#[derive(Default)]
struct Node(BTreeSet<(NodeId, u32)>);

/// Nothing here is explored.
impl Canonical for Node {
    fn write(&self, _bytes: &mut Vec<u8>) {}
    fn read(&mut self, _bytes: &mut &[u8]) {}
}

#[derive(Clone, Debug, Default)]
struct Packet {
    source: NodeId,
    to: NodeId,
    number: u32,
    hops: u16,
}
canonical!(struct Packet { source, to, number, hops });

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.number, self.source)
    }
}

impl Protocol for Flood {
    type Node = Node;
    type Packet = Packet;
    type Timer = u8;
    type Command = (NodeId, u32);
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Flood { patience: if options.has("impatient") { 3 } else { usize::MAX } }
    }

    /// A timer beats once a second.
    fn start(&self, context: &mut impl Context<Self>) -> Node {
        context.set(0, Duration::from_secs(1));
        Node::default()
    }

    fn receive(
        &self,
        node: &mut Node,
        _from: NodeId,
        mut packet: Packet,
        context: &mut impl Context<Self>,
    ) {
        packet.hops += 1;
        if packet.to == context.id() {
            context.report(Report::Delivered {
                source: packet.source,
                number: packet.number,
                hops: Some(packet.hops),
            });
        }
        if node.0.insert((packet.source, packet.number)) {
            assert!(node.0.len() < self.patience, "this is too much");
            context.broadcast(packet);
        }
    }

    fn fire(&self, _node: &mut Node, timer: u8, context: &mut impl Context<Self>) {
        context.set(timer, Duration::from_secs(1));
    }

    fn command(
        &self,
        node: &mut Node,
        (to, number): (NodeId, u32),
        context: &mut impl Context<Self>,
    ) {
        let source = context.id();
        node.0.insert((source, number));
        context.broadcast(Packet { source, to, number, hops: 0 });
    }

    fn timers(&self, _node: &Node) -> impl Iterator<Item = u8> {
        [0].into_iter()
    }

    fn is_data(_packet: &Packet) -> bool {
        true
    }
}

impl Traffic for Flood {
    const SIZES: NodeRange = NodeRange { min: 2, max: 1000, default: 9 };

    fn data(&self, _from: NodeId, to: NodeId, number: u32) -> Option<(NodeId, u32)> {
        Some((to, number))
    }
}

fn options(shape: Shape, nodes: NodeId) -> Options {
    Options::new(Topology::new(shape, nodes))
}

fn run(options: &Options, settings: &Settings) -> Run {
    simulate::<Flood>(options, settings).unwrap()
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn a_flood_on_two_nodes_by_hand() {
    let settings = Settings {
        duration: Duration::from_secs(10),
        flows: 1,
        interval: milliseconds(100),
        ..Settings::default()
    };
    let run = run(&options(Shape::Chain, 2), &settings);
    let Counts { offered, delivered, data, control, sent, arrived, lost, in_flight, .. } =
        run.counts;
    // One in every interval, whenever the first one is; each is heard, repeated and heard again.
    assert_eq!(offered, 100);
    assert!((99..=100).contains(&delivered));
    assert!(run.delays.iter().all(|&delay| delay == 10_000_000));
    assert_eq!((run.hops.keys().copied().collect::<Vec<_>>(), control, lost), (vec![1], 0, 0));
    assert_eq!((data, sent, arrived + in_flight), (offered + delivered, data, sent));
    // Two starts; ten beats of each node; the commands and the packets.
    assert_eq!(run.counts.events, 2 + 20 + offered + arrived);
}

#[test]
fn delay_grows_by_the_delay_of_each_link() {
    let settings = Settings { flows: 1000, ..Settings::default() };
    let run = run(&options(Shape::Chain, 5), &settings);
    let hops: Vec<(u16, u64)> = run.hops.clone().into_iter().collect();
    assert_eq!(hops.iter().map(|(hops, _)| *hops).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let by_delay = |hops: u16| {
        run.delays.iter().filter(|&&delay| delay == u64::from(hops) * 10_000_000).count() as u64
    };
    assert!(hops.iter().all(|&(hops, data)| by_delay(hops) == data));
    // Of twenty pairs, eight are neighbours, six are two links apart, and so on.
    for ((_, data), pairs) in hops.iter().zip([8, 6, 4, 2]) {
        assert!((pairs * 399..=pairs * 400).contains(data), "{data} {pairs}");
    }
}

#[test]
fn nothing_appears_or_vanishes() {
    for seed in 0..20 {
        let settings = Settings {
            duration: Duration::from_secs(20),
            jitter: milliseconds(15),
            loss: 0.2,
            failures: 10.0,
            arrivals: if seed % 2 == 0 { Arrivals::Poisson } else { Arrivals::Constant },
            seed,
            ..Settings::default()
        };
        let Counts { offered, delivered, sent, arrived, lost, in_flight, reboots, .. } =
            run(&options(Shape::Grid, 9), &settings).counts;
        assert_eq!(sent, arrived + lost + in_flight);
        assert!(delivered <= offered && in_flight < 200);
        let share = lost as f64 / sent as f64;
        assert!((share - 0.2).abs() < 4.0 * (0.16 / sent as f64).sqrt(), "{share}");
        // Nine nodes, a third of a minute, ten reboots a minute: thirty, give or take.
        assert!((8..=52).contains(&reboots), "{reboots}");
    }
}

#[test]
fn a_seed_is_a_run() {
    let options = options(Shape::Ring, 8);
    let settings = |seed| Settings {
        jitter: milliseconds(5),
        loss: 0.1,
        failures: 1.0,
        arrivals: Arrivals::Poisson,
        seed,
        ..Settings::default()
    };
    let all: Vec<Run> = (0..5).map(|seed| run(&options, &settings(seed))).collect();
    for (seed, first) in (0..).zip(&all) {
        assert_eq!(*first, run(&options, &settings(seed)));
        assert!((seed + 1..5).all(|other| all[other as usize] != *first));
    }
}

#[test]
fn a_change_of_the_loss_leaves_the_traffic_as_it_was() {
    let options = options(Shape::Grid, 9);
    let offered = |loss| {
        let arrivals = Arrivals::Poisson;
        run(&options, &Settings { loss, arrivals, ..Settings::default() }).counts.offered
    };
    assert_eq!(offered(0.0), offered(0.5));
}

#[test]
fn poisson_traffic_has_the_rate_that_was_asked_for() {
    let settings = Settings {
        duration: Duration::from_secs(1000),
        flows: 2,
        interval: milliseconds(50),
        arrivals: Arrivals::Poisson,
        ..Settings::default()
    };
    let offered = run(&options(Shape::Chain, 2), &settings).counts.offered as f64;
    assert!((offered - 40_000.0).abs() < 4.0 * 200.0, "{offered}");
}

#[test]
fn a_panic_of_a_handler_is_told_with_its_place_and_time() {
    let options = Options { bugs: vec!["impatient".into()], ..options(Shape::Chain, 2) };
    let error = simulate::<Flood>(&options, &Settings::default()).unwrap_err();
    assert!(error.message.contains("this is too much"));
    assert!(error.time > Duration::ZERO && error.time < Duration::from_secs(2), "{error}");
}
