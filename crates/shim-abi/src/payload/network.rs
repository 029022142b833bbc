//! What goes with operations on sockets.

use super::AsWord;
use crate::Object;

/// Bytes of a stream, or messages or connections of a queue, counted from the first that ever was
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// How many there were up to the end of this span.
    pub end: u64,
    /// How many of them belong to it.
    pub count: u32,
}

impl Span {
    /// The first of them.
    pub fn start(self) -> u64 {
        self.end.saturating_sub(self.count.into())
    }

    fn packed(self, count_bits: u32) -> u64 {
        self.end << count_bits | u64::from(self.count) & ((1 << count_bits) - 1)
    }

    fn unpacked(word: u64, count_bits: u32) -> Self {
        Span { end: word >> count_bits, count: (word & ((1 << count_bits) - 1)) as u32 }
    }
}

/// What a step puts into a stream or a queue, or takes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Nothing that another step would have to have put in, or would take out.
    Nothing,
    /// It shows only when the step is taken.
    Unknown,
    /// These bytes or messages.
    Span(Span),
}

impl Moved {
    const COUNT_BITS: u32 = 24;

    /// So many of all that there were up to now.
    pub fn up_to(end: u64, count: u64) -> Self {
        Moved::from_word(Span { end, count: count as u32 }.packed(Self::COUNT_BITS))
    }

    /// The bytes or messages, if they are known.
    pub fn span(self) -> Option<Span> {
        match self {
            Moved::Span(span) => Some(span),
            Moved::Nothing | Moved::Unknown => None,
        }
    }
}

impl AsWord for Moved {
    fn word(self) -> u64 {
        match self {
            Moved::Nothing => 0,
            Moved::Unknown => u64::MAX,
            Moved::Span(span) => span.packed(Self::COUNT_BITS),
        }
    }

    fn from_word(word: u64) -> Self {
        match word {
            0 => Moved::Nothing,
            u64::MAX => Moved::Unknown,
            word => Moved::Span(Span::unpacked(word, Self::COUNT_BITS)),
        }
    }
}

/// Where something is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// A stream or a queue.
    Queue(Moved),
    /// A client outside, which may answer at once, at any socket; or a server whose answers depend on
    /// what it was sent on other connections.
    Client,
}

impl AsWord for Sending {
    fn word(self) -> u64 {
        match self {
            Sending::Queue(moved) => moved.word(),
            Sending::Client => u64::MAX - 1,
        }
    }

    fn from_word(word: u64) -> Self {
        match word {
            word if word == u64::MAX - 1 => Sending::Client,
            word => Sending::Queue(Moved::from_word(word)),
        }
    }
}

/// The socket that is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connecting {
    /// None: a datagram socket only notes an address, or somebody is only waited for.
    Nothing,
    /// This one, by number.
    Socket(u16),
}

impl Connecting {
    /// The socket as an object.
    pub fn object(self) -> Option<Object> {
        match self {
            Connecting::Nothing => None,
            Connecting::Socket(number) => Some(Object::socket(number)),
        }
    }
}

impl AsWord for Connecting {
    fn word(self) -> u64 {
        match self {
            Connecting::Nothing => 0,
            Connecting::Socket(number) => u64::from(number) + 1,
        }
    }

    fn from_word(word: u64) -> Self {
        word.checked_sub(1).map_or(Connecting::Nothing, |number| Connecting::Socket(number as u16))
    }
}

/// A socket that is connected with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerConnection {
    /// The socket.
    pub socket: Object,
    /// Whether the peer may answer by what happens on other connections.
    pub in_turn: bool,
}

impl PeerConnection {
    /// Where objects have their facet, of which there is none here.
    const IN_TURN: u64 = 1 << 48;
}

impl AsWord for PeerConnection {
    fn word(self) -> u64 {
        self.socket.word() | if self.in_turn { Self::IN_TURN } else { 0 }
    }

    fn from_word(word: u64) -> Self {
        PeerConnection {
            socket: Object::from_word(word & !Self::IN_TURN),
            in_turn: word & Self::IN_TURN != 0,
        }
    }
}

/// A connection that enters the backlog of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedConnection {
    /// The socket that is connected, by number.
    pub socket: u16,
    /// Its place in the backlog.
    pub entry: Span,
}

impl QueuedConnection {
    const COUNT_BITS: u32 = 8;
    const SOCKET_SHIFT: u32 = 48;
}

impl AsWord for QueuedConnection {
    fn word(self) -> u64 {
        u64::from(self.socket) << Self::SOCKET_SHIFT | self.entry.packed(Self::COUNT_BITS)
    }

    fn from_word(word: u64) -> Self {
        let entry = word & ((1 << Self::SOCKET_SHIFT) - 1);
        QueuedConnection {
            socket: (word >> Self::SOCKET_SHIFT) as u16,
            entry: Span::unpacked(entry, Self::COUNT_BITS),
        }
    }
}

/// Who sees that a socket is closed or shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It has no other end.
    Alone,
    /// Its other end.
    OtherEnd(Object),
    /// It is a listener, and the other ends of all connections in its backlog see it.
    Backlog,
}

impl AsWord for Closing {
    fn word(self) -> u64 {
        match self {
            Closing::Alone => 0,
            Closing::OtherEnd(object) => object.word(),
            Closing::Backlog => u64::MAX,
        }
    }

    fn from_word(word: u64) -> Self {
        match word {
            0 => Closing::Alone,
            u64::MAX => Closing::Backlog,
            word => Closing::OtherEnd(Object::from_word(word)),
        }
    }
}

/// What a look at descriptors may find beside what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollScope {
    /// Clients outside may send something there.
    pub clients: bool,
    /// It would decide which datagrams arrive if any were in flight.
    pub arrivals: bool,
}

impl AsWord for PollScope {
    fn word(self) -> u64 {
        u64::from(self.clients) | u64::from(self.arrivals) << 1
    }

    fn from_word(word: u64) -> Self {
        PollScope { clients: word & 1 != 0, arrivals: word >> 1 & 1 != 0 }
    }
}
