//! Futexes, on which Rust's std and libc's own locks are built.

use crate::clock::{MONOTONIC, REALTIME, given_timeout, virtual_moment};
use crate::combination::Combination;
use crate::host::{Host, Thread, Woken};
use crate::{errno, stop};
use everypath_shim_abi::{CondMutex, Object, Operation, Waiting};

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const UNLOCK_INHERITING: i32 = 7;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const CLOCK_REALTIME: i32 = 256;
const COMMAND: i32 = 127;
/// The mask of who wakes, or is woken by, everybody.
const EVERYBODY: u32 = u32::MAX;

/// The arguments of the system call, without padding: they lie on the stacks of blocked threads, which
/// are hashed.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The address of the futex.
    pub word: usize,
    /// What to do.
    pub operation: i32,
    /// What the word should be, or how many to wake.
    pub value: u32,
    /// A time-out, or the second count.
    pub timeout: usize,
    /// The address of another futex.
    pub other: usize,
    /// A mask, or what the word should be.
    pub third: usize,
}

/// A word of this process, in footprints.
fn memory(k: &impl Host, word: usize) -> Object {
    Object::memory(k.process() as u8, word as u64)
}

/// Does what the system call does.
pub fn futex(k: &impl Host, call: Call) -> Result<isize, i32> {
    if is_invalid(&call) {
        return Err(errno::EINVAL);
    }
    match call.operation & COMMAND {
        WAIT => {
            let timeout = given_timeout(k, call.timeout)?;
            let deadline = (call.timeout != 0).then(|| k.clock().saturating_add(timeout));
            sleep(k, call, EVERYBODY, deadline)
        }
        WAIT_BITSET => {
            let realtime = call.operation & CLOCK_REALTIME != 0;
            let clock = if realtime { REALTIME } else { MONOTONIC };
            let timeout = given_timeout(k, call.timeout)?;
            let deadline = (call.timeout != 0).then(|| virtual_moment(clock, timeout));
            sleep(k, call, call.third as u32, deadline)
        }
        WAKE => Ok(wake(k, call.word, call.value, EVERYBODY)),
        WAKE_BITSET => Ok(wake(k, call.word, call.value, call.third as u32)),
        // libc asks whether the kernel knows priority inheritance: it does, and nobody holds that.
        UNLOCK_INHERITING if k.load::<u32>(call.word)? == 0 => Err(errno::EPERM),
        REQUEUE => requeue(k, call, false),
        CMP_REQUEUE => requeue(k, call, true),
        other => stop!(k, "futex operation {other} is not modelled"),
    }
}

/// Whether the kernel would refuse to look at a call.
fn is_invalid(call: &Call) -> bool {
    let command = call.operation & COMMAND;
    let masked = command == WAIT_BITSET || command == WAKE_BITSET;
    !call.word.is_multiple_of(size_of::<u32>()) || (masked && call.third == 0)
}

fn sleep(k: &impl Host, call: Call, mask: u32, deadline: Option<u64>) -> Result<isize, i32> {
    let thread = k.current();
    let mutex = k.mutex_of_sleeper(call.word);
    let word = memory(k, call.word);
    let (operation, waiting) = match mutex.map(|mutex| memory(k, mutex)) {
        Some(mutex) => (Operation::CondWait(CondMutex::owned(mutex)), Waiting::Cond),
        None => (Operation::FutexWait(call.value), Waiting::Futex),
    };
    if mutex.is_none() {
        k.ask(operation.pack(), word, deadline);
    }
    if k.load::<u32>(call.word)? != call.value {
        return Err(errno::EAGAIN);
    }
    thread.announce(operation.pack(), word);
    thread.mask().set(mask);
    let woken = k.wait(waiting, word, deadline);
    if let (Some(mutex), Woken::Granted | Woken::TimedOut) = (mutex, woken) {
        k.has_slept(mutex);
    }
    match woken {
        Woken::Granted => Ok(0),
        Woken::TimedOut => Err(errno::ETIMEDOUT),
        Woken::Interrupted { restart: true } => sleep(k, call, mask, deadline),
        Woken::Interrupted { restart: false } => Err(errno::EINTR),
    }
}

/// Wakes `most` of those that wait: which ones is the outcome of the step.
fn wake(k: &impl Host, word: usize, most: u32, mask: u32) -> isize {
    let thread = k.current();
    let most = if (most as i32) < 0 { EVERYBODY } else { most };
    thread.mask().set(mask);
    let outcome = if k.notifies(word) {
        thread.outcome()
    } else {
        k.ask(Operation::FutexWake(most).pack(), memory(k, word), None)
    };
    thread.mask().set(0);
    let word = memory(k, word);
    let all = k.futex_waiters(word, mask).count() as u32;
    if most >= all {
        k.futex_waiters(word, mask).for_each(|waiter| k.grant(waiter));
        return all as isize;
    }
    let mut chosen = Combination::new(all, most, u32::from(outcome));
    let mut woken = 0;
    for waiter in k.futex_waiters(word, mask) {
        if chosen.takes_next() {
            k.grant(waiter);
            woken += 1;
        }
    }
    woken
}

fn requeue(k: &impl Host, call: Call, compare: bool) -> Result<isize, i32> {
    let (word, other) = (memory(k, call.word), memory(k, call.other));
    k.point(Operation::FutexRequeue(other), word);
    if compare && k.load::<u32>(call.word)? != call.third as u32 {
        return Err(errno::EAGAIN);
    }
    let (wake_most, move_most) = (call.value as usize, call.timeout);
    let mut moved = 0;
    let mut woken = 0;
    while let Some(thread) = k.first_waiter(Waiting::Futex, word) {
        if woken < wake_most {
            k.grant(thread);
            woken += 1;
        } else if moved < move_most {
            k.requeue(thread, Waiting::Futex, other);
            moved += 1;
        } else {
            break;
        }
    }
    Ok((woken + moved) as isize)
}
