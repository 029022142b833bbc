//! Which deliveries of a sequence of datagrams are possible: lost, duplicated and reordered packets
//! within stated bounds. After Sebih et al. (2015), *Software Model Checking of UDP-based
//! Distributed Applications*, section 3.1.
//!
//! A packet is a number, in the order of sending. What is sent from one end to the other goes
//! through a [`Channel`]; [`Rules`] say how often a packet may arrive, by how many packets it may
//! be overtaken, and how many faults there may be in all.
//!
//! | module | when to reach for it |
//! |---|---|
//! | `rules` | multiplicities, capacity, budget, direction: what a person configures |
//! | `channel` | step by step: what can a receiver see next? |
//! | `deliveries` | all whole deliveries of so many packets |
//!
//! The paper decides how often a packet is delivered when it is sent, or received, and lets a
//! buffer choose the order (its algorithms 1 to 6). Here nothing is decided before a receiver
//! looks: [`Channel::options`] are exactly those next deliveries that begin some delivery of the
//! paper's definition 5. So packets that nobody reads cause no choices, and no choice leads to a
//! delivery that is not possible.
//!
//! There is neither an allocator nor std in here, but for `deliveries`: a channel is plain memory,
//! so that it can be part of snapshots.
#![no_std]

#[cfg(feature = "deliveries")]
extern crate alloc;

mod channel;
#[cfg(feature = "deliveries")]
mod deliveries;
mod rules;

pub use channel::{Account, Channel, Next};
#[cfg(feature = "deliveries")]
pub use deliveries::{Deliveries, MOST_PACKETS};
pub use rules::{BadRules, Budget, Direction, Multiplicities, Rules};
