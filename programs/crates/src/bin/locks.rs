//! `parking_lot`: two threads withdraw from an account while a third one waits for it to be low.
//! They look under one lock and act under another; with the argument `fixed` under one.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread;

struct Account {
    balance: Mutex<i64>,
    changed: Condvar,
}

impl Account {
    fn withdraw(&self, amount: i64, fixed: bool) {
        let mut balance = self.balance.lock();
        let enough = *balance >= amount;
        if !fixed {
            drop(balance);
            balance = self.balance.lock();
        }
        if enough {
            *balance -= amount;
            self.changed.notify_one();
        }
    }

    fn wait_until_low(&self) -> i64 {
        let mut balance = self.balance.lock();
        while *balance >= 70 {
            self.changed.wait(&mut balance);
        }
        *balance
    }
}

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let account = Arc::new(Account { balance: Mutex::new(100), changed: Condvar::new() });
    let customers = [70, 70].map(|amount| {
        let account = Arc::clone(&account);
        thread::spawn(move || account.withdraw(amount, fixed))
    });
    account.wait_until_low();
    for customer in customers {
        customer.join().unwrap();
    }
    let balance = *account.balance.lock();
    assert!(balance >= 0, "the balance is {balance}");
}
