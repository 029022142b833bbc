//! Upcalls: what the shim asks of the checker in the middle of an execution, and the reply.
//!
//! The shim writes an [`Upcall`] into the region, hands the turn to the checker and gets it back with
//! an [`UpcallReply`]. Bytes that go with either are in [`Region::message`](crate::Region::message).

mod joint;
mod peer;

pub use joint::{Glance, Granted, JointRequest, Senders, Sight};
pub use peer::{Endpoint, PeerRequest};

/// The longest message that is sent to a peer in one piece.
pub const MAX_MESSAGE: usize = 1 << 20;
/// The longest address of a socket.
pub const MAX_ADDRESS: usize = 112;

/// What the shim asks.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, u32)]
pub enum Upcall {
    /// Nothing.
    #[default]
    None,
    /// Something that only a peer knows.
    Peer(PeerRequest),
    /// Something that depends on programs which are explored alone.
    Joint {
        /// The thread that asks, by how it was created.
        thread: u64,
        /// How many steps the execution has taken.
        step: u32,
        /// What it asks for.
        request: JointRequest,
    },
    /// One of the ways in which the last request of a thread can be granted.
    Choose {
        /// The thread, by how it was created.
        thread: u64,
        /// Which of the ways.
        way: u32,
    },
}

impl Upcall {
    /// How many bytes of the message belong to it.
    pub fn message_length(&self) -> usize {
        match self {
            Upcall::None | Upcall::Choose { .. } => 0,
            Upcall::Peer(request) => request.message_length(),
            Upcall::Joint { request, .. } => request.message_length(),
        }
    }
}

/// What the checker replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, u32)]
pub enum UpcallReply {
    /// Nothing yet.
    #[default]
    None,
    /// The answer of the peer is in the communication trees.
    InTrees,
    /// The request can be granted in several ways, of which the execution is to choose one.
    Ways(u32),
    /// What came of the request.
    Granted(Grant),
    /// The peer failed because of what it was sent; so many bytes of the message say how.
    PeerFailed {
        /// How many.
        length: u32,
    },
    /// There is no answer; so many bytes of the message say why.
    Refused {
        /// How many.
        length: u32,
    },
}

/// What came of a request to programs that are explored alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Grant {
    /// How it was granted.
    pub granted: Granted,
    /// The number of a new connection or listener, the port of a datagram's sender, or the port at
    /// which datagrams are received.
    pub handle: u32,
    /// How many bytes of the message belong to it.
    pub length: u32,
}

/// The address of a socket, as the kernel lays it out.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SocketAddress {
    length: u32,
    bytes: [u8; MAX_ADDRESS],
}

impl SocketAddress {
    /// The address in these bytes; none if they are too many.
    pub fn new(given: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_ADDRESS];
        bytes.get_mut(..given.len())?.copy_from_slice(given);
        Some(SocketAddress { length: given.len() as u32, bytes })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..(self.length as usize).min(MAX_ADDRESS)]
    }
}

#[cfg(test)]
mod tests;
