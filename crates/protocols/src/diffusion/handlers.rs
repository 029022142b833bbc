//! The handlers of a node of directed diffusion.

use super::packet::Data;
use super::{Diffusion, Node, Packet, Timer};
use everypath_net::{Context, NodeId, Report};
use std::time::Duration;

/// How long a gradient lives without being renewed.
pub(super) const GRADIENT: Duration = Duration::from_secs(120);
/// How long a sample stays in the data cache.
const SAMPLE: Duration = Duration::from_secs(90);
/// For how long an interest is not passed on again.
const QUIET: Duration = Duration::from_secs(2);
/// How long a node waits after a reboot: longer than data travels.
pub(super) const WAIT: Duration = Duration::from_secs(10);
/// One sample in this many is sent along all gradients, to find out about better paths.
const EXPLORATORY: u32 = 12;
/// A neighbour that was not first with one of this many samples gets a negative reinforcement.
const WINDOW: usize = 5;

impl Diffusion {
    /// Sets up a gradient, and passes the interest on if it is new.
    pub(super) fn receive_interest(
        &self,
        node: &mut Node,
        from: NodeId,
        context: &mut impl Context<Self>,
    ) {
        if context.id() == self.sink {
            return;
        }
        let new = node.gradients.is_empty();
        node.add_gradient(from);
        context.set(Timer::Gradient(from), GRADIENT);
        if !node.quiet {
            node.quiet = true;
            context.set(Timer::Quiet, QUIET);
            context.broadcast(Packet::Interest);
        }
        if new && context.id() == self.source {
            self.sense(node, 0, context);
        }
    }

    /// Sends what was sensed.
    pub(super) fn sense(&self, node: &mut Node, number: u32, context: &mut impl Context<Self>) {
        if node.gradients.is_empty() {
            return context.report(Report::Dropped { source: context.id(), number });
        }
        let data = Data { number, reinforced: false };
        node.remember(data, context.id());
        context.set(Timer::Data(data), SAMPLE);
        self.send_on(node, number, context);
    }

    /// Sends data down the gradients, at the rate of each.
    fn send_on(&self, node: &Node, number: u32, context: &mut impl Context<Self>) {
        for gradient in &node.gradients {
            if gradient.reinforced || number.is_multiple_of(EXPLORATORY) {
                let data = Data { number, reinforced: gradient.reinforced };
                context.send(gradient.to, Packet::Data(data));
            }
        }
    }

    /// Passes data on if it is new.
    pub(super) fn receive_data(
        &self,
        node: &mut Node,
        from: NodeId,
        data: Data,
        context: &mut impl Context<Self>,
    ) {
        if context.id() == self.sink {
            return self.consume(node, from, data, context);
        }
        if !node.gradients.is_empty() && node.remember(data, from) {
            context.set(Timer::Data(data), SAMPLE);
            self.send_on(node, data.number, context);
        }
    }

    /// At the sink: who brings something new is to send more of it.
    fn consume(&self, node: &mut Node, from: NodeId, data: Data, context: &mut impl Context<Self>) {
        if node.samples.iter().any(|sample| sample.data.number == data.number) {
            return;
        }
        node.remember(data, from);
        context.set(Timer::Data(data), SAMPLE);
        let (source, number) = (self.source, data.number);
        context.report(Report::Delivered { source, number, hops: None });
        if !data.reinforced {
            context.send(from, Packet::Positive);
        }
        if self.negative {
            self.judge(node, from, context);
        }
    }

    /// At the sink: neighbours without a new sample for a while get a negative reinforcement.
    fn judge(&self, node: &mut Node, from: NodeId, context: &mut impl Context<Self>) {
        node.firsts.push(from);
        if node.firsts.len() > WINDOW {
            node.firsts.remove(0);
        }
        if !node.reinforced.contains(&from) {
            node.reinforced.push(from);
        }
        if node.firsts.len() == WINDOW {
            let firsts = &node.firsts;
            node.reinforced.retain(|neighbour| {
                let keep = firsts.contains(neighbour);
                if !keep {
                    context.send(*neighbour, Packet::Negative);
                }
                keep
            });
        }
    }

    /// Reinforcement: this node reinforces the neighbour that was first with the latest sample.
    pub(super) fn receive_positive(
        &self,
        node: &mut Node,
        from: NodeId,
        context: &mut impl Context<Self>,
    ) {
        if node.gradient(from).is_none() {
            return;
        }
        let news = node.gradients.iter().any(|gradient| !gradient.reinforced);
        if let Some(sample) = node.preferred().filter(|sample| news && sample.from != context.id())
        {
            let data = Data { reinforced: true, ..sample.data };
            let sends_more = node.samples.iter().any(|s| s.data == data && s.from == sample.from);
            if !sends_more {
                context.send(sample.from, Packet::Positive);
            }
        }
        if let Some(gradient) = node.gradient(from) {
            gradient.reinforced = true;
        }
    }

    /// Negative reinforcement: without a reinforced neighbour left, this node passes it on.
    pub(super) fn receive_negative(
        &self,
        node: &mut Node,
        from: NodeId,
        context: &mut impl Context<Self>,
    ) {
        let Some(gradient) = node.gradient(from) else { return };
        gradient.reinforced = false;
        if node.gradients.iter().any(|gradient| gradient.reinforced) {
            return;
        }
        let mut told = Vec::new();
        for sample in node.samples.iter().filter(|sample| sample.data.reinforced) {
            if sample.from != context.id() && !told.contains(&sample.from) {
                told.push(sample.from);
                context.send(sample.from, Packet::Negative);
            }
        }
    }

    /// A neighbour wants nothing any more. Without gradients the interest itself is forgotten.
    pub(super) fn lose_gradient(
        &self,
        node: &mut Node,
        to: NodeId,
        context: &mut impl Context<Self>,
    ) {
        node.gradients.retain(|gradient| gradient.to != to);
        if node.gradients.is_empty() && node.quiet {
            node.quiet = false;
            context.cancel(&Timer::Quiet);
        }
    }
}
