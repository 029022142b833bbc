//! A consumer that does not look again after it was woken.

use std::sync::{Condvar, Mutex};

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let consumer = std::thread::spawn(|| {
        let mut ready = READY.lock().unwrap();
        if !*ready {
            ready = CHANGED.wait(ready).unwrap();
        }
        assert!(*ready);
    });
    *READY.lock().unwrap() = true;
    CHANGED.notify_one();
    consumer.join().unwrap();
}
