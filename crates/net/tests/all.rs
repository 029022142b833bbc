//! One binary for all of these tests: it is linked once, and they run side by side.

mod flood;
mod reductions;
mod simulate;
