//! A schedule plus what became visible.

use crate::Step;

/// A recorded counterexample: everything a report or a replay needs.
///
/// A trace holds no times, paths or machine names, so the same search writes the same bytes on
/// every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Trace {
    /// What was explored.
    pub target: Target,
    /// How it was explored.
    pub search: SearchRecord,
    /// What the last state (or the last step) violates.
    pub violation: Violation,
    /// The initial state in words.
    pub initial: Vec<Line>,
    /// Fingerprint of the initial state's canonical bytes, in hexadecimal.
    pub initial_fingerprint: String,
    /// The steps in order.
    pub steps: Vec<TraceStep>,
}

/// What was explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(tag = "kind", rename_all = "lowercase"))]
pub enum Target {
    /// A protocol model.
    Model {
        /// The model's name.
        name: String,
        /// How many nodes it was built with.
        nodes: u32,
        /// The bugs that were switched on, in the order of the model's own list.
        bugs: Vec<String>,
    },
}

/// How a trace was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct SearchRecord {
    /// The name of the strategy.
    pub strategy: String,
    /// When duplicates were removed: `next` or `current`.
    pub add: String,
    /// How visited states were recognised.
    pub visited: String,
    /// The depth bound, if there was one.
    pub max_depth: Option<u32>,
    /// The generator and seed of the shuffle, if events were shuffled.
    pub shuffle: Option<ShuffleRecord>,
    /// The name of the rank, in best-first search.
    pub rank: Option<String>,
    /// The event that every counterexample had to contain.
    pub must_contain: Option<String>,
    /// The events that were switched off.
    pub disabled: Vec<String>,
}

/// The generator behind a shuffle; its name pins its output on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct ShuffleRecord {
    /// The generator's name.
    pub generator: String,
    /// Its seed.
    pub seed: u64,
}

/// What was violated, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Violation {
    /// The property's name.
    pub property: String,
    /// Why the state violates it.
    pub message: String,
}

/// One step and the state it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct TraceStep {
    /// The step itself, enough to repeat it.
    pub step: Step,
    /// The actor's name.
    pub actor: String,
    /// The event's name.
    pub event: String,
    /// What happens, in words.
    pub text: String,
    /// The state after the step; empty if the step never completed.
    pub state: Vec<Line>,
    /// Fingerprint of that state's canonical bytes; absent if the step never completed.
    pub fingerprint: Option<String>,
}

/// One line of a state in words: whose part of the state, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Line {
    /// A node, the network, or another part of the system.
    pub part: String,
    /// Its contents.
    pub text: String,
}

impl Line {
    /// A line that says `text` of `part`.
    pub fn new(part: impl Into<String>, text: impl Into<String>) -> Self {
        Line { part: part.into(), text: text.into() }
    }
}
