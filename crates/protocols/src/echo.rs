//! The echo algorithm: a broadcast whose initiator learns that everybody has received it.
//!
//! Ernest Chang: Echo algorithms: depth parallel operations on general graphs, 1982; Adrian Segall:
//! Distributed network protocols, 1983 (propagation of information with feedback).
//!
//! Node 0 sends a token to all of its neighbours. A node that gets its first token has a parent, the
//! neighbour that it came from, and sends a token to all others; once it has a token from each
//! neighbour, it sends one to its parent, the echo. When node 0 has a token from each neighbour, it
//! decides: every node has received the broadcast. That holds on every connected network, in whatever
//! order tokens arrive, and if some are lost: then nobody decides.
//!
//! Broadcasts are numbered, so that one can follow the other. A node forgets a broadcast when it hears
//! of the next.

use everypath_net::{
    Action, Anatomy, Bug, Cause, Context, Envelope, EventKind, Kind, Line, Network, NodeId,
    NodeRange, Options, Pool, Property, Protocol, Report, Scenario, Sources, Traffic, World,
    canonical, of_nodes, sources, switches,
};

const INITIATOR: NodeId = 0;
const EARLY_ECHO: &str = "early-echo";
const COUNTED_TOKENS: &str = "counted-tokens";

/// The echo algorithm as a model to explore.
pub type Model = Network<Echo>;

/// The protocol.
pub struct Echo {
    /// The node whose deliveries a simulation measures.
    last: NodeId,
    /// A node sends its echo as soon as it has a parent.
    early_echo: bool,
    /// A node counts tokens instead of noting whom they came from.
    counted_tokens: bool,
}

/// The state of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The number of the broadcast that it takes part in; 0 is none.
    pub broadcast: u32,
    /// The neighbour that its first token came from; itself at the initiator.
    pub parent: NodeId,
    /// The neighbours that tokens came from, in ascending order.
    pub heard: Vec<NodeId>,
    /// Whether it has a token from each neighbour: it has sent its echo, or decided.
    pub done: bool,
}
canonical!(struct Node { broadcast, parent, heard, done });

/// A token: the number of its broadcast.
pub type Token = u32;

/// An application has something to broadcast, with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broadcast(pub u32);

/// What the nodes do.
impl Protocol for Echo {
    type Node = Node;
    type Packet = Token;
    type Timer = u8;
    type Command = Broadcast;
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Echo {
            last: options.topology.nodes() - 1,
            early_echo: options.has(EARLY_ECHO),
            counted_tokens: options.has(COUNTED_TOKENS),
        }
    }

    fn start(&self, _context: &mut impl Context<Self>) -> Node {
        Node::default()
    }

    fn receive(
        &self,
        node: &mut Node,
        from: NodeId,
        token: Token,
        context: &mut impl Context<Self>,
    ) {
        if token > node.broadcast {
            self.join(node, from, token, context);
        }
        if token == node.broadcast {
            self.hear(node, from, context);
        }
    }

    fn fire(&self, _node: &mut Node, _timer: u8, _context: &mut impl Context<Self>) {
        unreachable!("no timer is ever set")
    }

    fn command(&self, node: &mut Node, command: Broadcast, context: &mut impl Context<Self>) {
        let Broadcast(broadcast) = command;
        *node = Node { broadcast, parent: INITIATOR, ..Node::default() };
        context.broadcast(broadcast);
    }

    fn timers(&self, _node: &Node) -> impl Iterator<Item = u8> {
        std::iter::empty()
    }

    fn is_data(_token: &Token) -> bool {
        true
    }
}

impl Echo {
    /// The first token of a broadcast: passes it on.
    fn join(
        &self,
        node: &mut Node,
        parent: NodeId,
        broadcast: Token,
        context: &mut impl Context<Self>,
    ) {
        *node = Node { broadcast, parent, ..Node::default() };
        let me = context.id();
        if me == self.last {
            let number = broadcast - 1;
            context.report(Report::Delivered { source: INITIATOR, number, hops: None });
        }
        let others: Vec<NodeId> =
            context.neighbours().iter().copied().filter(|other| *other != parent).collect();
        others.into_iter().for_each(|other| context.send(other, broadcast));
        if self.early_echo && me != INITIATOR {
            context.send(parent, broadcast);
        }
    }

    /// A token from a neighbour. With the last one, the node sends its echo or decides.
    fn hear(&self, node: &mut Node, from: NodeId, context: &mut impl Context<Self>) {
        if node.done || node.heard.contains(&from) && !self.counted_tokens {
            return;
        }
        node.heard.push(from);
        node.heard.sort_unstable();
        node.done = node.heard.len() == context.neighbours().len();
        if node.done && context.id() != INITIATOR && !self.early_echo {
            context.send(node.parent, node.broadcast);
        }
    }
}

