//! Threads that have nothing to do with each other, each with locks, maps, text and thread-local
//! values of its own. Only one writes to standard output.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

thread_local!(static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

fn run(me: u32) {
    let counts = Arc::new(Mutex::new(HashMap::new()));
    let last = RwLock::new(String::new());
    for round in 0..3 {
        let word = format!("{me} in round {round}");
        *counts.lock().unwrap().entry(word.clone()).or_insert(0) += round + me;
        last.write().unwrap().clone_from(&word);
        SEEN.with_borrow_mut(|seen| seen.push(last.read().unwrap().clone()));
        if me == 0 {
            println!("{word}");
        }
    }
    let sum: u32 = counts.lock().unwrap().values().sum();
    assert_eq!(sum, 3 + 3 * me);
}

fn main() {
    // The first thread makes what lets destructors be called for all of them, which leaves dead words
    // on its stack: let it be one that is not looked at.
    thread::spawn(|| {}).join().unwrap();
    let threads: Vec<_> = (0..3).map(|me| thread::spawn(move || run(me))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
