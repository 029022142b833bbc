//! Reductions on random protocols: each is compared with a plain search.

use everypath_explore::{
    Config, Control, Ended, Exploration, Model, ModelKind, Request, Search, System as _,
    VisitedKind,
};
use everypath_net::{
    Action, Canonical as _, Cause, Context, EventKind, Kind, Line, Network, NodeId, NodeRange,
    Options, Parameter, Pool, Property, Protocol, Renaming, Scenario, Shape, World, canonical,
    of_nodes,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// How many states a node has, and how many packets there are.
const STATES: i64 = 3;
const PACKETS: i64 = 2;
/// How often a node acts.
const STEPS: u8 = 2;

/// A protocol that is drawn at random: what a node does depends on a number.
struct Random {
    nodes: NodeId,
    /// What happens is looked up in its digits.
    table: u64,
    /// The state that must not be reached.
    bad: u8,
    /// Node 0 acts otherwise, although it is called like the others.
    odd: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    state: u8,
    done: u8,
    /// Whom it has heard of last.
    heard: Option<NodeId>,
}
canonical!(struct Node { state, done, heard });

const fn parameter(name: &'static str, max: i64) -> Parameter {
    Parameter { name, about: "what is drawn", min: 0, max, default: 0 }
}
const TABLE: Parameter = parameter("table", i64::MAX);
const BAD: Parameter = parameter("bad", STATES);
const ODD: Parameter = parameter("odd", 1);

impl Random {
    /// A handler: the input decides on the next state and on what is sent.
    fn act(
        &self,
        node: &mut Node,
        input: u64,
        from: Option<NodeId>,
        context: &mut impl Context<Self>,
    ) {
        if node.done == STEPS {
            return;
        }
        node.done += 1;
        let odd = u64::from(self.odd && context.id() == 0);
        let place = 7 * (u64::from(node.state) * 3 + input);
        let drawn = (self.table.rotate_right(place as u32) >> 3) + odd;
        node.state = (drawn % STATES as u64) as u8;
        let packet = (drawn / 3 % PACKETS as u64) as u8;
        match (drawn / 6 % 4, from) {
            (0, Some(from)) => context.send(from, packet),
            (1, Some(from)) => node.heard = Some(from),
            (2, _) => context.broadcast(packet),
            (3, _) => {
                if let Some(heard) = node.heard {
                    context.send(heard, packet);
                }
            }
            _ => {}
        }
    }
}

impl Protocol for Random {
    type Node = Node;
    type Packet = u8;
    type Timer = ();
    type Command = ();
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Random {
            nodes: options.topology.nodes(),
            table: options.get(&TABLE) as u64,
            bad: options.get(&BAD) as u8,
            odd: options.get(&ODD) == 1,
        }
    }

    fn start(&self, _context: &mut impl Context<Self>) -> Node {
        Node::default()
    }

    fn receive(&self, node: &mut Node, from: NodeId, packet: u8, context: &mut impl Context<Self>) {
        self.act(node, u64::from(packet), Some(from), context);
    }

    fn fire(&self, node: &mut Node, (): (), context: &mut impl Context<Self>) {
        context.set((), Duration::from_secs(1));
        self.act(node, 2, None, context);
    }

    fn command(&self, _node: &mut Node, (): (), _context: &mut impl Context<Self>) {}

    fn timers(&self, node: &Node) -> impl Iterator<Item = ()> {
        (node.done < STEPS).then_some(()).into_iter()
    }
}

impl Scenario for Random {
    type Cloud = Pool<u8>;

    const NAME: &'static str = "random";
    const ABOUT: &'static str = "a protocol that is drawn at random";
    const NODES: NodeRange = NodeRange { min: 2, max: 5, default: 3 };
    const SHAPE: Shape = Shape::Mesh;
    const PARAMETERS: &'static [Parameter] = &[TABLE, BAD, ODD];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "fire", about: "a node acts" },
        EventKind { name: "deliver", about: "a packet arrives" },
        EventKind { name: "lose", about: "a packet is lost" },
        EventKind { name: "crash", about: "a node stops for good" },
        EventKind { name: "partition", about: "the network falls into two parts" },
        EventKind { name: "heal", about: "the partition ends" },
    ];

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Fire(|()| true),
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            3 => Action::Crash,
            4 => Action::Partition,
            _ => Action::Heal,
        }
    }

    fn commands(&self, _id: NodeId, _node: &Node) -> impl Iterator<Item = ()> {
        std::iter::empty()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        let bad = self.bad;
        vec![of_nodes("good", move |nodes: &[Node]| {
            let count = nodes.iter().filter(|node| node.state == bad && node.done == STEPS).count();
            if count < 2 { Ok(()) } else { Err("two nodes are bad".into()) }
        })]
    }

    fn symmetric(&self) -> Vec<NodeId> {
        (0..self.nodes).collect()
    }

    fn rename_node(&self, node: &mut Node, names: &Renaming) {
        node.heard = node.heard.map(|heard| names.of(heard));
    }

    fn describe(&self, _id: NodeId, _node: &Node, _cause: Cause<Self>) -> String {
        String::new()
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        vec![Line::new(self.name(id), format!("{node:?}"))]
    }
}

fn config(table: i64, bad: i64, nodes: u32) -> Config {
    let set = [("table".into(), table), ("bad".into(), bad)].into();
    Config { set, ..Config::new(nodes) }
}

fn explored(config: &Config, symmetry: bool) -> Exploration {
    explored_by(config, (symmetry, false), None)
}

