//! The graph of safe transitions of one version of a model, kept for the next (Sobeih 2008,
//! chapter 7).
//!
//! - [`Makeup`]: what a model is made of, as far as an old graph depends on it.
//! - [`Graph`]: the bytes of a file, checked and searched in place. [`GraphError`]: why not.
//! - [`Baseline`]: a graph compared with the makeup of the current model: what of it may be used.
//! - [`Ledger`]: the transitions of a search that is under way, to be written as a graph.
//!
//! A transition is stored as the paper has it, from a fingerprint by an event to a fingerprint;
//! but states and steps are numbered, a fingerprint stands in the file once, and so does the list of
//! the steps of a state, which many others share. So a transition takes four bytes of its own, or
//! none if it leads to the depth bound; and a search that follows the graph finds the successors
//! of a successor without any search at all. `format.rs` describes the file.

mod assembly;
mod baseline;
mod format;
mod ledger;
mod lists;
mod read;

pub use baseline::{Baseline, Unusable};
pub(crate) use baseline::{Hint, Origin};
pub use format::{FORMAT_VERSION, GraphError};
pub use ledger::{About, Ledger, Written};
pub use read::Graph;

use crate::{Fingerprint, Step, canonical};

/// The number of a state that was not hashed, because it is at the depth bound: it is known to be
/// safe, and no more.
pub(crate) const BEYOND: u32 = u32::MAX - 1;

/// The text of what decides how states become fingerprints, for makeups.
pub const SOURCES: [&str; 2] = [include_str!("../canonical.rs"), include_str!("../fingerprint.rs")];

/// The number of no state.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What a model is made of, as far as a graph of its transitions depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Makeup {
    /// What must be the same for an old graph to mean anything, by name: how states are written,
    /// what is checked, the network.
    pub frame: Vec<(String, Fingerprint)>,
    /// The events, by number: their names, and a fingerprint of all that can happen in them;
    /// `None` if that is not known, which counts as changed.
    pub events: Vec<(String, Option<Fingerprint>)>,
    /// A fingerprint of all that decides which steps are enabled in a state and what their
    /// parameters mean. If it is known and the same, states need not be asked again.
    ///
    /// The fingerprint of an event must cover what gives its own parameters a meaning.
    pub enabling: Option<Fingerprint>,
}

/// A counterexample that is kept with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The name of the property.
    pub property: String,
    /// The steps, with the names of their events: numbers may change from version to version.
    pub steps: Vec<(String, Step)>,
}

/// What a file says besides transitions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    frame: Vec<Named>,
    events: Vec<Event>,
    enabling: Option<(u64, u64)>,
    counterexamples: Vec<Recorded>,
}
canonical!(struct Meta { frame, events, enabling, counterexamples });

#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    name: String,
    high: u64,
    low: u64,
}
canonical!(struct Named { name, high, low });

#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    name: String,
    print: Option<(u64, u64)>,
}
canonical!(struct Event { name, print });

#[derive(Debug, Default, PartialEq, Eq)]
struct Recorded {
    property: String,
    steps: Vec<(String, u16, u32)>,
}
canonical!(struct Recorded { property, steps });

fn halves(print: Fingerprint) -> (u64, u64) {
    ((print.0 >> 64) as u64, print.0 as u64)
}

fn whole(high: u64, low: u64) -> Fingerprint {
    Fingerprint(u128::from(high) << 64 | u128::from(low))
}

impl Meta {
    /// What is said of a graph of a model with this makeup. Events that are left out are new to
    /// whoever loads the graph.
    pub(crate) fn new(
        makeup: &Makeup,
        left_out: &[u16],
        counterexamples: &[Counterexample],
    ) -> Meta {
        let named = |(name, print): &(String, Fingerprint)| {
            let (high, low) = halves(*print);
            Named { name: name.clone(), high, low }
        };
        let events = makeup.events.iter().enumerate();
        let events = events.filter(|(number, _)| !left_out.contains(&(*number as u16)));
        let event = |(_, (name, print)): (usize, &(String, Option<Fingerprint>))| Event {
            name: name.clone(),
            print: print.map(halves),
        };
        let recorded = |example: &Counterexample| Recorded {
            property: example.property.clone(),
            steps: example
                .steps
                .iter()
                .map(|(event, step)| (event.clone(), step.actor, step.param))
                .collect(),
        };
        Meta {
            frame: makeup.frame.iter().map(named).collect(),
            events: events.map(event).collect(),
            enabling: makeup.enabling.map(halves),
            counterexamples: counterexamples.iter().map(recorded).collect(),
        }
    }

    /// The number under which an event of the model is known here; one that is not gets a number
    /// that no event has.
    fn number(&self, makeup: &Makeup, event: u16) -> u16 {
        let name = makeup.events.get(usize::from(event)).map(|(name, _)| name);
        let number = self.events.iter().position(|known| Some(&known.name) == name);
        number.map_or(u16::MAX, |number| number as u16)
    }
}
