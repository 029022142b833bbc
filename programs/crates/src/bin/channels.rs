//! `crossbeam-channel`: two threads send over a channel with one place, `main` receives and adds up.
//! It takes it for granted that the first message is of the first thread; with the argument `fixed`
//! it does not.

use crossbeam_channel::bounded;
use std::thread;

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let (sender, receiver) = bounded(1);
    let senders = [1, 2].map(|message| {
        let sender = sender.clone();
        thread::spawn(move || sender.send(message).unwrap())
    });
    drop(sender);
    let messages: Vec<i32> = receiver.iter().collect();
    for sender in senders {
        sender.join().unwrap();
    }
    assert_eq!(messages.iter().sum::<i32>(), 3);
    assert!(fixed || messages == [1, 2], "{messages:?}");
}
