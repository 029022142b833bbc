//! What only a peer knows.

use super::SocketAddress;

/// One end of a conversation with a peer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Endpoint {
    /// The name of the conversation in the communication trees.
    pub name: [u64; 4],
    /// The address of the server, or the one at which the program listens.
    pub address: SocketAddress,
}

/// A request to a peer. The answer is in the communication trees.
#[derive(Clone, Copy, Debug)]
#[repr(C, u32)]
pub enum PeerRequest {
    /// A connection to a server: whether it is there, and what it sends first.
    Connect(Endpoint),
    /// A conversation by datagrams with a server: whether it is there.
    ConnectDatagram(Endpoint),
    /// A connection of one more client, and what it sends first.
    Accept {
        /// Where the program listens.
        at: Endpoint,
        /// How many clients it has accepted there before.
        ordinal: u32,
    },
    /// One more client that sends datagrams, and what it sends first.
    AcceptDatagram {
        /// Where the program receives.
        at: Endpoint,
        /// How many such clients there were before.
        ordinal: u32,
    },
    /// Nothing: clients can connect to an address from now on.
    Listening(Endpoint),
    /// Nothing: clients can send datagrams to an address from now on.
    Receiving(Endpoint),
    /// What the peer answers to bytes.
    Write {
        /// The position of the connection in its communication tree.
        position: u32,
        /// How many bytes of the message.
        length: u32,
    },
    /// What the peer answers to the end of the stream.
    Finish {
        /// The position of the connection in its communication tree.
        position: u32,
    },
    /// What the peer says by itself if it is sent nothing for some time.
    Silence {
        /// The position of the connection in its communication tree.
        position: u32,
        /// For how long; the largest number is for ever.
        milliseconds: u32,
    },
}

impl PeerRequest {
    pub(super) fn message_length(&self) -> usize {
        match *self {
            PeerRequest::Write { length, .. } => length as usize,
            PeerRequest::Connect(_)
            | PeerRequest::ConnectDatagram(_)
            | PeerRequest::Accept { .. }
            | PeerRequest::AcceptDatagram { .. }
            | PeerRequest::Listening(_)
            | PeerRequest::Receiving(_)
            | PeerRequest::Finish { .. }
            | PeerRequest::Silence { .. } => 0,
        }
    }
}
