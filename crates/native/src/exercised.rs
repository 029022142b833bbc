//! Which of the faults that a check allows have happened in its executions.

use crate::describe::fault_of;
use crate::launch::Launch;
use everypath_perturb::Rules;
use everypath_shim_abi::{Event, Fault, Partitions};
use everypath_trace::Message;
use std::collections::{BTreeMap, BTreeSet};

/// What went wrong on purpose in executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exercised {
    happened: BTreeSet<String>,
    /// Datagrams, by who was to receive them and how many were sent there before: whether an execution
    /// has lost it.
    datagrams: BTreeMap<(String, usize), bool>,
}

impl Exercised {
    /// Of executions of a program; none if nothing is to go wrong.
    pub(crate) fn of(launch: &Launch) -> Option<Self> {
        let exercised = Exercised::default();
        (!exercised.allowed(launch).is_empty()).then_some(exercised)
    }

    /// Adds what went wrong in an execution, by its steps and its messages.
    pub(crate) fn see(&mut self, events: &[Event], messages: &[Message]) {
        self.happened.extend(events.iter().filter_map(fault_of));
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for message in messages.iter().filter(|message| message.datagram) {
            let to = format!("{} {}", message.to.process, message.to.address);
            let number = counts.entry(to.clone()).or_default();
            *number += 1;
            *self.datagrams.entry((to, *number)).or_default() |= message.lost;
        }
    }

    /// What was allowed and did not happen, a sentence each; `of` follows "no execution".
    pub(crate) fn unexercised(&self, launch: &Launch, of: &str) -> Vec<String> {
        let said = |what: &str| format!("no execution{of} {what}");
        let had = |name: &str| said(&format!("had the fault {name}"));
        let mut missing: Vec<String> = self
            .allowed(launch)
            .into_iter()
            .filter(|name| !self.happened.contains(*name))
            .map(had)
            .collect();
        let may_lose = launch.setup.datagrams.all().any(Rules::may_lose);
        let kept = self.datagrams.iter().filter(|(_, was_lost)| may_lose && !**was_lost);
        missing
            .extend(kept.map(|((to, number), _)| said(&format!("lost packet {number} to {to}"))));
        missing
    }

    /// The names of the faults that the setup allows.
    fn allowed(&self, launch: &Launch) -> Vec<&'static str> {
        let setup = &launch.setup;
        let rules = |may: fn(&Rules) -> bool| setup.datagrams.all().any(may);
        let of_calls = Fault::ALL.map(|fault| (fault.words(), setup.faults.of(fault) > 0));
        let others = [
            ("kill", setup.kills > 0),
            ("spurious wakeup", setup.spurious > 0),
            ("partition", setup.partitions != Partitions::default()),
            // Of losses it is said which.
            ("loss", rules(Rules::may_lose) && self.datagrams.is_empty()),
            ("duplication", rules(Rules::may_duplicate)),
            ("reordering", rules(|rules| !rules.keeps_order())),
        ];
        of_calls.into_iter().chain(others).filter(|(_, is)| *is).map(|(name, _)| name).collect()
    }
}
