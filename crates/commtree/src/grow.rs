//! The checker's side of a communication tree: adding the answers of a peer.

use crate::layout::{Label, Node, State};
use crate::walk::common;
use crate::{End, Name, Position, Run, Sent, Space};
use core::sync::atomic::{Ordering, fence};

/// Whether a connection may go on in different ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It may: the branching-time cache.
    #[default]
    Branching,
    /// In every schedule, the same must be sent: the linear-time cache.
    Linear,
}

/// Why a tree cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no memory left for more.
    Full,
    /// The cache is linear, and something else was sent before.
    Branches {
        /// The node that was reached by what was sent before.
        expected: Position,
        /// How many of the bytes that lead there are the same.
        same: usize,
    },
    /// The peer did not answer as it had answered when more was sent at once.
    Differs {
        /// Where its answer was known before.
        known: Position,
    },
}

impl<const ROOTS: usize, const NODES: usize, const BYTES: usize> Space<ROOTS, NODES, BYTES> {
    /// Forgets everything.
    pub fn clear(&self) {
        self.roots.iter().for_each(|root| root.state.set(State::Unused));
        self.root_count.set(0);
        self.node_count.set(0);
        self.byte_count.set(0);
    }

    /// Makes the tree of a connection that was opened; what the peer sends at once is not known.
    /// A connection that is in the memory already is only found.
    pub fn open(&self, name: Name) -> Result<Position, Error> {
        let slot = self.slot(name).ok_or(Error::Full)?;
        let root = &self.roots[slot];
        if root.state.get() == State::Open {
            return Ok(Position(root.node.get()));
        }
        let node = self.add_node()?;
        self.node(node).run.set(Run { start: slot as u32, length: 0 });
        root.node.set(node);
        self.set_root(slot, name, State::Open)?;
        Ok(Position(node))
    }

    /// Remembers that a connection could not be opened.
    pub fn refuse(&self, name: Name) -> Result<(), Error> {
        let slot = self.slot(name).ok_or(Error::Full)?;
        self.set_root(slot, name, State::Refused)
    }

    fn set_root(&self, slot: usize, name: Name, state: State) -> Result<(), Error> {
        let root = &self.roots[slot];
        if root.state.get() == State::Unused {
            // A table that is nearly full is slow to search.
            if self.root_count.get() as usize >= ROOTS / 8 * 7 {
                return Err(Error::Full);
            }
            self.root_count.set(self.root_count.get() + 1);
        }
        root.name.set(name);
        publish();
        root.state.set(state);
        Ok(())
    }

    /// Makes the node that is reached by sending something, if there is none; whether it is
    /// [known](Space::known) is another matter.
    pub fn grow(&self, from: Position, sent: Sent<'_>, mode: Mode) -> Result<Position, Error> {
        let (at, rest) = match sent {
            Sent::Bytes(bytes) => self.split(from.0, bytes, mode)?,
            Sent::End => match self.child(from.0, |node| node.label.get() == Label::End) {
                Some(node) => return Ok(Position(node)),
                None => (from.0, &[][..]),
            },
            Sent::Silence(time) => match self.child(from.0, |node| node.is_silence_of(time)) {
                Some(node) => return Ok(Position(node)),
                None => (from.0, &[][..]),
            },
        };
        if rest.is_empty() && matches!(sent, Sent::Bytes(_)) {
            return Ok(Position(at));
        }
        let first = self.node(at).first_child.get();
        let is_sent = |node: &Node| node.label.get() != Label::Silence;
        if mode == Mode::Linear
            && !matches!(sent, Sent::Silence(_))
            && let Some(expected) = self.child(at, is_sent)
        {
            return Err(Error::Branches { expected: Position(expected), same: 0 });
        }
        let (label, run) = match sent {
            Sent::Bytes(_) => (Label::Bytes, self.keep(rest)?),
            Sent::End => (Label::End, Run::default()),
            Sent::Silence(time) => (Label::Silence, Run { start: time, length: 0 }),
        };
        let node = self.add_node()?;
        let (parent, child) = (self.node(at), self.node(node));
        child.label.set(label);
        child.run.set(run);
        child.sent.set(parent.sent.get() + rest.len() as u64);
        child.received.set(parent.received.get());
        child.parent.set(at);
        child.next_sibling.set(first);
        publish();
        parent.first_child.set(node);
        Ok(Position(node))
    }

