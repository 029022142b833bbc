// A queue with one place between a producer and a consumer.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const ITEMS: u32 = if cfg!(long) { 9 } else { 3 };

struct Queue {
    place: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Queue {
    fn put(&self, item: u32) {
        let mut place = self.place.lock().unwrap();
        while place.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        *place = Some(item);
        self.changed.notify_one();
    }

    fn take(&self) -> u32 {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(item) = place.take() {
                self.changed.notify_one();
                return item;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

pub fn main() {
    let queue = Arc::new(Queue { place: Mutex::new(None), changed: Condvar::new() });
    let theirs = Arc::clone(&queue);
    let producer = thread::spawn(move || (0..ITEMS).for_each(|item| theirs.put(item)));
    for item in 0..ITEMS {
        assert_eq!(queue.take(), item);
    }
    producer.join().unwrap();
}
