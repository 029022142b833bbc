//! The case studies: protocols written once, to be simulated and explored.
//!
//! - [`arq`]: stop-and-wait automatic repeat request.

pub mod arq;

pub use arq::Arq;
