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
//! - [`liveness`]: what must happen eventually, in fair executions; [`StateGraph`]: everything at once.
//! - [`walk()`]: random walks. [`validate()`]: whether a log is a path of a model.
//! - [`Look`]: a state, for those who step through a model by hand.
//! - [`replay()`]: takes a schedule again and describes every state on the way.
//! - [`panic_capture`]: panics inside a model are findings about the model, not crashes of ours.
//!
//! The engine knows no sockets, processes, clocks, environment or terminals, and its results do
//! not depend on how many threads computed them.

mod any_model;
mod buckets;
pub mod canonical;
mod cluster;
mod confirm;
mod costs;
mod describe;
pub mod disk;
mod engine;
mod expand;
pub mod expander;
mod fingerprint;
mod frontier;
pub mod graph;
mod incremental;
mod incremental_advice;
pub mod liveness;
mod messages;
mod model;
mod multiset_sketch;
mod outcome;
pub mod panic_capture;
mod parents;
mod part;
mod property;
mod rank;
mod relation_check;
mod replay;
mod search;
mod shuffle;
mod sleep_sets;
mod states;
mod symmetry;
mod system;
mod table;
mod validate;
mod visited;
mod walk;

pub use any_model::{AnyModel, Look, ModelKind, PropertyInfo, Request};
pub use canonical::Canonical;
pub use cluster::{Cluster, ClusterError, Together};
pub use costs::{Clock, Cost, Costs};
pub use describe::describe;
pub use engine::{Task, explore, explore_incrementally};
pub use everypath_trace::{Config, Control, Line, Progress, Step};
pub use fingerprint::{Fingerprint, fingerprint};
pub use incremental::{Change, Increment, Incremental, Incremented, Reuse};
pub use incremental_advice::{Condition, Quantities};
pub use liveness::{Edge, Fairness, Liveness, StateGraph, check_liveness};
pub use model::{Bug, EventKind, Feature, Model, NodeRange, Packet, Parameter, Transit};
pub use multiset_sketch::MultisetSketch;
pub use outcome::{Counts, Ended, Exploration, Found, Limit};
pub use property::{DEADLOCK, PANIC, Property, PropertyKind};
pub use rank::{Rank, Ties};
pub use relation_check::NotSimulated;
pub use replay::{ReplayError, Replayed, replay};
pub use search::{Add, Search, SearchOrder, VisitedKind};
pub use shuffle::GENERATOR;
pub use system::{SimulationRelation, System};
pub use validate::{LogEntry, Possible, Validated, validate};
pub use walk::{Walk, WalkChoice, Walked, walk};
