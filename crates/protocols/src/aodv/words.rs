//! Descriptions of AODV's states and steps, for traces.

use super::packet::Request;
use super::{Aodv, Command, Node, Packet, Route, Timer};
use everypath_net::{Cause, Envelope, NodeId};
use std::fmt;

/// A number of links.
pub(super) fn hops(hops: u16) -> String {
    match hops {
        Route::INFINITE => "no way".into(),
        1 => "1 hop".into(),
        hops => format!("{hops} hops"),
    }
}

/// A packet in flight.
pub(super) fn packet(envelope: &Envelope<Packet>) -> String {
    let Envelope { from, to, packet } = envelope;
    let what = match packet {
        Packet::Request(request) => format!(" (request {} of {})", request.id, request.source),
        Packet::Reply(reply) => {
            format!(" (for {}: seqno {}, {})", reply.requester, reply.sequence, hops(reply.hops))
        }
        Packet::Error(_) | Packet::Hello | Packet::Data(_) => String::new(),
    };
    format!("{packet} {from}->{to}{what}")
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seqno {}, broadcast id {}", self.sequence, self.next_id)?;
        for route in &self.routes {
            write!(f, "; route to {}: {}", route.destination, hops(route.hops))?;
            if route.is_valid() {
                write!(f, " through {}", route.next)?;
            }
            write!(f, ", seqno {}", route.sequence)?;
            if route.tries > 0 {
                write!(f, ", asked for")?;
            }
        }
        for (source, id) in &self.seen {
            write!(f, "; knows request {id} of {source}")?;
        }
        for neighbour in &self.heard {
            write!(f, "; hears {neighbour}")?;
        }
        if self.waiting {
            write!(f, "; waits after a reboot")?;
        }
        Ok(())
    }
}

impl Aodv {
    /// What happens at a node.
    pub(super) fn words(&self, id: NodeId, node: &Node, cause: Cause<Self>) -> String {
        match cause {
            Cause::Packet(from, packet) if node.waiting => {
                format!("{packet} from {from} is ignored after the reboot")
            }
            Cause::Packet(from, Packet::Request(request)) => {
                self.request_words(id, node, from, request)
            }
            Cause::Packet(from, Packet::Reply(reply)) => {
                let (seqno, length) = (reply.sequence, hops(reply.hops));
                let known = node.route(reply.destination);
                let offer = format!("{from} offers a route of {length} with seqno {seqno}");
                if known.is_some_and(|route| !route.is_worse_than(seqno, reply.hops)) {
                    format!("{offer}, which is no better than the known one")
                } else if reply.requester == id {
                    format!("{offer}; it is taken")
                } else if node.valid_route(reply.requester).is_some() {
                    format!("{offer}; it is taken and passed on to {}", reply.requester)
                } else {
                    format!("{offer}; it is taken, and there is no way on to {}", reply.requester)
                }
            }
            Cause::Packet(from, Packet::Error(lost)) => {
                let lost: Vec<String> = lost.iter().map(|(d, _)| d.to_string()).collect();
                format!("{from} has lost its routes to {}", lost.join(", "))
            }
            Cause::Packet(from, Packet::Hello) => format!("{from} is heard"),
            Cause::Packet(from, Packet::Data(data)) => {
                format!("data for {} comes from {from}", data.destination)
            }
            Cause::Timer(timer) => self.timer_words(timer),
            Cause::Command(Command::Discover(destination)) => {
                if node.route(destination).is_some_and(|route| route.tries > 0) {
                    format!("a route to {destination} is needed and was asked for")
                } else {
                    format!("a route to {destination} is needed; RREQ {} is sent", node.next_id)
                }
            }
            Cause::Command(Command::Send { to, .. }) => format!("data is to be sent to {to}"),
            Cause::Reboot if self.wait => "the node reboots and waits".into(),
            Cause::Reboot => "the node reboots and knows nothing any more".into(),
        }
    }

    fn request_words(&self, id: NodeId, node: &Node, from: NodeId, request: Request) -> String {
        let Request { source, destination, .. } = request;
        let what = format!("request {} of {source} comes from {from}", request.id);
        if source == id {
            return format!("its own {what}");
        }
        if node.seen.contains(&(source, request.id)) {
            return format!("{what}, which is known");
        }
        let known = node.valid_route(destination);
        if destination == id {
            format!("{what}; RREP is sent")
        } else if known.is_some_and(|route| route.sequence >= request.destination_sequence) {
            format!("{what}; the known route is offered in a RREP")
        } else {
            format!("{what}; it is passed on")
        }
    }

    fn timer_words(&self, timer: Timer) -> String {
        match timer {
            Timer::BroadcastId { source, id } => format!("request {id} of {source} is forgotten"),
            Timer::Route(destination) if self.delete_route => {
                format!("the route to {destination} times out and is deleted")
            }
            Timer::Route(destination) => {
                format!("the route to {destination} times out and becomes invalid")
            }
            Timer::Request(destination) => format!("the request for {destination} has no answer"),
            Timer::Neighbour(neighbour) => {
                format!("{neighbour} was not heard for too long; the routes through it are lost")
            }
            Timer::Hello => "the node announces itself".into(),
            Timer::Wait => "the node takes part again".into(),
        }
    }
}
