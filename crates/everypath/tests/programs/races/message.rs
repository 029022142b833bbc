//! A message of many words, and a flag that says that it is there: only the flag is worth any step.
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Message {
    words: UnsafeCell<[u64; 64]>,
    is_there: AtomicBool,
}
unsafe impl Sync for Message {}

fn main() {
    let words = UnsafeCell::new([0; 64]);
    let message = Arc::new(Message { words, is_there: AtomicBool::new(false) });
    let sent = Arc::clone(&message);
    let sender = thread::spawn(move || {
        for number in 0..64 {
            unsafe { (*sent.words.get())[black_box(number)] = number as u64 };
        }
        sent.is_there.store(true, Ordering::Release);
    });
    while !message.is_there.load(Ordering::Acquire) {
        thread::yield_now();
    }
    let sum: u64 = unsafe { (*message.words.get()).iter().sum() };
    assert_eq!(sum, 63 * 32);
    sender.join().unwrap();
}
