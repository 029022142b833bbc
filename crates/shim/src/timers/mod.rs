//! Timers that send signals or start threads: the alarm or interval timer of a process (`interval`), and
//! those of `timer_create` (`posix`). A thread without code of the program, the timer's ringer, is
//! blocked until the deadline.

use crate::objects;
use crate::scheduler::{block_until, note_creation, point, wait};
use crate::signals::{reach_process, reach_thread};
use crate::state::{Notice, Status, TIMERS, Thread, Timer, find, state};
use crate::thread::{create, retire};
use everypath_shim_abi::{Object, Operation, Waiting};

mod interval;
mod posix;

pub(crate) use interval::{alarm_after, get_timer, set_timer};
pub(crate) use posix::{
    create_by_syscall, delete_timer, get_overrun, get_posix_timer, set_posix_timer,
};

const SIGALRM: i32 = 14;
const SECOND: u64 = 1_000_000_000;

/// The place of the alarm.
const ALARM: usize = 0;

/// How a timer tells that it rings, by the numbers of `sigev_notify`.
const BY_SIGNAL: i32 = 0;
const NOT_AT_ALL: i32 = 1;
const BY_THREAD: i32 = 2;
const BY_SIGNAL_TO_THREAD: i32 = 4;

/// What a signal of `timer_create` says about itself: the number of the timer and the program's value.
pub(crate) struct Expiry {
    pub(crate) timer: i32,
    pub(crate) value: usize,
}

fn timer(index: usize) -> Timer {
    state().timers[index].get()
}

fn update(index: usize, change: impl FnOnce(&mut Timer)) {
    let mut timer = timer(index);
    change(&mut timer);
    state().timers[index].set(timer);
}

/// Whether any timer will ring.
pub(crate) fn are_set() -> bool {
    state().timers.iter().any(|timer| timer.get().ringer != 0)
}

/// Whether a thread is the one that waits for a timer. It keeps no process alive.
pub(crate) fn is_ringer(thread: &Thread) -> bool {
    state().timers.iter().any(|timer| {
        let ringer = timer.get().ringer;
        ringer != 0 && thread.tcb.get() == ringer
    })
}

/// For how long it is set, in nanoseconds.
fn left(index: usize) -> u64 {
    let (timer, now) = (timer(index), state().clock.get());
    match (timer.at, timer.again) {
        (0, _) => 0,
        // Nobody rings: it has passed by itself.
        (at, 0) if timer.ringer == 0 && at <= now => 0,
        (at, again) if timer.ringer == 0 && at <= now => again - (now - at) % again,
        (at, _) => at.saturating_sub(now).max(1),
    }
}

/// When a timer is to ring.
#[derive(Clone, Copy)]
enum When {
    Never,
    After(u64),
    /// At a virtual moment.
    At(u64),
}

/// Arms a timer anew, or disarms it. Returns after which time it would have rung again, and how much
/// time was left.
///
/// The thread that rings is blocked from the step on that arms the timer. So its time-out is enabled
/// wherever the timer can ring, and every search takes it against a step that disarms it.
fn set(index: usize, when: When, again: u64) -> [u64; 2] {
    let was_concurrent = state().is_concurrent();
    let given = match when {
        When::Never => 0,
        When::After(time) | When::At(time) => time,
    };
    point(Operation::TimerSet(given), objects::memory(state().timers[index].as_ptr() as usize));
    let before = [timer(index).again, left(index)];
    let now = state().clock.get();
    let at = match when {
        When::Never => 0,
        When::After(time) => now.saturating_add(time),
        When::At(moment) => moment.max(now).max(1),
    };
    // One that has been woken tells what it was woken for, and ends.
    let ringer = find_ringer(index).filter(|ringer| ringer.status() == Status::Blocked);
    let ringer = match ringer {
        Some(ringer) if at == 0 => {
            retire(ringer);
            0
        }
        None if at == 0 || timer(index).notice.how == NOT_AT_ALL => 0,
        ringer => {
            let ringer = ringer.unwrap_or_else(|| start(index, was_concurrent));
            ringer.announce(Operation::Sleep(at), Object::NONE);
            ringer.is_unheard.set(false);
            block_until(ringer, at);
            ringer.tcb.get()
        }
    };
    update(index, |timer| (timer.at, timer.again, timer.ringer) = (at, again, ringer));
    before
}

