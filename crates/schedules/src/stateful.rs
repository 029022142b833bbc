//! Depth-first search over states: a visited state is not explored again.
//!
//! Patrice Godefroid: Partial-Order Methods for the Verification of Concurrent Systems, 1996,
//! section 5.2 (sleep sets together with state matching); Visser, Havelund, Brat, Park, Lerda:
//! Model Checking Programs, ASE 2003 (such a search over the states of running programs).
//!
//! This is a loop of its own beside [`search`](crate::search): one turn of it is one step, not one
//! execution, and going back means to restore a snapshot.
//!
//! With sleep sets, a visited state is stored with the sleep set in which it was explored. If it is
//! reached again while one of those steps is awake, that step is explored then. Without this rule,
//! two states could each leave a step to the other. All states are reached either way: sleep sets
//! alone save transitions, not states.
//!
//! Where we depart: in a state in which footprints are incomplete ([`Reached::State`]), nothing
//! sleeps; nor does a step that ends the execution, since after it nothing is enabled.

use crate::executor::{Alternative, Key};
use everypath_dependence::{Choice, Enabled};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

/// Where a step leads.
#[derive(Clone, Debug)]
pub enum Reached<E> {
    /// To a state in which a step is enabled.
    State {
        /// States with equal fingerprints are taken to be the same.
        fingerprint: u128,
        /// The steps that are enabled.
        alternatives: Vec<Alternative<E>>,
        /// Whether footprints are complete here: steps that share no object commute.
        complete: bool,
    },
    /// To the end of the execution.
    End,
}

/// What goes from state to state.
pub trait Walker {
    /// A step that is enabled.
    type Step: Enabled;
    /// Why a state cannot be reached.
    type Error;

    /// Goes to the first state.
    fn start(&mut self) -> Result<Reached<Self::Step>, Self::Error>;

    /// Goes back to the state that was reached by the first `depth` choices of the latest path, and
    /// makes a choice there.
    fn take(&mut self, depth: usize, choice: Choice) -> Result<Reached<Self::Step>, Self::Error>;
}

/// Whether sleep sets are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Every step is taken from every state.
    Never,
    /// A step is not taken after steps that are independent of it, if it was taken before them.
    Independent,
}

/// A visited state.
struct Known {
    /// The steps that slept and were not taken from it yet.
    untaken: Vec<Key>,
    /// How often it is on the path.
    on_path: u32,
}

/// A state on the path, with the steps that are left to take.
struct Frame<E> {
    fingerprint: u128,
    alternatives: Vec<Alternative<E>>,
    /// Whether footprints are complete here.
    complete: bool,
    /// Which alternatives are left, the next one last.
    left: Vec<usize>,
    /// How many outcomes of the next one were taken.
    outcomes: u16,
    /// The sleep set.
    sleep: Vec<Key>,
    /// The steps that were taken from here, with all of their outcomes.
    done: Vec<Key>,
    /// The steps that ended the execution.
    ending: Vec<Key>,
}

impl<E: Enabled> Frame<E> {
    /// The sleep set after a step from here.
    fn sleep_after(&self, taken: &Alternative<E>) -> Vec<Key> {
        let footprint = taken.step.footprint();
        let apart = |key: &&Key| {
            let sleeping = self.alternatives.iter().find(|alternative| alternative.key() == **key);
            sleeping.is_some_and(|sleeping| sleeping.step.footprint().is_apart_from(&footprint))
        };
        let done = self.done.iter().filter(|key| !self.ending.contains(key));
        self.sleep.iter().chain(done).filter(apart).copied().collect()
    }

    /// The next choice to make from here, and the sleep set after it.
    fn next(&mut self) -> Option<(Choice, Vec<Key>)> {
        let &index = self.left.last()?;
        let taken = &self.alternatives[index];
        let outcome = taken.timeout.unwrap_or(self.outcomes);
        let choice = Choice { thread: taken.thread, outcome };
        let asleep = if self.complete { self.sleep_after(taken) } else { Vec::new() };
        self.outcomes += 1;
        if self.outcomes >= taken.outcomes {
            self.done.push(taken.key());
            self.left.pop();
            self.outcomes = 0;
        }
        Some((choice, asleep))
    }