fn explored_by(
    config: &Config,
    (symmetry, sleep): (bool, bool),
    max_depth: Option<u32>,
) -> Exploration {
    let model = ModelKind::of::<Network<Random>>().build(config.clone()).unwrap();
    assert_eq!(model.commuting(), Ok(()));
    let search = Search { visited: VisitedKind::Equality, max_depth, ..Search::default() };
    let mut request = Request { symmetry, sleep, ..Request::new(model.as_ref(), search, None) };
    request.properties.push("deadlock".into());
    model.explore(&request, &Control::default())
}

/// Property and length of the counterexample.
fn found(explored: &Exploration) -> Option<(String, usize)> {
    explored.found.first().map(|found| (found.property.clone(), found.schedule.len()))
}

/// How many states are left if those that are alike are one.
fn orbits(config: &Config) -> usize {
    let model = <Network<Random> as Model>::build(config);
    let (mut all, mut orbits) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting = vec![bytes(&model.initial())];
    let mut state = model.initial();
    while let Some(own) = waiting.pop() {
        if !all.insert(own.clone()) {
            continue;
        }
        state.read(&mut &own[..]);
        let mut steps = Vec::new();
        model.enabled(&state, &mut steps);
        for step in steps {
            state.read(&mut &own[..]);
            model.take(&mut state, step);
            waiting.push(bytes(&state));
        }
        state.read(&mut &own[..]);
        model.representative(&mut state);
        orbits.insert(bytes(&state));
    }
    orbits.len()
}

fn bytes(world: &World<Random>) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.write(&mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The verdict, the length of the counterexample and the number of orbits are those of a plain
    /// search.
    #[test]
    fn symmetry_changes_no_verdict(
        table in 0..i64::MAX,
        bad in 0..=STATES,
        nodes in 2..=3u32,
        fault in prop_oneof![Just("loss"), Just("crash"), Just("partition")],
    ) {
        let faults = [("loss".into(), 1), (fault.into(), 1)].into();
        let config = Config { faults, ..config(table, bad, nodes) };
        let (plain, reduced) = (explored(&config, false), explored(&config, true));
        prop_assert_eq!(&plain.ended, &reduced.ended);
        prop_assert_eq!(found(&plain), found(&reduced));
        prop_assert!(reduced.counts.states <= plain.counts.states);
        if plain.ended == Ended::Complete {
            prop_assert_eq!(orbits(&config) as u64, reduced.counts.states);
        }
    }

    /// Sleep sets leave out steps, but no state: verdict, shortest counterexample, states, dead ends
    /// and which events happen are those of a plain search, with a depth bound, too.
    #[test]
    fn sleep_sets_visit_every_state(
        table in 0..i64::MAX,
        bad in 0..=STATES,
        (nodes, max_depth) in prop_oneof![
            (2..=3u32, prop_oneof![Just(None), (1..9u32).prop_map(Some)]),
            (Just(4u32), (4..7u32).prop_map(Some)),
        ],
        fault in prop_oneof![Just("loss"), Just("crash"), Just("partition"), Just("none")],
    ) {
        let mut config = config(table, bad, nodes);
        if fault != "none" {
            config.faults = [("loss".into(), 1), (fault.into(), 1)].into();
        }
        let plain = explored_by(&config, (false, false), max_depth);
        let reduced = explored_by(&config, (false, true), max_depth);
        prop_assert_eq!(&plain.ended, &reduced.ended);
        prop_assert_eq!(found(&plain).map(|found| found.1), found(&reduced).map(|found| found.1));
        if plain.ended == Ended::Complete {
            prop_assert!(reduced.counts.events <= plain.counts.events);
            prop_assert_eq!(plain.counts.states, reduced.counts.states);
            prop_assert!(reduced.counts.depth <= plain.counts.depth);
            prop_assert_eq!(plain.counts.dead_ends, reduced.counts.dead_ends);
            let happened = |explored: &Exploration| -> Vec<bool> {
                explored.by_event.iter().map(|count| *count > 0).collect()
            };
            prop_assert_eq!(happened(&plain), happened(&reduced));
        }
    }

    /// One step for identical packets leads to the same states as one for each copy.
    #[test]
    fn identical_packets_are_one_step(table in 0..i64::MAX, bad in 0..=STATES, nodes in 2..=3u32) {
        let config = config(table, bad, nodes);
        let plain = explored(&config, false);
        let reduced = explored(&Config { identical: true, ..config }, false);
        prop_assert_eq!(found(&plain), found(&reduced));
        prop_assert_eq!(plain.counts.depth, reduced.counts.depth);
        if plain.ended == Ended::Complete {
            prop_assert_eq!(plain.counts.states, reduced.counts.states);
        }
        prop_assert!(reduced.counts.events <= plain.counts.events);
    }
}

/// Nodes that are called alike and are not: the verdict is inconclusive, not a wrong one.
#[test]
fn nodes_that_are_not_alike_are_found_out() {
    let ends = (1..40).map(|number| {
        let mut config = config(number * 0x0123_4567_89ab, STATES, 3);
        config.set.insert("odd".into(), 1);
        explored(&config, true).ended
    });
    let caught = ends.filter(|ended| matches!(ended, Ended::NotSymmetric(_))).count();
    assert!(caught > 20, "{caught}");
}

#[test]
fn a_topology_may_tell_nodes_apart() {
    let chain = Config { links: Some(vec![(0, 1), (1, 2)]), ..config(1, 0, 3) };
    let model = ModelKind::of::<Network<Random>>().build(chain).unwrap();
    let why = model.symmetric().unwrap_err();
    assert!(why.contains("nodes 0 and 1 have other neighbours"), "{why}");
}
