// Two threads move money between two accounts, always locking the first account first; a third
// one looks at the sum.

use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: usize = if cfg!(long) { 4 } else { 1 };

pub fn main() {
    let accounts = Arc::new([Mutex::new(50_i32), Mutex::new(50)]);
    let movers: Vec<_> = [10, -20]
        .into_iter()
        .map(|amount| {
            let accounts = Arc::clone(&accounts);
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    let mut from = accounts[0].lock().unwrap();
                    let mut to = accounts[1].lock().unwrap();
                    *from -= amount;
                    *to += amount;
                }
            })
        })
        .collect();
    for _ in 0..ROUNDS {
        let (first, second) = (accounts[0].lock().unwrap(), accounts[1].lock().unwrap());
        assert_eq!(*first + *second, 100);
    }
    for mover in movers {
        mover.join().unwrap();
    }
    assert_eq!(*accounts[0].lock().unwrap(), 50 + 10 * ROUNDS as i32);
}
