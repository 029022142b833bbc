//! The framework on the smallest protocol that uses all of it: a rumour that spreads by flooding.

use everypath_explore::{
    Control, Exploration, Model as _, Search, System as _, Task, VisitedKind, explore,
};
use everypath_net::{
    Action, Canonical, Cause, Cloud as _, Config, Context, EventKind, Kind, Line, Network, NodeId,
    NodeRange, Options, PacketOrder, Pool, Property, Protocol, Scenario, Step, Topology, World,
    canonical, of_nodes,
};
use std::fmt;
use std::time::Duration;

/// Node 0 can be told a rumour. Who hears it for the first time tells all neighbours, and may
/// forget it when a timer fires.
struct Flood;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    knows: bool,
    told: u32,
}
canonical!(struct Node { knows, told });

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rumour;
canonical!(
    struct Rumour {}
);

impl fmt::Display for Rumour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rumour")
    }
}

impl Flood {
    fn hear(&self, node: &mut Node, context: &mut impl Context<Self>) {
        if !node.knows {
            node.knows = true;
            node.told += 1;
            context.broadcast(Rumour);
            context.set((), Duration::from_secs(1));
        }
    }
}

impl Protocol for Flood {
    type Node = Node;
    type Packet = Rumour;
    type Timer = ();
    type Command = ();
    type Ghost = ();

    fn build(_options: &Options) -> Self {
        Flood
    }

    fn start(&self, _context: &mut impl Context<Self>) -> Node {
        Node::default()
    }

    fn receive(
        &self,
        node: &mut Node,
        _from: NodeId,
        _packet: Rumour,
        context: &mut impl Context<Self>,
    ) {
        self.hear(node, context);
    }

    fn fire(&self, node: &mut Node, _timer: (), _context: &mut impl Context<Self>) {
        node.knows = false;
    }

    fn command(&self, node: &mut Node, _command: (), context: &mut impl Context<Self>) {
        self.hear(node, context);
    }

    fn timers(&self, node: &Node) -> impl Iterator<Item = ()> {
        node.knows.then_some(()).into_iter()
    }
}

impl Scenario for Flood {
    type Cloud = Pool<Rumour>;

    const NAME: &'static str = "flood";
    const ABOUT: &'static str = "a rumour";
    const NODES: NodeRange = NodeRange { min: 1, max: 9, default: 3 };
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "tell", about: "somebody starts the rumour" },
        EventKind { name: "deliver", about: "it arrives" },
        EventKind { name: "lose", about: "it is lost" },
        EventKind { name: "forget", about: "a node forgets it" },
        EventKind { name: "reboot", about: "a node forgets everything" },
        EventKind { name: "duplicate", about: "it is in flight once more" },
    ];

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            3 => Action::Fire(|()| true),
            4 => Action::Reboot,
            _ => Action::Duplicate,
        }
    }

    fn commands(&self, id: NodeId, node: &Node) -> impl Iterator<Item = ()> {
        (id == 0 && !node.knows).then_some(()).into_iter()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        vec![of_nodes("told-once", |nodes: &[Node]| {
            match nodes.iter().position(|node| node.told > 1) {
                None => Ok(()),
                Some(id) => Err(format!("node {id} told it twice")),
            }
        })]
    }

    fn describe(&self, _id: NodeId, _node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Packet(from, packet) => format!("{packet} from {from}"),
            Cause::Timer(()) => "forgotten".into(),
            Cause::Command(()) => "heard".into(),
            Cause::Reboot => "rebooted".into(),
        }
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        vec![Line::new(self.name(id), if node.knows { "knows it" } else { "is unaware" })]
    }
}

const TELL: u16 = 0;
const DELIVER: u16 = 1;
const LOSE: u16 = 2;
const FORGET: u16 = 3;
const REBOOT: u16 = 4;
const DUPLICATE: u16 = 5;

fn step(actor: NodeId, event: u16) -> Step {
    Step { actor, event, param: 0 }
}

/// The steps enabled after a schedule, as pairs of node and event.
fn enabled(model: &Network<Flood>, schedule: &[Step]) -> Vec<(u16, u16)> {
    let mut world = model.initial();
    schedule.iter().for_each(|step| model.take(&mut world, *step));
    let mut steps = Vec::new();
    model.enabled(&world, &mut steps);
    steps.iter().map(|step| (step.actor, step.event)).collect()
}

#[test]
fn a_broadcast_is_one_packet_for_each_neighbour() {
    let model = Network::<Flood>::new(Options::new(Topology::parse("0 1\n0 2\n1 3", 4).unwrap()));
    let after = enabled(&model, &[step(0, TELL)]);
    let of = |event| after.iter().filter(|(_, e)| *e == event).map(|(n, _)| *n).collect::<Vec<_>>();
    assert_eq!(of(DELIVER), [1, 2]);
    assert_eq!(of(LOSE), [1, 2]);
    assert_eq!(of(FORGET), [0]);
    assert_eq!(of(REBOOT), [0, 1, 2, 3]);
    assert!(of(TELL).is_empty());
}

