//! Errors of peers.

use super::address::Address;
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::time::Duration;

/// Why a peer's answer cannot be had. The text says what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// A command cannot be split into words.
    #[error("the peer {command:?} is not a command: write it as for a shell, with matching quotes")]
    Command {
        /// The command.
        command: String,
    },
    /// A command cannot be started.
    #[error("cannot start the peer {peer}: {error}")]
    Start {
        /// Its command.
        peer: String,
        /// Why not.
        error: io::Error,
    },
    /// A peer ended although it was needed.
    #[error("the peer {peer} {how}{printed}; try it outside the checker")]
    Crashed {
        /// Its command.
        peer: String,
        /// How it ended.
        how: String,
        /// What it printed last.
        printed: Printed,
    },
    /// A peer did not come to rest.
    #[error(
        "{connection} gets no complete answer: after {patience:?}, {peer} still {what}; \
         raise --peer-patience, or make the peer block after its answer instead of polling"
    )]
    Hangs {
        /// Where.
        connection: String,
        /// Its command or process.
        peer: String,
        /// What it does instead.
        what: &'static str,
        /// How long we waited.
        patience: Duration,
    },
    /// A peer may still say something, but not soon.
    #[error(
        "{connection} may still get something: {peer} waits with a timeout that did not expire within \
         {patience:?}, and the program waits for it; raise --peer-patience"
    )]
    Waits {
        /// Where.
        connection: String,
        /// Its command or process.
        peer: String,
        /// How long we waited.
        patience: Duration,
    },
    /// A peer sends more than it can have been asked for.
    #[error(
        "{connection} gets more than {limit} bytes at once; the I/O cache cannot store an endless answer"
    )]
    Floods {
        /// Where.
        connection: String,
        /// The most that we accept.
        limit: usize,
    },
    /// A peer does not listen.
    #[error(
        "the peer {peer} does not listen on {address}, nor anywhere else{printed}; \
         check its command, and the address that the program connects to"
    )]
    NeverListens {
        /// Its command.
        peer: String,
        /// Where the program wants it.
        address: Address,
        /// What it printed last.
        printed: Printed,
    },
    /// A client does not connect.
    #[error(
        "the peer {peer} does not connect to the program{printed}; the program listens on {at}"
    )]
    NeverConnects {
        /// Its command.
        peer: String,
        /// Where the program listens.
        at: String,
        /// What it printed last.
        printed: Printed,
    },
    /// A client connects twice.
    #[error(
        "the peer {peer} opens a second connection, or sends datagrams beside a connection, so its \
         answers depend on more than what is sent on one; give a --peer for each"
    )]
    SecondConnection {
        /// Its command.
        peer: String,
    },
    /// A peer answered something else to the same.
    #[error(
        "{connection} was answered differently after the same {sent} bytes sent: \
         \"{expected}\" before, \"{actual}\" now; the peer must be deterministic \
         (fix its clock, its random numbers, its state between connections)"
    )]
    Differs {
        /// Where.
        connection: String,
        /// After how many bytes.
        sent: u64,
        /// What came before.
        expected: Shown,
        /// What came now.
        actual: Shown,
    },
    /// The program sent something else, and the cache is linear.
    #[error(
        "the linear cache needs the same communication in every schedule, but on {connection}, \
         after {sent} bytes, the program sent \"{expected}\" before and \"{actual}\" now; \
         use the branching cache (--cache branching)"
    )]
    Branches {
        /// Where.
        connection: String,
        /// After how many bytes.
        sent: u64,
        /// What was sent before.
        expected: Shown,
        /// What was sent now.
        actual: Shown,
    },
    /// There is too much to remember.
    #[error("the I/O cache is full; lower --max-executions, or make the peer send less")]
    Full,
    /// The program connects to another machine.
    #[error(
        "connect to {address} is not modelled: it is not on this machine; \
         a peer must be at a loopback address"
    )]
    Elsewhere {
        /// Where it connects to.
        address: Address,
    },
    /// The system refused something.
    #[error("cannot {what} {address}: {error}")]
    System {
        /// What we wanted.
        what: &'static str,
        /// Where.
        address: String,
        /// What it said.
        error: Errno,
    },
}

/// The end of what a peer printed, as part of a message.
#[derive(Debug, Default)]
pub struct Printed(pub(super) String);

impl fmt::Display for Printed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.lines().last() {
            Some(line) => write!(formatter, " (it printed: {line})"),
            None => Ok(()),
        }
    }
}

/// Bytes for a person, the end of a connection included.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What follows them, if it is not more bytes.
    pub then: &'static str,
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 80;
        let shown = &self.bytes[..self.bytes.len().min(MOST)];
        write!(formatter, "{}", shown.escape_ascii())?;
        if self.bytes.len() > MOST {
            write!(formatter, "… ({} bytes)", self.bytes.len())?;
        }
        formatter.write_str(self.then)
    }
}
