//! The graph of an earlier version, compared with the current model.

use super::format::UNKNOWN;
use super::read::Row;
use super::{BEYOND, Graph, Makeup, NOWHERE, whole};
use crate::{Fingerprint, Step};
use std::fmt;

/// What of an old graph may be used for the model as it is now.
pub struct Baseline<'a> {
    pub(crate) graph: &'a Graph<'a>,
    /// The steps by the number that the graph gave them, in today's terms.
    steps: Vec<Known>,
    /// Which of today's events are modified, or new.
    modified: Vec<bool>,
    /// Whether what enables steps, and gives their parameters a meaning, is as it was.
    same_enabling: bool,
    /// Today's events that the graph does not have.
    unlisted: Vec<u16>,
}

/// A step of the graph.
#[derive(Clone, Copy)]
struct Known {
    step: Step,
    use_: Use,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The event is as it was.
    Same,
    /// Its handler was modified: it must be executed, and what it leads to may be compared.
    Modified,
    /// There is no such event any more.
    Gone,
}

/// What a graph knows of an enabled step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) origin: Origin,
    /// Where the step leads, or (modified) has led; [`NOWHERE`] if that is not known, [`BEYOND`] if
    /// only that it is safe.
    pub(crate) next: u32,
}

/// How an event stands to the graph (Sobeih 2008, figure 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Not modified, and found.
    Hit,
    /// Not modified, and not found.
    Miss,
    /// Modified, or new.
    Modified,
}

/// Why a graph says nothing about a model: what differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The names of what differs.
    pub differs: Vec<String>,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is of another model: {} changed", self.differs.join(", "))
    }
}

impl std::error::Error for Unusable {}

impl<'a> Baseline<'a> {
    /// Holds a graph against the makeup of a model.
    ///
    /// An event is modified if its fingerprint differs, is not known, or the graph does not have
    /// the event. If `modified` is given, the events in it are modified and no others, except
    /// those that the graph does not have.
    ///
    /// # Errors
    ///
    /// If the frames differ: then the fingerprints of the graph mean something else.
    pub fn new(
        graph: &'a Graph<'a>,
        makeup: &Makeup,
        modified: Option<&[u16]>,
    ) -> Result<Self, Unusable> {
        let differs = differences(graph, makeup);
        if !differs.is_empty() {
            return Err(Unusable { differs });
        }
        let old = |name: &str| graph.meta.events.iter().find(|event| event.name == name);
        let changed = |number: usize, name: &str, print: Option<Fingerprint>| {
            let Some(event) = old(name) else { return true };
            match modified {
                Some(modified) => modified.contains(&(number as u16)),
                None => print.is_none() || event.print.map(|(high, low)| whole(high, low)) != print,
            }
        };
        let events = makeup.events.iter().enumerate();
        let modified: Vec<bool> =
            events.map(|(number, (name, print))| changed(number, name, *print)).collect();
        let known = |step: &Step| {
            let name = graph.meta.events.get(usize::from(step.event)).map(|event| &event.name);
            let number = makeup.events.iter().position(|(today, _)| Some(today) == name);
            let use_ = match number {
                None => Use::Gone,
                Some(number) if modified[number] => Use::Modified,
                Some(_) => Use::Same,
            };
            let event = number.map_or(step.event, |number| number as u16);
            Known { step: Step { event, ..*step }, use_ }
        };
        let enabling = graph.meta.enabling.map(|(high, low)| whole(high, low));
        let same_enabling = enabling.is_some() && enabling == makeup.enabling;
        let steps = graph.steps.iter().map(known).collect();
        let numbered = (0..).zip(&makeup.events);
        let unlisted = numbered.filter(|(_, (name, _))| old(name).is_none());
        let unlisted = unlisted.map(|(number, _)| number).collect();
        Ok(Baseline { graph, steps, modified, same_enabling, unlisted })
    }

    /// The numbers of the events that are modified or new.
    pub fn modified(&self) -> Vec<u16> {
        let events = self.modified.iter().enumerate();
        events.filter(|(_, modified)| **modified).map(|(number, _)| number as u16).collect()
    }

    /// Whether every event is modified, so that nothing can be gained.
    pub fn all_modified(&self) -> bool {
        self.modified.iter().all(|modified| *modified)
    }

    /// How many states the graph has.
    pub fn states(&self) -> u64 {
        self.graph.states()
    }

    /// How many events today's model has.
    pub(crate) fn events(&self) -> usize {
        self.modified.len()
    }

    /// Whether the graph can tell which steps are enabled if these events are switched off: what
    /// enables steps has not changed, and it has all other events.
    pub(crate) fn covers(&self, disabled: &[u16]) -> bool {
        self.same_enabling && self.unlisted.iter().all(|event| disabled.contains(event))
    }

