//! Joint exploration: several communicating programs, each explored alone.
//!
//! After Lakatos, *Supporting error propagation modeling with Java PathFinder* (2014), where two
//! sequential programs exchange integers on one connection. Here programs are many, have threads,
//! and exchange bytes on any number of connections.
//!
//! What one execution of a program (a [`Side`]) shows to the others is a [`History`]: what it asked
//! of the network ([`Request`]) and what came of it ([`Answer`]), ordered by what happened before
//! what *inside* the program. Requests of two threads that do not wait for each other are not
//! ordered. The events of all histories of a side are an event structure: an event is what it is
//! together with everything before it, so two histories share what they have in common.
//!
//! A program is explored without the others. Where it asks for what others decide, the search
//! branches over the answers that are known to be possible after just these events
//! ([`Side::offers`]). Which these are follows from combined histories of all sides
//! ([`Joint::compare`]): bytes that another side can have sent without having to wait for what comes
//! after the request. New answers make the side be explored again, until there are none.
//!
//! Answers are offered if *causality* allows them. Whether histories really happened together, with
//! bytes that had not arrived yet and connections that were already closed, is settled for those
//! that somebody wants to report, by performing them one after the other
//! ([`Combination::linearise`]) on a model of the network ([`Network`]).

mod broken;
mod combination;
mod datagrams;
pub mod failures;
mod killed;
mod linearise;
mod network;
mod port;
mod rounds;
mod script;
mod set;
mod side;

pub use broken::NETWORK;
pub use combination::Combination;
pub use killed::PROCESS;
pub use linearise::{Linearised, Performed};
pub use network::Network;
pub use port::Port;
pub use rounds::{Joint, Surprise};
pub use script::Script;
pub use side::{Event, EventId, History, HistoryId, Side};

use std::vec::Vec;

/// A connection, named alike in every execution: who made it, and which of its maker's it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The side that connected.
    pub side: usize,
    /// The port it connected to.
    pub port: Port,
    /// The thread that connected.
    pub maker: u64,
    /// Which connection of this thread it is.
    pub which: u64,
}

/// What a program asks of the network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// To be connected to from now on, by so many at a time before they are accepted.
    Listen {
        /// Where.
        port: Port,
        /// How many may wait.
        backlog: usize,
    },
    /// Not to be connected to any more. Connections that wait are closed.
    Unlisten {
        /// Where.
        port: Port,
    },
    /// A new connection.
    Connect(Link),
    /// The connection that has waited longest.
    Accept {
        /// Where.
        port: Port,
        /// Whether it waits for one.
        waits: bool,
    },
    /// To move bytes to the other end.
    Send {
        /// On which connection.
        link: Link,
        /// The bytes, at least one.
        bytes: Vec<u8>,
    },
    /// The bytes that have come from the other end.
    Receive {
        /// On which connection.
        link: Link,
        /// How many at most; at least one.
        most: usize,
        /// Whether it waits for the first one.
        waits: bool,
    },
    /// To know what would not have to wait.
    Look {
        /// At what.
        at: Vec<Watched>,
        /// Whether it waits for one of them.
        waits: bool,
    },
    /// To tell the other end that nothing more will be sent.
    Shut(Link),
    /// To be rid of this end.
    Close(Link),
    /// To be sent datagrams at a port from now on, by anybody or from one port only. What has come
    /// by then stays.
    Bind {
        /// Where.
        port: u16,
        /// From where only, if not from everywhere.
        only: Option<u16>,
    },
    /// Not to be sent datagrams there any more. Those that have come are lost.
    Unbind {
        /// Where.
        port: u16,
    },
    /// To send a datagram. It waits for a bound socket.
    SendTo {
        /// From which port of its own.
        from: u16,
        /// Where to.
        to: u16,
        /// What, maybe nothing.
        bytes: Vec<u8>,
    },
    /// The datagram that came first of those that were not received.
    ReceiveFrom {
        /// At which port of its own.
        port: u16,
        /// Whether it waits for one.
        waits: bool,
    },
    /// Nothing that a program asks: the network breaks a connection. What the side that tells of it
    /// has not received by then is lost, and both ends find out.
    Break(Link),
}

/// An object that a program polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watched {
    /// Whether a connection waits in the backlog.
    Connections {
        /// Where.
        port: Port,
    },
    /// Whether something can be received.
    Bytes {
        /// On which connection.
        link: Link,
        /// Whether it makes a difference that nothing comes after what is there.
        sees_end: bool,
    },
    /// Whether a datagram can be received.
    Datagrams {
        /// Where.
        port: u16,
    },
}

