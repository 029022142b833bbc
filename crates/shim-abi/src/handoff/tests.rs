//! The hand-off in every interleaving and under every order of memory accesses that loom knows.

use super::{ASLEEP, Handoff, Side};
use crate::futex::loom_futex::{LoomFutex, word};
use crate::futex::{Futex, Word};
use core::cell::Cell;
use core::sync::atomic::AtomicU32 as PlainWord;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

/// What the two sides share. The data is read and written without any order of its own.
struct Shared {
    handoff: Handoff<AtomicU32>,
    futex: LoomFutex,
    data: AtomicU32,
}

impl Shared {
    /// Uses the region while this side has the turn, then gives the turn away.
    fn use_turn(&self, me: Side, finds: u32) {
        assert_eq!(self.data.load(Ordering::Relaxed), finds, "stale data in the turn of {me:?}");
        self.data.store(finds + 1, Ordering::Relaxed);
        self.handoff.give(me.other(), &self.futex);
    }
}

/// Lets a checker and a worker take turns, each waiting in its way: one turn each in every
/// interleaving, two turns each in those with at most two preemptions.
fn take_turns(checker: fn(&Shared), worker: fn(&Shared)) {
    for (rounds, preemption_bound) in [(1, None), (2, Some(2))] {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = preemption_bound;
        model.check(move || take_turns_once(rounds, checker, worker));
    }
}

fn take_turns_once(rounds: u32, checker: fn(&Shared), worker: fn(&Shared)) {
    let shared =
        Arc::new(Shared { handoff: Handoff::new(word()), futex: LoomFutex::new(), data: word() });
    let theirs = shared.clone();
    let thread = thread::spawn(move || {
        for round in 0..rounds {
            worker(&theirs);
            theirs.use_turn(Side::Worker, 2 * round + 1);
        }
    });
    for round in 0..rounds {
        checker(&shared);
        shared.use_turn(Side::Checker, 2 * round);
    }
    checker(&shared);
    assert_eq!(shared.data.load(Ordering::Relaxed), 2 * rounds);
    thread.join().unwrap();
}

#[test]
fn sides_that_sleep_take_turns() {
    take_turns(
        |shared| shared.handoff.wait(Side::Checker, &shared.futex),
        |shared| shared.handoff.wait(Side::Worker, &shared.futex),
    );
}

#[test]
fn sides_that_look_before_they_sleep_take_turns() {
    take_turns(
        |shared| {
            if !shared.handoff.has(Side::Checker) {
                shared.handoff.wait(Side::Checker, &shared.futex);
            }
        },
        |shared| {
            if !shared.handoff.has(Side::Worker) {
                shared.handoff.wait(Side::Worker, &shared.futex);
            }
        },
    );
}

/// A futex whose sleep ends by a timeout at once.
struct TimedOut;

impl Futex<AtomicU32> for TimedOut {
    fn wait(&self, _word: &AtomicU32, _value: u32) {
        thread::yield_now();
    }

    fn wake(&self, _word: &AtomicU32) {}
}

/// The checker looks after the worker from time to time: its sleep has a timeout.
#[test]
fn a_timeout_loses_no_turn() {
    take_turns(
        |shared| while !shared.handoff.wait_once(Side::Checker, &TimedOut) {},
        |shared| shared.handoff.wait(Side::Worker, &shared.futex),
    );
}

/// A futex that counts.
#[derive(Default)]
struct Counted {
    waits: Cell<u32>,
    wakes: Cell<u32>,
}

impl Futex<PlainWord> for Counted {
    fn wait(&self, word: &PlainWord, value: u32) {
        assert_eq!(Word::load(word, Ordering::Relaxed), value);
        self.waits.set(self.waits.get() + 1);
    }

    fn wake(&self, _word: &PlainWord) {
        self.wakes.set(self.wakes.get() + 1);
    }
}

#[test]
fn only_a_side_that_sleeps_is_woken() {
    let handoff = Handoff::new(PlainWord::new(0));
    let futex = Counted::default();
    handoff.give(Side::Worker, &futex);
    assert!(handoff.has(Side::Worker) && !handoff.has(Side::Checker));
    handoff.wait(Side::Worker, &futex);
    assert_eq!((futex.waits.get(), futex.wakes.get()), (0, 0), "nobody slept");
    assert!(!handoff.wait_once(Side::Checker, &futex));
    assert!(!handoff.wait_once(Side::Checker, &futex), "it was woken by something else");
    assert_eq!(handoff.0.load(Ordering::Relaxed), Side::Worker as u32 | ASLEEP);
    handoff.give(Side::Checker, &futex);
    assert_eq!((futex.waits.get(), futex.wakes.get()), (2, 1));
    handoff.give(Side::Worker, &futex);
    assert_eq!(futex.wakes.get(), 1);
}
