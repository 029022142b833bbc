//! Checking a sample of what a simulation relation has pruned.
//!
//! A relation is a promise of the model: whatever the smaller state can do, the larger one can. A
//! promise that is not kept makes a search miss states without a word, so some of the states that were
//! pruned are taken up again when the search is over, with the ones that pruned them: each step of the
//! smaller must be matched by one of the larger, and so on from where they lead. All of them in a small search, in a large one those
//! with the smallest hashes (bottom-k sampling: E. Cohen, H. Kaplan, PODC 2007), so that the sample
//! does not depend on the order of the search.

use crate::expand::Rules;
use crate::visited::Rule;
use crate::{Canonical, Step, System, panic_capture};
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// How many of the pairs that a search has met are checked.
const PAIRS: usize = 1024;
/// How many pairs are checked with those that follow from them.
const MOST_PAIRS: usize = 4096;

/// A state that was pruned, and the number of the one that is said to simulate it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pruned {
    /// The hash of the pruned state, by which samples are drawn.
    hash: u64,
    pub(crate) by: u32,
    pub(crate) bytes: Box<[u8]>,
}

/// A sample of what was pruned: the pairs with the smallest hashes.
#[derive(Default)]
pub(crate) struct Sample(BinaryHeap<Pruned>);

impl Sample {
    /// Notes that the state of `bytes` was pruned by the state of number `by`.
    pub(crate) fn add(&mut self, hash: u64, by: u32, bytes: &[u8]) {
        let full = self.0.len() >= PAIRS;
        if full && self.0.peek().is_some_and(|largest| largest.hash <= hash) {
            return;
        }
        if full {
            self.0.pop();
        }
        self.0.push(Pruned { hash, by, bytes: bytes.into() });
    }

    /// The pairs of several samples that one sample of everything would have.
    pub(crate) fn merge<'s>(
        samples: impl Iterator<Item = (usize, &'s Sample)>,
    ) -> Vec<(usize, &'s Pruned)> {
        let mut all: Vec<(usize, &Pruned)> = samples
            .flat_map(|(shard, sample)| sample.0.iter().map(move |pair| (shard, pair)))
            .collect();
        all.sort_by(|a, b| a.1.hash.cmp(&b.1.hash).then_with(|| a.1.bytes.cmp(&b.1.bytes)));
        all.truncate(PAIRS);
        all
    }
}

/// A step of a pruned state that the one which pruned it cannot match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSimulated {
    /// The canonical bytes of the state that is said to simulate the other.
    pub larger: Vec<u8>,
    /// Those of the other.
    pub smaller: Vec<u8>,
    /// The step that the smaller one can take, and the larger one cannot match.
    pub step: Step,
}

/// Looks for a step that cannot be matched, in these pairs (the bytes of the larger state first) and in
/// those that the matching steps lead to, up to a number of pairs.
pub(crate) fn unmatched<'b, S: System>(
    rules: &Rules<'_, S>,
    pairs: impl Iterator<Item = (&'b [u8], &'b [u8])>,
) -> Option<NotSimulated> {
    let mut waiting: VecDeque<Pair> = pairs.map(|(a, b)| (a.to_vec(), b.to_vec())).collect();
    let mut seen: BTreeSet<Pair> = waiting.iter().cloned().collect();
    while let Some((larger, smaller)) = waiting.pop_front() {
        match check(rules, &larger, &smaller) {
            Err(step) => {
                let own = |bytes: &[u8]| rules.split(bytes).1.to_vec();
                return Some(NotSimulated { larger: own(&larger), smaller: own(&smaller), step });
            }
            Ok(next) => {
                for pair in next {
                    if seen.len() < MOST_PAIRS && seen.insert(pair.clone()) {
                        waiting.push_back(pair);
                    }
                }
            }
        }
    }
    None
}

/// The bytes of two states, of which the first is said to simulate the second.
type Pair = (Vec<u8>, Vec<u8>);

/// The pairs of different states that the steps of `smaller` and those that match them lead to; or a
/// step that cannot be matched.
fn check<S: System>(
    rules: &Rules<'_, S>,
    larger: &[u8],
    smaller: &[u8],
) -> Result<Vec<Pair>, Step> {
    let of_larger = successors(rules, larger);
    let mut next = Vec::new();
    for (step, outcome) in successors(rules, smaller) {
        let matches = |(_, other): &&(Step, Outcome)| other.matches(&outcome, rules.rule);
        // Mostly it is the same step that matches.
        let same = of_larger.iter().filter(|(other, _)| *other == step).find(matches);
        let (_, matching) = same.or_else(|| of_larger.iter().find(matches)).ok_or(step)?;
        if let (Some((violated, larger)), Some((_, smaller))) = (&matching.0, outcome.0)
            && violated.is_empty()
            && *larger != smaller
        {
            next.push((larger.clone(), smaller));
        }
    }
    Ok(next)
}

/// What a step leads to: which properties it violates, and the bytes of the state; or a panic.
struct Outcome(Option<(Vec<usize>, Vec<u8>)>);

impl Outcome {
    fn matches(&self, smaller: &Outcome, rule: Rule<'_>) -> bool {
        match (&self.0, &smaller.0) {
            (None, None) => true,
            (Some((violated, larger)), Some((also, smaller))) => {
                violated == also && (!violated.is_empty() || rule.simulates(larger, smaller))
            }
            _ => false,
        }
    }
}

fn successors<S: System>(rules: &Rules<'_, S>, bytes: &[u8]) -> Vec<(Step, Outcome)> {
    let (contained, own) = rules.split(bytes);
    let (mut before, mut steps) = (rules.system.initial(), Vec::new());
    before.read(&mut &own[..]);
    rules.system.enabled(&before, &mut steps);
    steps.retain(|step| !rules.search.disabled.contains(&step.event));
    let outcome = |step: Step| {
        let mut state = rules.system.initial();
        state.read(&mut &own[..]);
        rules.system.take(&mut state, step);
        let violated = rules.violations(Some(&before), &state);
        let contains = contained || rules.search.must_contain == Some(step.event);
        let mut after = Vec::new();
        rules.encode(&state, contains, &mut after);
        (violated.into_iter().map(|(number, _)| number).collect(), after)
    };
    let taken = |step: Step| (step, Outcome(panic_capture::run(|| outcome(step)).ok()));
    steps.into_iter().map(taken).collect()
}
