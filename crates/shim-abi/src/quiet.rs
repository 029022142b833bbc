//! When an execution ends in which only time passes.

/// After so many periods in a row in which nothing visible happened, ...
pub const PERIODS: u32 = 3;
/// ... if they lasted so many virtual seconds.
pub const SECONDS: u64 = 60;
/// Or so many steps.
pub const STEPS: u32 = 10_000;
/// Or after so many such periods, however long they lasted.
pub const MOST_PERIODS: u32 = 50;
/// Or after so many periods in which nothing happened but output and writes to files.
pub const MOST_WITH_OUTPUT: u32 = 500;
