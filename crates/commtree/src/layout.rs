//! The layout of communication trees in shared memory.

use crate::{End, Name, Run};
use core::cell::Cell;

/// How many logical connections there may be.
pub const MAX_ROOTS: usize = 1 << 12;
/// How many nodes all trees may have.
pub const MAX_NODES: usize = 1 << 19;
/// How many bytes may be sent and received along all paths.
pub const MAX_BYTES: usize = 1 << 27;

/// All trees of a program. As they are mapped, most of the memory is never touched.
pub type Memory = Space<MAX_ROOTS, MAX_NODES, MAX_BYTES>;

/// Trees of limited number and size. All zeros is the empty value.
#[derive(Debug)]
#[repr(C)]
pub struct Space<const ROOTS: usize, const NODES: usize, const BYTES: usize> {
    pub(crate) root_count: Cell<u32>,
    /// The first node is never used: its number says that there is none.
    pub(crate) node_count: Cell<u32>,
    pub(crate) byte_count: Cell<u32>,
    /// A table by the hash of the name, searched upwards.
    pub(crate) roots: [Root; ROOTS],
    pub(crate) nodes: [Node; NODES],
    pub(crate) bytes: [Cell<u8>; BYTES],
}

/// What became of opening a connection.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Root {
    pub(crate) name: Cell<Name>,
    pub(crate) state: Cell<State>,
    /// The node in which nothing was sent yet.
    pub(crate) node: Cell<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum State {
    Unused,
    Open,
    Refused,
}

/// All that was sent along one path.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Node {
    /// The root of the tree has none.
    pub(crate) parent: Cell<u32>,
    pub(crate) first_child: Cell<u32>,
    pub(crate) next_sibling: Cell<u32>,
    pub(crate) label: Cell<Label>,
    /// Whether the peer was asked for the response.
    pub(crate) known: Cell<bool>,
    /// Whether the peer may send more by itself, after some time.
    pub(crate) is_timed: Cell<bool>,
    pub(crate) end: Cell<End>,
    /// What was sent from the parent to here; empty unless the label is [`Label::Bytes`].
    pub(crate) run: Cell<Run>,
    /// What the peer sent beyond what it had sent at the parent.
    pub(crate) response: Cell<Run>,
    /// How much was sent from the root to here.
    pub(crate) sent: Cell<u64>,
    /// How much the peer sent from the root to here.
    pub(crate) received: Cell<u64>,
}

/// What leads to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Label {
    /// Nothing: it is a root. The number of its name is in `run`.
    Root,
    Bytes,
    /// The program half-closed the connection.
    End,
    /// The program sent nothing for so many milliseconds: they are in `run`.
    Silence,
}

impl Root {
    const fn empty() -> Self {
        Root { name: Cell::new(Name([0; 4])), state: Cell::new(State::Unused), node: Cell::new(0) }
    }
}

impl Node {
    const fn empty() -> Self {
        Node {
            parent: Cell::new(0),
            first_child: Cell::new(0),
            next_sibling: Cell::new(0),
            label: Cell::new(Label::Root),
            known: Cell::new(false),
            is_timed: Cell::new(false),
            end: Cell::new(End::Open),
            run: Cell::new(Run { start: 0, length: 0 }),
            response: Cell::new(Run { start: 0, length: 0 }),
            sent: Cell::new(0),
            received: Cell::new(0),
        }
    }
}

impl<const ROOTS: usize, const NODES: usize, const BYTES: usize> Space<ROOTS, NODES, BYTES> {
    /// No trees. For small spaces only, since it lies on the stack.
    pub const fn empty() -> Self {
        Space {
            root_count: Cell::new(0),
            node_count: Cell::new(0),
            byte_count: Cell::new(0),
            roots: [const { Root::empty() }; ROOTS],
            nodes: [const { Node::empty() }; NODES],
            bytes: [const { Cell::new(0) }; BYTES],
        }
    }

    pub(crate) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    pub(crate) fn cells(&self, run: Run) -> &[Cell<u8>] {
        &self.bytes[run.start as usize..][..run.len()]
    }

    /// The place of a name in the table of roots: where it is, or where it would be. `None` if it
    /// is not there and the table is full.
    pub(crate) fn slot(&self, name: Name) -> Option<usize> {
        let start = hash(name) as usize % ROOTS;
        let places = (0..ROOTS).map(|step| (start + step) % ROOTS);
        places.into_iter().find(|&place| {
            let root = &self.roots[place];
            root.state.get() == State::Unused || root.name.get() == name
        })
    }
}

/// Names differ in a few bits of any of their words; what matters is that all of them count.
fn hash(name: Name) -> u64 {
    let mixed = name.0.iter().fold(0_u64, |hash, &word| {
        (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    mixed >> 32
}
