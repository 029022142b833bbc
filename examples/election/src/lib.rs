//! The election of Raft: at most one leader in a term.
//!
//! D. Ongaro, J. Ousterhout: *In search of an understandable consensus algorithm*, USENIX ATC 2014,
//! section 5.2, without logs.
//!
//! A node whose timer fires begins a new term, votes for itself and asks all others for their votes. A
//! node votes once in a term. Whether the log of a candidate is good enough is not modelled: a node
//! that is free to vote chooses. Who has the votes of a majority is the leader of the term.
//!
//! With `--bug forgetful` a node that reboots does not know how it has voted. The guide,
//! `docs/guide/faults.md`, uses this model.

use everypath_model::net::{
    Action, Anatomy, Bug, Cause, Context, Envelope, EventKind, Kind, Line, NodeId, NodeRange,
    Options, Parameter, Pool, Property, Protocol, Rank, Renaming, Report, Scenario, Shape, Sources,
    Traffic, World, canonical, of_nodes_and_ghost, sources, switches,
};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

const FORGETFUL: &str = "forgetful";
const TERMS: Parameter =
    Parameter { name: "terms", about: "how many terms can begin", min: 1, max: 9, default: 2 };
const SPREAD: Parameter = Parameter {
    name: "spread",
    about: "by how much the terms of nodes can differ at the start",
    min: 0,
    max: 3,
    default: 0,
};

/// The protocol.
pub struct Election {
    nodes: usize,
    terms: u32,
    spread: u32,
    /// A node that reboots does not know how it has voted.
    forgetful: bool,
}

/// What a node is in its term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It waits for a leader.
    #[default]
    Follower,
    /// It has asked for votes.
    Candidate,
    /// It leads.
    Leader,
}
canonical!(
    enum Role {
        Follower,
        Candidate,
        Leader,
    }
);

/// The state of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its term.
    pub term: u32,
    /// What it is in that term.
    pub role: Role,
    /// For whom it has voted in that term.
    pub vote: Option<NodeId>,
    /// Of a candidate: who has voted for it.
    pub votes: BTreeSet<NodeId>,
}
canonical!(struct Node { term, role, vote, votes });

/// What nodes send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Vote for me in this term!
    Ask(u32),
    /// You have my vote in this term.
    Vote(u32),
}
canonical!(
    enum Packet {
        Ask(term),
        Vote(term),
    }
);

impl Default for Packet {
    fn default() -> Self {
        Packet::Ask(0)
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packet::Ask(term) => write!(f, "ask {term}"),
            Packet::Vote(term) => write!(f, "vote {term}"),
        }
    }
}

/// The only timer: no leader was heard of for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timeout;

/// The leaders so far: term and node. A leader that has crashed since was one all the same.
pub type Leaders = BTreeSet<(u32, NodeId)>;

const PATIENCE: Duration = Duration::from_secs(1);

impl Protocol for Election {
    type Node = Node;
    type Packet = Packet;
    type Timer = Timeout;
    type Command = ();
    type Ghost = Leaders;

    fn build(options: &Options) -> Self {
        Election {
            nodes: options.topology.nodes().into(),
            terms: options.get(&TERMS) as u32,
            spread: options.get(&SPREAD) as u32,
            forgetful: options.has(FORGETFUL),
        }
    }

    fn start(&self, context: &mut impl Context<Self>) -> Node {
        let term = context.choose(self.spread + 1);
        context.set(Timeout, PATIENCE);
        Node { term, ..Node::default() }
    }

    fn receive(
        &self,
        node: &mut Node,
        from: NodeId,
        packet: Packet,
        context: &mut impl Context<Self>,
    ) {
        let (Packet::Ask(term) | Packet::Vote(term)) = packet;
        if term > node.term {
            *node = Node { term, ..Node::default() };
            context.set(Timeout, PATIENCE);
        }
        match packet {
            _ if term < node.term => {}
            Packet::Ask(term) => {
                let free = node.role == Role::Follower && node.vote.is_none();
                if free && context.choose(2) == 1 {
                    node.vote = Some(from);
                }
                if node.vote == Some(from) {
                    context.send(from, Packet::Vote(term));
                }
            }
            Packet::Vote(_) if node.role == Role::Candidate => {
                node.votes.insert(from);
                if 2 * node.votes.len() > self.nodes {
                    self.lead(node, context);
                }
            }
            Packet::Vote(_) => {}
        }
    }

    fn fire(&self, node: &mut Node, _timer: Timeout, context: &mut impl Context<Self>) {
        let id = context.id();
        node.term += 1;
        node.role = Role::Candidate;
        node.vote = Some(id);
        node.votes = BTreeSet::from([id]);
        context.broadcast(Packet::Ask(node.term));
        context.report(Report::Searching(id));
        if self.waits(node) {
            context.set(Timeout, PATIENCE);
        }
    }

    fn command(&self, _node: &mut Node, (): (), _context: &mut impl Context<Self>) {}

    /// The term and the vote are on disk.
    fn reboot(&self, node: &mut Node, context: &mut impl Context<Self>) {
        let vote = if self.forgetful { None } else { node.vote };
        *node = Node { term: node.term, vote, ..Node::default() };
        if self.waits(node) {
            context.set(Timeout, PATIENCE);
        }
    }

