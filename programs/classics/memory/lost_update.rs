//! Threads load a counter, and store what they have computed from it: each operation is atomic, both
//! together are not. With `fixed` they add atomically.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn add(counter: &AtomicU32, fixed: bool) {
    if fixed {
        counter.fetch_add(1, Ordering::Relaxed);
    } else {
        let seen = counter.load(Ordering::Relaxed);
        counter.store(seen + 1, Ordering::Relaxed);
    }
}

fn main() {
    let fixed = std::env::args().len() > 1;
    let counter = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&counter);
    let other = thread::spawn(move || add(&shared, fixed));
    add(&counter, fixed);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}
