//! Packets, timers and commands of AODV.

use everypath_net::{NodeId, canonical};
use std::fmt;

/// A packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// A route request (RREQ).
    Request(Request),
    /// A route reply (RREP).
    Reply(Reply),
    /// Routes were lost (RERR): their destinations and sequence numbers.
    Error(Vec<(NodeId, u32)>),
    /// The sender is there (HELLO).
    #[default]
    Hello,
    /// What an application sent.
    Data(Data),
}

/// A request for a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The node that requests the route.
    pub source: NodeId,
    /// Its own sequence number.
    pub source_sequence: u32,
    /// The number of the request among those of its source.
    pub id: u32,
    /// Where the route is to lead.
    pub destination: NodeId,
    /// The greatest sequence number of a route there that anybody on the way knew.
    pub destination_sequence: u32,
    /// How many links it is from the receiver to the source.
    pub hops: u16,
}
canonical!(struct Request {
    source, source_sequence, id, destination, destination_sequence, hops
});

/// The offer of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Who looked for the route.
    pub requester: NodeId,
    /// Where it leads.
    pub destination: NodeId,
    /// How fresh it is.
    pub sequence: u32,
    /// How many links it is from the receiver to the destination.
    pub hops: u16,
}
canonical!(struct Reply { requester, destination, sequence, hops });

/// What an application sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Who sent it.
    pub source: NodeId,
    /// Whom it is for.
    pub destination: NodeId,
    /// Its number among what the source sent.
    pub number: u32,
    /// Over how many links it has come.
    pub hops: u16,
}
canonical!(struct Data { source, destination, number, hops });

impl everypath_net::Canonical for Packet {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Packet::Request(request) => (0u8, *request).write(bytes),
            Packet::Reply(reply) => (1u8, *reply).write(bytes),
            Packet::Error(lost) => {
                2u8.write(bytes);
                lost.write(bytes);
            }
            Packet::Hello => 3u8.write(bytes),
            Packet::Data(data) => (4u8, *data).write(bytes),
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let mut kind = 0u8;
        kind.read(bytes);
        *self = match kind {
            0 => Packet::Request(read(bytes)),
            1 => Packet::Reply(read(bytes)),
            2 => Packet::Error(read(bytes)),
            3 => Packet::Hello,
            _ => Packet::Data(read(bytes)),
        };
    }
}

fn read<T: everypath_net::Canonical + Default>(bytes: &mut &[u8]) -> T {
    let mut value = T::default();
    value.read(bytes);
    value
}

impl Packet {
    /// Whether it offers a route.
    pub fn is_reply(&self) -> bool {
        matches!(self, Packet::Reply(_))
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packet::Request(_) => "RREQ",
            Packet::Reply(_) => "RREP",
            Packet::Error(_) => "RERR",
            Packet::Hello => "HELLO",
            Packet::Data(_) => "DATA",
        })
    }
}

/// A timer of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A request need not be remembered any longer.
    BroadcastId {
        /// Who made it.
        source: NodeId,
        /// Its number.
        id: u32,
    },
    /// A valid route was not used for too long.
    Route(NodeId),
    /// A request for a route has not been answered.
    Request(NodeId),
    /// A neighbour was not heard for too long.
    Neighbour(NodeId),
    /// It is time to be heard.
    Hello,
    /// The time after a reboot is over in which a node takes no part.
    Wait,
}

/// What an application can ask of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Find a route.
    Discover(NodeId),
    /// Send data.
    Send {
        /// Whom to.
        to: NodeId,
        /// Its number among what this node sends.
        number: u32,
    },
}
