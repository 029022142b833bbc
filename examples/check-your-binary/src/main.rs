//! Two threads transfer money between two accounts, each protected by a mutex.
//!
//! A transfer locks the account that it takes from, then the one that it gives to. Two transfers in
//! opposite directions can deadlock; with `--ordered`, accounts are locked in the order of their
//! numbers, and they cannot.

use std::sync::{Mutex, PoisonError};
use std::thread;

static ACCOUNTS: [Mutex<u64>; 2] = [Mutex::new(100), Mutex::new(100)];

fn transfer(amount: u64, from: usize, to: usize, ordered: bool) {
    let (first, second) = if ordered { (from.min(to), from.max(to)) } else { (from, to) };
    let lock = |account: usize| ACCOUNTS[account].lock().unwrap_or_else(PoisonError::into_inner);
    let (one, other) = (lock(first), lock(second));
    let (mut source, mut sink) = if first == from { (one, other) } else { (other, one) };
    *source -= amount;
    *sink += amount;
}

fn main() {
    let ordered = std::env::args().any(|argument| argument == "--ordered");
    thread::scope(|scope| {
        scope.spawn(|| transfer(10, 0, 1, ordered));
        scope.spawn(|| transfer(20, 1, 0, ordered));
    });
}
