//! This worker, as a type: what a floor needs of those above it is a trait, which they implement for it.
//!
//! The type has no size, so that calls through it cost what a function would, and no floor names the
//! modules of another that is above it.

/// This worker.
#[derive(Debug)]
pub(crate) struct Worker;

/// What functions of the kernel are called with, and those of higher floors.
pub(crate) const KERNEL: &Worker = &Worker;
