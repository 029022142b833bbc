//! The shim's side of a communication tree: matching reads and writes, without a round trip.

use crate::layout::{Label, Node, State};
use crate::{End, Name, Position, Reader, Run, Sent, Space};
use core::cell::Cell;

/// What came of opening a connection, whenever it was first opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is open, and nothing was sent yet.
    Open(Position),
    /// It was refused by the peer, or no client connected.
    Refused,
}

/// Whether the answer to something sent is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It is, and this is where the connection stands now.
    Hit(Position),
    /// A cache miss: the peer must be asked.
    Miss,
}

/// Whether what is read is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// It is.
    Read,
    /// It can be read again.
    Peek,
}

/// What leads from one node to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Bytes.
    Bytes(Run),
    /// The end of what the program sends.
    End,
    /// So many milliseconds without anything.
    Silence(u32),
}

/// Where a walk along edges ended.
pub(crate) struct Walk {
    /// The last node that was passed.
    pub(crate) node: u32,
    /// How much of what was to be sent leads to that node.
    pub(crate) used: usize,
    /// The edge on which the walk ended, and how much of it was passed, if it ended on one.
    pub(crate) edge: Option<(u32, usize)>,
}

impl<const ROOTS: usize, const NODES: usize, const BYTES: usize> Space<ROOTS, NODES, BYTES> {
    /// What came of opening the connection with this name; `None` if it was never opened.
    pub fn find(&self, name: Name) -> Option<Opening> {
        let root = &self.roots[self.slot(name)?];
        match root.state.get() {
            State::Unused => None,
            State::Open => Some(Opening::Open(Position(root.node.get()))),
            State::Refused => Some(Opening::Refused),
        }
    }

    /// Sends something, if it is known what is answered. Sending no bytes is no step.
    pub fn write(&self, from: Position, sent: Sent<'_>) -> Lookup {
        let end = match sent {
            Sent::Bytes(bytes) => {
                let walk = self.walk(from.0, bytes);
                (walk.used == bytes.len()).then_some(walk.node)
            }
            Sent::End => self.child(from.0, |node| node.label.get() == Label::End),
            Sent::Silence(time) => self.child(from.0, |node| node.is_silence_of(time)),
        };
        match end {
            Some(node) if self.node(node).known.get() => Lookup::Hit(Position(node)),
            _ => Lookup::Miss,
        }
    }

    /// How many bytes can be read now: a response is there once the request for it was sent.
    pub fn readable(&self, reader: Reader, at: Position) -> u64 {
        self.received(at).saturating_sub(reader.0)
    }

    /// Reads what is readable into `out`, as far as it has place, and returns how much that was.
    /// The cost grows with how far the reader lags behind, not with how much was ever sent.
    pub fn read(&self, reader: &mut Reader, at: Position, out: &mut [u8], take: Take) -> usize {
        let start = reader.0;
        let stop = self.received(at).min(start.saturating_add(out.len() as u64)).max(start);
        let count = stop - start;
        let mut node = self.node(at.0);
        let mut missing = stop;
        // The responses along the path, the last one first.
        while missing > start {
            let response = self.cells(node.response.get());
            let before = node.received.get() - response.len() as u64;
            let from = before.max(start);
            if from < missing {
                let part = &response[(from - before) as usize..(missing - before) as usize];
                copy(part, &mut out[(from - start) as usize..]);
                missing = from;
            }
            node = self.node(node.parent.get());
        }
        if take == Take::Read {
            reader.0 += count;
        }
        count as usize
    }

    /// Whether more can come, as the program sees it: not before it has read all there is.
    pub fn end(&self, reader: Reader, at: Position) -> End {
        if self.readable(reader, at) > 0 { End::Open } else { self.peer_end(at) }
    }

    /// Whether more can come from the peer, whatever the program has read.
    pub fn peer_end(&self, at: Position) -> End {
        self.node(at.0).end.get()
    }

