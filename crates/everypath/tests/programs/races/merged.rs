//! A counter that loads and stores atomically, each for itself: updates are lost, and nothing races.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

static COUNT: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

fn main() {
    let other = thread::spawn(|| count(&COUNT));
    count(&COUNT);
    other.join().unwrap();
    assert!((1..=2).contains(&COUNT.load(Relaxed)));
}
