//! Directed diffusion in sensor networks, after Sobeih (2008), chapter 5.
//!
//! A sink floods its interest; every node remembers from which neighbours it came, as gradients.
//! The source sends data down the gradients, and nodes that see it for the first time pass it on.
//! The sink then reinforces the neighbour that was first to bring something new, which reinforces
//! the one that was first at its own place, and so on to the source: a path of reinforced
//! gradients, along which data flows at a higher rate.
//!
//! - [`Node`], [`Gradient`], [`Sample`]: the interest cache and the data cache.
//! - [`Packet`], [`Timer`], [`Command`]: what passes between nodes, within one, and into one.
//! - [`Diffusion`]: the handlers. [`Model`]: node 0 asks, the last node senses, explored.
//!
//! There is one interest, as in the paper's experiments. What the paper leaves open, and what we
//! do (it gives the paper's own counts, to the state and the event):
//!
//! - The sink knows its task by configuration, so a reboot does not make it forget the task.
//! - The source senses something when an interest is new to it, and only then. What it sensed
//!   itself does not leave its data cache by a timeout.
//! - A node that has passed on an interest does not do so again as long as it has a gradient.
//! - Data sent along a reinforced gradient is another sample to the data caches than the same data
//!   at the low rate.
//!
//! Both faults that the paper found are forgetting: data that comes round again is taken for new,
//! from the neighbour that it was once sent to. Without the bug `cache-timeout` a sample stays in
//! the cache for longer than copies of it are in flight; without the bug `reboot` a node takes no
//! part for that long after a reboot.

mod explored;
mod handlers;
mod node;
mod packet;
mod simulated;
mod words;

pub use node::{Gradient, Node, Sample};
pub use packet::{Command, Packet, Timer};

use everypath_net::{Context, Network, NodeId, Options, Protocol};

/// Directed diffusion as a model to explore.
pub type Model = Network<Diffusion>;

const CACHE_TIMEOUT: &str = "cache-timeout";
const REBOOT: &str = "reboot";
const NEGATIVE: &str = "negative-reinforcement";

/// The protocol.
pub struct Diffusion {
    /// The node that is interested.
    sink: NodeId,
    /// The node that senses.
    source: NodeId,
    /// Samples leave the data cache while copies of them are in flight.
    early_timeout: bool,
    /// A node takes no part for a while after a reboot.
    wait: bool,
    /// Neighbours without new samples get a negative reinforcement.
    negative: bool,
}

impl Protocol for Diffusion {
    type Node = Node;
    type Packet = Packet;
    type Timer = Timer;
    type Command = Command;
    type Ghost = ();

    fn build(options: &Options) -> Self {
        Diffusion {
            sink: 0,
            source: options.topology.nodes() - 1,
            early_timeout: options.has(CACHE_TIMEOUT),
            wait: !options.has(REBOOT),
            negative: options.feature(NEGATIVE, false),
        }
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
        if node.waiting {
            return;
        }
        match packet {
            Packet::Interest => self.receive_interest(node, from, context),
            Packet::Data(data) => self.receive_data(node, from, data, context),
            Packet::Positive => self.receive_positive(node, from, context),
            Packet::Negative => self.receive_negative(node, from, context),
        }
    }

    fn fire(&self, node: &mut Node, timer: Timer, context: &mut impl Context<Self>) {
        match timer {
            Timer::Gradient(to) => self.lose_gradient(node, to, context),
            Timer::Data(data) => node.samples.retain(|sample| sample.data != data),
            Timer::Quiet => node.quiet = false,
            Timer::Wait => node.waiting = false,
        }
    }

    fn command(&self, node: &mut Node, command: Command, context: &mut impl Context<Self>) {
        match command {
            Command::Subscribe if !node.waiting => context.broadcast(Packet::Interest),
            Command::Sense(number) if !node.waiting => self.sense(node, number, context),
            Command::Subscribe | Command::Sense(_) => {}
        }
    }

    /// All state is lost. A node that does not wait is one of the faults that the paper found.
    fn reboot(&self, node: &mut Node, context: &mut impl Context<Self>) {
        *node = Node { waiting: self.wait, ..Node::default() };
        if self.wait {
            context.set(Timer::Wait, handlers::WAIT);
        }
    }

    fn timers(&self, node: &Node) -> impl Iterator<Item = Timer> {
        let gradients = node.gradients.iter().map(|gradient| Timer::Gradient(gradient.to));
        let samples = node.samples.iter().map(|sample| Timer::Data(sample.data));
        let quiet = node.quiet.then_some(Timer::Quiet);
        let rest = node.waiting.then_some(Timer::Wait);
        gradients.chain(samples).chain(quiet).chain(rest)
    }

    fn is_data(packet: &Packet) -> bool {
        matches!(packet, Packet::Data(_))
    }
}
