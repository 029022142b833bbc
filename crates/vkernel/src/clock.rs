//! Clocks, and the times that calls are given.

use crate::errno;
use crate::host::Host;

/// The clock of the day.
pub const REALTIME: i32 = 0;
/// The clock that only goes forward.
pub const MONOTONIC: i32 = 1;
/// The time since the machine was started, and international atomic time.
pub const BOOTTIME: i32 = 7;
/// See [`BOOTTIME`].
pub const TAI: i32 = 11;

/// Nanoseconds.
pub const SECOND: u64 = 1_000_000_000;
/// Executions start at this moment of 2023 ...
const EPOCH: u64 = 1_700_000_000 * SECOND;
/// ... on a machine that is up for this long.
const UPTIME: u64 = 1000 * SECOND;

/// What a clock shows at the start: the time of day, or how long the machine is up.
pub fn origin(clock: i32) -> u64 {
    const COARSE: i32 = 5;
    const ALARM: i32 = 8;
    if matches!(clock, REALTIME | COARSE | ALARM | TAI) { EPOCH } else { UPTIME }
}

/// The virtual moment at which a clock shows something.
pub fn virtual_moment(clock: i32, shown: u64) -> u64 {
    shown.saturating_sub(origin(clock))
}

/// Whether a clock shows the processor time of a process or thread, by constant or by number.
pub fn is_processor_time(clock: i32) -> bool {
    const KIND: i32 = 3;
    const SCHEDULED: i32 = 2;
    matches!(clock, 2 | 3) || clock < 0 && clock & KIND == SCHEDULED
}

/// Whether a `timespec` is one.
pub fn is_time([seconds, nanoseconds]: [i64; 2]) -> bool {
    seconds >= 0 && (0..SECOND as i64).contains(&nanoseconds)
}

/// The nanoseconds of a `timespec`, of what is negative none.
pub fn nanoseconds([seconds, nanoseconds]: [i64; 2]) -> u64 {
    (seconds.max(0) as u64).saturating_mul(SECOND).saturating_add(nanoseconds.max(0) as u64)
}

/// A `timespec`.
pub fn timespec(nanoseconds: u64) -> [u64; 2] {
    [nanoseconds / SECOND, nanoseconds % SECOND]
}

/// Reads a `timespec` that a call is given. Not inlined, so that nothing of it stays on a stack.
#[inline(never)]
pub fn given(k: &impl Host, at: usize) -> Result<u64, i32> {
    let given = k.load(at)?;
    if is_time(given) { Ok(nanoseconds(given)) } else { Err(errno::EINVAL) }
}

/// The same for a timeout, which need not be given: then it is long.
pub fn given_timeout(k: &impl Host, at: usize) -> Result<u64, i32> {
    if at == 0 { Ok(u64::MAX) } else { given(k, at) }
}
