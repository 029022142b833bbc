//! Which steps of different threads depend on each other.
//!
//! - [`Choice`]: which thread takes the next step, with which outcome; a schedule is a row of them.
//! - [`Part`]: one use of an object, with its [`Mode`]; two parts have a [`Relation`].
//! - [`Footprint`]: the parts of a step, from which follows what it commutes with.
//! - [`Enabled`]: what a search asks of a step that could be taken.
//!
//! The shim, which lets steps sleep, and the searches, which reverse races, must agree on this word
//! for word, so both use this crate. Which operation has which footprint is not decided here but in
//! `shim-abi`.

#![no_std]

mod choice;
mod enabled;
mod footprint;
mod part;

pub use choice::Choice;
pub use enabled::Enabled;
pub use footprint::{Footprint, MAX_PARTS};
pub use part::{Mode, Part, Relation, Scope};
