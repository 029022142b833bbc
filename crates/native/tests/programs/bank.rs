//! Two threads withdraw from an account; the names and lines are known to the tests.
use std::sync::{Arc, Mutex};

pub static LIMIT: [u64; 4] = [100, 200, 300, 400];

pub mod account {
    use std::sync::Mutex;

    #[inline(never)]
    pub fn withdraw(account: &Mutex<u64>, amount: u64) -> bool {
        let mut balance = account.lock().unwrap();
        if *balance < amount {
            return false;
        }
        *balance -= amount;
        true
    }
}

fn main() {
    let shared = Arc::new(Mutex::new(LIMIT[1]));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let account = Arc::clone(&shared);
            std::thread::spawn(move || account::withdraw(&account, 150))
        })
        .collect();
    let successes = threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap());
    println!("{} {:p}", successes.filter(|&success| success).count(), &LIMIT);
}
