//! Directed diffusion with traffic, to be measured.

use super::{Command, Diffusion};
use everypath_net::{NodeId, NodeRange, Sources, Traffic};

impl Traffic for Diffusion {
    const SIZES: NodeRange = NodeRange { min: 2, max: 10_000, default: 25 };

    /// The first node is interested in what the last one senses.
    fn sources(&self) -> Sources {
        Sources::Fixed(vec![(self.source, self.sink)])
    }

    /// The interest is sent once; gradients live for two minutes.
    fn prepare(&self, _from: NodeId, to: NodeId) -> Option<(NodeId, Command)> {
        Some((to, Command::Subscribe))
    }

    fn data(&self, _from: NodeId, _to: NodeId, number: u32) -> Option<Command> {
        Some(Command::Sense(number))
    }
}
