//! Threads, channels and reference counts of Rust: everything is freed, or kept by something static.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = mpsc::channel();
    let pushed = Arc::clone(&total);
    let worker = thread::Builder::new().name("worker".into()).spawn(move || {
        pushed.lock().unwrap().push(String::from("one"));
        sender.send(Box::new(1)).unwrap();
    });
    println!("{}", receiver.recv().unwrap());
    worker.unwrap().join().unwrap();
}
