//! Stop-and-wait automatic repeat request, after Sobeih (2008), chapter 6.
//!
//! The sender sends a data packet with a one-bit sequence number and waits for an acknowledgement
//! that announces the number the receiver expects next; when its timer fires, it sends the packet
//! again. The network is one list in the order of sending, and the events act on the oldest
//! packet of their kind. Nothing bounds the two counters of distinct packets, so the state space
//! is infinite and every exploration needs a depth bound.

use everypath_net::{
    Action, Anatomy, Bug, Canonical, Cause, Context, EventKind, Kind, Line, List, Network, NodeId,
    NodeRange, Options, Property, Protocol, Rank, Report, Scenario, Sources, Traffic, World,
    canonical, of_nodes, sources, switches,
};
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

const SENDER: NodeId = 0;
const RECEIVER: NodeId = 1;
const UNCHECKED_ACK: &str = "unchecked-ack";
/// With a one-bit sequence number the sender may be at most this many packets ahead.
const MAX_AHEAD: i64 = 2;
/// How long the sender waits for an acknowledgement.
const RETRANSMIT_AFTER: Duration = Duration::from_secs(1);

/// ARQ as a model to explore.
pub type Model = Network<Arq>;

/// The protocol.
pub struct Arq {
    /// The sender takes every acknowledgement for one of the packet it sent last.
    unchecked_ack: bool,
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The node that sends data.
    Sender {
        /// The sequence number of the packet whose acknowledgement is awaited.
        sequence: u8,
        /// How many distinct packets were sent.
        distinct: u32,
    },
    /// The node that receives it.
    Receiver {
        /// The sequence number of the packet that is expected.
        sequence: u8,
        /// How many distinct packets were received.
        distinct: u32,
    },
}
canonical!(enum Node { Sender { sequence, distinct }, Receiver { sequence, distinct } });

/// The timer that makes the sender send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Retransmit;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Data with its sequence number.
    Data(u8),
    /// An acknowledgement that announces the number expected next.
    Ack(u8),
}

impl Packet {
    fn is_data(&self) -> bool {
        matches!(self, Packet::Data(_))
    }

    fn is_ack(&self) -> bool {
        matches!(self, Packet::Ack(_))
    }
}

impl Default for Packet {
    fn default() -> Self {
        Packet::Data(0)
    }
}

impl Canonical for Packet {
    // Kind and one-bit number fit into one byte.
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(match self {
            Packet::Data(sequence) => *sequence,
            Packet::Ack(sequence) => 2 | sequence,
        });
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let mut byte = 0u8;
        byte.read(bytes);
        *self = if byte < 2 { Packet::Data(byte) } else { Packet::Ack(byte & 1) };
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packet::Data(sequence) => write!(f, "D{sequence}"),
            Packet::Ack(sequence) => write!(f, "ACK{sequence}"),
        }
    }
}

/// What the sender and the receiver do.
impl Protocol for Arq {
    type Node = Node;
    type Packet = Packet;
    type Timer = Retransmit;
    type Command = Infallible;
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Arq { unchecked_ack: options.has(UNCHECKED_ACK) }
    }

    /// The sender has just sent the first packet.
    fn start(&self, context: &mut impl Context<Self>) -> Node {
        if context.id() == SENDER {
            context.report(Report::Offered);
            send_data(0, context);
            Node::Sender { sequence: 0, distinct: 1 }
        } else {
            Node::Receiver { sequence: 0, distinct: 0 }
        }
    }

    fn receive(
        &self,
        node: &mut Node,
        _from: NodeId,
        packet: Packet,
        context: &mut impl Context<Self>,
    ) {
        match packet {
            Packet::Data(received) => receive_data(node, received, context),
            Packet::Ack(wanted) => self.receive_ack(node, wanted, context),
        }
    }

    fn fire(&self, node: &mut Node, _timer: Retransmit, context: &mut impl Context<Self>) {
        if let Node::Sender { sequence, .. } = node {
            send_data(*sequence, context);
        }
    }

    fn command(&self, _node: &mut Node, command: Infallible, _context: &mut impl Context<Self>) {
        match command {}
    }

    fn timers(&self, node: &Node) -> impl Iterator<Item = Retransmit> {
        matches!(node, Node::Sender { .. }).then_some(Retransmit).into_iter()
    }

    fn is_data(packet: &Packet) -> bool {
        packet.is_data()
    }
}

