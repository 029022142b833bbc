//! A model whose property looks at packets in flight, and whose relation may be wrong: for the tests
//! of what a simulation relation may prune.

use everypath_model::net::{
    Action, Bug, Cause, Cloud as _, Context, EventKind, Kind, Line, Network, NodeId, NodeRange,
    Options, Pool, Property, Protocol, Scenario, SimulationRelation, World, of_nodes,
};
use everypath_model::{Catalog, run};
use std::process::ExitCode;

/// Node 1 asks node 0, twice at most; a question may be lost.
struct Asker {
    /// All states in which node 0 was asked as often are said to simulate each other.
    anything: bool,
}

/// A relation that compares nothing but node 0: after the two bytes of a [`World`], a byte.
struct Anything;

impl SimulationRelation for Anything {
    fn key_len(&self, _bytes: &[u8]) -> usize {
        3
    }

    fn simulates(&self, _larger: &[u8], _smaller: &[u8]) -> bool {
        true
    }
}

impl Protocol for Asker {
    /// How often it has asked, or was asked.
    type Node = u8;
    type Packet = u8;
    type Timer = ();
    type Command = ();
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Asker { anything: options.has("anything") }
    }

    fn start(&self, _context: &mut impl Context<Self>) -> u8 {
        0
    }

    fn receive(
        &self,
        node: &mut u8,
        _from: NodeId,
        _packet: u8,
        _context: &mut impl Context<Self>,
    ) {
        *node += 1;
    }

    fn fire(&self, _node: &mut u8, (): (), _context: &mut impl Context<Self>) {}

    fn command(&self, node: &mut u8, (): (), context: &mut impl Context<Self>) {
        *node += 1;
        context.broadcast(7);
    }

    fn timers(&self, _node: &u8) -> impl Iterator<Item = ()> {
        std::iter::empty()
    }
}

impl Scenario for Asker {
    type Cloud = Pool<u8>;

    const NAME: &'static str = "asker";
    const ABOUT: &'static str = "a question that may be lost";
    const NODES: NodeRange = NodeRange::exactly(2);
    const BUGS: &'static [Bug] =
        &[Bug { name: "anything", about: "a relation that is no simulation" }];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "ask", about: "node 1 asks" },
        EventKind { name: "deliver", about: "the question arrives" },
        EventKind { name: "lose", about: "the question is lost" },
    ];

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Deliver(Kind::Any),
            _ => Action::Lose(Kind::Any),
        }
    }

    fn commands(&self, id: NodeId, node: &u8) -> impl Iterator<Item = ()> {
        (id == 1 && *node < 2).then_some(()).into_iter()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        vec![
            of_nodes("asked-twice-at-most", |nodes: &[u8]| match nodes[0] {
                0..=2 => Ok(()),
                _ => Err("node 0 was asked too often".into()),
            }),
            Property::new("heard", |world: &World<Self>| {
                let quiet = world.cloud.envelopes().next().is_none();
                match (world.nodes[1], world.nodes[0]) {
                    (1, 0) if quiet => Err("asked, and nothing is in flight".into()),
                    _ => Ok(()),
                }
            }),
        ]
    }

    fn relation(&self) -> Option<&dyn SimulationRelation> {
        self.anything.then_some(&Anything as &dyn SimulationRelation)
    }

    fn describe(&self, _id: NodeId, _node: &u8, _cause: Cause<Self>) -> String {
        "it is asked".into()
    }

    fn describe_node(&self, id: NodeId, node: &u8) -> Vec<Line> {
        vec![Line::new(self.name(id), format!("{node}"))]
    }
}

fn main() -> ExitCode {
    run(Catalog::of::<Network<Asker>>())
}
