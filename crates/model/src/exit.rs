//! Exit codes.

/// The property holds, within the stated coverage.
pub const HOLDS: u8 = 0;
/// A violation was found.
pub const VIOLATED: u8 = 1;
/// Bad usage or a bad input file.
pub const USAGE: u8 = 2;
/// No conclusion: a limit was reached, or something could not be controlled.
pub const INCONCLUSIVE: u8 = 3;
/// Internal error: a defect of everypath itself.
pub const DEFECT: u8 = 70;
