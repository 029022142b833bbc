//! The papers' experiments: what is run, and the figures that ours are compared with.
//!
//! An [`Experiment`] is a table or a figure of a paper. It prints its rows as they come, the paper's
//! figures beside ours, and returns them as JSON. Everything it needs from outside (a clock, limits,
//! somewhere to print, the checker's binary) is the [`Host`], so this crate prints nothing and reads
//! no clock.
//!
//! Where to look:
//!
//! - `list.rs`: all of them.
//! - `search_table.rs`: tables of searches over models (`aodv.rs`, `arq.rs`, `diffusion.rs`; the
//!   paper's names of strategies in `strategy.rs`).
//! - `incremental/`: chapter 8 of Sobeih (2008), searches with the graph of an earlier version.
//! - `peers.rs`, `udp/`: native programs, which `sources.rs` compiles and `checks.rs` checks, each
//!   in a process of its own, so that its time and memory are its own.

mod aodv;
mod arq;
mod checks;
mod diffusion;
mod experiment;
mod incremental;
mod list;
mod models;
mod peers;
mod search_table;
mod sources;
mod strategy;
mod udp;

pub use experiment::{About, Experiment, ExperimentError, Host, Rows, Timed, Work};
pub use list::all;
