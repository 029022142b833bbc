//! Two-phase commit: a coordinator and participants that all commit, or all abort.
//!
//! J. Gray: *Notes on data base operating systems*, 1978, section 5.8.3.3.
//!
//! Node 0 is the coordinator; the others have a link to it. It asks all participants whether they can
//! commit. Each votes: one that votes *yes* is prepared, and must wait for the decision; one that votes
//! *no* aborts. If all have voted *yes*, the coordinator commits and says so; if one has voted *no*, or
//! if votes are missing when its timer fires, it aborts and says so. A participant that waits asks
//! again.
//!
//! With `--bug impatient` a prepared participant commits when its timer fires: it has voted *yes*, so
//! what else could the decision be? The guide, `docs/guide/protocol.md`, walks through this file.

use everypath_model::net::{
    Action, Anatomy, Bug, Cause, Context, EventKind, Fairness, Kind, Line, NodeId, NodeRange,
    Options, Pool, Property, Protocol, Rank, Report, Scenario, Shape, Sources, Traffic, World,
    canonical, of_nodes, sources, switches,
};
use std::fmt;
use std::time::Duration;

const COORDINATOR: NodeId = 0;
const IMPATIENT: &str = "impatient";

/// The protocol.
pub struct TwoPhaseCommit {
    nodes: NodeId,
    /// A prepared participant commits when its timer fires.
    impatient: bool,
}

/// Where a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked yet.
    #[default]
    Working,
    /// The coordinator has asked; a participant has voted yes.
    Waiting,
    /// It has committed.
    Committed,
    /// It has aborted.
    Aborted,
}
canonical!(
    enum Phase {
        Working,
        Waiting,
        Committed,
        Aborted,
    }
);

/// The state of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Where it is.
    pub phase: Phase,
    /// At the coordinator: who has voted yes, in ascending order.
    pub votes: Vec<NodeId>,
}
canonical!(struct Node { phase, votes });

/// What nodes send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// Can you commit?
    #[default]
    Prepare,
    /// Yes, and I wait for your decision.
    Yes,
    /// No.
    No,
    /// All commit.
    Commit,
    /// All abort.
    Abort,
}
canonical!(
    enum Packet {
        Prepare,
        Yes,
        No,
        Commit,
        Abort,
    }
);

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// The only timer of a node: it has waited long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timeout;

/// What an application can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The coordinator begins.
    Begin,
    /// A participant that has not voted aborts.
    GiveUp,
}

const PATIENCE: Duration = Duration::from_secs(1);

impl Protocol for TwoPhaseCommit {
    type Node = Node;
    type Packet = Packet;
    type Timer = Timeout;
    type Command = Command;
    type Ghost = ();

    fn build(options: &Options) -> Self {
        TwoPhaseCommit { nodes: options.topology.nodes(), impatient: options.has(IMPATIENT) }
    }

    fn start(&self, _context: &mut impl Context<Self>) -> Node {
        Node::default()
    }

    fn receive(
        &self,
        node: &mut Node,
        from: NodeId,
        packet: Packet,
        context: &mut impl Context<Self>,
    ) {
        match packet {
            Packet::Prepare => match node.phase {
                Phase::Working | Phase::Waiting => {
                    node.phase = Phase::Waiting;
                    context.send(from, Packet::Yes);
                    context.set(Timeout, PATIENCE);
                }
                Phase::Aborted => context.send(from, Packet::No),
                Phase::Committed => {}
            },
            Packet::Yes => self.count(node, from, context),
            Packet::No if node.phase == Phase::Waiting => {
                self.decide(node, Phase::Aborted, context);
            }
            Packet::Commit => self.learn(node, Phase::Committed, context),
            Packet::Abort => self.learn(node, Phase::Aborted, context),
            Packet::No => {}
        }
    }

    fn fire(&self, node: &mut Node, _timer: Timeout, context: &mut impl Context<Self>) {
        match context.id() {
            COORDINATOR => self.decide(node, Phase::Aborted, context),
            _ if self.impatient => self.learn(node, Phase::Committed, context),
            _ => {
                context.send(COORDINATOR, Packet::Yes);
                context.set(Timeout, PATIENCE);
            }
        }
    }

    fn command(&self, node: &mut Node, command: Command, context: &mut impl Context<Self>) {
        match command {
            Command::Begin => {
                *node = Node { phase: Phase::Waiting, votes: Vec::new() };
                context.broadcast(Packet::Prepare);
                context.set(Timeout, PATIENCE);
            }
            Command::GiveUp => node.phase = Phase::Aborted,
        }
    }

    /// A node that waits has set its timer.
    fn timers(&self, node: &Node) -> impl Iterator<Item = Timeout> {
        (node.phase == Phase::Waiting).then_some(Timeout).into_iter()
    }
}

