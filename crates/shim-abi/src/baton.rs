//! A baton: who holds it runs, among kernel threads of a process or processes of a closed system.

use crate::futex::{Futex, Word};
use core::sync::atomic::{AtomicU32, Ordering};

/// Whether somebody in particular was passed the baton. Zeros are: not.
#[derive(Debug)]
#[repr(transparent)]
pub struct Baton<W = AtomicU32>(W);

const PASSED: u32 = 1;
const NOT_PASSED: u32 = 0;

impl Baton {
    /// Not passed yet.
    pub const fn new() -> Self {
        Baton(AtomicU32::new(NOT_PASSED))
    }
}

impl Default for Baton {
    fn default() -> Self {
        Baton::new()
    }
}

impl<W: Word> Baton<W> {
    /// Passes it to whom this one belongs to.
    pub fn pass(&self, futex: &impl Futex<W>) {
        self.0.store(PASSED, Ordering::Release);
        futex.wake(&self.0);
    }

    /// Waits until it is passed, and takes it.
    pub fn take(&self, futex: &impl Futex<W>) {
        while self.0.load(Ordering::Acquire) == NOT_PASSED {
            futex.wait(&self.0, NOT_PASSED);
        }
        self.reset();
    }

    /// Forgets that it was passed.
    pub fn reset(&self) {
        self.0.store(NOT_PASSED, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Baton;
    use crate::futex::loom_futex::{LoomFutex, word};
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::thread;

    /// Two that pass the baton to each other see what the other one wrote, and neither sleeps for ever.
    #[test]
    fn a_baton_is_never_lost() {
        loom::model(|| {
            let [one, other] = [(); 2].map(|()| Arc::new(Baton(word())));
            let (futexes, data) = (Arc::new([(); 2].map(|()| LoomFutex::new())), word());
            let data = Arc::new(data);
            let theirs = (one.clone(), other.clone(), futexes.clone(), data.clone());
            let thread = thread::spawn(move || {
                let (one, other, futexes, data): (_, _, _, Arc<AtomicU32>) = theirs;
                one.take(&futexes[0]);
                assert_eq!(data.load(Ordering::Relaxed), 1);
                data.store(2, Ordering::Relaxed);
                other.pass(&futexes[1]);
            });
            data.store(1, Ordering::Relaxed);
            one.pass(&futexes[0]);
            other.take(&futexes[1]);
            assert_eq!(data.load(Ordering::Relaxed), 2);
            thread.join().unwrap();
        });
    }
}
