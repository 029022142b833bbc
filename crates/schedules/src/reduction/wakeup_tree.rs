//! Wakeup trees: the sequences of steps that are still to be explored from a state.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Source Sets: A Foundation
//! for Optimal Dynamic Partial Order Reduction. J. ACM 64(4), 2017, section 6.
//!
//! A state's branches are explored from first to last, and what was explored sleeps. A sequence is
//! inserted into the tree only if it wakes every step that will sleep when its turn comes; so an
//! execution that follows it is never sleep-set blocked.
//!
//! Where we depart:
//! - A sequence is cut to the steps that wake the sleepers. The rest comes by itself: where nothing
//!   sleeps, nothing can be redundant. So trees stay small however long executions are.
//! - A step may have outcomes. All outcomes of a step are explored side by side, before it sleeps.
//! - A step that comes earlier than it did may have another footprint: it gets what it then did not
//!   get. So it counts as touching all that it might, until it was taken.
//! - Events of the happens-before order are not steps: a free mutex is acquired in the step that
//!   requests it. Whether it will be free follows from the steps of the sequence before.

use super::commute;
use crate::executor::{Alternative, Key};
use crate::happens_before::HappensBefore;
use everypath_dependence::{Choice, Enabled, Part};
use std::mem;

/// A step to be explored, and what to explore after it: anything if it is a leaf.
#[derive(Debug)]
pub struct Branch {
    /// Whose step, and of which kind.
    pub key: Key,
    /// Which of its outcomes.
    pub outcome: u16,
    /// What it touches.
    pub parts: Vec<Part>,
    /// What comes after it.
    pub then: Vec<Branch>,
}

impl Branch {
    /// A step with an outcome, after which anything may come.
    pub(crate) fn leaf<E: Enabled>(alternative: &Alternative<E>, outcome: u16) -> Self {
        let parts = alternative.step.footprint().into_parts().collect();
        Branch { key: alternative.key(), outcome, parts, then: Vec::new() }
    }

    /// What is chosen by it.
    pub fn choice(&self) -> Choice {
        Choice { thread: self.key.thread, outcome: self.key.timeout.unwrap_or(self.outcome) }
    }
}

impl Drop for Branch {
    /// Not one call for each step: sequences can be longer than the stack is deep.
    fn drop(&mut self) {
        let mut left = mem::take(&mut self.then);
        while let Some(mut branch) = left.pop() {
            left.append(&mut branch.then);
        }
    }
}

/// The steps to the first leaf.
pub fn to_first_leaf(tree: &[Branch]) -> impl Iterator<Item = &Branch> {
    std::iter::successors(tree.first(), |branch| branch.then.first())
}

/// A step that sleeps, or will when the sequence is explored.
#[derive(Clone, Debug)]
pub struct Sleeper {
    /// Whose step, and of which kind.
    pub key: Key,
    /// What it would touch.
    pub parts: Vec<Part>,
}

/// One event of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// Whose step, and of which kind.
    pub key: Key,
    /// Which of its outcomes.
    pub outcome: u16,
    /// The event of the execution that it repeats.
    pub event: usize,
}

/// Events that can come one after the other from a state, and that an execution had in this order.
#[derive(Clone)]
pub struct Sequence<'a> {
    order: &'a HappensBefore,
    planned: Vec<Planned>,
    /// The event that comes earlier than it did, and may touch something else.
    moved: usize,
}

impl<'a> Sequence<'a> {
    /// A sequence of events of an execution, one of which comes earlier than it did.
    pub fn new(order: &'a HappensBefore, planned: Vec<Planned>, moved: usize) -> Self {
        Sequence { order, planned, moved }
    }

