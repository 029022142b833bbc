//! The packets in flight.

use crate::NodeId;
use everypath_explore::Canonical;

/// A packet on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<P> {
    /// Who sent it.
    pub from: NodeId,
    /// Who is to receive it.
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

/// The packets that were sent and neither delivered nor lost, in the order of sending.
///
/// The order is part of the state: two clouds with the same packets in another order differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cloud<P> {
    envelopes: Vec<Envelope<P>>,
}

impl<P> Cloud<P> {
    /// The packets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Envelope<P>> {
        self.envelopes.iter()
    }

    /// The oldest packet to `to` of which `kind` is true.
    pub fn first(&self, to: NodeId, kind: impl Fn(&P) -> bool) -> Option<&P> {
        self.iter().find(|e| e.to == to && kind(&e.packet)).map(|envelope| &envelope.packet)
    }

    /// Takes the oldest packet to `to` of which `kind` is true out of the cloud.
    pub fn take_first(&mut self, to: NodeId, kind: impl Fn(&P) -> bool) -> Option<Envelope<P>> {
        let at = self.envelopes.iter().position(|e| e.to == to && kind(&e.packet))?;
        Some(self.envelopes.remove(at))
    }

    /// What node `from` sends through.
    pub fn outbox(&mut self, from: NodeId) -> Outbox<'_, P> {
        Outbox { from, cloud: self }
    }
}

impl<P: Canonical + Default> Canonical for Cloud<P> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.envelopes.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.envelopes.read(bytes);
    }
}

/// Through which a handler sends.
pub struct Outbox<'a, P> {
    from: NodeId,
    cloud: &'a mut Cloud<P>,
}

impl<P> Outbox<'_, P> {
    /// Sends a packet to one node.
    pub fn send(&mut self, to: NodeId, packet: P) {
        self.cloud.envelopes.push(Envelope { from: self.from, to, packet });
    }
}
