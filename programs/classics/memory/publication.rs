//! A thread says that a value is ready before it has written it.
//! With `fixed` it says so afterwards.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Slot {
    ready: AtomicBool,
    value: UnsafeCell<u64>,
}

// SAFETY: that is what is to be checked.
unsafe impl Sync for Slot {}

fn publish(slot: &Slot, fixed: bool) {
    if !fixed {
        slot.ready.store(true, Ordering::Release);
    }
    // SAFETY: nobody reads the value before it is ready, if it is fixed.
    unsafe { slot.value.get().write(7) };
    if fixed {
        slot.ready.store(true, Ordering::Release);
    }
}

fn main() {
    let fixed = std::env::args().len() > 1;
    let slot = Arc::new(Slot { ready: AtomicBool::new(false), value: UnsafeCell::new(0) });
    let shared = Arc::clone(&slot);
    let other = thread::spawn(move || publish(&shared, fixed));
    if slot.ready.load(Ordering::Acquire) {
        // SAFETY: it is ready.
        assert_eq!(unsafe { slot.value.get().read() }, 7);
    }
    other.join().unwrap();
}
