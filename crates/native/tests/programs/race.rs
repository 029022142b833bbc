//! Two threads look at an account and then withdraw: each lock alone is right, both are not.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let account = Arc::new(Mutex::new(100));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let account = Arc::clone(&account);
            thread::spawn(move || {
                if *account.lock().unwrap() >= 80 {
                    *account.lock().unwrap() -= 80;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(*account.lock().unwrap() >= 0, "the account is overdrawn");
}
