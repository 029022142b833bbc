//! `timerfd`: timers to wait for.

use crate::blocking::{failed, until_done};
use crate::clock::{given, timespec, virtual_moment};
use crate::errno;
use crate::eventfd::call;
use crate::host::Host;
use crate::iovec::Pieces;
use crate::lifetime::{check_flags, make};
use crate::object::{Kind, Object, key};
use crate::readiness::IN;
use crate::wakeup::changed;
use everypath_shim_abi::{self as abi, Moved, Operation};

/// Does what the system call does.
pub(crate) fn create(k: &impl Host, clock: i32, flags: i32) -> Result<isize, i32> {
    // Real time, monotonic time, time since the machine was started, and those that wake it.
    if !matches!(clock, 0 | 1 | 7..=9) {
        return Err(errno::EINVAL);
    }
    check_flags(flags)?;
    let (number, descriptor) = make(k, Kind::Timer, flags)?;
    k.object(number).family.set(clock as u16);
    Ok(descriptor)
}

/// The time; never 0, which is when timers expire that are not set.
fn now(k: &impl Host) -> u64 {
    k.clock().max(1)
}

/// How often a timer has expired since it was read.
pub(crate) fn expirations(k: &impl Host, timer: &Object) -> u64 {
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    let now = now(k);
    match (first, interval) {
        (0, _) => 0,
        _ if now < first => 0,
        (_, 0) => 1,
        _ => 1 + (now - first) / interval,
    }
}

/// When a timer expires next; none if it does not, or has already.
pub(crate) fn next_expiry(k: &impl Host, timer: &Object) -> Option<u64> {
    let first = timer.counter.get();
    (first > now(k)).then_some(first)
}

/// Reads how often a timer has expired.
pub(crate) fn read(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    pieces: Pieces,
) -> Result<isize, i32> {
    if pieces.length(k) < 8 {
        return Err(errno::EINVAL);
    }
    let timer = k.object(number);
    let expired = until_done(
        k,
        call(k, (descriptor, number), Operation::Receive(Moved::Nothing), IN),
        || Some(expirations(k, timer)).filter(|&count| count > 0),
    );
    let count = expired.map_err(failed)?;
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    timer.counter.set(if interval == 0 { 0 } else { first + count * interval });
    pieces.fill(k, &count.to_le_bytes())?;
    Ok(8)
}

/// Does what the system call does.
pub(crate) fn get(k: &impl Host, number: usize, at: usize) -> Result<isize, i32> {
    k.point(Operation::SocketState(abi::Object::NONE), key(number));
    let timer = k.object(number);
    let (first, interval) = (timer.counter.get(), timer.interval.get());
    let now = now(k);
    let left = match (first, interval) {
        (0, _) => 0,
        _ if first > now => first - now,
        (_, 0) => 0,
        _ => interval - (now - first) % interval,
    };
    k.store(at, timespec(interval))?;
    k.store(at + 16, timespec(left))?;
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn set(
    k: &impl Host,
    number: usize,
    flags: i32,
    (new, old): (usize, usize),
) -> Result<isize, i32> {
    const ABSOLUTE: i32 = 1;
    let timer = k.object(number);
    let (interval, value) = (given(k, new)?, given(k, new + 16)?);
    k.point(Operation::TimerSet(value), key(number));
    if old != 0 {
        get(k, number, old)?;
    }
    let moment = match value {
        0 => 0,
        _ if flags & ABSOLUTE != 0 => virtual_moment(timer.family.get().into(), value).max(1),
        after => k.clock().saturating_add(after),
    };
    timer.counter.set(moment);
    timer.interval.set(interval);
    changed(k, number);
    Ok(0)
}
