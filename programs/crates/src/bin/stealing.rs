//! `crossbeam-deque`: a worker takes from its queue while a thief steals from it. Whether a thief
//! comes too late is asked once; with the argument `fixed` it asks again if it lost a race.

use crossbeam_deque::{Steal, Worker};
use crossbeam_queue::ArrayQueue;
use std::sync::Arc;
use std::thread;

fn main() {
    let fixed = std::env::args().nth(1).is_some();
    let worker = Worker::new_lifo();
    worker.push(1);
    worker.push(2);
    let stealer = worker.stealer();
    let done = Arc::new(ArrayQueue::new(2));
    let theirs = Arc::clone(&done);
    let thief = thread::spawn(move || {
        loop {
            match stealer.steal() {
                Steal::Success(item) => {
                    theirs.push(item).unwrap();
                    return;
                }
                Steal::Retry if fixed => {}
                Steal::Retry => panic!("the thief lost a race"),
                Steal::Empty => return,
            }
        }
    });
    while let Some(item) = worker.pop() {
        done.push(item).unwrap();
    }
    thief.join().unwrap();
    let mut items = [done.pop().unwrap(), done.pop().unwrap()];
    items.sort_unstable();
    assert_eq!(items, [1, 2]);
}
