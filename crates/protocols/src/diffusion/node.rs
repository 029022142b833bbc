//! The state of a node of directed diffusion: gradients, data cache, timers.

use super::packet::Data;
use everypath_net::{NodeId, canonical};

/// The state of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The interest cache: where data is to be sent, in ascending order.
    pub gradients: Vec<Gradient>,
    /// Whether the interest was passed on recently.
    pub quiet: bool,
    /// The data cache, oldest sample first.
    pub samples: Vec<Sample>,
    /// Whether it takes no part because it has rebooted.
    pub waiting: bool,
    /// The neighbours that were reinforced, at a sink that reinforces negatively.
    pub reinforced: Vec<NodeId>,
    /// Who was first with the latest samples, at such a sink.
    pub firsts: Vec<NodeId>,
}
canonical!(struct Node { gradients, quiet, samples, waiting, reinforced, firsts });

/// A neighbour that wants data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gradient {
    /// The neighbour.
    pub to: NodeId,
    /// Whether it wants data at the higher rate.
    pub reinforced: bool,
}
canonical!(struct Gradient { to, reinforced });

/// Data that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The data.
    pub data: Data,
    /// Who was first to bring it; the node itself if it sensed it.
    pub from: NodeId,
}
canonical!(struct Sample { data, from });

impl Node {
    /// The gradient towards a neighbour.
    pub(super) fn gradient(&mut self, to: NodeId) -> Option<&mut Gradient> {
        self.gradients.iter_mut().find(|gradient| gradient.to == to)
    }

    /// Adds a gradient at the low rate; whether there was none.
    pub(super) fn add_gradient(&mut self, to: NodeId) -> bool {
        let place = self.gradients.binary_search_by_key(&to, |gradient| gradient.to);
        if let Err(at) = place {
            self.gradients.insert(at, Gradient { to, reinforced: false });
        }
        place.is_err()
    }

    /// Remembers data; whether it was new.
    pub(super) fn remember(&mut self, data: Data, from: NodeId) -> bool {
        let new = self.samples.iter().all(|sample| sample.data != data);
        if new {
            self.samples.push(Sample { data, from });
        }
        new
    }

    /// Who was first to bring the latest sample.
    pub(super) fn preferred(&self) -> Option<Sample> {
        let latest = self.samples.iter().map(|sample| sample.data.number).max()?;
        self.samples.iter().find(|sample| sample.data.number == latest).copied()
    }
}
