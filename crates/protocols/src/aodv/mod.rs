//! Ad-hoc on-demand distance vector routing, after Sobeih (2008), chapter 4.
//!
//! A node that needs a route floods a request; the destination, or a node that knows a route
//! fresh enough, answers along the way the request came. Sequence numbers tell which of two routes
//! is fresher, and routing loops cannot arise as long as no node forgets what it knew. The
//! protocol is that of draft 11 in the reading of the paper's simulation model; times are those
//! of RFC 3561, section 10.
//!
//! - [`Node`], [`Route`]: the routing table, the broadcast-id cache, the two counters.
//! - [`Packet`], [`Timer`], [`Command`]: what passes between nodes, within one, and into one.
//! - [`Aodv`]: the handlers. [`Model`]: routes to the node with the highest number, explored.
//!
//! What the paper leaves open, and what we do:
//!
//! - A node that waits for an answer does not ask again: a second request changes nothing until
//!   the first is answered or the node reboots. Otherwise the paper's own counts cannot be met
//!   (they are ten times smaller than without).
//! - A reply is addressed to the next hop when it is sent. The paper seems to look the next hop up
//!   in the sender's table when it delivers, so that a reply to a distant node is stuck when its
//!   sender reboots.
//! - What a node must do after a reboot is in the draft, but was missing from the simulation model
//!   under study: see [`Feature`](everypath_net::Feature)s `wait`, `hello` and `rerr`, which the
//!   bug `reboot-forgets` switches off.

mod explored;
mod handlers;
mod node;
mod packet;
mod simulated;
mod words;

pub use node::{Node, Route};
pub use packet::{Command, Packet, Timer};

use everypath_net::{Context, Network, NodeId, Options, Protocol};

/// AODV as a model to explore.
pub type Model = Network<Aodv>;

const REBOOT_FORGETS: &str = "reboot-forgets";
const STALE_SEQNO: &str = "stale-seqno";
const DELETE_ROUTE: &str = "delete-route";
const RERR: &str = "rerr";
const HELLO: &str = "hello";
const WAIT: &str = "wait";

/// The protocol.
pub struct Aodv {
    /// The node to which routes are sought in exploration.
    destination: NodeId,
    /// An invalidated route keeps its sequence number.
    stale_seqno: bool,
    /// A route that times out is deleted.
    delete_route: bool,
    /// Routes that are lost are announced.
    rerr: bool,
    /// Nodes announce themselves, and notice when a neighbour falls silent.
    hello: bool,
    /// A node takes no part for a while after a reboot.
    wait: bool,
}

impl Protocol for Aodv {
    type Node = Node;
    type Packet = Packet;
    type Timer = Timer;
    type Command = Command;
    type Ghost = ();

    fn build(options: &Options) -> Self {
        let feature = |name| options.feature(name, !options.has(REBOOT_FORGETS));
        Aodv {
            destination: options.topology.nodes() - 1,
            stale_seqno: options.has(STALE_SEQNO),
            delete_route: options.has(DELETE_ROUTE),
            rerr: feature(RERR),
            hello: feature(HELLO),
            wait: feature(WAIT),
        }
    }

    fn start(&self, context: &mut impl Context<Self>) -> Node {
        self.greet_later(context);
        Node::default()
    }

    fn receive(
        &self,
        node: &mut Node,
        from: NodeId,
        packet: Packet,
        context: &mut impl Context<Self>,
    ) {
        if node.waiting {
            return self.receive_waiting(packet, context);
        }
        match packet {
            Packet::Request(request) => self.receive_request(node, from, request, context),
            Packet::Reply(reply) => self.receive_reply(node, from, reply, context),
            Packet::Error(lost) => self.receive_error(node, from, &lost, context),
            Packet::Hello => self.receive_hello(node, from, context),
            Packet::Data(data) => self.forward(node, data, context),
        }
    }

    fn fire(&self, node: &mut Node, timer: Timer, context: &mut impl Context<Self>) {
        match timer {
            Timer::BroadcastId { source, id } => node.forget_request(source, id),
            Timer::Route(destination) if self.delete_route => node.delete(destination),
            Timer::Route(destination) => self.expire(node, destination),
            Timer::Request(destination) => self.request_again(node, destination, context),
            Timer::Neighbour(neighbour) => self.lose_neighbour(node, neighbour, context),
            Timer::Hello => {
                context.broadcast(Packet::Hello);
                self.greet_later(context);
            }
            Timer::Wait => {
                node.waiting = false;
                self.greet_later(context);
            }
        }
    }

    fn command(&self, node: &mut Node, command: Command, context: &mut impl Context<Self>) {
        match command {
            Command::Discover(destination) => self.request(node, destination, context),
            Command::Send { to, number } => self.send(node, to, number, context),
        }
    }

    /// All state is lost. A node that does not wait is the fault that the paper found.
    fn reboot(&self, node: &mut Node, context: &mut impl Context<Self>) {
        *node = Node { waiting: self.wait, ..Node::default() };
        if self.wait {
            context.set(Timer::Wait, handlers::DELETE_PERIOD);
        } else {
            self.greet_later(context);
        }
    }

    fn timers(&self, node: &Node) -> impl Iterator<Item = Timer> {
        let seen = node.seen.iter().map(|&(source, id)| Timer::BroadcastId { source, id });
        let valid = node.routes.iter().filter(|route| route.is_valid());
        let routes = valid.map(|route| Timer::Route(route.destination));
        let open = node.routes.iter().filter(|route| route.tries > 0);
        let requests = open.map(|route| Timer::Request(route.destination));
        let heard = node.heard.iter().map(|&neighbour| Timer::Neighbour(neighbour));
        let hello = (self.hello && !node.waiting).then_some(Timer::Hello);
        let rest = node.waiting.then_some(Timer::Wait);
        seen.chain(routes).chain(requests).chain(heard).chain(hello).chain(rest)
    }

    fn is_data(packet: &Packet) -> bool {
        matches!(packet, Packet::Data(_))
    }
}
