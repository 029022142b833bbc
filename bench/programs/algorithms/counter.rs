// Three threads count by comparing and exchanging.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const ROUNDS: u32 = if cfg!(long) { 3 } else { 2 };

fn increment(counter: &AtomicU32) {
    let mut seen = counter.load(Ordering::SeqCst);
    while let Err(now) =
        counter.compare_exchange(seen, seen + 1, Ordering::SeqCst, Ordering::SeqCst)
    {
        seen = now;
    }
}

pub fn main() {
    let counter = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || (0..ROUNDS).for_each(|_| increment(&counter)))
        })
        .collect();
    increment(&counter);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.load(Ordering::SeqCst), 2 * ROUNDS + 1);
}