    /// How many bytes the peer has sent in all.
    pub fn received(&self, at: Position) -> u64 {
        self.node(at.0).received.get()
    }

    /// How many bytes the program has sent in all.
    pub fn sent(&self, at: Position) -> u64 {
        self.node(at.0).sent.get()
    }

    /// Whether the peer was asked what it answers here.
    pub fn known(&self, at: Position) -> bool {
        self.node(at.0).known.get()
    }

    /// The position before the last edge; `None` for where the connection was opened.
    pub fn parent(&self, at: Position) -> Option<Position> {
        let node = self.node(at.0);
        (node.label.get() != Label::Root).then(|| Position(node.parent.get()))
    }

    /// What was sent to come here from the parent; `None` for where the connection was opened.
    pub fn edge(&self, at: Position) -> Option<Edge> {
        let node = self.node(at.0);
        match node.label.get() {
            Label::Root => None,
            Label::Bytes => Some(Edge::Bytes(node.run.get())),
            Label::End => Some(Edge::End),
            Label::Silence => Some(Edge::Silence(node.run.get().start)),
        }
    }

    /// Whether the peer may send more by itself, after some time.
    pub fn is_timed(&self, at: Position) -> bool {
        self.node(at.0).is_timed.get()
    }

    /// What the peer sent here beyond what it had sent at the parent.
    pub fn response(&self, at: Position) -> Run {
        self.node(at.0).response.get()
    }

    /// The name of the connection.
    pub fn name(&self, at: Position) -> Name {
        let mut node = self.node(at.0);
        while node.label.get() != Label::Root {
            node = self.node(node.parent.get());
        }
        self.roots[node.run.get().start as usize].name.get()
    }

    /// The bytes of a run.
    pub fn bytes(&self, run: Run) -> impl Iterator<Item = u8> {
        self.cells(run).iter().map(Cell::get)
    }

    /// All positions of all trees, in the order in which they were made.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        (1..=self.node_count.get()).map(Position)
    }

    /// The child for which something holds.
    pub(crate) fn child(&self, node: u32, holds: impl Fn(&Node) -> bool) -> Option<u32> {
        let mut child = self.node(node).first_child.get();
        while child != 0 && !holds(self.node(child)) {
            child = self.node(child).next_sibling.get();
        }
        (child != 0).then_some(child)
    }

    /// Follows bytes as far as there are edges.
    pub(crate) fn walk(&self, from: u32, bytes: &[u8]) -> Walk {
        let mut walk = Walk { node: from, used: 0, edge: None };
        while let Some(&first) = bytes.get(walk.used) {
            // No two children begin alike, so there is no second one to try.
            let begins = |node: &Node| {
                let run = node.run.get();
                node.label.get() == Label::Bytes && self.bytes[run.start as usize].get() == first
            };
            let Some(child) = self.child(walk.node, begins) else { break };
            let label = self.cells(self.node(child).run.get());
            let common = common(label, &bytes[walk.used..]);
            if common < label.len() {
                walk.edge = Some((child, common));
                break;
            }
            walk.node = child;
            walk.used += common;
        }
        walk
    }
}

fn copy(from: &[Cell<u8>], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.get();
    }
}

/// How many bytes are equal at the start. Most runs are equal to their end, so blocks are compared
/// as a whole first, which the compiler makes vectors of.
pub(crate) fn common(label: &[Cell<u8>], bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let blocks = label.chunks_exact(BLOCK).zip(bytes.chunks_exact(BLOCK));
    let equal = |(label, bytes): &(&[Cell<u8>], &[u8])| {
        label.iter().zip(*bytes).fold(0, |differs, (a, b)| differs | (a.get() ^ b)) == 0
    };
    let start = blocks.take_while(equal).count() * BLOCK;
    let rest = label[start..].iter().zip(&bytes[start..]);
    start + rest.take_while(|(a, b)| a.get() == **b).count()
}