impl TwoPhaseCommit {
    /// A participant has voted yes. One that asks after the decision is told.
    fn count(&self, node: &mut Node, from: NodeId, context: &mut impl Context<Self>) {
        match node.phase {
            Phase::Waiting => {
                if !node.votes.contains(&from) {
                    node.votes.push(from);
                    node.votes.sort_unstable();
                }
                if node.votes.len() + 1 == usize::from(self.nodes) {
                    self.decide(node, Phase::Committed, context);
                }
            }
            Phase::Committed => context.send(from, Packet::Commit),
            Phase::Aborted => context.send(from, Packet::Abort),
            Phase::Working => {}
        }
    }

    /// The coordinator decides and tells all participants.
    fn decide(&self, node: &mut Node, decision: Phase, context: &mut impl Context<Self>) {
        *node = Node { phase: decision, votes: Vec::new() };
        context.cancel(&Timeout);
        let commits = decision == Phase::Committed;
        context.broadcast(if commits { Packet::Commit } else { Packet::Abort });
    }

    /// A participant learns the decision.
    fn learn(&self, node: &mut Node, decision: Phase, context: &mut impl Context<Self>) {
        if node.phase == Phase::Waiting {
            node.phase = decision;
            context.cancel(&Timeout);
            if decision == Phase::Committed {
                context.report(Report::Delivered { source: COORDINATOR, number: 0, hops: None });
            }
        }
    }
}

impl Scenario for TwoPhaseCommit {
    type Cloud = Pool<Packet>;

    const NAME: &'static str = "commit";
    const ABOUT: &'static str = "two-phase commit: all participants commit, or all abort";
    const NODES: NodeRange = NodeRange { min: 2, max: 6, default: 3 };
    const SHAPE: Shape = Shape::Star;
    const DEFAULT_DEPTH: Option<u32> = Some(12);
    const BUGS: &'static [Bug] =
        &[Bug { name: IMPATIENT, about: "a prepared participant commits when its timer fires" }];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "command", about: "the coordinator begins, or a participant gives up" },
        EventKind { name: "deliver", about: "a packet arrives" },
        EventKind { name: "lose", about: "a packet is lost" },
        EventKind { name: "timeout", about: "a node has waited long enough" },
    ];

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            _ => Action::Fire(|_| true),
        }
    }

    fn commands(&self, id: NodeId, node: &Node) -> impl Iterator<Item = Command> {
        let command = if id == COORDINATOR { Command::Begin } else { Command::GiveUp };
        (node.phase == Phase::Working).then_some(command).into_iter()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        let any = |phase: Phase| move |node: &Node| node.phase == phase;
        vec![of_nodes("agreement", move |nodes: &[Node]| {
            match (
                nodes.iter().position(any(Phase::Committed)),
                nodes.iter().position(any(Phase::Aborted)),
            ) {
                (Some(one), Some(other)) => {
                    Err(format!("node {one} has committed, and node {other} has aborted"))
                }
                _ => Ok(()),
            }
        })]
    }

    fn fairness(&self) -> Fairness {
        Fairness { weak: vec![0, 3], strong: vec![1] }
    }

    fn ranks(&self) -> Vec<Rank<World<Self>>> {
        let decided = |world: &World<Self>| {
            let decided = |node: &&Node| matches!(node.phase, Phase::Committed | Phase::Aborted);
            world.nodes.iter().filter(decided).count()
        };
        let rank = Rank::new("decided", "most nodes that have decided", move |world, tuple| {
            tuple.push(decided(world) as i64);
        });
        vec![rank.explained(move |world| format!("{} nodes have decided", decided(world)))]
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let switches = switches!(self, TwoPhaseCommit { nodes, impatient });
        Some(Anatomy { sources: sources!["lib.rs"], switches })
    }

    fn name(&self, id: NodeId) -> String {
        if id == COORDINATOR { "coordinator".into() } else { format!("participant {id}") }
    }

    fn describe(&self, id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Packet(from, packet) => format!("{packet} from {}", self.name(from)),
            Cause::Timer(Timeout) if id == COORDINATOR => "votes are missing; it aborts".into(),
            Cause::Timer(Timeout) if self.impatient => {
                "it has waited long enough; it commits".into()
            }
            Cause::Timer(Timeout) => "it has waited long enough; it votes again".into(),
            Cause::Command(Command::Begin) => "all participants are asked".into(),
            Cause::Command(Command::GiveUp) => "it gives up before it is asked".into(),
            Cause::Reboot => unreachable!("no event reboots {node:?}"),
        }
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        let phase = format!("{:?}", node.phase).to_lowercase();
        let text = match node.votes[..] {
            [] => phase,
            _ => format!("{phase}, votes from {:?}", node.votes),
        };
        vec![Line::new(self.name(id), text)]
    }
}

/// For a simulation: the coordinator begins once, and what is measured is the first commit.
impl Traffic for TwoPhaseCommit {
    const SIZES: NodeRange = NodeRange { min: 2, max: 1000, default: 10 };
    const REBOOTS: bool = false;

    fn sources(&self) -> Sources {
        Sources::Fixed(vec![(COORDINATOR, 1)])
    }

    fn data(&self, _from: NodeId, _to: NodeId, number: u32) -> Option<Command> {
        (number == 0).then_some(Command::Begin)
    }
}
