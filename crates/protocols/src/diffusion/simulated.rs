//! Directed diffusion with traffic, for simulation.

use super::handlers::GRADIENT;
use super::{Command, Diffusion};
use everypath_net::{NodeId, NodeRange, Sources, Traffic};
use std::time::Duration;

impl Traffic for Diffusion {
    const SIZES: NodeRange = NodeRange { min: 2, max: 10_000, default: 25 };

    /// The first node is interested in what the last one senses.
    fn sources(&self) -> Sources {
        Sources::Fixed(vec![(self.source, self.sink)])
    }

    fn prepare(&self, _from: NodeId, to: NodeId) -> Option<(NodeId, Command)> {
        Some((to, Command::Subscribe))
    }

    /// Twice in the life of a gradient, so that one interest may be lost.
    fn renewal(&self) -> Option<Duration> {
        Some(GRADIENT / 2)
    }

    fn data(&self, _from: NodeId, _to: NodeId, number: u32) -> Option<Command> {
        Some(Command::Sense(number))
    }
}