    /// The step that was taken last ended the execution.
    fn note_end(&mut self) {
        let key = match self.left.last() {
            Some(&index) if self.outcomes > 0 => Some(self.alternatives[index].key()),
            _ => self.done.last().copied(),
        };
        self.ending.extend(key);
    }
}

/// A search over all states.
pub struct StateSearch<E> {
    sleep: Sleep,
    /// Every state that was reached, by its fingerprint.
    visited: BTreeMap<u128, Known>,
    path: Vec<Frame<E>>,
    /// How many steps were taken.
    pub steps: u64,
    /// How many of them led to a visited state.
    pub matched: u64,
    /// How many of those led to a state on the path: a cycle.
    pub cycles: u64,
    /// How many steps led to an end.
    pub ends: u64,
}

impl<E: Enabled> StateSearch<E> {
    /// A search.
    pub fn new(sleep: Sleep) -> Self {
        let visited = BTreeMap::new();
        StateSearch { sleep, visited, path: Vec::new(), steps: 0, matched: 0, cycles: 0, ends: 0 }
    }

    /// How many steps on the path are still to be taken. That does not tell how many states are left:
    /// most of those that are reached late were visited.
    pub fn left(&self) -> usize {
        self.path.iter().map(|frame| frame.left.len()).sum()
    }

    /// How many states were reached.
    pub fn states(&self) -> usize {
        self.visited.len()
    }

    /// Takes steps until there are none left, or `visit`, which sees where each one led, breaks.
    ///
    /// Returns whether the search came to its end.
    pub fn run<W: Walker<Step = E>>(
        &mut self,
        walker: &mut W,
        mut visit: impl FnMut(&Self, &mut W, &Reached<E>) -> ControlFlow<()>,
    ) -> Result<bool, W::Error> {
        let mut reached = walker.start()?;
        let mut asleep = Vec::new();
        loop {
            if matches!(reached, Reached::End) {
                self.ends += 1;
                self.path.last_mut().into_iter().for_each(Frame::note_end);
            }
            if visit(self, walker, &reached).is_break() {
                return Ok(false);
            }
            self.arrive(reached, asleep);
            let Some((choice, next)) = self.next_choice() else { return Ok(true) };
            asleep = next;
            reached = walker.take(self.path.len() - 1, choice)?;
            self.steps += 1;
        }
    }

    /// The next choice, from the deepest state that has one left.
    fn next_choice(&mut self) -> Option<(Choice, Vec<Key>)> {
        while let Some(frame) = self.path.last_mut() {
            if let Some((choice, asleep)) = frame.next() {
                let sleeps = self.sleep == Sleep::Independent;
                return Some((choice, if sleeps { asleep } else { Vec::new() }));
            }
            if let Some(known) = self.visited.get_mut(&frame.fingerprint) {
                known.on_path -= 1;
            }
            self.path.pop();
        }
        None
    }

    /// Puts a state on the path, unless no step is left to take from it.
    fn arrive(&mut self, reached: Reached<E>, asleep: Vec<Key>) {
        let Reached::State { fingerprint, alternatives, complete } = reached else { return };
        let mut sleep = if complete { asleep } else { Vec::new() };
        let keys = || alternatives.iter().map(Alternative::key).enumerate();
        let (known, mut left): (_, Vec<usize>) = match self.visited.entry(fingerprint) {
            Entry::Vacant(entry) => {
                let left = keys().filter(|(_, key)| !sleep.contains(key));
                let left = left.map(|(index, _)| index).collect();
                (entry.insert(Known { untaken: sleep.clone(), on_path: 0 }), left)
            }
            Entry::Occupied(entry) => {
                let known = entry.into_mut();
                self.matched += 1;
                self.cycles += u64::from(known.on_path > 0);
                let woken = |key: &Key| known.untaken.contains(key) && !sleep.contains(key);
                let left = keys().filter(|(_, key)| woken(key)).map(|(index, _)| index).collect();
                known.untaken.retain(|key| sleep.contains(key));
                sleep.clone_from(&known.untaken);
                (known, left)
            }
        };
        if left.is_empty() {
            return;
        }
        known.on_path += 1;
        left.reverse();
        let (done, ending) = (Vec::new(), Vec::new());
        let outcomes = 0;
        self.path.push(Frame {
            fingerprint,
            alternatives,
            complete,
            left,
            outcomes,
            sleep,
            done,
            ending,
        });
    }
}
