//! The packets in flight: a multiset or a list.

use crate::{Canonical, Kind, MultisetSketch, NodeId, Options};

/// A packet in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<P> {
    /// Who sent it.
    pub from: NodeId,
    /// Its receiver.
    pub to: NodeId,
    /// The packet.
    pub packet: P,
}

impl<P: Canonical> Canonical for Envelope<P> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.from.write(bytes);
        self.to.write(bytes);
        self.packet.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.from.read(bytes);
        self.to.read(bytes);
        self.packet.read(bytes);
    }
}

/// The packets that were sent and neither delivered nor lost.
///
/// An event acts on a packet of its kind at its node; which ones it can choose from is up to the
/// cloud. [`Pool`](crate::Pool) lets it choose any, [`List`](crate::List) only the oldest.
pub trait Cloud<P>: Canonical + Send {
    /// Whether a cloud with more packets can do whatever one with fewer can, and
    /// [`Cloud::includes`] tells which has more.
    const RELATED: bool;

    /// Whether it does not matter in which order packets are put and taken, unless they have the same
    /// receiver and one of them is put and taken.
    const COMMUTES: bool = false;

    /// A cloud without packets.
    fn new(options: &Options) -> Self;

    /// Adds a packet.
    fn put(&mut self, from: NodeId, to: NodeId, packet: P);

    /// How many packets of a kind an event at node `to` can choose from.
    fn choices(&self, to: NodeId, kind: &Kind<P>) -> u32;

    /// One of them.
    fn look(&self, to: NodeId, kind: &Kind<P>, choice: u32) -> Option<Envelope<P>>;

    /// One of them, taken out of the cloud.
    fn take(&mut self, to: NodeId, kind: &Kind<P>, choice: u32) -> Option<Envelope<P>>;

    /// Puts one of them there once more. Where packets keep their order, the copy comes next.
    fn duplicate(&mut self, to: NodeId, kind: &Kind<P>, choice: u32) {
        if let Some(copy) = self.look(to, kind, choice) {
            self.put(copy.from, copy.to, copy.packet);
        }
    }

    /// Loses the packets of which `dead` is true.
    fn lose(&mut self, dead: impl FnMut(&Envelope<P>) -> bool);

    /// All packets, in the order in which the cloud keeps them.
    fn envelopes(&self) -> impl Iterator<Item = Envelope<P>>;

    /// The sketch of the multiset of packets in `bytes`: a cloud that includes another has a sketch
    /// that may include the other's.
    fn sketch(_bytes: &[u8]) -> MultisetSketch {
        MultisetSketch::default()
    }

    /// Whether the cloud that wrote `larger` holds every packet of the one that wrote `smaller`,
    /// as often as it does.
    fn includes(larger: &[u8], smaller: &[u8]) -> bool {
        larger == smaller
    }
}
