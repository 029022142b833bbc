//! The handlers of an AODV node.

use super::packet::{Data, Reply, Request};
use super::{Aodv, Node, Packet, Timer};
use everypath_net::{Context, NodeId, Report};
use std::time::Duration;

/// How long a route stays valid without being used.
const ACTIVE_ROUTE: Duration = Duration::from_secs(3);
/// How long a request is remembered, and how long its first try waits for an answer.
const TRAVERSAL: Duration = Duration::from_millis(2800);
/// How often a node announces itself.
const HELLO_INTERVAL: Duration = Duration::from_secs(1);
/// How long a neighbour may be silent: two announcements may be lost.
const NEIGHBOUR: Duration = Duration::from_secs(2);
/// How long a node waits after a reboot: longer than any route through it can live.
pub(super) const DELETE_PERIOD: Duration = Duration::from_secs(15);
/// How often a request is made before data is given up.
const MAX_TRIES: u8 = 3;
/// The sequence number of a lost route of which nothing is known.
const UNKNOWN: u32 = 0;

impl Aodv {
    /// Announces the node after a while, if nodes do that.
    pub(super) fn greet_later(&self, context: &mut impl Context<Self>) {
        if self.hello {
            context.set(Timer::Hello, HELLO_INTERVAL);
        }
    }

    /// Looks for a route, unless there is one or it is being looked for.
    pub(super) fn request(
        &self,
        node: &mut Node,
        destination: NodeId,
        context: &mut impl Context<Self>,
    ) {
        let route = node.entry(destination);
        if !route.is_valid() && route.tries == 0 {
            context.report(Report::Searching(destination));
            self.broadcast_request(node, destination, context);
        }
    }

    /// Makes another request, or gives up.
    pub(super) fn request_again(
        &self,
        node: &mut Node,
        destination: NodeId,
        context: &mut impl Context<Self>,
    ) {
        let route = node.entry(destination);
        if route.tries < MAX_TRIES {
            return self.broadcast_request(node, destination, context);
        }
        route.tries = 0;
        node.queue.retain(|data| {
            let keep = data.destination != destination;
            if !keep {
                context.report(Report::Dropped { source: data.source, number: data.number });
            }
            keep
        });
    }

    fn broadcast_request(
        &self,
        node: &mut Node,
        destination: NodeId,
        context: &mut impl Context<Self>,
    ) {
        let route = node.entry(destination);
        route.tries += 1;
        context.set(Timer::Request(destination), TRAVERSAL * (1 << (route.tries - 1)));
        let destination_sequence = route.sequence;
        node.sequence += 2;
        let id = node.next_id;
        node.next_id += 1;
        context.broadcast(Packet::Request(Request {
            source: context.id(),
            source_sequence: node.sequence,
            id,
            destination,
            destination_sequence,
            hops: 1,
        }));
    }

    /// Learns the way back to the source, then answers the request or passes it on.
    pub(super) fn receive_request(
        &self,
        node: &mut Node,
        from: NodeId,
        request: Request,
        context: &mut impl Context<Self>,
    ) {
        let Request { source, source_sequence, id, destination, destination_sequence, hops } =
            request;
        let own = context.id();
        if source == own || !node.remember_request(source, id) {
            return;
        }
        context.set(Timer::BroadcastId { source, id }, TRAVERSAL);
        let offer = Reply { requester: own, destination: source, sequence: source_sequence, hops };
        self.accept(node, from, offer, context);
        let Some(back) = node.valid_route(source).map(|route| route.next) else { return };
        context.set(Timer::Route(source), ACTIVE_ROUTE);
        if destination == own {
            // Even numbers belong to the destination, odd ones to those who lost a route to it.
            let greatest = node.sequence.max(destination_sequence);
            node.sequence = (greatest + 1).next_multiple_of(2);
            let sequence = node.sequence;
            let reply = Reply { requester: source, destination, sequence, hops: 1 };
            return context.send(back, Packet::Reply(reply));
        }
        let known = node.route(destination).map_or(0, |route| route.sequence);
        let fresh = node.valid_route(destination).filter(|_| known >= destination_sequence);
        if let Some(route) = fresh {
            let hops = route.hops + 1;
            let reply = Reply { requester: source, destination, sequence: known, hops };
            return context.send(back, Packet::Reply(reply));
        }
        let destination_sequence = destination_sequence.max(known);
        let hops = hops + 1;
        context.broadcast(Packet::Request(Request { destination_sequence, hops, ..request }));
    }

    /// Takes the route if it is better than the known one, and passes the offer on.
    pub(super) fn receive_reply(
        &self,
        node: &mut Node,
        from: NodeId,
        reply: Reply,
        context: &mut impl Context<Self>,
    ) {
        if !self.accept(node, from, reply, context) || reply.requester == context.id() {
            return;
        }
        if let Some(back) = node.valid_route(reply.requester) {
            let reply = Reply { hops: reply.hops + 1, ..reply };
            context.send(back.next, Packet::Reply(reply));
        }
    }

