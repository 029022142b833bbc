//! One binary for all of these tests: it is linked once, and they run side by side.

mod disk;
mod graphs;
mod incremental;
mod liveness;
mod properties;
mod spin;
mod walk;
