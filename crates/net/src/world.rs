//! The state of a whole network: all nodes and the packets in flight.

use crate::{Canonical, Cloud, FaultState, Nodes, Property, Scenario};

/// All nodes and the packets between them.
///
/// Its bytes are those of the nodes, in order, of the ghost state and of the faults, and then those of
/// the cloud. In front of them, if
/// more packets make more possible, two bytes say how many bytes (those two included) come before
/// the cloud, lower byte first: that far two states must agree for one to simulate the other.
pub struct World<P: Scenario> {
    /// The nodes, by number.
    pub nodes: Nodes<P::Node>,
    /// The state that only the specification sees.
    pub ghost: P::Ghost,
    /// What faults have done.
    pub faults: FaultState,
    /// The packets in flight.
    pub cloud: P::Cloud,
}

/// The invariant that `check` accepts the nodes, whatever is in flight; its error says why not.
///
/// Only with such properties does the [relation of a network](crate::Pool) prune: one that also looks at
/// the packets, as [`Property::new`] may, can be violated in a state that is pruned because another has
/// the same nodes and more packets.
pub fn of_nodes<P: Scenario + 'static>(
    name: impl Into<String>,
    check: impl Fn(&[P::Node]) -> Result<(), String> + Send + Sync + 'static,
) -> Property<World<P>> {
    Property::new(name, move |world: &World<P>| check(&world.nodes)).respecting_relation()
}

/// The invariant that `check` accepts the nodes and the ghost state, whatever is in flight; its error
/// says why not. As with [`of_nodes`], the relation prunes.
pub fn of_nodes_and_ghost<P: Scenario + 'static>(
    name: impl Into<String>,
    check: impl Fn(&[P::Node], &P::Ghost) -> Result<(), String> + Send + Sync + 'static,
) -> Property<World<P>> {
    let check = move |world: &World<P>| check(&world.nodes, &world.ghost);
    Property::new(name, check).respecting_relation()
}

/// The length of the key at the front of the bytes of a world.
#[inline]
pub(crate) fn key_len(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}

impl<P: Scenario> World<P> {
    /// How many bytes tell the length of the key.
    const PREFIX: usize = if P::Cloud::RELATED { 2 } else { 0 };

    /// Makes the world equal to `original`, whose bytes are `bytes`.
    pub(crate) fn restore(&mut self, original: &Self, bytes: &[u8]) {
        match self.nodes.restore(&original.nodes) {
            Some(length) => self.read_rest(&mut &bytes[Self::PREFIX + length..]),
            None => self.read(&mut &bytes[..]),
        }
    }

    /// Reads what comes after the nodes.
    fn read_rest(&mut self, bytes: &mut &[u8]) {
        self.ghost.read(bytes);
        self.faults.read(bytes);
        self.cloud.read(bytes);
    }
}

impl<P: Scenario> Canonical for World<P> {
    fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 2][..Self::PREFIX]);
        self.nodes.write(bytes);
        self.ghost.write(bytes);
        self.faults.write(bytes);
        if P::Cloud::RELATED {
            let length = u16::try_from(bytes.len() - start).expect("nodes of at most 64 KiB");
            bytes[start..start + 2].copy_from_slice(&length.to_le_bytes());
        }
        self.cloud.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        *bytes = &bytes[Self::PREFIX..];
        self.nodes.read(bytes);
        self.read_rest(bytes);
    }
}
