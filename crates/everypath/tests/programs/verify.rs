//! A program in Rust that tells the checker about itself. By itself it ends well.

#![forbid(unsafe_code)]

use everypath_verify::{always, assume, atomic, choose, note, reachable, sometimes};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static MONEY: AtomicU32 = AtomicU32::new(2);
static GOODS: AtomicU32 = AtomicU32::new(0);

fn buy(at_once: bool) {
    let section = at_once.then(atomic);
    MONEY.swap(1, SeqCst);
    GOODS.swap(1, SeqCst);
    drop(section);
}

/// A plain load would not be seen as a step.
fn look(at: &AtomicU32) -> u32 {
    at.compare_exchange(u32::MAX, u32::MAX, SeqCst, SeqCst).unwrap_or_else(|seen| seen)
}

fn main() {
    let at_once = std::env::args().nth(1).is_some();
    let amount = choose(3);
    assume(amount != 1);
    note(&format!("the amount is {amount}"));
    let buyer = thread::spawn(move || buy(at_once));
    let (paid, got) = (2 - look(&MONEY), look(&GOODS));
    always(paid <= got, "paid for what is not there");
    buyer.join().unwrap();
    sometimes!(got == 1, "goods seen");
    sometimes!(got == 2, "a third kind of goods");
    reachable!("the end");
}