#[test]
fn steps_come_per_node_then_per_event_then_per_parameter() {
    let model = Network::<Flood>::build(&Config::new(2));
    // Node 0 tells it twice, so that two copies are on their way to node 1.
    let twice = [step(0, TELL), step(0, FORGET), step(0, TELL)];
    let expected = [(0, FORGET), (0, REBOOT), (1, DELIVER), (1, DELIVER), (1, LOSE), (1, LOSE)];
    assert_eq!(enabled(&model, &twice), [&expected[..], &[(1, REBOOT)]].concat());
}

#[test]
fn packets_are_duplicated_only_if_the_network_may() {
    let may = |duplicate| {
        let options = Options { duplicate, ..Options::new(Topology::chain(2)) };
        let model = Network::<Flood>::new(options);
        let mut world = model.initial();
        model.take(&mut world, step(0, TELL));
        let after = enabled(&model, &[step(0, TELL)]);
        if after.contains(&(1, DUPLICATE)) {
            model.take(&mut world, step(1, DUPLICATE));
        }
        world.cloud.envelopes().count()
    };
    assert_eq!((may(false), may(true)), (1, 2));
}

#[test]
fn steps_and_states_are_put_into_words() {
    let model = Network::<Flood>::build(&Config::new(2));
    let mut world = model.initial();
    assert_eq!(model.describe_step(&world, step(0, TELL)), "heard");
    assert_eq!(model.describe_step(&world, step(1, LOSE)), "nothing is lost");
    model.take(&mut world, step(0, TELL));
    assert_eq!(model.describe_step(&world, step(1, DELIVER)), "rumour from 0");
    assert_eq!(model.describe_step(&world, step(1, LOSE)), "rumour is lost");
    let lines: Vec<String> = model.describe_state(&world).into_iter().map(|l| l.text).collect();
    assert_eq!(lines, ["knows it", "is unaware", "rumour"]);
}

fn run(options: Options, search: &Search) -> Exploration {
    let model = Network::<Flood>::new(options);
    let properties = model.properties();
    let task = Task { system: &model, properties: &properties, rank: None, search };
    explore(&task, &Control::default())
}

/// The relation prunes; depths and verdicts stay those of plain equality, whatever the network.
#[test]
fn the_relation_changes_no_verdict() {
    for shape in [Topology::chain(3), Topology::parse("0 1\n1 2\n2 0", 3).unwrap()] {
        for duplicate in [false, true] {
            let options = Options { duplicate, ..Options::new(shape.clone()) };
            let explored = |visited, max_depth, disabled: &[u16]| {
                let disabled = disabled.to_vec();
                let max_depth = Some(max_depth);
                let search = Search { visited, max_depth, disabled, ..Search::default() };
                let result = run(options.clone(), &search);
                (result.found.first().map(|found| found.schedule.len()), result.counts.states)
            };
            for disabled in [&[][..], &[FORGET], &[FORGET, REBOOT]] {
                let (found, fewer) = explored(VisitedKind::Relation, 7, disabled);
                let (expected, states) = explored(VisitedKind::Equality, 7, disabled);
                assert_eq!(found, expected);
                assert!(fewer <= states);
            }
            assert!(explored(VisitedKind::Relation, 7, &[REBOOT]).0.is_some());
        }
    }
}

#[test]
fn in_the_order_of_sending_there_are_more_states_and_the_same_verdicts() {
    let states = |order| {
        let options = Options { order, ..Options::new(Topology::chain(4)) };
        let search = Search {
            visited: VisitedKind::Equality,
            max_depth: Some(7),
            disabled: vec![FORGET],
            ..Search::default()
        };
        let result = run(options, &search);
        (result.found.len(), result.counts.states)
    };
    let ((no_order, fewer), (sent, more)) = (states(PacketOrder::None), states(PacketOrder::Sent));
    assert_eq!(no_order, sent);
    assert!(fewer < more, "{fewer} {more}");
}

#[test]
fn reading_and_restoring_give_back_the_state() {
    let model = Network::<Flood>::build(&Config::new(3));
    let bytes = |world: &World<Flood>| {
        let mut bytes = Vec::new();
        world.write(&mut bytes);
        bytes
    };
    let mut original = model.initial();
    model.take(&mut original, step(0, TELL));
    let before = bytes(&original);
    original.read(&mut &before[..]);
    let mut other = model.initial();
    for event in [DELIVER, LOSE] {
        model.restore(&original, &before, &mut other);
        assert_eq!(bytes(&other), before);
        model.take(&mut other, step(1, event));
        assert_ne!(bytes(&other), before);
    }
}
