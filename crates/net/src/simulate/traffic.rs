//! The trait `Traffic`: what a protocol implements in order to be simulated.

use crate::{NodeId, NodeRange, Protocol};
use std::time::Duration;

/// A protocol that carries application data, so that its performance can be measured.
///
/// Handlers tell what they achieve by [`Context::report`](crate::Context::report): at least
/// [`Delivered`](crate::Report::Delivered), with the source and the number that the data was sent
/// with.
///
/// ```
/// use everypath_net::simulate::{Settings, simulate};
/// use everypath_net::{Context, NodeId, NodeRange, Options, Protocol, Report, Topology, Traffic};
///
/// /// Data goes straight to a neighbour.
/// struct Direct;
///
/// impl Protocol for Direct {
///     type Node = u8;
///     type Packet = u32;
///     type Timer = u8;
///     /// To whom, and with which number.
///     type Command = (NodeId, u32);
///     type Ghost = ();
/// #   fn build(_: &Options) -> Self { Direct }
/// #   fn start(&self, _: &mut impl Context<Self>) -> u8 { 0 }
/// #   fn fire(&self, _: &mut u8, _: u8, _: &mut impl Context<Self>) {}
/// #   fn timers(&self, _: &u8) -> impl Iterator<Item = u8> { std::iter::empty() }
///
///     fn command(&self, _: &mut u8, (to, number): (NodeId, u32), context: &mut impl Context<Self>) {
///         context.send(to, number);
///     }
///
///     fn receive(&self, _: &mut u8, source: NodeId, number: u32, context: &mut impl Context<Self>) {
///         context.report(Report::Delivered { source, number, hops: Some(1) });
///     }
/// }
///
/// impl Traffic for Direct {
///     const SIZES: NodeRange = NodeRange { min: 2, max: 1000, default: 2 };
///
///     fn data(&self, _from: NodeId, to: NodeId, number: u32) -> Option<(NodeId, u32)> {
///         Some((to, number))
///     }
/// }
///
/// let run = simulate::<Direct>(&Options::new(Topology::chain(2)), &Settings::default()).unwrap();
/// assert_eq!((run.counts.offered, run.counts.delivered), (800, 800));
/// ```
pub trait Traffic: Protocol {
    /// How many nodes can be simulated, which may be many more than can be explored.
    const SIZES: NodeRange;
    /// Whether a node can lose its state and start again.
    const REBOOTS: bool = true;

    /// Who sends to whom.
    fn sources(&self) -> Sources {
        Sources::Any
    }

    /// What a node is asked before the first data flows from `from` to `to`, and which node.
    ///
    /// A sink that must announce its interest does so here.
    fn prepare(&self, _from: NodeId, _to: NodeId) -> Option<(NodeId, Self::Command)> {
        None
    }

    /// How often it is asked that again; `None` for never.
    fn renewal(&self) -> Option<Duration> {
        None
    }

    /// What `from` is asked in order to send data to `to`.
    ///
    /// Numbers count the data of one source from zero, whomever it is for. `None` if the protocol
    /// cannot be asked, because it has [`Sources::Own`].
    fn data(&self, from: NodeId, to: NodeId, number: u32) -> Option<Self::Command>;
}

/// Who sends data to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// Any node to any other; a simulation chooses pairs at random.
    Any,
    /// Only between these pairs, source first.
    Fixed(Vec<(NodeId, NodeId)>),
    /// Nodes send as fast as the protocol allows, without being asked. The handlers tell of each
    /// data by [`Report::Offered`](crate::Report::Offered).
    Own,
}
