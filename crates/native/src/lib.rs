//! Native programs: everything that is found out by reading their files.
//!
//! - [`Program`]: looks at a program before it is started; says what it is, or why not.
//! - [`atomics`]: which instructions become scheduling points, and how they are patched.
//! - [`symbols`]: addresses to functions, source lines and variables; stacks.

pub mod atomics;
pub mod program;
pub mod symbols;

pub use program::{Program, ProgramError};
