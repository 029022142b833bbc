//! A network that keeps packets in the order of sending.

use crate::{Canonical, Cloud, Envelope, Kind, NodeId, Options};

/// Packets in the order of sending; an event acts on the oldest of its kind.
///
/// The order is part of the state: two lists with the same packets in another order differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<P> {
    envelopes: Vec<Envelope<P>>,
}

impl<P> List<P> {
    /// The packets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Envelope<P>> {
        self.envelopes.iter()
    }

    /// The oldest packet to `to` of which `kind` is true.
    pub fn first(&self, to: NodeId, kind: impl Fn(&P) -> bool) -> Option<&P> {
        self.iter().find(|e| e.to == to && kind(&e.packet)).map(|envelope| &envelope.packet)
    }

    fn oldest(&self, to: NodeId, kind: &Kind<P>) -> Option<usize> {
        self.envelopes.iter().position(|e| e.to == to && kind.is(&e.packet))
    }
}

impl<P: Canonical + Clone + Default + Send> Cloud<P> for List<P> {
    const RELATED: bool = false;

    fn new(_options: &Options) -> Self {
        List { envelopes: Vec::new() }
    }

    fn put(&mut self, from: NodeId, to: NodeId, packet: P) {
        self.envelopes.push(Envelope { from, to, packet });
    }

    fn choices(&self, to: NodeId, kind: &Kind<P>) -> u32 {
        u32::from(self.oldest(to, kind).is_some())
    }

    fn look(&self, to: NodeId, kind: &Kind<P>, _choice: u32) -> Option<Envelope<P>> {
        Some(self.envelopes[self.oldest(to, kind)?].clone())
    }

    fn take(&mut self, to: NodeId, kind: &Kind<P>, _choice: u32) -> Option<Envelope<P>> {
        let at = self.oldest(to, kind)?;
        Some(self.envelopes.remove(at))
    }

    fn duplicate(&mut self, to: NodeId, kind: &Kind<P>, _choice: u32) {
        if let Some(at) = self.oldest(to, kind) {
            self.envelopes.insert(at, self.envelopes[at].clone());
        }
    }

    fn lose(&mut self, mut dead: impl FnMut(&Envelope<P>) -> bool) {
        self.envelopes.retain(|envelope| !dead(envelope));
    }

    fn envelopes(&self) -> impl Iterator<Item = Envelope<P>> {
        self.envelopes.iter().cloned()
    }
}

impl<P: Canonical + Default> Canonical for List<P> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.envelopes.write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.envelopes.read(bytes);
    }
}
