//! Checks of the project itself.
//!
//! - [`ci`]: all that must hold before a change lands, run as `cargo xtask ci`.
//! - [`browser`]: headless Chromium, for tests of pages.
//! - [`python`]: readers of formats that others wrote.
//! - `faults`: checks that are killed, signalled and starved, run as `cargo xtask faults`.
//! - `scorecard`: programs that others wrote, run as `cargo xtask scorecard`.
//! - `speed`: how fast results can be looked at, run as `cargo xtask speed`.
//! - [`tidy()`]: the rules that no compiler checks, run as `cargo xtask tidy`.
//! - [`transcript`]: the sample sessions in the documentation, run by the tests.

pub mod browser;
pub mod ci;
mod faults;
pub mod python;
mod scorecard;
mod speed;
mod tidy;
pub mod transcript;

pub use tidy::tidy;
