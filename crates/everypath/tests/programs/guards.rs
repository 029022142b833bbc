//! Each argument is the script of a thread: pairs of a letter and a digit. L, U: lock and unlock a
//! mutex; T: try it, and give it back; t: try it, and keep it; X: exchange a word and remember what
//! was there; C: wait on the condition of a mutex that is held; W: the same for some time; S, B: wake
//! one, or all; R, M: read and write what a read-write lock guards; r, w: lock it to read or to write,
//! and keep it; d: what was kept to write is kept to read; u: give back what was kept last; p, q: try
//! to lock it to read or to write, and give it back; O: initialise something once, and see who did. What
//! was seen makes up the exit code. The threads are made without the standard
//! library, which does so much when one begins and ends that plain searches would not.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

struct Place {
    mutex: Mutex<u32>,
    condition: Condvar,
    guarded: RwLock<u32>,
    once: OnceLock<u32>,
    word: AtomicU32,
}

static PLACES: [Place; 3] = [const {
    Place {
        mutex: Mutex::new(0),
        condition: Condvar::new(),
        guarded: RwLock::new(0),
        once: OnceLock::new(),
        word: AtomicU32::new(0),
    }
}; 3];

enum Kept {
    ToRead(RwLockReadGuard<'static, u32>),
    ToWrite(RwLockWriteGuard<'static, u32>),
}

const SECOND: Duration = Duration::from_secs(1);

struct Thread {
    number: u32,
    script: String,
    seen: u32,
}

unsafe extern "C" {
    fn pthread_create(
        thread: *mut u64,
        attributes: *const c_void,
        function: extern "C" fn(&mut Thread) -> *mut c_void,
        argument: *mut c_void,
    ) -> i32;
    fn pthread_join(thread: u64, result: *mut *mut c_void) -> i32;
}

extern "C" fn run(me: &mut Thread) -> *mut c_void {
    let mut held: [Option<MutexGuard<'_, u32>>; 3] = [None, None, None];
    let mut kept: Vec<Kept> = Vec::new();
    for step in me.script.as_bytes().chunks_exact(2) {
        let n = usize::from(step[1] - b'0');
        let Place { mutex, condition, guarded, once, word } = &PLACES[n];
        match step[0] {
            b'L' => held[n] = mutex.lock().ok(),
            b'U' => held[n] = None,
            b'T' => me.seen = me.seen * 3 + 1 + u32::from(mutex.try_lock().is_ok()),
            b't' => held[n] = mutex.try_lock().ok(),
            b'X' => me.seen = me.seen * 5 + word.swap(me.number, Ordering::SeqCst),
            b'C' => held[n] = held[n].take().and_then(|guard| condition.wait(guard).ok()),
            b'W' => {
                let waited = held[n].take().map(|guard| condition.wait_timeout(guard, SECOND));
                held[n] = waited.and_then(Result::ok).map(|(guard, result)| {
                    me.seen = me.seen * 2 + u32::from(result.timed_out());
                    guard
                });
            }
            b'S' => condition.notify_one(),
            b'B' => condition.notify_all(),
            b'R' => me.seen = me.seen * 5 + guarded.read().map_or(4, |guarded| *guarded),
            b'O' => me.seen = me.seen * 5 + once.get_or_init(|| me.number),
            b'M' => {
                if let Ok(mut guarded) = guarded.write() {
                    me.seen = me.seen * 5 + *guarded;
                    *guarded += me.number;
                }
            }
            b'r' => {
                let guard = guarded.read().unwrap();
                me.seen = me.seen * 5 + *guard;
                kept.push(Kept::ToRead(guard));
            }
            b'w' => {
                let mut guard = guarded.write().unwrap();
                me.seen = me.seen * 5 + *guard;
                *guard += me.number;
                kept.push(Kept::ToWrite(guard));
            }
            b'd' => match kept.pop() {
                Some(Kept::ToWrite(guard)) => {
                    kept.push(Kept::ToRead(RwLockWriteGuard::downgrade(guard)));
                }
                other => kept.extend(other),
            },
            b'u' => {
                me.seen = me.seen * 5 + kept.pop().map_or(0, |kept| match kept {
                    Kept::ToRead(guard) => *guard,
                    Kept::ToWrite(guard) => *guard,
                });
            }
            b'p' => me.seen = me.seen * 3 + 1 + u32::from(guarded.try_read().is_ok()),
            b'q' => me.seen = me.seen * 3 + 1 + u32::from(guarded.try_write().is_ok()),
            _ => unreachable!("no such step"),
        }
        if let Some(count) = &mut held[n] {
            me.seen = me.seen * 7 + **count;
            **count += me.number;
        }
    }
    null_mut()
}

fn main() {
    let scripts = (1..).zip(std::env::args().skip(1));
    let mut threads: Vec<_> =
        scripts.map(|(number, script)| (Thread { number, script, seen: 0 }, 0)).collect();
    for (thread, handle) in &mut threads {
        // SAFETY: the thread is joined before what it uses ends.
        unsafe { pthread_create(handle, null(), run, (&raw mut *thread).cast()) };
    }
    for (_, handle) in &threads {
        // SAFETY: it was created above.
        unsafe { pthread_join(*handle, null_mut()) };
    }
    let seen = threads.iter().fold(0u32, |sum, (thread, _)| sum.wrapping_mul(31) + thread.seen);
    std::process::exit((seen % 251) as i32);
}
