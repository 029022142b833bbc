//! A flag that is loaded and then stored is no lock: both threads may find it free.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

struct Room {
    taken: AtomicBool,
    inside: AtomicU32,
    most: AtomicU32,
}

fn main() {
    let relaxed = std::env::args().nth(1).is_some_and(|word| word == "relaxed");
    let ordering = if relaxed { Ordering::Relaxed } else { Ordering::SeqCst };
    let room = Arc::new(Room {
        taken: AtomicBool::new(false),
        inside: AtomicU32::new(0),
        most: AtomicU32::new(0),
    });
    let enter = |room: Arc<Room>| {
        move || {
            if !room.taken.load(ordering) {
                room.taken.store(true, ordering);
                let inside = room.inside.fetch_add(1, Ordering::SeqCst) + 1;
                room.most.fetch_max(inside, Ordering::SeqCst);
                room.inside.fetch_sub(1, Ordering::SeqCst);
                room.taken.store(false, ordering);
            }
        }
    };
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(enter(Arc::clone(&room)))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(room.most.load(Ordering::SeqCst) < 2, "two were inside");
}