/// At the receiver: counts data that is new, and says what is expected next.
fn receive_data(node: &mut Node, received: u8, context: &mut impl Context<Arq>) {
    let Node::Receiver { sequence, distinct } = node else {
        unreachable!("data was sent to {node:?}")
    };
    if received == *sequence {
        context.report(Report::Delivered { source: SENDER, number: *distinct, hops: Some(1) });
        *sequence ^= 1;
        *distinct += 1;
    }
    context.send(SENDER, Packet::Ack(*sequence));
}

impl Arq {
    /// At the sender: goes on to the next data, or sends the last once more.
    fn receive_ack(&self, node: &mut Node, wanted: u8, context: &mut impl Context<Self>) {
        let Node::Sender { sequence, distinct } = node else {
            unreachable!("an acknowledgement was sent to {node:?}")
        };
        if wanted != *sequence || self.unchecked_ack {
            context.report(Report::Offered);
            *sequence ^= 1;
            *distinct += 1;
        }
        send_data(*sequence, context);
    }
}

/// Sends data and waits for its acknowledgement.
fn send_data(sequence: u8, context: &mut impl Context<Arq>) {
    context.send(RECEIVER, Packet::Data(sequence));
    context.set(Retransmit, RETRANSMIT_AFTER);
}

/// The sender always has data to send, so what is measured is how fast it gets through.
///
/// Packets carry one bit of their number and the receiver counts them. With the bug it misses
/// some, and a delay is then that of an earlier packet: too long, never too short.
impl Traffic for Arq {
    const SIZES: NodeRange = NodeRange::exactly(2);
    // Numbers would start again and be taken for duplicates.
    const REBOOTS: bool = false;

    fn sources(&self) -> Sources {
        Sources::Own
    }

    fn data(&self, _from: NodeId, _to: NodeId, _number: u32) -> Option<Infallible> {
        None
    }
}

impl Scenario for Arq {
    type Cloud = List<Packet>;