    /// Takes an offered route if it is better than the known one; whether it was.
    fn accept(
        &self,
        node: &mut Node,
        from: NodeId,
        offer: Reply,
        context: &mut impl Context<Self>,
    ) -> bool {
        let destination = offer.destination;
        let route = node.entry(destination);
        let better = route.is_worse_than(offer.sequence, offer.hops);
        if better {
            route.sequence = offer.sequence;
            route.hops = offer.hops;
            route.next = from;
            if std::mem::take(&mut route.tries) > 0 {
                context.cancel(&Timer::Request(destination));
                context.report(Report::Found(destination));
            }
        }
        if !better {
            return false;
        }
        context.set(Timer::Route(destination), ACTIVE_ROUTE);
        while let Some(at) = node.queue.iter().position(|data| data.destination == destination) {
            let data = node.queue.remove(at);
            self.forward(node, data, context);
        }
        true
    }

    /// Makes a route invalid, and its sequence number that of a route lost.
    pub(super) fn expire(&self, node: &mut Node, destination: NodeId) {
        let route = node.entry(destination);
        route.invalidate();
        if !self.stale_seqno {
            route.sequence += 1;
        }
    }

    /// Drops the routes through a node that lost them.
    pub(super) fn receive_error(
        &self,
        node: &mut Node,
        from: NodeId,
        lost: &[(NodeId, u32)],
        context: &mut impl Context<Self>,
    ) {
        let mut dropped = Vec::new();
        for &(destination, sequence) in lost {
            let Some(route) = node.valid_route(destination) else { continue };
            if route.next == from && (sequence == UNKNOWN || route.sequence <= sequence) {
                let route = node.entry(destination);
                route.invalidate();
                route.sequence = sequence.max(route.sequence + 1);
                context.cancel(&Timer::Route(destination));
                dropped.push((destination, route.sequence));
            }
        }
        self.announce(dropped, context);
    }

    pub(super) fn receive_hello(
        &self,
        node: &mut Node,
        from: NodeId,
        context: &mut impl Context<Self>,
    ) {
        if let Err(at) = node.heard.binary_search(&from) {
            node.heard.insert(at, from);
        }
        context.set(Timer::Neighbour(from), NEIGHBOUR);
    }

    /// A neighbour is silent: the routes through it are lost.
    pub(super) fn lose_neighbour(
        &self,
        node: &mut Node,
        neighbour: NodeId,
        context: &mut impl Context<Self>,
    ) {
        node.heard.retain(|heard| *heard != neighbour);
        let through =
            node.routes.iter().filter(|route| route.is_valid() && route.next == neighbour);
        let lost: Vec<NodeId> = through.map(|route| route.destination).collect();
        let mut dropped = Vec::new();
        for destination in lost {
            self.expire(node, destination);
            context.cancel(&Timer::Route(destination));
            dropped.push((destination, node.entry(destination).sequence));
        }
        self.announce(dropped, context);
    }

    /// Tells the neighbours which routes were lost, if that is done at all.
    fn announce(&self, lost: Vec<(NodeId, u32)>, context: &mut impl Context<Self>) {
        if self.rerr && !lost.is_empty() {
            context.broadcast(Packet::Error(lost));
        }
    }

    /// After a reboot a node ignores everything, but answers data with a RERR.
    pub(super) fn receive_waiting(&self, packet: Packet, context: &mut impl Context<Self>) {
        if let Packet::Data(data) = packet {
            context.report(Report::Dropped { source: data.source, number: data.number });
            self.announce(vec![(data.destination, UNKNOWN)], context);
            context.set(Timer::Wait, DELETE_PERIOD);
        }
    }

    /// Sends what an application wants to be sent.
    pub(super) fn send(
        &self,
        node: &mut Node,
        to: NodeId,
        number: u32,
        context: &mut impl Context<Self>,
    ) {
        let data = Data { source: context.id(), destination: to, number, hops: 0 };
        if node.waiting {
            return context.report(Report::Dropped { source: data.source, number });
        }
        if to == data.source || node.valid_route(to).is_some() {
            return self.forward(node, data, context);
        }
        node.queue.push(data);
        self.request(node, to, context);
    }

    /// Delivers data, sends it on, or gives it up.
    pub(super) fn forward(&self, node: &mut Node, data: Data, context: &mut impl Context<Self>) {
        let Data { source, destination, number, hops } = data;
        if destination == context.id() {
            return context.report(Report::Delivered { source, number, hops: Some(hops) });
        }
        match node.valid_route(destination).map(|route| route.next) {
            Some(next) => {
                context.set(Timer::Route(destination), ACTIVE_ROUTE);
                context.send(next, Packet::Data(Data { hops: hops + 1, ..data }));
            }
            None => {
                let sequence = node.route(destination).map_or(UNKNOWN, |route| route.sequence);
                context.report(Report::Dropped { source, number });
                self.announce(vec![(destination, sequence)], context);
            }
        }
    }
}
