//! Futexes, on which Rust's std and libc's own locks are built.

use crate::fail::stop;
use crate::guest;
use crate::objects;
use crate::scheduler::{Woken, ask, futex_waiters, grant, point, wait};
use crate::state::state;
use crate::sync::rust_condvar;
use crate::sys::{Answer, errno};
use everypath_shim_abi::{CondMutex, Operation, Waiting};

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const UNLOCK_INHERITING: i32 = 7;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const CLOCK_REALTIME: i32 = 256;
const COMMAND: i32 = 127;
pub(crate) const EVERYBODY: u32 = u32::MAX;

/// The arguments of the system call, without padding: they lie on the stacks of blocked threads, which
/// are hashed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) word: usize,
    pub(crate) operation: i32,
    pub(crate) value: u32,
    /// A time-out, or the second count.
    pub(crate) timeout: usize,
    pub(crate) other: usize,
    pub(crate) third: usize,
}

/// Does what the system call does.
pub(crate) fn futex(call: Call) -> Answer {
    if is_invalid(&call) {
        return Err(errno::EINVAL);
    }
    match call.operation & COMMAND {
        WAIT => {
            let timeout = crate::time::given_timeout(call.timeout)?;
            let deadline = (call.timeout != 0).then(|| state().clock.get().saturating_add(timeout));
            sleep(call, EVERYBODY, deadline)
        }
        WAIT_BITSET => {
            let realtime = call.operation & CLOCK_REALTIME != 0;
            let clock = if realtime { crate::time::REALTIME } else { crate::time::MONOTONIC };
            let timeout = crate::time::given_timeout(call.timeout)?;
            let deadline = (call.timeout != 0).then(|| crate::time::virtual_moment(clock, timeout));
            sleep(call, call.third as u32, deadline)
        }
        WAKE => Ok(wake(call.word, call.value, EVERYBODY)),
        WAKE_BITSET => Ok(wake(call.word, call.value, call.third as u32)),
        // libc asks whether the kernel knows priority inheritance: it does, and nobody holds that.
        UNLOCK_INHERITING if guest::load::<u32>(call.word)? == 0 => Err(errno::EPERM),
        REQUEUE => requeue(call, false),
        CMP_REQUEUE => requeue(call, true),
        other => stop!("futex operation {other} is not modelled"),
    }
}

/// Whether the kernel would refuse to look at a call.
fn is_invalid(call: &Call) -> bool {
    let command = call.operation & COMMAND;
    let masked = command == WAIT_BITSET || command == WAKE_BITSET;
    !call.word.is_multiple_of(size_of::<u32>()) || (masked && call.third == 0)
}

fn sleep(call: Call, mask: u32, deadline: Option<u64>) -> Answer {
    let thread = state().current();
    let mutex = rust_condvar::mutex_of_sleeper(thread, call.word);
    let word = objects::memory(call.word);
    let (operation, waiting) = match mutex.map(objects::memory) {
        Some(mutex) => (Operation::CondWait(CondMutex::owned(mutex)), Waiting::Cond),
        None => (Operation::FutexWait(call.value), Waiting::Futex),
    };
    if mutex.is_none() {
        ask(operation, word, deadline);
    }
    if guest::load::<u32>(call.word)? != call.value {
        return Err(errno::EAGAIN);
    }
    thread.announce(operation, word);
    thread.mask.set(mask);
    let woken = wait(waiting, word, deadline);
    if let (Some(mutex), Woken::Granted | Woken::TimedOut) = (mutex, woken) {
        rust_condvar::woken(mutex);
    }
    match woken {
        Woken::Granted => Ok(0),
        Woken::TimedOut => Err(errno::ETIMEDOUT),
        Woken::Interrupted { restart: true } => sleep(call, mask, deadline),
        Woken::Interrupted { restart: false } => Err(errno::EINTR),
    }
}

/// Wakes `most` of those that wait: which ones is the outcome of the step.
fn wake(word: usize, most: u32, mask: u32) -> isize {
    let thread = state().current();
    let most = if (most as i32) < 0 { EVERYBODY } else { most };
    thread.mask.set(mask);
    let outcome = if rust_condvar::notifies(thread, word) {
        thread.outcome.get()
    } else {
        point(Operation::FutexWake(most), objects::memory(word))
    };
    thread.mask.set(0);
    let word = objects::memory(word);
    let all = futex_waiters(word, mask).count() as u32;
    if most >= all {
        futex_waiters(word, mask).for_each(grant);
        return all as isize;
    }
    let mut chosen = Combination::new(all, most, u32::from(outcome));
    let mut woken = 0;
    for waiter in futex_waiters(word, mask) {
        if chosen.takes_next() {
            grant(waiter);
            woken += 1;
        }
    }
    woken
}

/// The `index`-th way to take `take` of `all`, one yes or no after the other.
struct Combination {
    all: u32,
    take: u32,
    index: u32,
}

impl Combination {
    fn new(all: u32, take: u32, index: u32) -> Self {
        Combination { all, take, index }
    }

    fn takes_next(&mut self) -> bool {
        if self.take == 0 || self.all == 0 {
            return false;
        }
        // So many ways take this one; the rest do not.
        let with = if self.take >= self.all {
            u32::MAX
        } else {
            crate::scheduler::choose_of(self.all - 1, self.take - 1)
        };
        self.all -= 1;
        if self.index < with {
            self.take -= 1;
            return true;
        }
        self.index -= with;
        false
    }
}

fn requeue(call: Call, compare: bool) -> Answer {
    let (word, other) = (objects::memory(call.word), objects::memory(call.other));
    point(Operation::FutexRequeue(other), word);
    if compare && guest::load::<u32>(call.word)? != call.third as u32 {
        return Err(errno::EAGAIN);
    }
    let (wake_most, move_most) = (call.value as usize, call.timeout);
    let mut moved = 0;
    let mut woken = 0;
    while let Some(thread) = crate::scheduler::first_waiter(Waiting::Futex, word) {
        if woken < wake_most {
            grant(thread);
            woken += 1;
        } else if moved < move_most {
            let last = state().waiters(Waiting::Futex, other).map(|t| t.place.get()).max();
            thread.place.set(last.map_or(1, |place| place + 1));
            thread.object.set(other);
            moved += 1;
        } else {
            break;
        }
    }
    Ok((woken + moved) as isize)
}
