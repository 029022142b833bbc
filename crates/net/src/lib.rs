//! The protocol-model framework: a protocol is written once, as handlers on the state of a node.
//!
//! - [`Protocol`]: what the author of a protocol writes.
//! - [`Outbox`]: through which handlers send packets; they have no sockets or clocks.
//! - [`Cloud`]: the packets in flight. [`World`]: all nodes and the cloud between them.
//! - [`Network`]: a protocol as a [`System`] to be explored, with delivery, loss and time-outs.
//!
//! What protocols need of the engine is re-exported here, so that they depend on this crate alone.

mod cloud;
mod network;
mod protocol;

pub use cloud::{Cloud, Envelope, Outbox};
pub use everypath_explore::{
    Bug, Canonical, Config, EventKind, Line, Model, NodeRange, Property, Rank, Step, System,
    canonical,
};
pub use network::{Network, World};
pub use protocol::{Action, NodeId, Protocol};
