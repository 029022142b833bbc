//! The trace hash: equal for executions with the same happens-before order.
//!
//! Two executions are equivalent if they differ only in the order of steps that do not depend on
//! each other. The hash of a part of a step is made of what its thread did before and of all
//! earlier parts that it depends on; those are added up, so their own order does not matter. The
//! hash of the execution is the sum over its parts. Which parts depend on each other is asked of
//! the one table, [`Part::relation`].
//!
//! Whether a lock was released before or after it was requested makes no difference. So acquiring a
//! lock is the same part, be it in the step of the request or in one of its own. Nor does it matter
//! how often a yielding thread has polled.

use crate::region::{count, region};
use crate::run_state::Counter;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use everypath_shim_abi::{
    Completion, Event, Facet, LockOrder, MAX_EVENTS, MAX_THREADS, Mode, Operation, Part, Phase,
    Relation, Step, TIMEOUT,
};

/// So many objects are told apart; all others are taken for one, which makes classes smaller.
const OBJECTS: usize = 4096;
/// The modes that go with an object.
const MODES: [Mode; 7] = [
    Mode::Request,
    Mode::Acquire,
    Mode::Release,
    Mode::Share,
    Mode::Read,
    Mode::Touch,
    Mode::Write,
];

/// The place of each mode among those; none for a mode that goes with no object.
const PLACES: [Option<usize>; Mode::Nothing as usize + 1] = {
    let mut places = [None; Mode::Nothing as usize + 1];
    let mut i = 0;
    while i < MODES.len() {
        places[MODES[i] as usize] = Some(i);
        i += 1;
    }
    places
};

/// For each mode of a part, all bits of those modes whose later parts of the same object depend on
/// it.
const CONCERNS: [[u64; MODES.len()]; MODES.len()] = {
    let mut concerns = [[0; MODES.len()]; MODES.len()];
    let mut i = 0;
    while i < MODES.len() * MODES.len() {
        let earlier = Part { mode: MODES[i / MODES.len()], object: 0 };
        let later = Part { mode: MODES[i % MODES.len()], object: 0 };
        let related = !matches!(earlier.relation(later), Relation::Independent | Relation::Missed);
        concerns[i / MODES.len()][i % MODES.len()] = if related { u64::MAX } else { 0 };
        i += 1;
    }
    concerns
};

/// What was done to an object so far: as much as one line of the processor's cache holds.
#[repr(C, align(64))]
struct Object {
    /// In which execution, and a hash of its address; entries of other executions are free.
    key: Counter,
    /// For each mode, the sum over the parts that one of this mode depends on.
    sums: [Counter; MODES.len()],
}

impl Object {
    const fn new() -> Self {
        Object { key: Counter::new(), sums: [const { Counter::new() }; MODES.len()] }
    }

    /// Whether this is the object with a key; if nothing was done in this execution to the one that
    /// was here, it is from now on.
    fn is(&self, key: u64) -> bool {
        if self.key.get() >> 32 != key >> 32 {
            self.key.set(key);
            self.sums.iter().for_each(|sum| sum.set(0));
        }
        self.key.get() == key
    }
}

static TABLE: [Object; OBJECTS] = [const { Object::new() }; OBJECTS];
static OTHERS: Object = Object::new();
static EXECUTION: Counter = Counter::new();
/// The hash of what each thread did so far.
static THREADS: [AtomicU64; MAX_THREADS] = [const { AtomicU64::new(0) }; MAX_THREADS];
/// The hash after each step.
static STEPS: [AtomicU64; MAX_EVENTS] = [const { AtomicU64::new(0) }; MAX_EVENTS];
/// For each step, whether what it asked for came later, in a step of its own.
static WAITED: [AtomicU32; MAX_EVENTS / 32] = [const { AtomicU32::new(0) }; MAX_EVENTS / 32];

/// One multiplication: this is computed several times a step.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    product as u64 ^ (product >> 64) as u64
}

/// What an object's parts are added to.
fn object(address: u64) -> &'static Object {
    let hash = mix(address, 0);
    let execution = EXECUTION.get() << 32;
    let key = execution | hash >> 32;
    let mut probes = (0..8).map(|probe| &TABLE[(hash as usize + probe) % OBJECTS]);
    probes.find(|object| object.is(key)).unwrap_or_else(|| {
        OTHERS.is(execution);
        &OTHERS
    })
}