    /// The node from which a new edge leads on, and what is left for that edge; splits the edge in
    /// whose middle that is.
    fn split<'b>(&self, from: u32, bytes: &'b [u8], mode: Mode) -> Result<(u32, &'b [u8]), Error> {
        let walk = self.walk(from, bytes);
        let Some((lower, same)) = walk.edge else { return Ok((walk.node, &bytes[walk.used..])) };
        let rest = &bytes[walk.used + same..];
        if mode == Mode::Linear && !rest.is_empty() {
            return Err(Error::Branches { expected: Position(lower), same });
        }
        let middle = self.add_node()?;
        let (upper, node, child) = (self.node(walk.node), self.node(middle), self.node(lower));
        let run = child.run.get();
        node.label.set(Label::Bytes);
        node.run.set(run.first(same));
        node.sent.set(upper.sent.get() + same as u64);
        node.received.set(upper.received.get());
        node.parent.set(walk.node);
        node.first_child.set(lower);
        node.next_sibling.set(child.next_sibling.get());
        publish();
        self.replace_child(upper, lower, middle);
        publish();
        child.run.set(run.skip(same));
        child.parent.set(middle);
        child.next_sibling.set(0);
        Ok((middle, rest))
    }

    fn replace_child(&self, parent: &Node, old: u32, new: u32) {
        let mut link = &parent.first_child;
        while link.get() != old {
            link = &self.node(link.get()).next_sibling;
        }
        link.set(new);
    }

    /// Writes down what the peer sent between the known position `since` and `at`, which is below
    /// it; for a connection that was just opened, both are its root. All that is known already must
    /// agree: what it sent on the way, what it sent here, and what it sends when more is sent at
    /// once, which must begin with this.
    pub fn answer(
        &self,
        since: Position,
        at: Position,
        response: &[u8],
        end: End,
    ) -> Result<(), Error> {
        let node = self.node(at.0);
        let Some(fresh) = self.beyond(since, at, response) else {
            return Err(Error::Differs { known: self.last_known(at) });
        };
        if node.known.get() {
            let same = fresh.is_empty() && node.end.get() == end;
            return if same { Ok(()) } else { Err(Error::Differs { known: at }) };
        }
        self.below(at.0, |below| {
            let had = self.node(below);
            let over = end == End::Open
                || (had.end.get() != End::Open && had.response.get().len() == fresh.len());
            let begins = common(self.cells(had.response.get()), fresh) == fresh.len();
            let differs = had.known.get() && !(begins && over);
            if differs { Err(Error::Differs { known: Position(below) }) } else { Ok(()) }
        })?;
        let run = self.keep(fresh)?;
        node.received.set(node.received.get() + fresh.len() as u64);
        node.response.set(run);
        node.end.set(end);
        publish();
        self.below(at.0, |below| {
            let had = self.node(below);
            if had.known.get() {
                had.response.set(had.response.get().skip(fresh.len()));
            } else {
                had.received.set(node.received.get());
            }
            Ok(())
        })?;
        publish();
        node.known.set(true);
        Ok(())
    }

    /// Notes whether the peer may send more by itself after some time; to be called before the
    /// position becomes known.
    pub fn set_timed(&self, at: Position, is_timed: bool) {
        self.node(at.0).is_timed.set(is_timed);
    }

    /// What a response since `since` has beyond what is known of the way to `at`; `None` if it does
    /// not begin with that.
    fn beyond<'r>(&self, since: Position, at: Position, response: &'r [u8]) -> Option<&'r [u8]> {
        let start = if since == at { 0 } else { self.received(since) };
        let (known, fresh) = response.split_at_checked((self.received(at) - start) as usize)?;
        let (mut rest, mut node) = (known, at.0);
        while !rest.is_empty() {
            let had = self.cells(self.node(node).response.get());
            let split = rest.len().checked_sub(had.len())?;
            if common(had, &rest[split..]) != had.len() {
                return None;
            }
            rest = &rest[..split];
            node = self.node(node).parent.get();
        }
        Some(fresh)
    }

    /// The nearest known position at or above this one.
    pub fn last_known(&self, mut at: Position) -> Position {
        while !self.known(at) {
            match self.parent(at) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// Visits everything below a node down to the first known nodes, these included.
    fn below(&self, top: u32, visit: impl Fn(u32) -> Result<(), Error>) -> Result<(), Error> {
        let mut at = self.node(top).first_child.get();
        while at != 0 {
            visit(at)?;
            let node = self.node(at);
            let down = if node.known.get() { 0 } else { node.first_child.get() };
            at = if down != 0 { down } else { self.after(at, top) };
        }
        Ok(())
    }

    /// The node that a walk over the tree below `top` visits next, once all below `at` was visited.
    fn after(&self, mut at: u32, top: u32) -> u32 {
        while at != top {
            match self.node(at).next_sibling.get() {
                0 => at = self.node(at).parent.get(),
                next => return next,
            }
        }
        0
    }

    fn add_node(&self) -> Result<u32, Error> {
        let number = self.node_count.get() + 1;
        let node = self.nodes.get(number as usize).ok_or(Error::Full)?;
        // It may have been used before everything was forgotten.
        node.reset();
        self.node_count.set(number);
        Ok(number)
    }

    fn keep(&self, bytes: &[u8]) -> Result<Run, Error> {
        let start = self.byte_count.get() as usize;
        let place = self.bytes.get(start..start + bytes.len()).ok_or(Error::Full)?;
        place.iter().zip(bytes).for_each(|(to, &from)| to.set(from));
        self.byte_count.set((start + bytes.len()) as u32);
        Ok(Run { start: start as u32, length: bytes.len() as u32 })
    }
}

/// What was written until now is seen before what is written from now on. Several programs may walk
/// the trees while the checker lets them grow for another one. In between, a walk may miss what is
/// there, and then the checker is asked and finds it; it never finds what is not there.
fn publish() {
    fence(Ordering::Release);
}

impl Node {
    /// Whether nothing was sent for so many milliseconds before it.
    pub(crate) fn is_silence_of(&self, time: u32) -> bool {
        self.label.get() == Label::Silence && self.run.get().start == time
    }

    /// Makes it as it is in memory of zeros.
    fn reset(&self) {
        let Node { parent, first_child, next_sibling, .. } = self;
        [parent, first_child, next_sibling].into_iter().for_each(|link| link.set(0));
        self.label.set(Label::Root);
        self.known.set(false);
        self.is_timed.set(false);
        self.end.set(End::Open);
        self.run.set(Run::default());
        self.response.set(Run::default());
        self.sent.set(0);
        self.received.set(0);
    }
}
