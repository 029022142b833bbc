//! Communication trees: what a program sent to its peers, and what they answered.
//!
//! A program under the checker is restored and run again all the time; the peers it talks to are
//! real and must never notice. So each logical connection has a tree of everything that was ever
//! sent on it in some execution. A program that repeats what it sent before walks down the tree
//! and reads what the peer answered then; only what was never sent reaches the peer.
//!
//! - [`Memory`]: all trees, in memory that the program's process and the checker share.
//! - [`Position`] and [`Reader`]: where a connection stands in the present execution. They are a
//!   few bytes that are restored with the program, while the trees only grow.
//! - Walking ([`Space::find`], [`Space::write`], [`Space::read`]) is what happens inside the
//!   program; a [`Lookup::Miss`] is what the checker must find out from the peer.
//! - Growing ([`Space::open`], [`Space::grow`], [`Space::answer`]) is how the checker writes
//!   down what it found out.
//!
//! After Artho et al., *Cache-based model checking of networked applications: from linear to
//! branching time* (2009), algorithms 1 to 6, and, for [`Mode::Linear`], Artho et al., *Efficient
//! model checking of networked applications* (2008), algorithms 1 to 5. We depart from them thus:
//!
//! - Messages have any size. An edge is a run of bytes; what is common to two runs is one edge, so
//!   that the children of a node differ in their first byte. A node in the middle of what was
//!   written at once is not [known](Space::known) until somebody asks the peer what it answers
//!   there.
//! - Only what the program writes makes nodes; what the peer answers belongs to the node, since it
//!   follows from what was written. `response` of the papers is therefore a count of bytes
//!   ([`Space::received`]), and a [`Reader`] is a count as well, not a pointer to a node.
//! - Half-closing a connection is an edge like any other ([`Sent::End`]), and the end of what a
//!   peer sends is part of its answer ([`End`]).
//! - Time is an edge, too ([`Sent::Silence`]), if a peer says something after it without being asked.
//! - The linear cache is the branching one with branching refused. It accepts that a connection is
//!   closed earlier than before, which algorithm 5 of 2008 does not: nothing is lost by it.
//!
//! Nothing here allocates, waits or knows sockets. Trees of datagrams would be trees of other
//! edges, over the same memory.

#![no_std]

#[cfg(feature = "joint")]
extern crate std;

mod grow;
#[cfg(feature = "joint")]
pub mod joint;
mod layout;
mod walk;

pub use grow::{Error, Mode};
pub use layout::{MAX_BYTES, MAX_NODES, MAX_ROOTS, Memory, Space};
pub use walk::{Edge, Lookup, Opening, Take};

/// What names a logical connection, in every schedule alike: whatever the caller puts together
/// from its direction, where it leads to, who made it and which one of these it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Name(pub [u64; 4]);

/// Where the writing side of a connection stands: after all that was sent. It stays valid however
/// the trees grow, until they are [cleared](Space::clear).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Position(u32);

impl Position {
    /// The position as a number, for state that holds plain words.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// The position with this number, which must come from [`Position::word`].
    pub const fn from_word(word: u32) -> Self {
        Position(word)
    }
}

/// How much of what the peer sent on a connection the program has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Reader(pub u64);

/// Whether more can come from a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// It may send more.
    #[default]
    Open,
    /// It has closed its side in good order.
    Closed,
    /// It has reset the connection.
    Reset,
}

/// What a program sends in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent<'a> {
    /// Bytes, at least one.
    Bytes(&'a [u8]),
    /// That there will be no more of them.
    End,
    /// Nothing, for so many milliseconds: a peer may say something by itself then.
    Silence(u32),
}

/// A run of bytes in the memory: what [`Space::bytes`] reads. It is one word, so that whoever reads
/// it while it changes sees the old one or the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Run {
    start: u32,
    length: u32,
}

impl Run {
    /// How many bytes there are.
    pub const fn len(self) -> usize {
        self.length as usize
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// The first `count` bytes, which must be there.
    const fn first(self, count: usize) -> Run {
        Run { start: self.start, length: count as u32 }
    }

    /// All but the first `count` bytes, which must be there.
    const fn skip(self, count: usize) -> Run {
        Run { start: self.start + count as u32, length: self.length - count as u32 }
    }
}
