//! Each thread looks whether the work was begun, and begins it if not.
//! With `fixed` looking and beginning are one operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

struct Work {
    begun: AtomicBool,
    times: AtomicUsize,
}

fn begin(work: &Work, fixed: bool) {
    let is_first = if fixed {
        !work.begun.swap(true, Ordering::AcqRel)
    } else {
        let is_first = !work.begun.load(Ordering::Acquire);
        if is_first {
            work.begun.store(true, Ordering::Release);
        }
        is_first
    };
    if is_first {
        work.times.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let fixed = std::env::args().len() > 1;
    let work = Arc::new(Work { begun: AtomicBool::new(false), times: AtomicUsize::new(0) });
    let shared = Arc::clone(&work);
    let other = thread::spawn(move || begin(&shared, fixed));
    begin(&work, fixed);
    other.join().unwrap();
    assert_eq!(work.times.load(Ordering::Relaxed), 1);
}
