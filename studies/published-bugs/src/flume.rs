//! flume, issue 120: of two channels that one task awaits together, a message is lost if a sender is
//! dropped at the wrong moment.

use futures_lite::future::{block_on, zip};
use std::thread;

fn main() {
    let (to_left, left) = flume::unbounded();
    let (to_right, right) = flume::unbounded();
    // Each sender is dropped right after its only message.
    let senders = [(to_left, 'l'), (to_right, 'r')]
        .map(|(sender, message)| thread::spawn(move || sender.send(message).unwrap()));
    let received = block_on(zip(left.recv_async(), right.recv_async()));
    assert_eq!(received, (Ok('l'), Ok('r')), "a message is lost");
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}
