//! From the ELF file of a module to code that tells the shim what it does.
//!
//! Locks of Rust's standard library, C11 and C++ atomics and `parking_lot` call nothing while
//! they are uncontended: they are a `lock cmpxchg` or an `xchg` in the middle of a function.
//! [`plan`] finds these instructions in an ELF file and says what to write where, so that each
//! first calls the shim.
//!
//! - `image`: the file: functions, code, data, landing pads.
//! - `code`: decodes the functions once; finds candidates and everything a jump may lead to.
//! - `landing_pads`: the landing pads of exceptions.
//! - `atomic`: atomic instructions, pauses and fences.
//! - `sites`: which instructions are patch sites, by
//!   - `statics`: static variables that are modified atomically, and plain accesses to them,
//!   - `unoptimised`: those that unoptimised code accesses through the stack,
//!   - `futexes`: plain loads of the expected value of a futex wait,
//!   - `locks`: lock and unlock of the mutexes and read-write locks of Rust's standard library, and
//!     the functions that wait on its condition variables and notify,
//!   - `rwlocks`: the loads that decide whether a read-write lock is tried,
//!   - `usage`: whether the result of an atomic instruction is used.
//! - `random`: what takes the place of instructions that give random numbers.
//! - `stub`: the code that calls the shim at a site.
//! - `in_place`: patches of the sites alone, and nothing else of the module.
//! - `copy`: copies of whole functions, which record all that they access.
//!
//! An atomic load, and a store that is not sequentially consistent, is a `mov` like any other. It
//! is a site if it names a static variable that other instructions of the module change atomically,
//! be it by an address on the stack, if it loads the expected value of a futex wait, if it decides
//! that a read-write lock is not even tried, or whether a function of the standard library is
//! called that initialises something. Other accesses through a pointer cannot be told from plain
//! memory, and are not seen.

mod atomic;
mod code;
mod copy;
mod error;
mod futexes;
mod image;
mod in_place;
mod landing_pads;
mod libc_calls;
mod locks;
mod random;
mod rwlocks;
mod sites;
mod statics;
mod stub;
mod unoptimised;
mod usage;

pub use atomic::is_locked;
pub use copy::{Access, AccessKind, Block, Copy, CopyLayout, Point, copy};
pub use error::PlanError;
pub use everypath_shim_abi::{Site, SiteKind};
pub use in_place::{Layout, Patch, Plan, plan};
pub use libc_calls::{LibcPointer, functions_called, functions_defined, libc_pointers};
pub use sites::Counters;
