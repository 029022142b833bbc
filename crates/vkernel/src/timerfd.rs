//! `timerfd`: timers to wait for.

use crate::blocking::{failed, until_done};
use crate::errno;
use crate::eventfd::call;
use crate::host::Host;
use crate::iovec::Pieces;
use crate::object::{Kind, Object, check_flags, key, make};
use crate::readiness::IN;
use crate::wakeup::changed;
use everypath_shim_abi::{self as abi, Moved, Operation};

const SECOND: u64 = 1_000_000_000;
/// Executions start at this moment of 2023 ...
const EPOCH: u64 = 1_700_000_000 * SECOND;
/// ... on a machine that is up for this long.
const UPTIME: u64 = 1000 * SECOND;

/// What a clock shows at the start: the time of day, or how long the machine is up.
fn time_origin(clock: i32) -> u64 {
    const REALTIME: [i32; 2] = [0, 8];
    if REALTIME.contains(&clock) { EPOCH } else { UPTIME }
}

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

fn nanoseconds(k: &impl Host, at: usize) -> Result<u64, i32> {
    let [seconds, nanoseconds] = k.load::<[i64; 2]>(at)?;
    if seconds < 0 || !(0..SECOND as i64).contains(&nanoseconds) {
        return Err(errno::EINVAL);
    }
    Ok((seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds as u64))
}

fn store_time(k: &impl Host, at: usize, nanoseconds: u64) -> Result<(), i32> {
    k.store(at, [nanoseconds / SECOND, nanoseconds % SECOND])
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
    store_time(k, at, interval)?;
    store_time(k, at + 16, left)?;
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
    let (interval, value) = (nanoseconds(k, new)?, nanoseconds(k, new + 16)?);
    k.point(Operation::TimerSet(value), key(number));
    if old != 0 {
        get(k, number, old)?;
    }
    let moment = match value {
        0 => 0,
        _ if flags & ABSOLUTE != 0 => {
            let clock = i32::from(timer.family.get());
            value.saturating_sub(time_origin(clock)).max(1)
        }
        after => k.clock().saturating_add(after),
    };
    timer.counter.set(moment);
    timer.interval.set(interval);
    changed(k, number);
    Ok(0)
}
