//! tokio, issue 8260: a receiver is not woken when a sender that waits for several permits gives them
//! back.

use futures_lite::future::block_on;
use std::thread;
use tokio::sync::mpsc;

fn main() {
    let (sender, mut receiver) = mpsc::channel::<()>(2);
    let permit = sender.clone().try_reserve_owned().unwrap();
    let greedy = sender.clone();
    let waits = thread::spawn(move || {
        let permits = block_on(greedy.reserve_many(2));
        let _ = permits.map(Iterator::count);
    });
    receiver.close();
    drop(permit);
    assert_eq!(block_on(receiver.recv()), None);
    waits.join().unwrap();
}
