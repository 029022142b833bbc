//! The state of a whole network.

use crate::{Canonical, Cloud, Scenario};

/// All nodes and the packets between them.
///
/// Its bytes are those of the nodes, in order, and then those of the cloud. In front of them, if
/// more packets make more possible, two bytes say how many bytes (those two included) come before
/// the cloud, lower byte first: that far two states must agree for one to simulate the other.
pub struct World<P: Scenario> {
    /// The nodes, by number.
    pub nodes: Vec<P::Node>,
    /// The packets in flight.
    pub cloud: P::Cloud,
}

/// How many bytes tell the length of the key.
const PREFIX: usize = 2;

/// The length of the key at the front of the bytes of a world.
#[inline]
pub(crate) fn key_len(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}

impl<P: Scenario> Canonical for World<P> {
    // How many nodes there are never changes, so it is not written.
    fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        if P::Cloud::RELATED {
            bytes.extend_from_slice(&[0; PREFIX]);
        }
        self.nodes.iter().for_each(|node| node.write(bytes));
        if P::Cloud::RELATED {
            let length = u16::try_from(bytes.len() - start).expect("nodes of at most 64 KiB");
            bytes[start..start + PREFIX].copy_from_slice(&length.to_le_bytes());
        }
        self.cloud.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        if P::Cloud::RELATED {
            *bytes = &bytes[PREFIX..];
        }
        self.nodes.iter_mut().for_each(|node| node.read(bytes));
        self.cloud.read(bytes);
    }
}