fn find_ringer(index: usize) -> Option<&'static Thread> {
    let ringer = timer(index).ringer;
    find(ringer).filter(|_| ringer != 0)
}

/// Creates the thread that rings.
fn start(index: usize, was_concurrent: bool) -> &'static Thread {
    let ringer = create(ring as *const () as usize, index, true);
    ringer.blocked_signals.set(u64::MAX);
    ringer.name.set(match index {
        ALARM => *b"alarm\0\0\0\0\0\0\0\0\0\0\0",
        _ => *b"timer\0\0\0\0\0\0\0\0\0\0\0",
    });
    note_creation(ringer, was_concurrent);
    ringer
}

/// Begins when the timer rings for the first time.
extern "C" fn ring(index: usize) -> usize {
    let this = state().current();
    loop {
        let Timer { at, again, .. } = timer(index);
        let next = at.saturating_add(again);
        match again {
            0 => update(index, |timer| (timer.at, timer.ringer) = (0, 0)),
            _ => update(index, |timer| timer.at = next),
        }
        this.is_unheard.set(true);
        tell(index);
        // Somebody may have armed or disarmed it while it started a thread.
        if timer(index).ringer != this.tcb.get() {
            return 0;
        }
        this.announce(Operation::Sleep(next), Object::NONE);
        wait(Waiting::Time, Object::NONE, Some(next));
    }
}

/// Tells the program that a timer rings, as a part of the ringer's step if that is a signal.
fn tell(index: usize) {
    let notice = timer(index).notice;
    if notice.how != BY_THREAD {
        update(index, |timer| timer.is_sent = index != ALARM);
        send(index);
        return;
    }
    let was_concurrent = state().is_concurrent();
    point(Operation::Create, objects::memory(notice.function));
    let thread = create(begin as *const () as usize, index, true);
    thread.blocked_signals.set(0);
    note_creation(thread, was_concurrent);
}

/// Sends the signal of a timer.
fn send(index: usize) {
    let Notice { how, signal, thread, .. } = timer(index).notice;
    if how != BY_SIGNAL_TO_THREAD {
        reach_process(signal);
    } else if !reach_thread(thread, signal) {
        // The thread has ended.
        update(index, |timer| timer.is_sent = false);
        may_ring_again(index);
    }
}

/// The first frame of a thread that a timer starts. From now on it may start another.
extern "C" fn begin(index: usize) -> usize {
    may_ring_again(index);
    let Notice { function, value, .. } = timer(index).notice;
    crate::libc::call!(function, fn(usize), value);
    0
}

/// A signal that was sent is not pending any more. An interval timer rings again only then: earlier, the
/// kernel would not have sent it twice, and it could ring for ever before anybody moves. Returns what it
/// says if it came from a timer of `timer_create`.
pub(crate) fn note_taken(signal: i32) -> Option<Expiry> {
    if signal == SIGALRM {
        may_ring_again(ALARM);
    }
    let is_sent = |&index: &usize| timer(index).is_sent && timer(index).notice.signal == signal;
    let mut sent = (ALARM + 1..TIMERS).filter(is_sent);
    let index = sent.next()?;
    update(index, |timer| timer.is_sent = false);
    may_ring_again(index);
    // Signals of different timers are kept apart.
    if let Some(next) = sent.next() {
        send(next);
    }
    Some(Expiry { timer: posix::number(index), value: timer(index).notice.value })
}

fn may_ring_again(index: usize) {
    if let Some(ringer) = find_ringer(index) {
        ringer.is_unheard.set(false);
    }
}
