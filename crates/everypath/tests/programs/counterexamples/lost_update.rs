//! Two named threads read under one lock and write under another, and send when they are done.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0));
    let (sender, receiver) = mpsc::channel();
    let workers: Vec<_> = (0..2)
        .map(|number| {
            let (total, sender) = (Arc::clone(&total), sender.clone());
            let work = move || {
                let seen = *total.lock().unwrap();
                *total.lock().unwrap() = seen + 1;
                sender.send(number).unwrap();
            };
            thread::Builder::new().name(format!("worker-{number}")).spawn(work).unwrap()
        })
        .collect();
    drop(sender);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(receiver.iter().count(), 2);
    assert_eq!(*total.lock().unwrap(), 2, "lost update");
}