    fn parts(&self, at: usize) -> &'a [Part] {
        match self.planned[at].event {
            moved if moved == self.moved => self.order.parts_it_may_touch(moved),
            event => self.order.parts_of(event),
        }
    }

    fn position(&self, key: Key) -> Option<usize> {
        self.planned.iter().position(|planned| planned.key.thread == key.thread)
    }

    fn is_first(&self, at: usize) -> bool {
        let event = self.planned[at].event;
        !self.planned[..at].iter().any(|before| self.order.is_before(before.event, event))
    }

    /// Whether some equivalent sequence, perhaps a longer one, begins with a step: whether the step
    /// is one of its weak initials.
    fn can_begin_with(&self, key: Key, parts: &[Part]) -> bool {
        match self.position(key) {
            Some(at) => self.planned[at].key == key && self.is_first(at),
            None => {
                (0..self.planned.len()).all(|at| commute(parts.iter().copied(), self.parts(at)))
            }
        }
    }

    /// Whether one of its own events up to `last` is a step, and can be its first.
    pub fn begins_with(&self, key: Key, outcome: Option<u16>, last: usize) -> bool {
        self.position(key).is_some_and(|at| {
            let planned = self.planned[at];
            planned.key == key
                && planned.event <= last
                && outcome.is_none_or(|outcome| outcome == planned.outcome)
                && self.is_first(at)
        })
    }

    /// Removes a step that the sequence can begin with, and its acquisition if that is the same step:
    /// if nothing that is left has to come before it.
    fn begin_at(&mut self, at: usize) -> Planned {
        let first = self.planned.remove(at);
        if let Some(next) = self.position(first.key)
            && self.order.is_grant(self.planned[next].event)
            && self.is_first(next)
        {
            self.planned.remove(next);
        }
        first
    }

    /// Leaves out the steps that are not needed to wake a sleeper.
    fn shorten(&mut self, sleepers: &[Sleeper]) {
        let mut needed = vec![false; self.planned.len()];
        for sleeper in sleepers {
            let wakes = |at: usize| {
                self.planned[at].key.thread != sleeper.key.thread
                    && !commute(sleeper.parts.iter().copied(), self.parts(at))
            };
            let before = self.position(sleeper.key).unwrap_or(self.planned.len());
            if (0..before).any(|at| needed[at] && wakes(at)) {
                continue;
            }
            let Some(waker) = (0..before).find(|&at| wakes(at)) else { return };
            let event = self.planned[waker].event;
            for (needed, planned) in needed.iter_mut().zip(&self.planned[..=waker]) {
                *needed |= self.order.is_before(planned.event, event);
            }
        }
        let mut needed = needed.into_iter();
        self.planned.retain(|_| needed.next().unwrap_or(true));
    }

    /// The sequence as a branch.
    fn into_branch(mut self) -> Option<Branch> {
        let mut steps = Vec::new();
        while !self.planned.is_empty() {
            let parts = self.parts(0).to_vec();
            let Planned { key, outcome, .. } = self.begin_at(0);
            steps.push(Branch { key, outcome, parts, then: Vec::new() });
        }
        steps.into_iter().rev().reduce(|after, mut before| {
            before.then.push(after);
            before
        })
    }
}

/// Makes sure that an execution is explored which begins with a sequence, up to equivalence.
pub fn insert(tree: &mut Vec<Branch>, mut sleepers: Vec<Sleeper>, mut sequence: Sequence<'_>) {
    let covered = |sleeper: &Sleeper| sequence.can_begin_with(sleeper.key, &sleeper.parts);
    if sleepers.iter().any(covered) {
        return;
    }
    let mut level = tree;
    while !sequence.planned.is_empty() {
        let begins = |branch: &Branch| sequence.can_begin_with(branch.key, &branch.parts);
        let Some(mut at) = level.iter().position(begins) else {
            sleepers.extend(level.iter().map(sleeper));
            let first = sequence.planned[0];
            sequence.shorten(&sleepers);
            if sequence.planned.is_empty() {
                sequence.planned.push(first);
            }
            level.extend(sequence.into_branch());
            return;
        };
        let key = level[at].key;
        let parts = &level[at].parts;
        sleepers.extend(level[..at].iter().map(sleeper));
        sleepers.retain(|one| {
            one.key.thread != key.thread && commute(one.parts.iter().copied(), parts)
        });
        if let Some(first) = sequence.position(key) {
            let Planned { outcome, .. } = sequence.begin_at(first);
            let same = |branch: &Branch| branch.key == key && branch.outcome == outcome;
            let Some(known) = level.iter().position(same) else {
                let parts = level[at].parts.clone();
                sequence.shorten(&sleepers);
                let then = sequence.into_branch().into_iter().collect();
                // All outcomes are side by side.
                level.insert(at + 1, Branch { key, outcome, parts, then });
                return;
            };
            at = known;
        }
        if level[at].then.is_empty() {
            return;
        }
        level = &mut level[at].then;
    }
}

fn sleeper(branch: &Branch) -> Sleeper {
    Sleeper { key: branch.key, parts: branch.parts.clone() }
}