    const NAME: &'static str = "arq";
    const ABOUT: &'static str = "stop-and-wait automatic repeat request, a sender and a receiver";
    const NODES: NodeRange = NodeRange::exactly(2);
    const BUGS: &'static [Bug] = &[Bug {
        name: UNCHECKED_ACK,
        about: "the sender does not check the sequence number of an acknowledgement",
    }];
    const EVENTS: &'static [EventKind] = &[
        EventKind { name: "deliver-data", about: "the oldest data packet reaches the receiver" },
        EventKind { name: "deliver-ack", about: "the oldest acknowledgement reaches the sender" },
        EventKind { name: "timeout", about: "no data is in flight and the sender sends again" },
        EventKind { name: "lose-data", about: "the oldest data packet is lost" },
        EventKind { name: "lose-ack", about: "the oldest acknowledgement is lost" },
        EventKind { name: "duplicate", about: "the oldest packet to a node arrives once more" },
    ];
    const DEFAULT_DEPTH: Option<u32> = Some(30);

    fn check(options: &Options) -> Result<(), String> {
        match options.topology.neighbours(SENDER) {
            [RECEIVER] => Ok(()),
            _ => Err("the sender and the receiver must be linked, 0 with 1".into()),
        }
    }

    fn action(event: u16) -> Action<Self> {
        match event {
            0 => Action::Deliver(Kind::Where(|packet| matches!(packet, Packet::Data(_)))),
            1 => Action::Deliver(Kind::Where(|packet| matches!(packet, Packet::Ack(_)))),
            2 => Action::Fire(|_| true),
            3 => Action::Lose(Kind::Where(Packet::is_data)),
            4 => Action::Lose(Kind::Where(Packet::is_ack)),
            _ => Action::Duplicate,
        }
    }

    fn commands(&self, _id: NodeId, _node: &Node) -> impl Iterator<Item = Infallible> {
        std::iter::empty()
    }

    /// The timer fires when the data was lost, or when its acknowledgement is in flight.
    fn may_fire(&self, world: &World<Self>, _id: NodeId, _timer: &Retransmit) -> bool {
        world.cloud.first(RECEIVER, Packet::is_data).is_none()
    }

    fn properties(&self) -> Vec<Property<World<Self>>> {
        vec![of_nodes("delivery", |nodes: &[Node]| {
            let (sent, received) = distinct(nodes);
            if sent - received <= MAX_AHEAD {
                return Ok(());
            }
            Err(format!(
                "the receiver misses data that the sender believes delivered: {sent} distinct \
                 data packets were sent, {received} received; the difference may be at most \
                 {MAX_AHEAD}"
            ))
        })]
    }

    fn ranks(&self) -> Vec<Rank<World<Self>>> {
        let ahead = |world: &World<Self>| {
            let (sent, received) = distinct(&world.nodes);
            sent - received
        };
        vec![
            Rank::new("1", "most distinct data packets sent but not received", move |world, b| {
                b.push(ahead(world));
            }),
            Rank::new("2", "fewest of them, the wrong way round on purpose", move |world, b| {
                b.push(-ahead(world));
            }),
        ]
    }

    fn anatomy(&self) -> Option<Anatomy> {
        let switches = switches!(self, Arq { unchecked_ack });
        Some(Anatomy { sources: sources!["arq.rs"], switches })
    }

    fn name(&self, node: NodeId) -> String {
        if node == SENDER { "sender".into() } else { "receiver".into() }
    }

    fn describe(&self, _id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match (node, cause) {
            (Node::Receiver { sequence, .. }, Cause::Packet(_, Packet::Data(received))) => {
                if received == *sequence {
                    let expected = received ^ 1;
                    format!("D{received} arrives as expected; ACK{expected} is sent")
                } else {
                    format!("D{received} arrives, a duplicate; ACK{sequence} is sent again")
                }
            }
            (Node::Sender { sequence, .. }, Cause::Packet(_, Packet::Ack(wanted))) => {
                if wanted != *sequence {
                    format!("ACK{wanted} arrives; D{wanted} is sent")
                } else if self.unchecked_ack {
                    let next = sequence ^ 1;
                    format!("ACK{wanted} arrives and its number is not checked; D{next} is sent")
                } else {
                    format!("ACK{wanted} arrives, so D{wanted} was not received; it is sent again")
                }
            }
            (Node::Sender { sequence, .. }, Cause::Timer(Retransmit)) => {
                format!("the timer fires; D{sequence} is sent again")
            }
            (node, _) => unreachable!("this cannot happen to {node:?}"),
        }
    }

    fn describe_node(&self, _id: NodeId, node: &Node) -> Vec<Line> {
        vec![match node {
            Node::Sender { sequence, distinct } => Line::new(
                "sender",
                format!(
                    "awaits the acknowledgement of D{sequence}; distinct packets sent: {distinct}"
                ),
            ),
            Node::Receiver { sequence, distinct } => Line::new(
                "receiver",
                format!("expects D{sequence}; distinct packets received: {distinct}"),
            ),
        }]
    }
}

/// How many distinct data packets were sent, and how many received.
fn distinct(nodes: &[Node]) -> (i64, i64) {
    let count = |node: NodeId| match nodes[node as usize] {
        Node::Sender { distinct, .. } | Node::Receiver { distinct, .. } => i64::from(distinct),
    };
    (count(SENDER), count(RECEIVER))
}
