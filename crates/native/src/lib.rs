//! Native programs: everything that is found out by reading their files.
//!
//! - [`atomics`]: which instructions become scheduling points, and how they are patched.
//! - [`symbols`]: addresses to functions, source lines and variables; stacks.

pub mod atomics;
pub mod symbols;
