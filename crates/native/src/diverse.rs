//! Passing executions that differ most from each other, and the faults that none of them had: why a
//! program holds.
//!
//! Executions are drawn at random; of those that end as expected, the first is taken, then again and
//! again the one whose most similar taken one is the least similar (Gonzalez 1985, farthest-first
//! traversal). Two executions are similar if the same steps of different threads follow each other at
//! the same objects (Jaccard index).

use crate::error::Error;
use crate::execution::Execution;
use crate::exercised::Exercised;
use crate::launch::Launch;
use crate::messages::messages;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, Event, Object, OperationKind, Outcome, Request, Setup};
use std::collections::{BTreeMap, BTreeSet};

/// So many executions are drawn, or so many for each that is wanted.
const DRAWN: u64 = 200;
const DRAWN_EACH: u64 = 20;

/// Executions that end as expected.
#[derive(Debug)]
pub struct Diverse {
    /// Those that differ most, the most different first; fewer than were asked for if there are no more
    /// that differ.
    pub executions: Vec<Execution>,
    /// The first that was drawn and does not end as expected, if there is one: whoever says that the
    /// program holds is wrong.
    pub unexpected: Option<Execution>,
    /// How many were drawn.
    pub drawn: u64,
    /// Faults that were allowed and that none of those had, a sentence each.
    pub unexercised: Vec<String>,
}

/// Draws executions and takes so many that differ most.
pub fn diverse(launch: &Launch, seed: u64, count: usize) -> Result<Diverse, Error> {
    let wanted = DRAWN.max(DRAWN_EACH * count as u64);
    let mut faults = Exercised::default();
    let (mut drawn, mut unexpected) = (Vec::new(), None);
    let setup = Setup { chronicle: true, ..launch.setup };
    let mut worker = Worker::start(&Launch { setup, ..launch.clone() }, &Modules::default())?;
    for first in 0..wanted {
        let command =
            Command { request: Request::Run, seed, first, count: 1, ..Command::default() };
        let reply = worker.ask(command)?;
        let execution = Execution::of(&worker, &reply, first);
        let is_expected = setup.expects(execution.outcome, execution.detail);
        if is_expected && execution.outcome != Outcome::Abandoned && execution.judgement.is_none() {
            let messages = messages(&execution.message_events, &worker.system, "a peer");
            faults.see(&execution.events, &messages);
            drawn.push((features(&execution.events), execution));
        } else if !is_expected && contradicts(execution.outcome) {
            unexpected = unexpected.or(Some(execution));
        }
    }
    let of = format!(" of {wanted} drawn at random");
    let unexercised = faults.unexercised(launch, &of);
    let executions = farthest_first(drawn, count);
    Ok(Diverse { executions, unexpected, drawn: wanted, unexercised })
}

/// Whether no execution of a program that holds ends so. A random schedule may be unfair for long.
fn contradicts(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::TooLong | Outcome::Livelock)
}

/// A step of a thread, as far as executions are compared.
type Part = (u16, OperationKind, bool);

/// What follows what at each object, between threads, and which outcomes steps had.
fn features(events: &[Event]) -> BTreeSet<(Object, Part, Part)> {
    let mut last: BTreeMap<Object, Part> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for event in events {
        let part = (event.thread, event.kind(), event.outcome != 0);
        let before = last.insert(event.object, part);
        let is_other = before.is_some_and(|before| before.0 != event.thread);
        if is_other || event.outcome != 0 {
            found.insert((event.object, before.unwrap_or(part), part));
        }
    }
    found
}

/// One less the Jaccard index.
fn distance<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    match one.union(other).count() {
        0 => 0.0,
        all => 1.0 - one.intersection(other).count() as f64 / all as f64,
    }
}

/// The first, then those that are farthest from all that were taken before.
fn farthest_first<F: Ord, E>(mut drawn: Vec<(BTreeSet<F>, E)>, count: usize) -> Vec<E> {
    let mut nearest = vec![f64::INFINITY; drawn.len()];
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < count {
        // The first of those that are equally far.
        let farthest = (0..drawn.len()).rev().max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]));
        let Some(next) = farthest.filter(|&next| nearest[next] > 0.0) else { break };
        taken.push(next);
        for (at, (features, _)) in drawn.iter().enumerate() {
            nearest[at] = nearest[at].min(distance(features, &drawn[next].0));
        }
        nearest[next] = 0.0;
    }
    let mut places: Vec<(usize, usize)> = taken.into_iter().zip(0..).collect();
    places.sort_unstable();
    let mut found: Vec<(usize, E)> = Vec::new();
    for (at, place) in places.into_iter().rev() {
        found.push((place, drawn.swap_remove(at).1));
    }
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, execution)| execution).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u8]) -> BTreeSet<u8> {
        numbers.iter().copied().collect()
    }

    #[test]
    fn those_that_differ_most_are_taken() {
        let drawn = || {
            vec![
                (set(&[1, 2, 3]), "first"),
                (set(&[1, 2, 3]), "like the first"),
                (set(&[1, 2, 4]), "a little different"),
                (set(&[7, 8]), "quite different"),
            ]
        };
        assert_eq!(farthest_first(drawn(), 1), ["first"]);
        assert_eq!(farthest_first(drawn(), 2), ["first", "quite different"]);
        let all = ["first", "quite different", "a little different"];
        assert_eq!(farthest_first(drawn(), 9), all, "none is taken that does not differ");
        assert_eq!(farthest_first(Vec::<(BTreeSet<u8>, u8)>::new(), 3), [0u8; 0]);
    }
}
