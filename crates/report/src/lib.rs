//! Reports: a trace in, bytes out. Nothing here runs or re-runs anything.
//!
//! - [`text()`]: a counterexample in words, for a terminal.
//! - [`grouped`]: numbers that people can read.

mod text;

pub use text::{grouped, heading, text};
