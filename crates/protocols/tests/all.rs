//! One binary for all of these tests: it is linked once, and they run side by side.

mod aodv;
mod aodv_simulation;
mod arq;
mod arq_simulation;
mod diffusion;
mod diffusion_simulation;
mod echo;
mod handlers;
mod incremental;
mod support;
