//! Four threads that use most of what std offers, in two rounds.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;

const WORKERS: usize = 4;
const ROUNDS: usize = 2;

static LINES: AtomicUsize = AtomicUsize::new(0);
static ONCE: OnceLock<String> = OnceLock::new();

/// Counts its lines when its thread ends.
#[derive(Default)]
struct Log(Vec<String>);

impl Drop for Log {
    fn drop(&mut self) {
        LINES.fetch_add(self.0.len(), Ordering::SeqCst);
    }
}

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}

#[derive(Default)]
struct Turns {
    turn: usize,
    lines: HashMap<String, usize>,
}

struct Shared {
    turns: Mutex<Turns>,
    changed: Condvar,
    total: RwLock<usize>,
    start: Barrier,
}

fn take_turn(shared: &Shared, number: usize, line: &str) {
    let mut turns = shared.turns.lock().unwrap();
    while turns.turn % WORKERS != number {
        turns = shared.changed.wait(turns).unwrap();
    }
    turns.turn += 1;
    *turns.lines.entry(line.into()).or_default() += 1;
    shared.changed.notify_all();
}

fn work(shared: &Shared, number: usize, sender: &mpsc::Sender<String>) -> usize {
    shared.start.wait();
    for round in 0..ROUNDS {
        let line = format!("worker {number} round {round}");
        take_turn(shared, number, &line);
        *shared.total.write().unwrap() += 1;
        assert!(*shared.total.read().unwrap() > 0);
        ONCE.get_or_init(|| "once".into());
        LOG.with(|log| log.borrow_mut().0.push(line.clone()));
        println!("{line}");
        sender.send(line).unwrap();
    }
    ROUNDS
}

fn main() {
    let shared = Arc::new(Shared {
        turns: Mutex::default(),
        changed: Condvar::new(),
        total: RwLock::new(0),
        start: Barrier::new(WORKERS),
    });
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..WORKERS)
        .map(|number| {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::spawn(move || work(&shared, number, &sender))
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().count(), WORKERS * ROUNDS);
    let rounds: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(rounds, WORKERS * ROUNDS);
    assert_eq!(LINES.load(Ordering::SeqCst), WORKERS * ROUNDS);
    assert_eq!(*shared.total.read().unwrap(), WORKERS * ROUNDS);
    assert_eq!(shared.turns.lock().unwrap().lines.len(), WORKERS * ROUNDS);
}
