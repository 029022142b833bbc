//! The case studies: protocols written once, to be simulated and explored.
//!
//! - [`arq`]: stop-and-wait automatic repeat request.
//! - [`aodv`]: ad-hoc on-demand distance vector routing.

pub mod aodv;
pub mod arq;

pub use aodv::Aodv;
pub use arq::Arq;
