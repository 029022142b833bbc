//! One binary for all of these tests: it is linked once, and they run side by side.

mod critical_step;
mod datagrams;
mod interpreter;
mod minimise;
mod reduction;
mod stateful;
