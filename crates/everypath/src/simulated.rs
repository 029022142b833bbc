//! What is known of a model that can be simulated.

use everypath_net::simulate::{Panicked, Run, Settings, simulate};
use everypath_net::{NodeRange, Options, Sources, Traffic};

/// A simulation, whatever the type of its protocol.
#[derive(Clone, Copy)]
pub(crate) struct Simulated {
    pub(crate) sizes: NodeRange,
    /// Whether nodes can lose their state.
    pub(crate) reboots: bool,
    /// Who sends to whom.
    pub(crate) sources: fn(&Options) -> Sources,
    pub(crate) run: fn(&Options, &Settings) -> Result<Run, Panicked>,
}

impl Simulated {
    /// The simulation of a protocol.
    pub(crate) fn of<P: Traffic>() -> Self {
        Simulated {
            sizes: P::SIZES,
            reboots: P::REBOOTS,
            sources: |options| P::build(options).sources(),
            run: simulate::<P>,
        }
    }
}
