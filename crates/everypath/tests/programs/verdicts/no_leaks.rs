//! Threads, channels and reference counts of Rust; with an argument a cycle of reference counts is left.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

struct Node {
    next: RefCell<Option<Rc<Node>>>,
}

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
    if std::env::args().count() > 1 {
        let node = std::hint::black_box(Rc::new(Node { next: RefCell::new(None) }));
        *node.next.borrow_mut() = Some(Rc::clone(&node));
    }
}