    /// The steps enabled in a state and what is known of them, without asking the model, if the
    /// graph has them all. Ask [`Baseline::covers`] first. `deepest` is whether they lead to the
    /// depth bound, so that it is enough to know that they are safe.
    #[inline]
    pub(crate) fn list(
        &self,
        (row, deepest): (Row<'_>, bool),
        steps: &mut Vec<Step>,
        hints: &mut Vec<Hint>,
    ) -> bool {
        steps.clear();
        hints.clear();
        if self.graph.count(row) != usize::from(row.enabled) {
            return false;
        }
        for (step, next) in self.graph.transitions_of(row) {
            let origin = match self.steps.get(step) {
                Some(Known { use_: Use::Same, .. }) => Origin::Hit,
                Some(Known { use_: Use::Modified, .. }) => Origin::Modified,
                Some(Known { use_: Use::Gone, .. }) | None => return false,
            };
            if next == NOWHERE || next == BEYOND && origin == Origin::Hit && !deepest {
                return false;
            }
            steps.push(self.steps[step].step);
            hints.push(Hint { origin, next });
        }
        true
    }

    /// What is known of the steps enabled in a state.
    ///
    /// The transitions of a state are in the order in which the steps mostly are enabled, so the
    /// next one is mostly the one that is looked for.
    pub(crate) fn look_up(
        &self,
        (row, deepest): (Row<'_>, bool),
        steps: &[Step],
        hints: &mut Vec<Hint>,
    ) {
        let count = self.graph.count(row);
        let at = |at: usize| self.graph.transition(row, at);
        let fits = |place: usize, step: Step| {
            let known = self.steps.get(at(place).0);
            known.is_some_and(|known| known.step == step && known.use_ != Use::Gone)
        };
        let mut expected = 0;
        hints.clear();
        hints.extend(steps.iter().map(|&step| {
            let modified = self.is_modified(step.event);
            let place = (expected..count).chain(0..expected).find(|&at| fits(at, step));
            let next = place.map_or(NOWHERE, |place| at(place).1);
            expected = place.map_or(expected, |place| place + 1);
            let origin = match (modified, next) {
                (true, _) => Origin::Modified,
                (false, NOWHERE) => Origin::Miss,
                // What is not at the bound now must be executed, to be explored.
                (false, BEYOND) if !deepest => Origin::Miss,
                (false, _) => Origin::Hit,
            };
            Hint { origin, next: if origin == Origin::Miss { NOWHERE } else { next } }
        }));
    }

    /// How many steps are enabled in a state, without those of the events left out of a graph, if
    /// that is known and still true.
    pub(super) fn enabled(&self, number: u32, left_out: &[u16]) -> u8 {
        let row = self.graph.row(number).unwrap_or_default();
        if self.covers(left_out) { row.enabled } else { UNKNOWN }
    }

    /// Which of these disabled events are left out of a graph that is written with this baseline.
    pub(crate) fn left_out(baseline: Option<&Self>, disabled: &[u16]) -> Vec<u16> {
        let kept = |event: &&u16| baseline.is_some_and(|baseline| baseline.has(**event));
        disabled.iter().filter(|event| !kept(event)).copied().collect()
    }

    /// The transitions of a state that are still true, in today's terms.
    pub(super) fn kept(&self, number: u32) -> impl Iterator<Item = (Step, u32)> {
        let row = self.graph.row(number).unwrap_or_default();
        self.graph.transitions_of(row).filter_map(|(step, next)| {
            let known = self.steps.get(step).filter(|known| known.use_ == Use::Same)?;
            (next != NOWHERE).then_some((known.step, next))
        })
    }

    /// The steps that may be in transitions that are kept.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let same = self.steps.iter().filter(|known| known.use_ == Use::Same);
        same.map(|known| known.step)
    }

    /// Whether the transitions of one of today's events are kept.
    fn has(&self, event: u16) -> bool {
        !self.is_modified(event)
    }

    /// Whether one of today's events is modified or new.
    pub(crate) fn is_modified(&self, event: u16) -> bool {
        self.modified.get(usize::from(event)).copied().unwrap_or(true)
    }
}

/// The names of what is in one frame and not the same in the other.
fn differences(graph: &Graph<'_>, makeup: &Makeup) -> Vec<String> {
    let old: Vec<(String, Fingerprint)> = graph
        .meta
        .frame
        .iter()
        .map(|named| (named.name.clone(), whole(named.high, named.low)))
        .collect();
    let mut differs: Vec<String> = Vec::new();
    let lacking = |a: &[(String, Fingerprint)], b: &[(String, Fingerprint)]| -> Vec<String> {
        a.iter().filter(|part| !b.contains(part)).map(|(name, _)| name.clone()).collect()
    };
    for name in lacking(&old, &makeup.frame).into_iter().chain(lacking(&makeup.frame, &old)) {
        if !differs.contains(&name) {
            differs.push(name);
        }
    }
    differs
}
