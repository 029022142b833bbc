//! Two threads write the same to a variable: a data race, of which nothing comes.
use std::cell::UnsafeCell;
use std::thread;

struct Unprotected(UnsafeCell<u64>);
unsafe impl Sync for Unprotected {}

static SEEN: Unprotected = Unprotected(UnsafeCell::new(0));

fn main() {
    let see = || unsafe { *SEEN.0.get() = 1 };
    let other = thread::spawn(see);
    see();
    other.join().unwrap();
    assert_eq!(unsafe { *SEEN.0.get() }, 1);
}
