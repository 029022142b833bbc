//! The exploration engine: one worker loop over anything whose next step is chosen from outside.
//!
//! Where to look:
//!
//! - [`System`]: what the engine explores. [`Model`]: a system with names, for people.
//! - [`ModelKind`] and [`AnyModel`]: one of several models, chosen by name.
//! - [`Canonical`] and [`canonical!`]: states as canonical bytes; [`fingerprint()`]: 128 bits of them.
//! - [`Property`], [`Rank`], [`SimulationRelation`]: invariants, heuristics of best-first search,
//!   pruning.
//! - [`Search`]: which of the fourteen strategies, which visited set, which limits.
//! - [`explore()`]: the worker loop. [`Control`]: stop it, and watch it, from another thread.
//! - [`explore_incrementally()`]: the same with the [`graph`] of an earlier version.
//! - [`Quantities`]: whether such a graph pays.
//! - [`replay()`]: takes a schedule again and describes every state on the way.
//! - [`panic_capture`]: panics inside a model are findings about the model, not crashes of ours.
//!
//! The engine knows no sockets, processes, clocks, environment or terminals, and its results do
//! not depend on how many threads computed them.

mod any_model;
mod buckets;
pub mod canonical;
mod confirm;
mod costs;
mod engine;
mod expand;
mod fingerprint;
mod frontier;
pub mod graph;
mod incremental;
mod incremental_advice;
mod model;
mod multiset_sketch;
mod outcome;
pub mod panic_capture;
mod parents;
mod property;
mod rank;
mod replay;
mod search;
mod shuffle;
mod states;
mod system;
mod table;
mod visited;

pub use any_model::{AnyModel, Look, ModelKind, Request};
pub use canonical::Canonical;
pub use costs::{Clock, Cost, Costs};
pub use engine::{Task, explore, explore_incrementally};
pub use everypath_trace::{Config, Control, Line, Progress, Step};
pub use fingerprint::{Fingerprint, fingerprint};
pub use incremental::{Change, Increment, Incremental, Incremented, Reuse};
pub use incremental_advice::{Condition, Quantities};
pub use model::{Bug, EventKind, Feature, Model, NodeRange};
pub use multiset_sketch::MultisetSketch;
pub use outcome::{Counts, Ended, Exploration, Found, Limit};
pub use property::{PANIC, Property};
pub use rank::{Rank, Ties};
pub use replay::{ReplayError, Replayed, replay};
pub use search::{Add, Search, SearchOrder, VisitedKind};
pub use shuffle::GENERATOR;
pub use system::{SimulationRelation, System};
