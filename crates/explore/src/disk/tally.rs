//! What a search on disk has counted and found so far.

use super::manifest::Kept;
use crate::expander::Expand;
use crate::{Counts, Ended, Found, PropertyKind, Search, Step};

/// What was counted and found.
pub(super) struct Tally {
    pub(super) counts: Counts,
    pub(super) by_event: Vec<u64>,
    /// The shallowest violation of each property, in the order in which they were first violated: the
    /// number of the property, the choices, and what they led to.
    found: Vec<(usize, Vec<u32>, Found)>,
    /// Properties that some state must satisfy, by number, and the choices that lead to one.
    pub(super) witnesses: Vec<(usize, Vec<u32>)>,
    /// States that were taken with others, and not expanded because the search ended before.
    pub(super) rest: u64,
    pub(super) ended: Option<Ended>,
}

impl Tally {
    pub(super) fn new(properties: usize) -> Tally {
        let counts = Counts { by_property: vec![0; properties + 1], ..Counts::default() };
        Tally {
            counts,
            by_event: Vec::new(),
            found: Vec::new(),
            witnesses: Vec::new(),
            rest: 0,
            ended: None,
        }
    }

    pub(super) fn count_event(&mut self, event: u16) {
        let event = usize::from(event);
        if self.by_event.len() <= event {
            self.by_event.resize(event + 1, 0);
        }
        self.by_event[event] += 1;
    }

    /// Counts a violation, and keeps it if it is the first or the shallowest of its property.
    pub(super) fn report(
        &mut self,
        (expander, search): (&dyn Expand, &Search),
        violated: &[(usize, String)],
        choices: &[u32],
    ) {
        self.counts.violations += 1;
        for (property, _) in violated {
            self.counts.by_property[*property] += 1;
            let known = self.found.iter().position(|(number, ..)| number == property);
            if known.is_some_and(|at| self.found[at].1.len() <= choices.len()) {
                continue;
            }
            match expander.confirm(*property, choices) {
                Err(reason) => {
                    self.ended = Some(Ended::Unconfirmed(reason));
                    return;
                }
                Ok(found) => {
                    let found = (*property, choices.to_vec(), found);
                    match known {
                        Some(at) => self.found[at] = found,
                        None => self.found.push(found),
                    }
                }
            }
        }
        if !search.keep_going {
            self.ended = Some(Ended::Violation);
        }
    }

    pub(super) fn keep(&self) -> Kept {
        let found = self.found.iter().map(|(number, choices, _)| (*number as u64, choices.clone()));
        let witnesses = self.witnesses.iter();
        let witnesses = witnesses.map(|(number, choices)| (*number as u64, choices.clone()));
        let mut kept = Kept {
            by_event: self.by_event.clone(),
            found: found.collect(),
            witnesses: witnesses.collect(),
            rest: self.rest,
            ..Kept::default()
        };
        kept.set_counts(&self.counts);
        kept
    }

    /// Goes on with what was kept. Violations are taken again from the initial state.
    pub(super) fn restore(expander: &dyn Expand, kept: &Kept) -> Result<Tally, String> {
        let mut tally = Tally::new(0);
        tally.counts = kept.counts();
        tally.by_event.clone_from(&kept.by_event);
        tally.rest = kept.rest;
        for (number, choices) in &kept.found {
            let found = expander.confirm(*number as usize, choices)?;
            tally.found.push((*number as usize, choices.clone(), found));
        }
        let witnesses = kept.witnesses.iter();
        tally.witnesses =
            witnesses.map(|(number, choices)| (*number as usize, choices.clone())).collect();
        Ok(tally)
    }

    pub(super) fn found(&self) -> Vec<Found> {
        self.found.iter().map(|(.., found)| found.clone()).collect()
    }

    /// The ways to states that satisfy what some state must satisfy, taken again.
    pub(super) fn confirm_witnesses(
        &mut self,
        expander: &dyn Expand,
    ) -> Vec<(String, Option<Vec<Step>>)> {
        let mut confirmed = Vec::new();
        for (number, (name, kind)) in expander.properties().into_iter().enumerate() {
            if kind != PropertyKind::Sometimes {
                continue;
            }
            let choices = self.witnesses.iter().find(|(witnessed, _)| *witnessed == number);
            let steps = choices.map(|(_, choices)| expander.confirm_witness(number, choices));
            let steps = steps.transpose().unwrap_or_else(|reason| {
                self.ended = Some(Ended::Unconfirmed(reason));
                None
            });
            confirmed.push((name, steps));
        }
        confirmed
    }
}
