//! Models explored by several threads and processes, on one machine or on many: breadth-first search,
//! level by level, as a timely dataflow.
//!
//! After U. Stern and D. L. Dill, *Parallelizing the Murphi verifier*, CAV 1997: a state belongs to the
//! worker that its fingerprint names, and a successor is sent there, as flat canonical bytes. All
//! workers finish a level before any begins the next, which is how D. G. Murray et al., *Naiad: a timely
//! dataflow system*, SOSP 2013, tracks progress; nothing of termination detection is ours.
//!
//! Where we depart: a state that was sent lately is not sent again (`sent.rs`). And of the shortest ways to a state, the one counts whose last step comes from the
//! parent with the least fingerprint, so that the counterexample is the same for any number of workers.

mod gauges;
mod handshake;
mod message;
mod partition;
mod process;
mod search;
mod sent;
#[cfg(test)]
mod sizing;
mod watch;

pub use process::explore;
