//! The source slices of a protocol: which parts of its text an event reaches, to detect modified
//! events.

use crate::{Action, Network, Options, Scenario};
use everypath_explore::graph::{Makeup, SOURCES};
use everypath_explore::{Fingerprint, fingerprint};
use everypath_source::{Program, Source, sources};

/// The source of a protocol, and what it was built with.
pub struct Anatomy {
    /// All files in which its nodes, packets, handlers and properties are. What is elsewhere is
    /// not seen: a handler must not call into other files than these, those of this crate and
    /// libraries that stay as they are.
    pub sources: &'static [Source],
    /// The fields of the protocol and their values.
    pub switches: Vec<(&'static str, String)>,
}

/// The source of this crate, as far as it takes part in exploration.
const FRAMEWORK: &[Source] = sources![
    "anatomy.rs",
    "choices.rs",
    "cloud.rs",
    "faults.rs",
    "links.rs",
    "list.rs",
    "network.rs",
    "nodes.rs",
    "options.rs",
    "outbox.rs",
    "pool.rs",
    "protocol.rs",
    "scenario.rs",
    "symmetry.rs",
    "topology.rs",
    "world.rs",
];

/// The traits whose functions the framework calls.
const ROOTS: [&str; 3] = ["Protocol", "Scenario", "Traffic"];

impl<P: Scenario> Network<P> {
    /// What the model is made of.
    pub(crate) fn anatomize(&self) -> Option<Makeup> {
        let Anatomy { sources, switches } = self.protocol.anatomy()?;
        let program = Program::new(sources, &ROOTS, switches);
        let events = (0..).zip(P::EVENTS).map(|(event, kind)| {
            (kind.name.to_string(), reach::<P>(&program, event).map(Fingerprint))
        });
        let mut state = program.slice();
        state.add_types(&["Node", "Packet", "Cloud", "Ghost"], "Canonical");
        let mut properties = program.slice();
        properties.add("properties");
        let framework = FRAMEWORK.iter().map(|source| source.text).chain(SOURCES);
        let Options { topology, duplicate, order, faults, identical, .. } = &self.options;
        let network = format!("{topology:?} {duplicate} {order:?} {faults:?} {identical}");
        let frame = [
            ("the model", fingerprint(P::NAME.as_bytes())),
            ("the framework", Fingerprint(everypath_source::fingerprint(framework))),
            ("the layout of states", Fingerprint(state.fingerprint())),
            ("the properties", Fingerprint(properties.fingerprint())),
            ("the network", fingerprint(network.as_bytes())),
        ];
        Some(Makeup {
            frame: frame.map(|(name, print)| (name.into(), print)).into(),
            events: events.collect(),
            enabling: Some(Fingerprint(enabling::<P>(&program))),
        })
    }
}

/// A fingerprint of what an event can do; `None` if that cannot be told.
fn reach<P: Scenario>(program: &Program, event: u16) -> Option<u128> {
    let arm = program.arm("action", usize::from(event))?;
    let mut slice = program.slice();
    let known = match P::action(event) {
        Action::Deliver(_) => slice.add_for("receive", &arm),
        Action::Fire(_) => {
            // What these two do if a protocol does not have them is part of the framework.
            slice.add_for("may_fire", &arm);
            slice.add_for("bury", &arm);
            slice.add_for("fire", &arm) && slice.add("timers")
        }
        Action::Command => slice.add("command") && slice.add("commands"),
        Action::Reboot => slice.add("reboot") || slice.add("start"),
        Action::Start => slice.add("start"),
        Action::Lose(_) | Action::Duplicate | Action::Crash | Action::Partition | Action::Heal => {
            true
        }
    };
    slice.add_tokens(arm);
    known.then(|| slice.fingerprint())
}

/// A fingerprint of what decides which steps are enabled, and in which order.
fn enabling<P: Scenario>(program: &Program) -> u128 {
    let mut slice = program.slice();
    for function in ["action", "commands", "timers", "may_fire"] {
        slice.add(function);
    }
    slice.add_tokens(P::EVENTS.iter().map(|kind| kind.name.to_string()).collect());
    slice.fingerprint()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file that is forgotten could change the meaning of a graph unnoticed.
    #[test]
    fn no_file_of_the_framework_is_forgotten() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        for entry in fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = FRAMEWORK.iter().any(|source| source.file == name);
            assert!(known || ["lib.rs", "simulate"].contains(&name.as_str()), "{name}");
        }
    }
}
