//! Requests to programs that are explored alone.

use super::SocketAddress;

/// A request to programs that are explored alone. Connections and listeners have the numbers that
/// the checker gave them, UDP sockets are known by their port.
#[derive(Clone, Copy, Debug)]
#[repr(C, u32)]
pub enum JointRequest {
    /// Connections can be made to an address.
    Listen {
        /// The address.
        at: SocketAddress,
        /// How many connections wait there to be accepted at most.
        backlog: u32,
    },
    /// No connections can be made to a listener any more.
    Unlisten {
        /// The listener.
        listener: u32,
    },
    /// A new connection.
    Connect {
        /// The address of the listener.
        to: SocketAddress,
        /// How many connections the thread has made before.
        ordinal: u32,
    },
    /// A connection that another program made.
    Accept {
        /// The listener.
        listener: u32,
        /// Whether the call blocks until there is one.
        waits: bool,
    },
    /// The bytes of the message are sent.
    Send {
        /// The connection.
        connection: u32,
        /// How many bytes.
        length: u32,
    },
    /// Bytes that came on a connection.
    Receive {
        /// The connection.
        connection: u32,
        /// How many at most.
        most: u32,
        /// Whether the call blocks until there are some.
        waits: bool,
    },
    /// Which of several things, each a [`Glance`] in the message, would not block.
    Look {
        /// How many things.
        count: u32,
        /// Whether the call blocks until one is ready.
        waits: bool,
    },
    /// Nothing more is sent on a connection.
    Shut {
        /// The connection.
        connection: u32,
    },
    /// A connection is closed.
    Close {
        /// The connection.
        connection: u32,
    },
    /// Datagrams can be sent to a socket.
    Bind {
        /// Its address.
        at: SocketAddress,
        /// Whose datagrams it receives.
        senders: Senders,
        /// Whether it was not bound before.
        is_new: bool,
        /// Whether the program did not choose the port.
        any_port: bool,
    },
    /// A socket is closed.
    Unbind {
        /// Its port.
        port: u16,
    },
    /// The datagram in the message is sent.
    SendTo {
        /// The port of the sender.
        from: u16,
        /// The address of the receiver.
        to: SocketAddress,
        /// How many bytes it has.
        length: u32,
    },
    /// A datagram that came to a socket.
    ReceiveFrom {
        /// The port of the socket.
        port: u16,
        /// Whether the call blocks until there is one.
        waits: bool,
    },
}

/// Whose datagrams a socket receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, u16)]
pub enum Senders {
    /// Those of all.
    All,
    /// Those of the socket at a port that it is connected to.
    Port(u16),
}

impl JointRequest {
    pub(super) fn message_length(&self) -> usize {
        match *self {
            JointRequest::Send { length, .. } | JointRequest::SendTo { length, .. } => {
                length as usize
            }
            JointRequest::Look { count, .. } => count as usize * Glance::LENGTH,
            JointRequest::Listen { .. }
            | JointRequest::Unlisten { .. }
            | JointRequest::Connect { .. }
            | JointRequest::Accept { .. }
            | JointRequest::Receive { .. }
            | JointRequest::Shut { .. }
            | JointRequest::Close { .. }
            | JointRequest::Bind { .. }
            | JointRequest::Unbind { .. }
            | JointRequest::ReceiveFrom { .. } => 0,
        }
    }

    /// Whether it may have no answer, so that the call blocks for ever.
    pub fn may_block(&self) -> bool {
        match self {
            JointRequest::Connect { .. }
            | JointRequest::Accept { .. }
            | JointRequest::Receive { .. }
            | JointRequest::Look { .. }
            | JointRequest::SendTo { .. }
            | JointRequest::ReceiveFrom { .. } => true,
            JointRequest::Listen { .. }
            | JointRequest::Unlisten { .. }
            | JointRequest::Send { .. }
            | JointRequest::Shut { .. }
            | JointRequest::Close { .. }
            | JointRequest::Bind { .. }
            | JointRequest::Unbind { .. } => false,
        }
    }
}

/// How a request was granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Granted {
    /// It was done; the handle is the new connection or listener, or the port for datagrams.
    #[default]
    Done,
    /// The bytes of the message; the handle is the port that a datagram came from.
    Bytes,
    /// The handle is the new connection.
    Accepted,
    /// Nothing more comes.
    End,
    /// The connection is broken.
    Reset,
    /// The bytes went to an end that is closed.
    Lost,
    /// Nobody listens any more.
    Refused,
    /// Nothing is there yet.
    Nothing,
    /// The message has a [`Sight`] for each thing that was looked at.
    Ready,
    /// It waits for ever.
    Never,
}

/// How far something is that a program looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sight {
    /// Whoever used it would wait.
    #[default]
    Waits,
    /// Something is there.
    Input,
    /// Nothing comes after that.
    End,
    /// The other end, of the Unix family, is closed.
    Gone,
    /// The connection is broken.
    Broken,
}

impl Sight {
    /// All of them, each at the place that it has as a number.
    pub const ALL: [Sight; 5] =
        [Sight::Waits, Sight::Input, Sight::End, Sight::Gone, Sight::Broken];
}

/// Something that a program looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Whether somebody waits to be accepted by the listener with this number.
    Connections(u32),
    /// Whether something came on the connection with this number, and whether it makes a
    /// difference that nothing comes after it.
    Bytes(u32, bool),
    /// Whether a datagram came to a port.
    Datagrams(u16),
}

impl Glance {
    /// How many bytes one takes in a message.
    pub const LENGTH: usize = 5;
    /// How many things a program may look at together.
    pub const MOST: usize = 6;

    /// As it stands in a message.
    pub fn to_bytes(self) -> [u8; Glance::LENGTH] {
        let (kind, number) = match self {
            Glance::Connections(listener) => (0, listener),
            Glance::Bytes(connection, sees_end) => (1 + u8::from(sees_end), connection),
            Glance::Datagrams(port) => (3, u32::from(port)),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// What stands in a message.
    pub fn from_bytes(bytes: [u8; Glance::LENGTH]) -> Self {
        let [kind, a, b, c, d] = bytes;
        let number = u32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Glance::Connections(number),
            3 => Glance::Datagrams(number as u16),
            _ => Glance::Bytes(number, kind == 2),
        }
    }
}
