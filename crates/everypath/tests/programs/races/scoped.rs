//! A local variable of `main` that a scoped thread changes, too: frames are shared memory.
use std::cell::UnsafeCell;
use std::thread;

struct Unprotected(UnsafeCell<u64>);
unsafe impl Sync for Unprotected {}

impl Unprotected {
    fn add(&self, amount: u64) {
        let sum = unsafe { *self.0.get() } + amount;
        unsafe { *self.0.get() = sum };
    }
}

fn main() {
    let sum = Unprotected(UnsafeCell::new(0));
    thread::scope(|scope| {
        scope.spawn(|| sum.add(1));
        sum.add(10);
    });
    assert_eq!(sum.0.into_inner(), 11);
}
