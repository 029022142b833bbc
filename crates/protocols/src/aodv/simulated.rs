//! AODV with traffic, for simulation.

use super::{Aodv, Command};
use everypath_net::{NodeId, NodeRange, Traffic};

impl Traffic for Aodv {
    const SIZES: NodeRange = NodeRange { min: 2, max: 10_000, default: 25 };

    fn data(&self, _from: NodeId, to: NodeId, number: u32) -> Option<Command> {
        Some(Command::Send { to, number })
    }
}
