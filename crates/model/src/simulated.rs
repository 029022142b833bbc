//! The registry entry of a model that can be simulated.

use everypath_net::simulate::{
    LogLine, Panicked, Run, Settings, simulate_checked, simulate_logged,
};
use everypath_net::{Action, NodeRange, Options, Scenario, Sources, Traffic};

/// One replication, see [`simulate_checked`].
type Simulate = fn(&Options, &Settings, &dyn Fn(u64) -> bool) -> Result<Option<Run>, Panicked>;

/// One replication, told event by event, see [`simulate_logged`].
type Tell = fn(&Options, &Settings, &mut dyn FnMut(LogLine)) -> Result<(), Panicked>;

/// A simulation, whatever the type of its protocol.
#[derive(Clone, Copy)]
pub(crate) struct Simulated {
    pub(crate) sizes: NodeRange,
    /// Whether nodes can lose their state.
    pub(crate) reboots: bool,
    /// Whether the protocol has an event that duplicates packets.
    pub(crate) duplicates: bool,
    /// Says why simulating such a network would show nothing, if so.
    pub(crate) check: fn(&Options) -> Result<(), String>,
    /// Who sends to whom.
    pub(crate) sources: fn(&Options) -> Sources,
    /// Runs it while the function says so; `None` if that was not to the end.
    pub(crate) run: Simulate,
    /// Runs it and tells every event.
    pub(crate) log: Tell,
}

impl Simulated {
    /// The simulation of a protocol.
    pub(crate) fn of<P: Scenario + Traffic>() -> Self {
        Simulated {
            sizes: P::SIZES,
            reboots: P::REBOOTS,
            duplicates: (0..P::EVENTS.len() as u16)
                .any(|event| matches!(P::action(event), Action::Duplicate)),
            check: P::check,
            sources: |options| P::build(options).sources(),
            run: simulate_checked::<P>,
            log: simulate_logged::<P>,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Catalog;
    use everypath_protocols::{Arq, arq};

    #[test]
    fn a_model_offers_simulation_only_if_it_can_be_simulated() {
        let explored = Catalog::of::<arq::Model>();
        assert!(!explored.simulates());
        let error = explored.find_simulated("arq").err().unwrap().to_string();
        assert_eq!(error, "arq can be explored but not simulated");
        let both = Catalog::default().simulated::<Arq>();
        assert!(both.simulates() && both.find("arq").is_ok());
        assert_eq!(both.find_simulated("arq").ok().unwrap().1.sizes.default, 2);
    }
}
