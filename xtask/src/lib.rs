//! Checks of the project itself.
//!
//! - [`tidy()`]: the rules that no compiler checks, run as `cargo xtask tidy`.
//! - [`transcript`]: the sample sessions in the documentation, run by the tests.

mod tidy;
pub mod transcript;

pub use tidy::tidy;
