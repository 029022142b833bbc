//! `eventfd` and `timerfd`.

use super::message::Pieces;
use super::poll::{IN, OUT};
use super::{Blocking, Call, Kind, Object, Want, failed, happened, key, make, object};
use super::{until_done, waits};
use crate::memory::{load, store};
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{self as abi, Moved, Operation, Sending};

const MOST: u64 = u64::MAX - 1;

/// Does what the system call does.
pub(super) fn create(value: u32, flags: i32) -> Result<isize, i32> {
    const SEMAPHORE: i32 = 1;
    super::check_flags(flags & !SEMAPHORE)?;
    let (number, descriptor) = make(Kind::Event, flags & !SEMAPHORE)?;
    object(number).counter.set(value.into());
    object(number).interval.set((flags & SEMAPHORE) as u64);
    Ok(descriptor)
}

/// What can happen to an event at once.
pub(super) fn ready(event: &Object) -> u32 {
    let counter = event.counter.get();
    (if counter > 0 { IN } else { 0 }) | if counter < MOST { OUT } else { 0 }
}

#[inline(always)]
fn call(descriptor: i32, number: usize, operation: Operation, events: u32) -> Call {
    let patience = if waits(descriptor, 0) { Blocking::Forever } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events };
    Call {
        operation: operation.pack(),
        touches: key(number),
        want,
        through: super::through(descriptor),
        patience,
    }
}

/// Reads a counter: all of it, or one if it is a semaphore.
pub(super) fn read(descriptor: i32, number: usize, pieces: Pieces) -> Result<isize, i32> {
    if pieces.length() < 8 {
        return Err(errno::EINVAL);
    }
    let event = object(number);
    let got = until_done(call(descriptor, number, Operation::Receive(Moved::Nothing), IN), || {
        let counter = event.counter.get();
        let taken = if event.interval.get() != 0 { counter.min(1) } else { counter };
        event.counter.set(counter - taken);
        (taken > 0).then_some(taken)
    });
    let value = got.map_err(failed)?;
    happened(number);
    pieces.fill(&value.to_le_bytes());
    Ok(8)
}

/// Adds to a counter.
pub(super) fn write(descriptor: i32, number: usize, pieces: Pieces) -> Result<isize, i32> {
    if pieces.length() < 8 {
        return Err(errno::EINVAL);
    }
    let mut added = 0;
    pieces.each(0, 8, |address, length| {
        if length == 8 {
            added = load::<u64>(address);
        }
    });
    if added == u64::MAX {
        return Err(errno::EINVAL);
    }
    let event = object(number);
    let done = until_done(
        call(descriptor, number, Operation::Send(Sending::Queue(Moved::Nothing)), OUT),
        || {
            let counter = event.counter.get();
            let fits = added <= MOST - counter;
            fits.then(|| event.counter.set(counter + added))
        },
    );
    done.map_err(failed)?;
    happened(number);
    Ok(8)
}

/// Does what the system call does.
pub(super) fn create_timer(clock: i32, flags: i32) -> Result<isize, i32> {
    // Real time, monotonic time, time since the machine was started, and those that wake it.
    if !matches!(clock, 0 | 1 | 7..=9) {
        return Err(errno::EINVAL);
    }
    super::check_flags(flags)?;
    let (number, descriptor) = make(Kind::Timer, flags)?;
    object(number).family.set(clock as u16);
    Ok(descriptor)
}

/// The time; never 0, which is when timers expire that are not set.
fn now() -> u64 {
    state().clock.get().max(1)
}

/// How often a timer has expired since it was read.
pub(super) fn expirations(timer: &Object) -> u64 {
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    let now = now();
    match (first, interval) {
        (0, _) => 0,
        _ if now < first => 0,
        (_, 0) => 1,
        _ => 1 + (now - first) / interval,
    }
}

/// When a timer expires next; none if it does not, or has already.
pub(super) fn next_expiry(timer: &Object) -> Option<u64> {
    let first = timer.counter.get();
    (first > now()).then_some(first)
}

/// Reads how often a timer has expired.
pub(super) fn read_timer(descriptor: i32, number: usize, pieces: Pieces) -> Result<isize, i32> {
    if pieces.length() < 8 {
        return Err(errno::EINVAL);
    }
    let timer = object(number);
    let expired =
        until_done(call(descriptor, number, Operation::Receive(Moved::Nothing), IN), || {
            Some(expirations(timer)).filter(|&count| count > 0)
        });
    let count = expired.map_err(failed)?;
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    timer.counter.set(if interval == 0 { 0 } else { first + count * interval });
    pieces.fill(&count.to_le_bytes());
    Ok(8)
}

fn nanoseconds(at: usize) -> Result<u64, i32> {
    if !crate::time::is_valid(at) {
        return Err(errno::EINVAL);
    }
    Ok(crate::time::nanoseconds(at))
}

fn store_time(at: usize, nanoseconds: u64) {
    store(at, [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000]);
}

/// Does what the system call does.
pub(super) fn get_timer(number: usize, at: usize) -> Result<isize, i32> {
    point(Operation::SocketState(abi::Object::NONE), key(number));
    let timer = object(number);
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    let now = now();
    let left = match (first, interval) {
        (0, _) => 0,
        _ if first > now => first - now,
        (_, 0) => 0,
        _ => interval - (now - first) % interval,
    };
    store_time(at, interval);
    store_time(at + 16, left);
    Ok(0)
}

/// Does what the system call does.
pub(super) fn set_timer(number: usize, flags: i32, new: usize, old: usize) -> Result<isize, i32> {
    const ABSOLUTE: i32 = 1;
    let timer = object(number);
    let (interval, value) = (nanoseconds(new)?, nanoseconds(new + 16)?);
    point(Operation::TimerSet(value), key(number));
    if old != 0 {
        get_timer(number, old)?;
    }
    let moment = match value {
        0 => 0,
        _ if flags & ABSOLUTE != 0 => {
            let clock = i32::from(timer.family.get());
            crate::time::deadline(clock, new + 16).unwrap_or(0).max(1)
        }
        after => state().clock.get().saturating_add(after),
    };
    timer.counter.set(moment);
    timer.interval.set(interval);
    super::changed(number);
    Ok(0)
}