/// The class of the last execution, which had so many steps. Also counts its threads.
pub(crate) fn class(steps: u32) -> u64 {
    EXECUTION.set(EXECUTION.get() + 1);
    THREADS.iter().for_each(|hash| hash.store(0, Relaxed));
    let events = &region().events[..steps as usize];
    note_waits(events.iter().map(|event| event.get()));
    let mut sums = Sums { all: 0, everything: 0 };
    let mut threads = 1;
    for (step, event) in events.iter().enumerate() {
        let event = event.get();
        let hash = sums.step(step, &event);
        STEPS[step].store(hash, Relaxed);
        if let Completion::Created(created) = event.completion() {
            threads += 1;
            THREADS[usize::from(created) % MAX_THREADS].store(mix(hash, 1), Relaxed);
        }
    }
    count(|counters| {
        counters.longest = counters.longest.max(u64::from(steps));
        counters.threads = counters.threads.max(threads);
    });
    sums.all
}

/// Notes of each step whether its thread goes on by a step that was granted later.
fn note_waits(events: impl DoubleEndedIterator<Item = Event> + ExactSizeIterator) {
    let mut resumes = [false; MAX_THREADS];
    for (step, event) in events.enumerate().rev() {
        let thread = usize::from(event.thread) % MAX_THREADS;
        let (word, bit) = (&WAITED[step / 32], 1 << (step % 32));
        let others = word.load(Relaxed) & !bit;
        word.store(others | if resumes[thread] { bit } else { 0 }, Relaxed);
        resumes[thread] = event.phase == Phase::Resume;
    }
}

/// Whether a thread goes on because it was given the lock, or the unit, that it asked for.
fn gets_a_lock(event: &Event) -> bool {
    event.phase == Phase::Resume
        && event.outcome != TIMEOUT
        && match event.operation() {
            Operation::MutexLock | Operation::SpinLock | Operation::Join => true,
            Operation::SemWait => true,
            Operation::ReadLock(order) => order != LockOrder::Unordered,
            Operation::WriteLock(order) => order == LockOrder::Fifo,
            // Of the mutex that goes with a condition: before, the condition was waited for.
            Operation::CondWait(condition) => event.object == condition.mutex,
            _ => false,
        }
}

/// Sums over all parts so far.
struct Sums {
    all: u64,
    /// Over those that touch everything.
    everything: u64,
}

impl Sums {
    /// Adds a step; the hash of its thread after it.
    fn step(&mut self, step: usize, event: &Event) -> u64 {
        let thread = &THREADS[usize::from(event.thread) % MAX_THREADS];
        if event.stands_back() {
            return thread.load(Relaxed);
        }
        if gets_a_lock(event) {
            let got = Part { mode: Mode::Acquire, object: event.object.facet(Facet::Whole) };
            let mut hash = thread.load(Relaxed);
            match event.operation() {
                Operation::ReadLock(_) | Operation::WriteLock(_) => {
                    let got = event.step().footprint();
                    got.parts().for_each(|part| hash = self.part(hash, part));
                }
                _ => hash = self.part(hash, got),
            }
            thread.store(hash, Relaxed);
            return hash;
        }
        let waited = WAITED[step / 32].load(Relaxed) >> (step % 32) & 1 != 0;
        let footprint = Step { granted: !waited, ..event.step() }.footprint();
        let kind = u64::from(event.kind() as u8) << 24 | u64::from(event.outcome) << 8;
        let mut hash = mix(thread.load(Relaxed), kind | u64::from(event.phase as u8));
        if let Some(granting) = (event.granted_by as usize).checked_sub(1) {
            hash = mix(hash, STEPS[granting % MAX_EVENTS].load(Relaxed));
        }
        for part in footprint.parts() {
            hash = self.part(hash, part);
        }
        thread.store(hash, Relaxed);
        hash
    }

    fn part(&mut self, before: u64, part: Part) -> u64 {
        let mut hash = mix(before.wrapping_add(self.everything), part.mode as u64);
        match PLACES[part.mode as usize] {
            None if part.mode == Mode::Everything => hash = mix(hash, self.all),
            None => {}
            Some(place) => {
                let object = object(part.object);
                hash = mix(mix(hash, part.object), object.sums[place].get());
                for (sum, concerned) in object.sums.iter().zip(CONCERNS[place]) {
                    sum.set(sum.get().wrapping_add(hash & concerned));
                }
            }
        }
        self.all = self.all.wrapping_add(hash);
        if part.mode == Mode::Everything {
            self.everything = self.everything.wrapping_add(hash);
        }
        hash
    }
}
