//! The states of all nodes, with cached canonical bytes.

use crate::{Canonical, NodeId};
use std::ops::{Deref, Range};

/// The states of the nodes of a network, by number.
///
/// A step changes one node. So the bytes of the state that was read are kept, and a successor is
/// written by copying them around those of the node that changed; and what was changed is undone
/// by reading that node again. The cost of a step hardly grows with the number of nodes.
pub struct Nodes<N> {
    nodes: Vec<N>,
    /// The bytes of the nodes as they were read.
    base: Vec<u8>,
    /// Where the bytes of each node end in `base`; empty if nothing was read yet.
    ends: Vec<usize>,
    /// Which nodes may differ from `base`.
    changed: Changed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changed {
    None,
    One(NodeId),
    Several,
}

impl<N> Deref for Nodes<N> {
    type Target = [N];

    fn deref(&self) -> &[N] {
        &self.nodes
    }
}

impl<N> FromIterator<N> for Nodes<N> {
    fn from_iter<I: IntoIterator<Item = N>>(nodes: I) -> Self {
        let nodes = nodes.into_iter().collect();
        Nodes { nodes, base: Vec::new(), ends: Vec::new(), changed: Changed::Several }
    }
}

impl<N> Nodes<N> {
    /// Adds a node, before anything was read.
    pub(crate) fn push(&mut self, node: N) {
        self.nodes.push(node);
        self.changed = Changed::Several;
    }
}

impl<N> Nodes<N> {
    /// Moves each node to the place of its new name.
    pub(crate) fn permute(&mut self, names: &[NodeId]) {
        let mut places: Vec<Option<N>> = self.nodes.iter().map(|_| None).collect();
        for (node, &name) in self.nodes.drain(..).zip(names) {
            places[usize::from(name)] = Some(node);
        }
        self.nodes.extend(places.into_iter().flatten());
        self.changed = Changed::Several;
    }
}

impl<N: Canonical> Nodes<N> {
    /// A node, to be changed.
    pub(crate) fn change(&mut self, id: NodeId) -> &mut N {
        self.changed = match self.changed {
            Changed::None => Changed::One(id),
            Changed::One(other) if other == id => Changed::One(id),
            _ => Changed::Several,
        };
        &mut self.nodes[id as usize]
    }

    /// Where the bytes of a node are in `base`.
    fn range(&self, id: NodeId) -> Range<usize> {
        let at = id as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start..self.ends[at]
    }

    /// Makes the nodes equal to those of `original`, if `original` was read and not changed since;
    /// how many bytes it was read from.
    pub(crate) fn restore(&mut self, original: &Nodes<N>) -> Option<usize> {
        if original.changed != Changed::None {
            return None;
        }
        match self.changed {
            Changed::None if self.base == original.base => {}
            Changed::One(id) if self.base == original.base => {
                let range = self.range(id);
                self.nodes[id as usize].read(&mut &original.base[range]);
            }
            _ => self.read(&mut &original.base[..]),
        }
        self.changed = Changed::None;
        Some(original.base.len())
    }
}

// How many nodes there are never changes, so it is not written.
impl<N: Canonical> Canonical for Nodes<N> {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self.changed {
            Changed::None => bytes.extend_from_slice(&self.base),
            Changed::One(id) => {
                let range = self.range(id);
                bytes.extend_from_slice(&self.base[..range.start]);
                self.nodes[id as usize].write(bytes);
                bytes.extend_from_slice(&self.base[range.end..]);
            }
            Changed::Several => self.nodes.iter().for_each(|node| node.write(bytes)),
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let whole = *bytes;
        self.ends.clear();
        for node in &mut self.nodes {
            node.read(bytes);
            self.ends.push(whole.len() - bytes.len());
        }
        self.base.clear();
        self.base.extend_from_slice(&whole[..whole.len() - bytes.len()]);
        self.changed = Changed::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(nodes: &[Vec<u32>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        nodes.iter().for_each(|node| node.write(&mut bytes));
        bytes
    }

    fn written(nodes: &Nodes<Vec<u32>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        nodes.write(&mut bytes);
        bytes
    }

    fn states() -> impl Strategy<Value = Vec<Vec<u32>>> {
        prop::collection::vec(prop::collection::vec(0..300u32, 0..3), 3)
    }

    proptest! {
        /// Whatever is read, changed and restored in whatever order: the bytes are those of the
        /// nodes, and a restored state is the original.
        #[test]
        fn the_bytes_are_always_those_of_the_nodes(
            original in states(),
            other in states(),
            changes in prop::collection::vec((0..3u16, 0..300u32), 0..3),
            read_other: bool,
        ) {
            let mut model = original.clone();
            let mut first: Nodes<_> = original.iter().cloned().collect();
            let mut second: Nodes<_> = other.iter().cloned().collect();
            prop_assert_eq!(written(&first), plain(&original));
            prop_assert_eq!(second.restore(&first), None);
            first.read(&mut &plain(&original)[..]);
            if read_other {
                second.read(&mut &plain(&other)[..]);
            }
            for round in [&changes[..], &changes[..1.min(changes.len())]] {
                prop_assert_eq!(second.restore(&first), Some(plain(&original).len()));
                prop_assert_eq!(&second[..], &original[..]);
                model.clone_from(&original);
                for &(id, value) in round {
                    second.change(id).push(value);
                    model[id as usize].push(value);
                    prop_assert_eq!(&second[..], &model[..]);
                    prop_assert_eq!(written(&second), plain(&model));
                }
            }
        }
    }
}
