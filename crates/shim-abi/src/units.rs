//! The value of a step at a semaphore: how many units it left there, or one of these.

/// It is not known: something came in between, or nothing came any more.
pub const UNKNOWN: u64 = u64::MAX;
/// It got none and waits.
pub const NONE_YET: u64 = u64::MAX - 1;
/// There are so many that one more may be too many.
pub const OVERFLOW: u64 = u64::MAX - 2;
