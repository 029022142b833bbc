//! A latch: threads wait until it has been counted down.

use std::sync::{Condvar, Mutex};

/// Opens when it has been counted down as often as it was told.
#[derive(Debug)]
pub struct Latch {
    left: Mutex<u32>,
    opened: Condvar,
}

impl Latch {
    /// A latch that has to be counted down so often.
    pub fn new(count: u32) -> Self {
        Latch { left: Mutex::new(count), opened: Condvar::new() }
    }

    /// Counts down, and opens it at zero.
    ///
    /// # Panics
    ///
    /// If it is open already.
    pub fn count_down(&self) {
        let mut left = self.left.lock().expect("nobody panics while holding it");
        *left = left.checked_sub(1).expect("it is counted down too often");
        if *left == 0 {
            self.opened.notify_all();
        }
    }

    /// Waits until it is open.
    ///
    /// # Panics
    ///
    /// If another thread has counted down too often.
    pub fn wait(&self) {
        let mut left = self.left.lock().expect("nobody panics while holding it");
        while *left > 0 {
            left = self.opened.wait(left).expect("nobody panics while holding it");
        }
    }

    /// The same, but it looks before it takes the lock for waiting, and so may miss the opening.
    ///
    /// # Panics
    ///
    /// As above.
    pub fn wait_carelessly(&self) {
        if *self.left.lock().expect("nobody panics while holding it") > 0 {
            let left = self.left.lock().expect("nobody panics while holding it");
            drop(self.opened.wait(left));
        }
    }
}
