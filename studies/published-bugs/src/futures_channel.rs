//! futures-channel 0.3.13, futures-rs pull request 2304: a message that is sent while the receiver is
//! dropped is never dropped itself, and the thread that waits for that waits for ever.

use futures_channel::mpsc::unbounded;
use std::sync::mpsc::{Sender, channel};
use std::thread;

fn main() {
    let (requests, server) = unbounded::<Sender<()>>();
    let client = requests.clone();
    let asking = thread::spawn(move || {
        let (reply_to, reply) = channel();
        let _ = client.unbounded_send(reply_to);
        assert!(reply.recv().is_err(), "nobody replies");
    });
    drop(server);
    asking.join().unwrap();
    drop(requests);
}
