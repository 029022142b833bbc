//! Joint states: programs that talk to each other, each explored on its own.
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
//! ([`Side::offers`]). Which these are follows from histories of all sides held against each other
//! ([`Joint::compare`]): bytes that another side can have sent without having to wait for what comes
//! after the request. New answers make the side be explored again, until there are none.
//!
//! Answers are offered if *causality* allows them. Whether histories really happened together, with
//! bytes that had not arrived yet and connections that were already closed, is settled for those
//! that somebody wants to report, by performing them one after the other
//! ([`Combination::linearise`]) on a model of the network ([`Network`]).

mod combination;
pub mod failures;
mod linearise;
mod network;
mod rounds;
mod script;
mod set;
mod side;

pub use combination::Combination;
pub use linearise::{Linearised, Performed};
pub use network::Network;
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
    pub port: u16,
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
        port: u16,
        /// How many may wait.
        backlog: usize,
    },
    /// Not to be connected to any more. Connections that wait are closed.
    Unlisten {
        /// Where.
        port: u16,
    },
    /// A new connection.
    Connect(Link),
    /// The connection that has waited longest.
    Accept {
        /// Where.
        port: u16,
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
    },
    /// To tell the other end that nothing more will be sent.
    Shut(Link),
    /// To be rid of this end.
    Close(Link),
}

impl Request {
    /// Whether others decide what comes of it, and it may wait for them.
    pub fn waits(&self) -> bool {
        matches!(self, Request::Connect(_) | Request::Accept { .. } | Request::Receive { .. })
    }

    /// The connection it is about, if it is about one that exists.
    pub fn link(&self) -> Option<Link> {
        match *self {
            Request::Send { link, .. }
            | Request::Receive { link, .. }
            | Request::Shut(link)
            | Request::Close(link) => Some(link),
            _ => None,
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
            Request::Receive { link, .. } => Request::Receive { link: *link, most: usize::MAX },
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
    /// This connection was accepted.
    Accepted(Link),
    /// Nothing more comes on the connection.
    End,
    /// The other end broke the connection.
    Reset,
    /// The bytes went to an end that is closed: the program does not see that yet.
    Lost,
    /// Nobody listens there any more.
    Refused,
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
