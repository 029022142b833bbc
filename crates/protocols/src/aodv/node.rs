//! The state of an AODV node: routing table, sequence number, timers.

use super::packet::Data;
use everypath_net::{Canonical, NodeId, canonical};

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its own sequence number.
    pub sequence: u32,
    /// The number of its next request.
    pub next_id: u32,
    /// The routing table, by destination.
    pub routes: Vec<Route>,
    /// The broadcast-id cache: sources and numbers of the requests that were seen.
    pub seen: Vec<(NodeId, u32)>,
    /// Whether it takes no part because it has rebooted.
    pub waiting: bool,
    /// The neighbours that were heard, if nodes announce themselves.
    pub heard: Vec<NodeId>,
    /// Data that waits for a route.
    pub queue: Vec<Data>,
}

impl Default for Node {
    /// A node that has just started.
    fn default() -> Self {
        Node {
            sequence: 2,
            next_id: 1,
            routes: Vec::new(),
            seen: Vec::new(),
            waiting: false,
            heard: Vec::new(),
            queue: Vec::new(),
        }
    }
}

/// An entry of the routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub destination: NodeId,
    /// The next node on the way; 0 if the route is not valid.
    pub next: NodeId,
    /// How many links it has; [`Route::INFINITE`] if it is not valid.
    pub hops: u16,
    /// How fresh it is.
    pub sequence: u32,
    /// How often it was asked for without an answer so far.
    pub tries: u8,
}

impl Route {
    /// The length of a route that is not valid.
    pub const INFINITE: u16 = u16::MAX;

    /// An entry without a route.
    fn unknown(destination: NodeId) -> Self {
        Route { destination, next: 0, hops: Route::INFINITE, sequence: 0, tries: 0 }
    }

    /// Whether packets can be sent along it.
    #[inline]
    pub fn is_valid(&self) -> bool {
        self.hops != Route::INFINITE
    }

    /// Whether an offer is fresher, or as fresh and shorter.
    pub(super) fn is_worse_than(&self, sequence: u32, hops: u16) -> bool {
        self.sequence < sequence || self.sequence == sequence && self.hops > hops
    }

    pub(super) fn invalidate(&mut self) {
        self.next = 0;
        self.hops = Route::INFINITE;
    }
}

impl Node {
    /// The entry for a destination.
    pub fn route(&self, destination: NodeId) -> Option<&Route> {
        self.routes.iter().find(|route| route.destination == destination)
    }

    /// The valid route to a destination.
    pub fn valid_route(&self, destination: NodeId) -> Option<&Route> {
        self.route(destination).filter(|route| route.is_valid())
    }

    /// The entry for a destination, which is made if there is none.
    pub(super) fn entry(&mut self, destination: NodeId) -> &mut Route {
        let at = match self.routes.binary_search_by_key(&destination, |route| route.destination) {
            Ok(at) => at,
            Err(at) => {
                self.routes.insert(at, Route::unknown(destination));
                at
            }
        };
        &mut self.routes[at]
    }

    pub(super) fn delete(&mut self, destination: NodeId) {
        self.routes.retain(|route| route.destination != destination);
    }

    /// Remembers a request; whether it is new.
    pub(super) fn remember_request(&mut self, source: NodeId, id: u32) -> bool {
        let place = self.seen.binary_search(&(source, id));
        if let Err(at) = place {
            self.seen.insert(at, (source, id));
        }
        place.is_err()
    }

    pub(super) fn forget_request(&mut self, source: NodeId, id: u32) {
        self.seen.retain(|seen| *seen != (source, id));
    }
}

impl Default for Route {
    fn default() -> Self {
        Route::unknown(0)
    }
}

impl Canonical for Route {
    // Infinity becomes 0, which takes one byte.
    fn write(&self, bytes: &mut Vec<u8>) {
        self.destination.write(bytes);
        self.next.write(bytes);
        self.hops.wrapping_add(1).write(bytes);
        self.sequence.write(bytes);
        self.tries.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.destination.read(bytes);
        self.next.read(bytes);
        self.hops.read(bytes);
        self.hops = self.hops.wrapping_sub(1);
        self.sequence.read(bytes);
        self.tries.read(bytes);
    }
}

canonical!(struct Node { sequence, next_id, routes, seen, waiting, heard, queue });
