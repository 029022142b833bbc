//! A page on loopback: results of folders, explorations that run, traces, and models step by step.
//!
//! - [`Site`]: what is shown, and the server.
//! - [`Models`]: models that can be stepped through; whoever has them implements it.
//! - [`Access`]: who may ask. The server listens at 127.0.0.1 only; a random token is part of every
//!   address; `Host` and `Origin` must name this server, so that no page from elsewhere can reach it
//!   through the reader's browser.

mod access;
mod results;
mod running;
mod site;

pub use access::Access;
pub use running::running;
pub use site::{Models, Site};
