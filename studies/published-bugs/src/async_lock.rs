//! async-lock 1.1.2: "Fix a deadlock". A waiter that starves makes everybody else wait.

use async_lock::Lock;
use futures_lite::future::block_on;
use std::thread;
use std::time::Duration;

fn main() {
    let count = Lock::new(0);
    let threads = [(); 2].map(|()| {
        let count = count.clone();
        thread::spawn(move || {
            let mut count = block_on(count.lock());
            *count += 1;
            // Long enough for others to be starved.
            thread::sleep(Duration::from_millis(2));
        })
    });
    *block_on(count.lock()) += 1;
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*block_on(count.lock()), 3);
}
