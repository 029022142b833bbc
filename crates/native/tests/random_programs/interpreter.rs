//! All endings of a script under sequential consistency, by interleaving single accesses.

use super::script::{MUTEXES, Operation, Place, SHARED, Script};
use std::collections::BTreeSet;

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    Exit(u8),
    Deadlock,
}

/// What a script can do.
#[derive(Debug)]
pub(super) struct Behaviour {
    pub(super) endings: BTreeSet<Ending>,
    /// Whether two threads can stand before accesses to the same bytes, one of them to write and one of
    /// them not atomic.
    pub(super) races: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    next: usize,
    /// What an addition has loaded, and will store.
    loaded: Option<u64>,
    seen: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: [u8; SHARED],
    owners: [Option<usize>; MUTEXES],
    threads: Vec<Thread>,
}

/// Explores every interleaving.
pub(super) fn interpret(script: &Script) -> Behaviour {
    let threads = vec![Thread::default(); script.threads.len()];
    let start = State { memory: [0; SHARED], owners: [None; MUTEXES], threads };
    let mut found = Behaviour { endings: BTreeSet::new(), races: false };
    let mut known = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        found.races |= state.races(script);
        let next: Vec<State> =
            (0..state.threads.len()).filter_map(|thread| state.after(script, thread)).collect();
        if next.is_empty() {
            found.endings.insert(state.ending(script));
        }
        for next in next {
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

impl State {
    fn operation(&self, script: &Script, thread: usize) -> Option<Operation> {
        script.threads[thread].get(self.threads[thread].next).copied()
    }

    /// The state after the next access of a thread; none if it has ended or waits.
    fn after(&self, script: &Script, thread: usize) -> Option<State> {
        let operation = self.operation(script, thread)?;
        let mut state = self.clone();
        let mut is_done = true;
        match operation {
            Operation::Load(place) | Operation::AtomicLoad(place, _) => {
                let value = state.load(place);
                state.see(thread, value);
            }
            Operation::Store(place, value) | Operation::AtomicStore(place, value, _) => {
                state.store(place, value.into());
            }
            Operation::StoreSeen(place) => {
                state.store(place, u64::from(state.threads[thread].seen & 0xff));
            }
            Operation::Add(place, value) => match state.threads[thread].loaded.take() {
                Some(loaded) => state.store(place, loaded.wrapping_add(value.into())),
                None => {
                    state.threads[thread].loaded = Some(state.load(place));
                    is_done = false;
                }
            },
            Operation::FetchAdd(place, value, _) => {
                let old = state.load(place);
                state.see(thread, old);
                state.store(place, old.wrapping_add(value.into()));
            }
            Operation::Exchange(place, value, _) => {
                let old = state.load(place);
                state.see(thread, old);
                state.store(place, value.into());
            }
            Operation::CompareExchange(place, expected, desired, _) => {
                let old = state.load(place);
                state.see(thread, old);
                if old == u64::from(expected) {
                    state.store(place, desired.into());
                }
            }
            Operation::Lock(mutex) => {
                if state.owners[mutex].is_some() {
                    return None;
                }
                state.owners[mutex] = Some(thread);
            }
            Operation::Unlock(mutex) => state.owners[mutex] = None,
            Operation::IfEven => {
                let is_even = state.threads[thread].seen.is_multiple_of(2);
                state.threads[thread].next += usize::from(!is_even);
            }
        }
        state.threads[thread].next += usize::from(is_done);
        Some(state)
    }

    fn load(&self, place: Place) -> u64 {
        let bytes = &self.memory[place.offset..place.offset + place.size];
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn store(&mut self, place: Place, value: u64) {
        let bytes = &value.to_le_bytes()[..place.size];
        self.memory[place.offset..place.offset + place.size].copy_from_slice(bytes);
    }

    fn see(&mut self, thread: usize, value: u64) {
        let seen = &mut self.threads[thread].seen;
        *seen = seen.wrapping_mul(7).wrapping_add(value as u32).wrapping_add((value >> 32) as u32);
    }

    fn ending(&self, script: &Script) -> Ending {
        let ended = |thread| self.operation(script, thread).is_none();
        if !(0..self.threads.len()).all(ended) {
            return Ending::Deadlock;
        }
        let mix = |sum: u32, part: u32| sum.wrapping_mul(31).wrapping_add(part);
        let memory = self.memory.iter().fold(0, |sum, &byte| mix(sum, byte.into()));
        let all = self.threads.iter().fold(memory, |sum, thread| mix(sum, thread.seen));
        Ending::Exit((all % 251) as u8)
    }

    /// Whether two threads stand before accesses that race.
    fn races(&self, script: &Script) -> bool {
        let next: Vec<_> = (0..self.threads.len())
            .filter_map(|thread| {
                let is_second = self.threads[thread].loaded.is_some();
                access(self.operation(script, thread)?, is_second)
            })
            .collect();
        next.iter().enumerate().any(|(at, one)| {
            next[at + 1..].iter().any(|other| {
                one.place.overlaps(other.place)
                    && (one.writes || other.writes)
                    && (one.is_plain || other.is_plain)
            })
        })
    }
}

struct Access {
    place: Place,
    writes: bool,
    is_plain: bool,
}

/// The access that an operation makes; an addition loads first and stores second.
fn access(operation: Operation, is_second: bool) -> Option<Access> {
    let (place, writes, is_plain) = match operation {
        Operation::Load(place) => (place, false, true),
        Operation::Store(place, _) | Operation::StoreSeen(place) => (place, true, true),
        Operation::Add(place, _) => (place, is_second, true),
        Operation::AtomicLoad(place, _) => (place, false, false),
        Operation::AtomicStore(place, ..)
        | Operation::FetchAdd(place, ..)
        | Operation::Exchange(place, ..)
        | Operation::CompareExchange(place, ..) => (place, true, false),
        Operation::Lock(_) | Operation::Unlock(_) | Operation::IfEven => return None,
    };
    Some(Access { place, writes, is_plain })
}
