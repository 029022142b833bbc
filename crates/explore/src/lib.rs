//! The exploration engine: one worker loop over anything whose next step is chosen from outside.
//!
//! Where to look:
//!
//! - [`System`]: what the engine explores. [`Model`]: a system with names, for people.
//! - [`Canonical`] and [`canonical!`]: states as canonical bytes; [`fingerprint()`]: 128 bits of them.
//! - [`Property`], [`Rank`], [`Relation`]: what must hold, what looks promising, what may be pruned.
//! - [`Search`]: which of the fourteen strategies, which visited set, which limits.
//! - [`explore()`]: the worker loop. [`Control`]: stop it, and watch it, from another thread.
//! - [`explore_incrementally()`]: the same with the [`graph`] of an earlier version.
//! - [`reduction`]: all schedules of a program, up to equivalence. [`mod@shrink`]: a failing one, made simple.
//!   [`mod@critical`]: the step after which nothing can be saved.
//! - [`replay()`]: takes a schedule again and describes every state on the way.
//! - [`handler`]: panics inside a model are findings about the model, not crashes of ours.
//!
//! The engine knows no sockets, processes, clocks, environment or terminals, and its results do
//! not depend on how many threads computed them.

mod buckets;
pub mod canonical;
mod confirm;
mod control;
mod costs;
pub mod critical;
mod engine;
mod expand;
mod fingerprint;
mod frontier;
pub mod graph;
pub mod handler;
mod incremental;
mod lineage;
mod model;
mod outcome;
mod property;
mod rank;
pub mod reduction;
mod replay;
mod search;
pub mod shrink;
mod shuffle;
mod states;
mod system;
mod table;
mod tally;
mod visited;

pub use canonical::Canonical;
pub use control::{Control, Progress};
pub use costs::{Clock, Cost, Costs};
pub use engine::{Task, explore, explore_incrementally};
pub use everypath_trace::{Config, Line, Step};
pub use fingerprint::{Fingerprint, fingerprint};
pub use incremental::{Change, Increment, Incremental, Incremented, Reuse};
pub use model::{Bug, EventKind, Feature, Model, NodeRange};
pub use outcome::{Counts, Ended, Exploration, Found, Limit};
pub use property::{PANIC, Property};
pub use rank::{Rank, Ties};
pub use replay::{ReplayError, Replayed, replay};
pub use search::{Add, Order, Search, VisitedKind};
pub use shuffle::GENERATOR;
pub use system::{Relation, System};
pub use tally::Tally;