/// Node 0 has something to broadcast again and again; what is measured is how it reaches the last node.
impl Traffic for Echo {
    const SIZES: NodeRange = NodeRange { min: 2, max: 10_000, default: 25 };
    // What a node received before would count as delivered twice.
    const REBOOTS: bool = false;

    fn sources(&self) -> Sources {
        Sources::Fixed(vec![(INITIATOR, self.last)])
    }

    fn data(&self, _from: NodeId, _to: NodeId, number: u32) -> Option<Broadcast> {
        Some(Broadcast(number + 1))
    }
}

impl Scenario for Echo {
    type Cloud = Pool<Token>;

    const NAME: &'static str = "echo";
    const ABOUT: &'static str =
        "the echo algorithm: node 0 broadcasts and learns that all received it";
    const NODES: NodeRange = NodeRange { min: 2, max: 100, default: 4 };
    const BUGS: &'static [Bug] = &[
        Bug { name: EARLY_ECHO, about: "a node sends its echo before its subtree has sent theirs" },
        Bug {
            name: COUNTED_TOKENS,
            about: "a node counts tokens, so that a duplicate counts twice (needs --duplicate)",
        },
    ];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "broadcast", about: "node 0 sends its tokens" },
        EventKind { name: "deliver", about: "a token arrives" },
        EventKind { name: "lose", about: "a token is lost" },
        EventKind { name: "duplicate", about: "a token is duplicated, if the network may" },
    ];

    fn check(options: &Options) -> Result<(), String> {
        match options.topology.unreachable().first() {
            None => Ok(()),
            Some(node) => {
                Err(format!("no path leads to node {node}, so no broadcast can reach it"))
            }
        }
    }

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Command,
            1 => Action::Deliver(Kind::Any),
            2 => Action::Lose(Kind::Any),
            _ => Action::Duplicate,
        }
    }

    /// One broadcast shows everything: the next begins from nothing.
    fn commands(&self, id: NodeId, node: &Node) -> impl Iterator<Item = Broadcast> {
        (id == INITIATOR && node.broadcast == 0).then_some(Broadcast(1)).into_iter()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        vec![of_nodes("feedback", |nodes: &[Node]| {
            let initiator = &nodes[INITIATOR as usize];
            let missed = |node: &Node| node.broadcast < initiator.broadcast;
            match nodes.iter().position(missed).filter(|_| initiator.done) {
                None => Ok(()),
                Some(node) => Err(format!(
                    "node 0 decides that all have received its broadcast, but node {node} has not"
                )),
            }
        })]
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let switches = switches!(self, Echo { last, early_echo, counted_tokens });
        Some(Anatomy { sources: sources!["echo.rs"], switches })
    }

    fn name(&self, id: NodeId) -> String {
        if id == INITIATOR { "node 0 (initiator)".into() } else { format!("node {id}") }
    }

    fn describe(&self, id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Command(_) => "tokens are sent to all neighbours".into(),
            Cause::Packet(from, token) if token > node.broadcast => {
                format!("the first token comes from {from}, the parent; it is passed on")
            }
            Cause::Packet(from, token) if token < node.broadcast || node.done => {
                format!("a token from {from} is ignored")
            }
            Cause::Packet(from, _) if node.heard.contains(&from) && !self.counted_tokens => {
                format!("a token comes from {from} once more, and is ignored")
            }
            Cause::Packet(from, _) if id == INITIATOR => format!("a token comes back from {from}"),
            Cause::Packet(from, _) => format!("a token comes from {from}"),
            Cause::Timer(_) | Cause::Reboot => unreachable!("this cannot happen to {node:?}"),
        }
    }

    fn describe_packet(&self, envelope: &Envelope<Token>) -> String {
        format!("token {}->{}", envelope.from, envelope.to)
    }

    fn describe_node(&self, id: NodeId, node: &Node) -> Vec<Line> {
        let heard = node.heard.iter().map(NodeId::to_string).collect::<Vec<_>>().join(", ");
        let tokens =
            if heard.is_empty() { "no tokens".into() } else { format!("tokens from {heard}") };
        let text = match (node.broadcast, id) {
            (0, _) => "has received nothing".into(),
            (_, INITIATOR) if node.done => format!("has decided; {tokens}"),
            (_, INITIATOR) => format!("has broadcast; {tokens}"),
            _ if node.done => format!("parent {}; {tokens}; has sent its echo", node.parent),
            _ => format!("parent {}; {tokens}", node.parent),
        };
        vec![Line::new(self.name(id), text)]
    }
}
