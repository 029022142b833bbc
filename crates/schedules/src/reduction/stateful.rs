//! Depth-first search over states: what was met before is not explored again.
//!
//! Patrice Godefroid: Partial-Order Methods for the Verification of Concurrent Systems, 1996,
//! section 5.2 (sleep sets together with state matching); Visser, Havelund, Brat, Park, Lerda:
//! Model Checking Programs, ASE 2003 (such a search over the states of running programs).
//!
//! With sleep sets, a state is kept with the steps that slept when it was explored. If it is met
//! again while one of them is awake, that step is explored then. Without this rule, two states
//! could each leave a step to the other. All states are reached either way: sleep sets alone spare
//! only ways that lead to states which were reached by others.
//!
//! Where we depart: in a state in which footprints do not tell everything ([`Reached::State`]),
//! nothing sleeps; nor does a step that ends the execution, since after it nothing else can be done.

use super::Alternative;
use everypath_dependence::{Choice, Enabled};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

/// Where a step leads.
#[derive(Clone, Debug)]
pub enum Reached<E> {
    /// To a state in which something can be done.
    State {
        /// States with equal fingerprints are taken to be the same.
        fingerprint: u128,
        /// What can be done.
        alternatives: Vec<Alternative<E>>,
        /// Whether footprints tell all that steps have to do with each other here.
        told: bool,
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

/// A thread's step, or something that happens to the thread by itself.
type Key = (u16, Option<u16>);

fn key<E>(alternative: &Alternative<E>) -> Key {
    (alternative.thread, alternative.by_itself)
}

/// Whether steps sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Every step is taken from every state.
    Never,
    /// A step is not taken where it could only lead to a state that is reached by another way.
    Independent,
}

/// What is known of a state.
struct Known {
    /// The steps that nobody has taken from it yet.
    untaken: Vec<Key>,
    /// How often it is on the path.
    on_path: u32,
}

/// A state on the path, with what is left to do there.
struct Frame<E> {
    fingerprint: u128,
    alternatives: Vec<Alternative<E>>,
    told: bool,
    /// Which alternatives are left, the next one last.
    left: Vec<usize>,
    /// How many outcomes of the next one were taken.
    outcomes: u16,
    /// What could only lead to states that are reached by other ways.
    sleep: Vec<Key>,
    /// What was taken from here, in all its outcomes.
    done: Vec<Key>,
    /// What has ended the execution.
    ending: Vec<Key>,
}

impl<E: Enabled> Frame<E> {
    /// What sleeps after a step from here: what was or need not be taken, and does not mind it.
    fn sleep_after(&self, taken: &Alternative<E>) -> Vec<Key> {
        let footprint = taken.step.footprint();
        let apart = |key: &&Key| {
            let sleeping =
                self.alternatives.iter().find(|alternative| self::key(alternative) == **key);
            sleeping.is_some_and(|sleeping| sleeping.step.footprint().is_apart_from(&footprint))
        };
        let done = self.done.iter().filter(|key| !self.ending.contains(key));
        self.sleep.iter().chain(done).filter(apart).copied().collect()
    }

    /// The next choice to make from here, and what sleeps after it.
    fn next(&mut self) -> Option<(Choice, Vec<Key>)> {
        let &index = self.left.last()?;
        let taken = &self.alternatives[index];
        let outcome = taken.by_itself.unwrap_or(self.outcomes);
        let choice = Choice { thread: taken.thread, outcome };
        let asleep = if self.told { self.sleep_after(taken) } else { Vec::new() };
        self.outcomes += 1;
        if self.outcomes >= taken.outcomes {
            self.done.push(key(taken));
            self.left.pop();
            self.outcomes = 0;
        }
        Some((choice, asleep))
    }

    /// What was taken last ended the execution.
    fn note_end(&mut self) {
        let key = match self.left.last() {
            Some(&index) if self.outcomes > 0 => Some(key(&self.alternatives[index])),
            _ => self.done.last().copied(),
        };
        self.ending.extend(key);
    }
}

/// A search over all states.
pub struct Stateful<E> {
    sleep: Sleep,
    /// Every state that was met.
    visited: BTreeMap<u128, Known>,
    path: Vec<Frame<E>>,
    /// How many steps were taken.
    pub steps: u64,
    /// How many of them led to a state that was known.
    pub matched: u64,
    /// How many of those led to a state on the path: the execution can go round for ever.
    pub cycles: u64,
    /// How many steps led to an end.
    pub ends: u64,
}

impl<E: Enabled> Stateful<E> {
    /// A search.
    pub fn new(sleep: Sleep) -> Self {
        let visited = BTreeMap::new();
        Stateful { sleep, visited, path: Vec::new(), steps: 0, matched: 0, cycles: 0, ends: 0 }
    }

    /// How many steps are known that are still to be taken. How many states lie behind them cannot be
    /// told from that: what is met late is mostly known.
    pub fn left(&self) -> usize {
        self.path.iter().map(|frame| frame.left.len()).sum()
    }

    /// How many states were met.
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

    /// Goes on from a state, unless nothing is left to do there.
    fn arrive(&mut self, reached: Reached<E>, asleep: Vec<Key>) {
        let Reached::State { fingerprint, alternatives, told } = reached else { return };
        let mut sleep = if told { asleep } else { Vec::new() };
        let keys = || alternatives.iter().map(key).enumerate();
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
            told,
            left,
            outcomes,
            sleep,
            done,
            ending,
        });
    }
}
