//! Timers that send signals or start threads: the alarm or interval timer of a process (`itimer`), and
//! those of `timer_create` (`posix_timer`).
//!
//! A thread without code of the program, the timer's ringer, is blocked until the deadline. What it does
//! then is here; that it does so is for the host to see to.

use crate::host::{Host, Thread};
use crate::signal::{reach_process, reach_thread};
use crate::state::{Notice, Timer};
use everypath_shim_abi::{Object, Operation};

pub use crate::state::{ALARM, TIMERS};

pub(crate) const SIGALRM: i32 = 14;

/// How a timer tells that it rings, by the numbers of `sigev_notify`.
pub(crate) const BY_SIGNAL: i32 = 0;
pub(crate) const NOT_AT_ALL: i32 = 1;
pub(crate) const BY_THREAD: i32 = 2;
pub(crate) const BY_SIGNAL_TO_THREAD: i32 = 4;

/// What a signal of `timer_create` says about itself: the number of the timer and the program's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The number.
    pub timer: i32,
    /// The value.
    pub value: usize,
}

/// What happens when a timer rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ringing {
    /// A signal is sent, or nothing.
    Signal,
    /// A thread is started, with this function and its argument.
    Thread(usize, usize),
}

pub(crate) fn timer(k: &impl Host, index: usize) -> Timer {
    k.own_state().timers[index].get()
}

pub(crate) fn update(k: &impl Host, index: usize, change: impl FnOnce(&mut Timer)) {
    let mut timer = timer(k, index);
    change(&mut timer);
    k.own_state().timers[index].set(timer);
}

/// Whether any timer will ring.
pub fn are_set(k: &impl Host) -> bool {
    k.own_state().timers.iter().any(|timer| timer.get().ringer != 0)
}

/// Whether a thread is the one that waits for a timer. It keeps no process alive.
pub fn is_ringer(k: &impl Host, handle: usize) -> bool {
    let rings = |ringer: usize| ringer != 0 && ringer == handle;
    k.own_state().timers.iter().any(|timer| rings(timer.get().ringer))
}

/// For how long it is set, in nanoseconds.
pub(crate) fn left(k: &impl Host, index: usize) -> u64 {
    let (timer, now) = (timer(k, index), k.clock());
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
pub(crate) enum When {
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
pub(crate) fn set(k: &impl Host, index: usize, when: When, again: u64) -> [u64; 2] {
    let was_concurrent = k.is_concurrent();
    let given = match when {
        When::Never => 0,
        When::After(time) | When::At(time) => time,
    };
    let place = k.own_state().timers[index].as_ptr() as usize;
    k.point(Operation::TimerSet(given), Object::memory(k.process() as u8, place as u64));
    let before = [timer(k, index).again, left(k, index)];
    let now = k.clock();
    let at = match when {
        When::Never => 0,
        When::After(time) => now.saturating_add(time),
        When::At(moment) => moment.max(now).max(1),
    };
    // One that has been woken tells what it was woken for, and ends.
    let ringer = find_ringer(k, index).filter(|&ringer| k.is_asleep(ringer));
    let ringer = match ringer {
        Some(ringer) if at == 0 => {
            k.retire(ringer);
            0
        }
        None if at == 0 || timer(k, index).notice.how == NOT_AT_ALL => 0,
        ringer => {
            let ringer = ringer.unwrap_or_else(|| k.start_ringer(index, was_concurrent));
            ringer.announce(Operation::Sleep(at).pack(), Object::NONE);
            k.heard(ringer);
            k.sleep_until(ringer, at);
            k.handle(ringer)
        }
    };
    update(k, index, |timer| (timer.at, timer.again, timer.ringer) = (at, again, ringer));
    before
}

fn find_ringer<H: Host>(k: &H, index: usize) -> Option<&H::Thread> {
    let ringer = timer(k, index).ringer;
    k.thread_of_handle(ringer).filter(|_| ringer != 0)
}

/// The moment of a timer has come; returns when it rings next.
pub fn expire(k: &impl Host, index: usize) -> u64 {
    let Timer { at, again, .. } = timer(k, index);
    let next = at.saturating_add(again);
    match again {
        0 => update(k, index, |timer| (timer.at, timer.ringer) = (0, 0)),
        _ => update(k, index, |timer| timer.at = next),
    }
    next
}

/// Whether a thread still rings for a timer: somebody may have armed or disarmed it meanwhile.
pub fn is_rung_by(k: &impl Host, index: usize, handle: usize) -> bool {
    timer(k, index).ringer == handle
}

/// How a timer tells that it rings.
pub fn ringing(k: &impl Host, index: usize) -> Ringing {
    let Notice { how, function, value, .. } = timer(k, index).notice;
    if how == BY_THREAD { Ringing::Thread(function, value) } else { Ringing::Signal }
}

/// Sends the signal of a timer that rings, as a part of the ringer's step.
pub fn signal(k: &impl Host, index: usize) {
    update(k, index, |timer| timer.is_sent = index != ALARM);
    send(k, index);
}

fn send(k: &impl Host, index: usize) {
    let Notice { how, signal, thread, .. } = timer(k, index).notice;
    if how != BY_SIGNAL_TO_THREAD {
        reach_process(k, signal);
    } else if !reach_thread(k, thread, signal) {
        // The thread has ended.
        update(k, index, |timer| timer.is_sent = false);
        may_ring_again(k, index);
    }
}

/// A signal that was sent is not pending any more. An interval timer rings again only then: earlier, the
/// kernel would not have sent it twice, and it could ring for ever before anybody moves. Returns what it
/// says if it came from a timer of `timer_create`.
pub fn note_taken(k: &impl Host, signal: i32) -> Option<Expiry> {
    if signal == SIGALRM {
        may_ring_again(k, ALARM);
    }
    let is_sent = |&index: &usize| {
        let timer = timer(k, index);
        timer.is_sent && timer.notice.signal == signal
    };
    let mut sent = (ALARM + 1..TIMERS).filter(is_sent);
    let index = sent.next()?;
    update(k, index, |timer| timer.is_sent = false);
    may_ring_again(k, index);
    // Signals of different timers are kept apart.
    if let Some(next) = sent.next() {
        send(k, next);
    }
    Some(Expiry { timer: number(index), value: timer(k, index).notice.value })
}

/// The thread that a timer has started begins, or its signal was taken.
pub fn may_ring_again(k: &impl Host, index: usize) {
    if let Some(ringer) = find_ringer(k, index) {
        k.heard(ringer);
    }
}

/// What a program calls a timer.
pub(crate) fn number(index: usize) -> i32 {
    (index - ALARM - 1) as i32
}
