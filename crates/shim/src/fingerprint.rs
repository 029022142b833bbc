//! The fingerprint of a state, for state matching.
//!
//! It covers all that the rest of an execution depends on, and what properties look at: memory,
//! registers, the scheduler's state, virtual time, and output. It leaves out how the state was
//! reached: who ran last, how many steps it took, which step let a thread go on. States that differ
//! in nothing else have one hash if memory is kept canonical ([`Setup::canonical`]); if a program
//! keeps more of its past than it needs, one state has several, which costs time and misses nothing.
//!
//! [`Setup::canonical`]: everypath_shim_abi::Setup

use crate::memory::{Span, bytes};
use crate::region::region;
use crate::snapshot::for_each_memory_span;
use crate::state::{State, Status, Thread, state};
use core::mem::offset_of;
use everypath_shim_abi::{MAX_THREADS, Output};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// A hash over pieces of memory, in their order.
struct Sum(u128);

impl Sum {
    fn add(&mut self, span: Span) {
        let seed = (self.0 as u64) ^ ((self.0 >> 64) as u64).rotate_left(32);
        let head = [span.address as u64, span.length as u64];
        let seed = xxh3_64_with_seed(bytes(head.as_ptr() as usize, size_of_val(&head)), seed);
        self.0 ^= xxh3_128_with_seed(bytes(span.address, span.length), seed);
    }
}

/// The hash of the program's memory and of where its threads are, without what is known of them: how
/// often they have looked at something, or how late it is.
pub(crate) fn of_memory(state: &State) -> u128 {
    let mut sum = Sum(0);
    crate::protection::lifted(|| for_each_memory_span(state, |span| sum.add(span)));
    for thread in state.threads().filter(|thread| thread.is_alive()) {
        let context = &raw const thread.context;
        sum.add(Span { address: context as usize, length: size_of_val(&thread.context) });
    }
    sum.0
}

/// The hash of the present state.
pub(crate) fn fingerprint() -> u128 {
    let state = state();
    let mut sum = Sum(0);
    crate::protection::lifted(|| for_each_memory_span(state, |span| sum.add(span)));
    let current = state.current.replace(0);
    sum.add(state.head_span());
    state.current.set(current);
    sum.add(state.own_span());
    for thread in state.threads().filter(|thread| thread.status() != Status::Free) {
        add_thread(&mut sum, state, thread);
    }
    // Notes are for whoever reads a trace.
    for output in &region().output[..2] {
        let kept = (output.length.get() as usize).min(output.bytes.len());
        let length = offset_of!(Output, bytes) + kept;
        sum.add(Span { address: (&raw const *output) as usize, length });
    }
    sum.0
}

/// The same but for how late it is, and for how long threads have spun: in a cycle that needs neither.
pub(crate) fn fingerprint_without_time(state: &State) -> u128 {
    let (clock, rounds) = (state.clock.replace(0), state.idle_rounds.replace(0));
    let mut relocked = [[0; 3]; MAX_THREADS];
    for (thread, kept) in state.threads().zip(&mut relocked) {
        *kept = thread.relocked.replace([0; 3]);
    }
    let sum = fingerprint();
    for (thread, kept) in state.threads().zip(relocked) {
        thread.relocked.set(kept);
    }
    state.clock.set(clock);
    state.idle_rounds.set(rounds);
    sum
}

/// Waiters are numbered by the order in which they came, not by how many came before.
fn add_thread(sum: &mut Sum, state: &State, thread: &Thread) {
    let place = thread.place.get();
    let earlier = state.waiters_on(thread.object.get()).filter(|other| other.place.get() < place);
    let rank = if place == 0 { 0 } else { 1 + earlier.count() as u16 };
    thread.place.set(rank);
    let granted_by = thread.granted_by.replace(0);
    sum.add(Span { address: (&raw const *thread) as usize, length: size_of::<Thread>() });
    thread.place.set(place);
    thread.granted_by.set(granted_by);
}
