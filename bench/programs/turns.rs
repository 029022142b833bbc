//! Four threads take turns, count under a lock and print; one round.

use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

const WORKERS: usize = 4;

#[derive(Default)]
struct Shared {
    turn: Mutex<usize>,
    changed: Condvar,
    total: RwLock<usize>,
}

fn take_turn(shared: &Shared, number: usize) {
    let mut turn = shared.turn.lock().unwrap();
    while *turn != number {
        turn = shared.changed.wait(turn).unwrap();
    }
    *turn += 1;
    shared.changed.notify_all();
}

fn work(shared: &Shared, number: usize) -> usize {
    take_turn(shared, number);
    *shared.total.write().unwrap() += 1;
    println!("worker {number} of {}", *shared.total.read().unwrap());
    1
}

fn main() {
    let shared = Arc::new(Shared::default());
    let threads: Vec<_> = (0..WORKERS)
        .map(|number| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared, number))
        })
        .collect();
    let done: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((done, *shared.total.read().unwrap()), (WORKERS, WORKERS));
    assert_eq!(*shared.turn.lock().unwrap(), WORKERS);
}