impl Watched {
    /// What comes on a connection.
    pub fn bytes(link: Link) -> Self {
        Watched::Bytes { link, sees_end: false }
    }

    /// Whether it is the same thing, whatever is seen of it.
    fn is_same(self, other: Watched) -> bool {
        match (self, other) {
            (Watched::Bytes { link, .. }, Watched::Bytes { link: other, .. }) => link == other,
            (one, other) => one == other,
        }
    }
}

/// How far a thing is that is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readiness {
    /// A call on it would block.
    #[default]
    Waits,
    /// Something is there, if only the end.
    Input,
    /// Nothing comes after what is there.
    End,
    /// The other end is closed, which only sockets of the Unix family are told apart from the end.
    Gone,
    /// The connection is broken.
    Broken,
}

impl Request {
    /// Whether it may wait for others.
    pub fn waits(&self) -> bool {
        match self {
            Request::Connect(_) | Request::SendTo { .. } => true,
            Request::Accept { waits, .. }
            | Request::Receive { waits, .. }
            | Request::ReceiveFrom { waits, .. }
            | Request::Look { waits, .. } => *waits,
            _ => false,
        }
    }

    /// Whether what comes of it depends on what others did.
    fn asks_others(&self) -> bool {
        !matches!(
            self,
            Request::Listen { .. }
                | Request::Unlisten { .. }
                | Request::Shut(_)
                | Request::Close(_)
                | Request::Break(_)
                | Request::Bind { .. }
                | Request::Unbind { .. }
        )
    }

    /// What comes of it if others do nothing; none if it waits for them.
    fn unaided(&self) -> Option<Answer> {
        match self {
            _ if self.waits() => None,
            Request::Accept { .. }
            | Request::Receive { .. }
            | Request::ReceiveFrom { .. }
            | Request::Look { .. } => Some(Answer::Nothing),
            _ => Some(Answer::Done),
        }
    }

    /// The connections it is about that exist.
    pub fn links(&self) -> impl Iterator<Item = Link> {
        let (one, several) = match self {
            Request::Send { link, .. }
            | Request::Receive { link, .. }
            | Request::Shut(link)
            | Request::Close(link)
            | Request::Break(link) => (Some(*link), &[][..]),
            Request::Look { at, .. } => (None, &at[..]),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().filter_map(|watched| match watched {
            Watched::Bytes { link, .. } => Some(*link),
            Watched::Connections { .. } | Watched::Datagrams { .. } => None,
        }))
    }

    /// Whether it is about what arrives there, and what is seen of it.
    pub fn sees(&self, what: Watched) -> bool {
        match self {
            Request::Accept { port, .. } => what == Watched::Connections { port: *port },
            Request::Receive { link, .. } => what.is_same(Watched::bytes(*link)),
            Request::ReceiveFrom { port, .. } => what == Watched::Datagrams { port: *port },
            Request::Look { at, .. } => at.iter().any(|watched| watched.is_same(what)),
            _ => false,
        }
    }

    /// What comes of the request if this is there for it.
    fn fitted(&self, answer: &Answer) -> Answer {
        match (self, answer) {
            (Request::Receive { most, .. }, Answer::Bytes(bytes)) => {
                Answer::Bytes(bytes[..bytes.len().min(*most)].to_vec())
            }
            (_, other) => other.clone(),
        }
    }

    /// The request without what makes no difference to what is there for it.
    fn essence(&self) -> Request {
        match self {
            Request::Receive { link, waits, .. } => {
                Request::Receive { link: *link, most: usize::MAX, waits: *waits }
            }
            other => other.clone(),
        }
    }
}

/// What comes of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It was done.
    Done,
    /// These bytes; when offered for [`Request::Receive`], all that are there.
    Bytes(Vec<u8>),
    /// This datagram.
    Datagram {
        /// The port that it came from.
        from: u16,
        /// What it says.
        bytes: Vec<u8>,
    },
    /// This connection was accepted.
    Accepted(Link),
    /// Nothing more comes on the connection.
    End,
    /// The other end broke the connection.
    Reset,
    /// The bytes went to an end that is closed: the program does not see that yet. The datagram went
    /// to a port that does not take it, or not any more.
    Lost,
    /// The listener is closed.
    Refused,
    /// Nothing is there yet, and it does not wait, or no longer.
    Nothing,
    /// How far each of the things is that were looked at.
    Ready(Vec<Readiness>),
    /// It waits for ever.
    Never,
}

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Act {
    /// What was asked.
    pub request: Request,
    /// What came of it.
    pub answer: Answer,
}
