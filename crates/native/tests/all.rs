//! One binary for all of these tests: it is linked once, and they run side by side.

mod atomics;
mod common;
mod conformance;
mod defects;
mod program;
mod random_programs;
mod sampling;
mod symbols;
mod violations;
