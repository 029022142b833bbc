//! The case studies: protocols written once, to be simulated and explored.
//!
//! - [`arq`]: stop-and-wait automatic repeat request.
//! - [`aodv`]: ad-hoc on-demand distance vector routing.
//! - [`diffusion`]: directed diffusion in sensor networks.
//! - [`echo`]: the echo algorithm, a broadcast with feedback.

pub mod aodv;
pub mod arq;
pub mod diffusion;
pub mod echo;

pub use aodv::Aodv;
pub use arq::Arq;
pub use diffusion::Diffusion;
pub use echo::Echo;
