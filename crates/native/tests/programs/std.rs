//! Rust's standard library: everything that synchronises, and what must not change.
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{panic, thread};

const NAP: Duration = Duration::from_millis(2);

fn locks() {
    let sum = Mutex::new(0);
    let pair = RwLock::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let mut sum = sum.lock().unwrap();
                    let seen = *sum;
                    thread::yield_now();
                    *sum = seen + 1;
                }
            });
            scope.spawn(|| {
                let mut pair = pair.write().unwrap();
                pair.0 += 1;
                thread::yield_now();
                pair.1 += 1;
            });
        }
        scope.spawn(|| {
            let pair = pair.read().unwrap();
            let again = pair.0;
            thread::yield_now();
            assert_eq!((pair.0, pair.1), (again, again));
        });
    });
    assert_eq!(*sum.lock().unwrap(), 6);
    assert_eq!(pair.into_inner().unwrap(), (2, 2));
    let held = sum.lock().unwrap();
    let busy = thread::scope(|scope| {
        scope.spawn(|| matches!(sum.try_lock(), Err(TryLockError::WouldBlock))).join().unwrap()
    });
    assert!(busy);
    drop(held);
    let shared = RwLock::new(1);
    let reader = shared.read().unwrap();
    assert!(shared.try_read().is_ok() && shared.try_write().is_err());
    drop(reader);
    println!("locks");
}

fn conditions() {
    let state = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let guard = state.0.lock().unwrap();
                    let mut guard = state.1.wait_while(guard, |tokens| *tokens == 0).unwrap();
                    *guard -= 1;
                })
            })
            .collect();
        *state.0.lock().unwrap() += 1;
        state.1.notify_one();
        *state.0.lock().unwrap() += 2;
        state.1.notify_all();
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    });
    let before = Instant::now();
    let (guard, result) = state.1.wait_timeout(state.0.lock().unwrap(), NAP).unwrap();
    assert!(result.timed_out() && before.elapsed() >= NAP && *guard == 0);
    println!("conditions");
}

fn barriers_and_once() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    static ONCE: Once = Once::new();
    static LOCK: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| CALLS.fetch_add(100, Ordering::SeqCst) * 0 + 9);
    let barrier = Barrier::new(3);
    let leaders = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                ONCE.call_once(|| {
                    thread::yield_now();
                    CALLS.fetch_add(1, Ordering::SeqCst);
                });
                assert!(ONCE.is_completed());
                assert_eq!(*LOCK.get_or_init(|| CALLS.fetch_add(10, Ordering::SeqCst) * 0 + 5), 5);
                assert_eq!(*LAZY, 9);
                for _ in 0..2 {
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), 2);
    assert_eq!(CALLS.load(Ordering::SeqCst), 111);
    println!("barriers and once");
}

fn parking() {
    let ready = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&ready);
    let parked = thread::spawn(move || {
        while told.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
    });
    ready.store(1, Ordering::SeqCst);
    parked.thread().unpark();
    parked.join().unwrap();
    // A token that was given before is used up without waiting.
    thread::current().unpark();
    thread::park();
    let before = Instant::now();
    thread::park_timeout(NAP);
    assert!(before.elapsed() >= NAP);
    let before = Instant::now();
    thread::sleep(NAP);
    assert!(before.elapsed() >= NAP);
    println!("parking");
}

fn channels() {
    let (sender, receiver) = mpsc::channel();
    let senders: Vec<_> = (0..3)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || (0..2).for_each(|i| sender.send(number * 10 + i).unwrap()))
        })
        .collect();
    drop(sender);
    let mut received: Vec<i32> = receiver.iter().collect();
    for number in 0..3 {
        let own: Vec<_> = received.iter().filter(|&&value| value / 10 == number).collect();
        assert!(own.is_sorted(), "what one thread sends stays in order");
    }
    received.sort();
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    println!("channels {received:?}");
    let (sender, receiver) = mpsc::sync_channel(1);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(NAP), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    let sending = thread::spawn(move || (2..4).for_each(|value| sender.send(value).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<i32>>(), [1, 2, 3]);
    sending.join().unwrap();
    let (sender, receiver) = mpsc::sync_channel(0);
    let meeting = thread::spawn(move || sender.send("met").unwrap());
    assert_eq!(receiver.recv().unwrap(), "met");
    meeting.join().unwrap();
    assert!(receiver.recv().is_err());
    println!("bounded channels");
}

struct Loud(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl Drop for Loud {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

thread_local! {
    static OWN: Cell<u32> = const { Cell::new(1) };
    static LOUD: RefCell<Option<Loud>> = const { RefCell::new(None) };
}

fn locals() {
    let dropped = Arc::new(Mutex::new(Vec::new()));
    for name in ["first", "second"] {
        let dropped = Arc::clone(&dropped);
        thread::spawn(move || {
            assert_eq!(OWN.replace(7), 1);
            thread::yield_now();
            assert_eq!(OWN.get(), 7);
            LOUD.with(|loud| *loud.borrow_mut() = Some(Loud(name, dropped)));
        })
        .join()
        .unwrap();
    }
    assert_eq!(OWN.get(), 1);
    println!("locals {:?}", dropped.lock().unwrap());
}

fn panics() {
    // Looked at, caught, or carried on: none of them is anybody's fault.
    let joined = thread::Builder::new().name("joined".into()).spawn(|| panic!("looked at"));
    let result = joined.unwrap().join();
    assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "looked at");
    let number = std::hint::black_box(1);
    let caught = panic::catch_unwind(|| panic!("caught {number}"));
    assert_eq!(*caught.unwrap_err().downcast::<String>().unwrap(), "caught 1");
    thread::spawn(|| {
        assert!(panic::catch_unwind(|| panic!("caught in a thread")).is_err());
    });
    let poisoned = Arc::new(Mutex::new(1));
    let inner = Arc::clone(&poisoned);
    let holder = thread::spawn(move || {
        let _held = inner.lock().unwrap();
        panic!("while holding");
    });
    assert!(holder.join().is_err());
    assert!(poisoned.is_poisoned() && poisoned.lock().is_err());
    let carried = panic::catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("in a scope"));
        });
    });
    assert!(carried.is_err());
    println!("panics");
}

fn determinism() {
    let order = |from: u32| {
        let map: HashMap<u32, u32> = (from..from + 50).map(|key| (key, key)).collect();
        map.into_keys().collect::<Vec<u32>>()
    };
    assert_eq!(order(0).len(), 50);
    let elsewhere = thread::spawn(move || order(7)).join().unwrap();
    let mut sorted = elsewhere.clone();
    sorted.sort();
    assert_eq!(sorted, (7..57).collect::<Vec<u32>>());
    let words: HashSet<String> = (0..9).map(|i| format!("word {i}")).collect();
    // Natively every run has an order of its own: this shows it to who compares executions.
    if std::env::args().len() > 1 {
        eprintln!("{:?} {elsewhere:?} {words:?}", order(0));
    }
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() > 1_500_000_000);
    let before = Instant::now();
    assert!(Instant::now() >= before);
    println!("determinism");
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    locks();
    conditions();
    barriers_and_once();
    parking();
    channels();
    locals();
    panics();
    let builder = thread::Builder::new().name("named".into()).stack_size(1 << 20);
    let named = builder.spawn(|| thread::current().name().map(String::from)).unwrap();
    println!("{:?} {:?}", named.join().unwrap(), thread::current().name());
    determinism();
}
