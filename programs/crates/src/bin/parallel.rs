//! `rayon`: two threads add up numbers and keep the largest they have seen in a static variable, by
//! looking and then storing; with the argument `fixed` in one instruction.

use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicU32, Ordering};

static LARGEST: AtomicU32 = AtomicU32::new(0);

fn keep(number: u32, fixed: bool) {
    if fixed {
        LARGEST.fetch_max(number, Ordering::SeqCst);
    } else if LARGEST.load(Ordering::SeqCst) < number {
        LARGEST.swap(number, Ordering::SeqCst);
    }
}

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.join(|| keep(1, fixed), || keep(2, fixed));
    assert_eq!(LARGEST.load(Ordering::SeqCst), 2);
}
