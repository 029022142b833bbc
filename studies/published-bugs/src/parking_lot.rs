//! parking_lot, issue 101: a reader waits behind an upgradable reader that waits itself, although nobody
//! writes.

use parking_lot::RwLock;
use std::sync::Arc;
use std::thread;

fn main() {
    let lock = Arc::new(RwLock::new(()));
    let first = lock.upgradable_read();
    let (one, other) = (Arc::clone(&lock), Arc::clone(&lock));
    let second = thread::spawn(move || drop(one.upgradable_read()));
    let reader = thread::spawn(move || drop(other.read()));
    // Readers are let in beside an upgradable one.
    reader.join().unwrap();
    drop(first);
    second.join().unwrap();
}
