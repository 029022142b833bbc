//! What is done when a search has come to its end: the relation is checked, and witnesses are.

use super::Engine;
use crate::confirm::confirm_witness;
use crate::expand::Expansion;
use crate::frontier::Work;
use crate::relation_check::{Sample, unmatched};
use crate::{Ended, PropertyKind, Step, System};

impl<S: System> Engine<'_, S> {
    /// Checks a sample of what the simulation relation has pruned, if the search would otherwise be
    /// complete.
    pub(super) fn check_relation(&mut self) {
        if !matches!(self.ended, None | Some(Ended::Complete)) {
            return;
        }
        let samples = self.shards.iter().map(|shard| &shard.pruned).enumerate();
        let pairs = Sample::merge(samples)
            .into_iter()
            .map(|(shard, pruned)| (self.shards[shard].states.get(pruned.by), &*pruned.bytes));
        if let Some(breach) = unmatched(&self.rules, pairs) {
            self.ended = Some(Ended::NotSimulated(Box::new(breach)));
        }
    }

    /// The ways to states that satisfy what some state must satisfy, taken again.
    pub(super) fn confirm_witnesses(&mut self) -> Vec<(String, Option<Vec<Step>>)> {
        let mut confirmed = Vec::new();
        for (number, property) in self.rules.properties.iter().enumerate() {
            if property.kind() != PropertyKind::Sometimes {
                continue;
            }
            let choices = self.witnesses.iter().find(|(witnessed, _)| *witnessed == number);
            let schedule =
                match choices.map(|(_, choices)| confirm_witness(&self.rules, number, choices)) {
                    None => None,
                    Some(Ok(schedule)) => Some(schedule),
                    Some(Err(reason)) => {
                        self.ended = Some(Ended::Unconfirmed(reason));
                        None
                    }
                };
            confirmed.push((property.name.clone(), schedule));
        }
        confirmed
    }

    /// Keeps the first state that satisfies each property that some state must satisfy.
    pub(super) fn keep_witnesses(&mut self, batch: &[Work], expansion: &Expansion) {
        for &(record, property) in &expansion.witnesses {
            let is_new = self.rules.wanted.contains(&property);
            if record < expansion.end && is_new {
                let record = expansion.records[record];
                let mut choices = self.lineage.choices(&batch[record.work as usize]);
                choices.push(record.choice);
                self.witnesses.push((property, choices));
                self.rules.wanted.retain(|&wanted| wanted != property);
            }
        }
    }
}
