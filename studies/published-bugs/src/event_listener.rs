//! event-listener 2.3.3: "Fix a bug in List::insert() that was causing deadlocks". Listeners that were
//! notified are not counted right if others come and go meanwhile.

use event_listener::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn main() {
    let (event, is_ready) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
    let mut threads = Vec::new();
    for _ in 0..2 {
        let (event, is_ready) = (Arc::clone(&event), Arc::clone(&is_ready));
        threads.push(thread::spawn(move || {
            let listener = event.listen();
            if !is_ready.load(Ordering::SeqCst) {
                listener.wait();
            }
        }));
    }
    let passing = Arc::clone(&event);
    threads.push(thread::spawn(move || {
        for _ in 0..2 {
            drop(passing.listen());
        }
    }));
    is_ready.store(true, Ordering::SeqCst);
    event.notify(usize::MAX);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
