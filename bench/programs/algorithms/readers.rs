// Two readers never see the two halves of a value differ while a writer changes them.

use std::sync::{Arc, RwLock};
use std::thread;

const ROUNDS: u32 = if cfg!(long) { 5 } else { 2 };

pub fn main() {
    let halves = Arc::new(RwLock::new((0, 0)));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let halves = Arc::clone(&halves);
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    let halves = halves.read().unwrap();
                    assert_eq!(halves.0, halves.1);
                }
            })
        })
        .collect();
    for _ in 0..ROUNDS {
        let mut halves = halves.write().unwrap();
        halves.0 += 1;
        halves.1 += 1;
    }
    for reader in readers {
        reader.join().unwrap();
    }
    assert_eq!(halves.read().unwrap().0, ROUNDS);
}
