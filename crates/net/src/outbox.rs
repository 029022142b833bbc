//! The `Context` of handlers in exploration.

use crate::choices::Choices;
use crate::faults::FaultState;
use crate::{Cloud, Context, NodeId, Report, Scenario};
use std::time::Duration;

/// What handlers act on in exploration: packets go into the cloud, and delays mean nothing.
pub(crate) struct Outbox<'a, P: Scenario> {
    pub(crate) id: NodeId,
    pub(crate) neighbours: &'a [NodeId],
    pub(crate) cloud: &'a mut P::Cloud,
    pub(crate) ghost: &'a mut P::Ghost,
    pub(crate) faults: &'a FaultState,
    pub(crate) choices: &'a mut Choices,
}

/// What is wrong with a packet to a node that is no neighbour: an error of the protocol.
pub(crate) fn no_neighbour(from: NodeId, to: NodeId) -> String {
    format!("node {from} sends a packet to node {to}, which is no neighbour")
}

impl<P: Scenario> Context<P> for Outbox<'_, P> {
    fn id(&self) -> NodeId {
        self.id
    }

    fn neighbours(&self) -> &[NodeId] {
        self.neighbours
    }

    fn send(&mut self, to: NodeId, packet: P::Packet) {
        assert!(self.neighbours.contains(&to), "{}", no_neighbour(self.id, to));
        if !self.faults.parts(self.id, to) {
            self.cloud.put(self.id, to, packet);
        }
    }

    fn broadcast(&mut self, packet: P::Packet) {
        for &to in self.neighbours {
            if !self.faults.parts(self.id, to) {
                self.cloud.put(self.id, to, packet.clone());
            }
        }
    }

    fn choose(&mut self, among: u32) -> u32 {
        assert!(P::CHOOSES, "a handler chooses: declare `const CHOOSES: bool = true` in Scenario");
        self.choices.choose(among)
    }

    fn ghost(&mut self, change: impl FnOnce(&mut P::Ghost)) {
        change(self.ghost);
    }

    // The state of the node determines which timers are active.
    fn set(&mut self, _timer: P::Timer, _delay: Duration) {}
    fn cancel(&mut self, _timer: &P::Timer) {}
    fn report(&mut self, _report: Report) {}
}
