//! What a hand-off is built from: an atomic word, and a futex to sleep at it.
//!
//! The hand-offs are generic over both: the shim, the checker and loom each bring their own.

use core::sync::atomic::{AtomicU32, Ordering};

/// An atomic word of 32 bits.
pub trait Word {
    /// The value.
    fn load(&self, order: Ordering) -> u32;
    /// Sets the value.
    fn store(&self, value: u32, order: Ordering);
    /// Sets the value; what it was before.
    fn swap(&self, value: u32, order: Ordering) -> u32;
    /// Sets the value if it is `old`; what it was before, as a result of that. The orders are those of
    /// success and of failure.
    fn compare_exchange(&self, old: u32, new: u32, orders: [Ordering; 2]) -> Result<u32, u32>;
}

impl Word for AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        self.load(order)
    }

    fn store(&self, value: u32, order: Ordering) {
        self.store(value, order);
    }

    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.swap(value, order)
    }

    fn compare_exchange(&self, old: u32, new: u32, orders: [Ordering; 2]) -> Result<u32, u32> {
        self.compare_exchange(old, new, orders[0], orders[1])
    }
}

/// How to sleep at a word, as the syscall `futex` does.
pub trait Futex<W> {
    /// Sleeps until woken, unless the word is not `value` any more. May return early.
    fn wait(&self, word: &W, value: u32);
    /// Wakes whoever sleeps at the word.
    fn wake(&self, word: &W);
}

/// A futex in loom's model of memory.
#[cfg(test)]
pub(crate) mod loom_futex {
    use super::{Futex, Word};
    use core::sync::atomic::Ordering;
    use loom::sync::atomic::AtomicU32;
    use loom::sync::{Condvar, Mutex};

    /// A word of zeros.
    pub(crate) fn word() -> AtomicU32 {
        AtomicU32::new(0)
    }

    impl Word for AtomicU32 {
        fn load(&self, order: Ordering) -> u32 {
            self.load(order)
        }

        fn store(&self, value: u32, order: Ordering) {
            self.store(value, order);
        }

        fn swap(&self, value: u32, order: Ordering) -> u32 {
            self.swap(value, order)
        }

        fn compare_exchange(&self, old: u32, new: u32, orders: [Ordering; 2]) -> Result<u32, u32> {
            self.compare_exchange(old, new, orders[0], orders[1])
        }
    }

    /// The kernel compares the word and queues the sleeper under one lock, which waking takes too.
    #[derive(Debug)]
    pub(crate) struct LoomFutex {
        bucket: Mutex<()>,
        sleepers: Condvar,
    }

    impl LoomFutex {
        pub(crate) fn new() -> Self {
            LoomFutex { bucket: Mutex::new(()), sleepers: Condvar::new() }
        }
    }

    impl Futex<AtomicU32> for LoomFutex {
        fn wait(&self, word: &AtomicU32, value: u32) {
            let bucket = self.bucket.lock().unwrap();
            if word.load(Ordering::Relaxed) == value {
                drop(self.sleepers.wait(bucket).unwrap());
            }
        }

        fn wake(&self, _word: &AtomicU32) {
            let _bucket = self.bucket.lock().unwrap();
            self.sleepers.notify_all();
        }
    }
}
