//! Main and another thread withdraw 70 from an account of 100. Each looks whether there is enough, and
//! then withdraws; the lock is held for both, but not from one to the other. With the argument `fixed`
//! it is.

use std::sync::{Arc, Mutex};
use std::thread;

fn withdraw(account: &Mutex<i64>, amount: i64) -> bool {
    let enough = *account.lock().unwrap() >= amount;
    if enough {
        *account.lock().unwrap() -= amount;
    }
    enough
}

fn withdraw_at_once(account: &Mutex<i64>, amount: i64) -> bool {
    let mut balance = account.lock().unwrap();
    let enough = *balance >= amount;
    if enough {
        *balance -= amount;
    }
    enough
}

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let withdraw = if fixed { withdraw_at_once } else { withdraw };
    let account = Arc::new(Mutex::new(100));
    let theirs = Arc::clone(&account);
    let other = thread::spawn(move || withdraw(&theirs, 70));
    let served = [withdraw(&account, 70), other.join().unwrap()];
    let served = served.into_iter().filter(|&ok| ok).count();
    let balance = *account.lock().unwrap();
    assert!(balance >= 0, "{served} customers were served, the balance is {balance}");
}