    fn timers(&self, node: &Node) -> impl Iterator<Item = Timeout> {
        self.waits(node).then_some(Timeout).into_iter()
    }
}

impl Election {
    fn waits(&self, node: &Node) -> bool {
        node.role != Role::Leader && node.term < self.terms
    }

    fn lead(&self, node: &mut Node, context: &mut impl Context<Self>) {
        node.role = Role::Leader;
        let leader = (node.term, context.id());
        context.cancel(&Timeout);
        context.report(Report::Found(leader.1));
        context.ghost(|leaders| {
            leaders.insert(leader);
        });
    }
}

impl Scenario for Election {
    type Cloud = Pool<Packet>;

    const NAME: &'static str = "election";
    const ABOUT: &'static str = "the election of Raft: at most one leader in a term";
    const NODES: NodeRange = NodeRange { min: 2, max: 7, default: 3 };
    const SHAPE: Shape = Shape::Mesh;
    const BUGS: &'static [Bug] =
        &[Bug { name: FORGETFUL, about: "a node that reboots forgets its vote" }];
    const PARAMETERS: &'static [Parameter] = &[TERMS, SPREAD];
    const CHOOSES: bool = true;
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "timeout", about: "a node begins a term" },
        EventKind { name: "deliver", about: "a packet arrives" },
        EventKind { name: "lose", about: "a packet is lost" },
        EventKind { name: "duplicate", about: "a packet is in flight once more" },
        EventKind { name: "reboot", about: "a node reboots" },
        EventKind { name: "crash", about: "a node stops for good" },
        EventKind { name: "partition", about: "the network falls into two parts" },
        EventKind { name: "heal", about: "the partition ends" },
        EventKind { name: "start", about: "the nodes begin in other terms" },
    ];

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Fire(|_| true),
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            3 => Action::Duplicate,
            4 => Action::Reboot,
            5 => Action::Crash,
            6 => Action::Partition,
            7 => Action::Heal,
            _ => Action::Start,
        }
    }

    fn commands(&self, _id: NodeId, _node: &Node) -> impl Iterator<Item = ()> {
        std::iter::empty()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        let one = of_nodes_and_ghost("one-leader", |_: &[Node], leaders: &Leaders| {
            let pairs = leaders.iter().zip(leaders.iter().skip(1));
            match pairs.into_iter().find(|(one, other)| one.0 == other.0) {
                Some(((term, one), (_, other))) => {
                    Err(format!("nodes {one} and {other} have both been leaders of term {term}"))
                }
                None => Ok(()),
            }
        });
        vec![one]
    }

    fn ranks(&self) -> Vec<Rank<World<Self>>> {
        let votes = |world: &World<Self>| world.nodes.iter().map(|node| node.votes.len()).sum();
        let rank = Rank::new("votes", "most votes", move |world: &World<Self>, tuple| {
            let votes: usize = votes(world);
            tuple.push(votes as i64);
        });
        vec![rank.explained(move |world| format!("candidates have {} votes", votes(world)))]
    }

    fn symmetric(&self) -> Vec<NodeId> {
        (0..self.nodes as NodeId).collect()
    }

    fn rename_node(&self, node: &mut Node, names: &Renaming) {
        node.vote = node.vote.map(|vote| names.of(vote));
        names.set(&mut node.votes);
    }

    fn rename_ghost(&self, leaders: &mut Leaders, names: &Renaming) {
        *leaders = leaders.iter().map(|&(term, leader)| (term, names.of(leader))).collect();
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let switches = switches!(self, Election { nodes, terms, spread, forgetful });
        Some(Anatomy { sources: sources!["lib.rs"], switches })
    }

    fn describe(&self, _id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Packet(from, packet) => format!("{packet} from node {from}"),
            Cause::Timer(Timeout) => format!("term {} begins", node.term + 1),
            Cause::Command(()) => unreachable!("there are no commands"),
            Cause::Reboot => "it reboots".into(),
        }
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        let mut text = format!("{:?} of term {}", node.role, node.term).to_lowercase();
        if let Some(vote) = node.vote {
            text += &format!(", has voted for node {vote}");
        }
        vec![Line::new(self.name(id), text)]
    }

    fn describe_packet(&self, envelope: &Envelope<Packet>) -> String {
        format!("{} {}->{}", envelope.packet, envelope.from, envelope.to)
    }

    fn describe_ghost(&self, leaders: &Leaders) -> Option<String> {
        let leader = |(term, node): &(u32, NodeId)| format!("term {term}: node {node}");
        let leaders: Vec<String> = leaders.iter().map(leader).collect();
        (!leaders.is_empty()).then(|| format!("leaders so far: {}", leaders.join(", ")))
    }
}

/// For a simulation: what is measured is how long elections take, as the discovery of a leader.
impl Traffic for Election {
    const SIZES: NodeRange = NodeRange { min: 2, max: 100, default: 5 };

    fn sources(&self) -> Sources {
        Sources::Own
    }

    fn data(&self, _from: NodeId, _to: NodeId, _number: u32) -> Option<()> {
        None
    }
}
