//! The JSON result.

use everypath_explore::{Condition, Quantities};
use serde::Serialize;
use std::collections::BTreeMap;

/// One object, as the command-line contract fixes it.
#[derive(Debug, Serialize)]
pub(crate) struct JsonResult {
    pub(crate) tool: &'static str,
    pub(crate) version: &'static str,
    pub(crate) command: &'static str,
    pub(crate) target: String,
    pub(crate) parameters: JsonParameters,
    pub(crate) verdict: String,
    pub(crate) coverage: JsonCoverage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) violation: Option<JsonViolation>,
    pub(crate) violations: u64,
    pub(crate) properties: Vec<JsonProperty>,
    pub(crate) stats: JsonStats,
    /// How often each event was executed.
    pub(crate) event_counts: Vec<JsonEvent>,
    /// What some state must satisfy, and how soon one does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) witnesses: Vec<JsonWitness>,
    /// What random walks have seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) walks: Option<JsonWalks>,
    /// What the check of infinite executions has counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) liveness: Option<JsonLiveness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replications: Option<JsonReplications>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) incremental: Option<JsonIncremental>,
}

/// How often an event was executed.
#[derive(Debug, Serialize)]
pub(crate) struct JsonEvent {
    pub(crate) name: &'static str,
    pub(crate) executed: u64,
    /// Whether it can happen in a model that was built like this, and is not switched off.
    pub(crate) possible: bool,
}

/// What some state must satisfy.
#[derive(Debug, Serialize)]
pub(crate) struct JsonWitness {
    pub(crate) property: String,
    /// The steps to a state that does; null if none was found.
    pub(crate) depth: Option<usize>,
}

/// What random walks have seen.
#[derive(Debug, Serialize)]
pub(crate) struct JsonWalks {
    pub(crate) walks: u64,
    /// States that were met, however often.
    pub(crate) met: u64,
    /// States that were met once.
    pub(crate) once: u64,
    /// How likely it is, about, that the next state met is one that was not seen.
    pub(crate) unseen_probability: f64,
}

/// The graph in which infinite executions were looked for.
#[derive(Debug, Serialize)]
pub(crate) struct JsonLiveness {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) weakly_fair: Vec<String>,
    pub(crate) strongly_fair: Vec<String>,
}

/// What became of a graph.
#[derive(Debug, Serialize)]
pub(crate) struct JsonIncremental {
    /// Of table 7.1 of Sobeih (2008): read-only, write-only or read-write; with a graph that
    /// could not be read, none of these.
    pub(crate) mode: &'static str,
    /// Why the graph was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fresh: Option<String>,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) modified: u64,
    pub(crate) executed: u64,
    /// The quantities of table 7.2; times in nanoseconds.
    #[serde(flatten)]
    pub(crate) quantities: Quantities,
    pub(crate) condition: Option<Condition>,
    /// How many times as fast as from scratch it should be, by these quantities.
    pub(crate) estimated_speedup: Option<f64>,
    /// Whether the graph was given up because too little was found in it.
    pub(crate) abandoned: bool,
    /// States of which the graph is damaged.
    pub(crate) damaged: u64,
    pub(crate) modified_events: Vec<JsonChange>,
    /// The counterexamples that are kept with the graph.
    pub(crate) known: JsonKnown,
    /// Whether a search from scratch has given the same; null if there was none.
    pub(crate) verified: Option<bool>,
    pub(crate) load_seconds: f64,
    /// Memory that the graph took besides the search, in bytes.
    pub(crate) extra_bytes: u64,
    pub(crate) search_bytes: u64,
    /// The graph that was written.
    pub(crate) saved: Option<JsonSaved>,
}

/// What a modification has changed, in the states that the graph knows.
#[derive(Debug, Serialize)]
pub(crate) struct JsonChange {
    pub(crate) event: String,
    /// Events that led where they had led before, elsewhere, to a violation, or from states in
    /// which they were not known to be safe.
    pub(crate) same: u64,
    pub(crate) different: u64,
    pub(crate) worse: u64,
    pub(crate) new: u64,
}

/// The counterexamples that are kept with a graph.
#[derive(Debug, Serialize)]
pub(crate) struct JsonKnown {
    pub(crate) kept: usize,
    /// The property that one of them still violates.
    pub(crate) still_violates: Option<String>,
    pub(crate) steps: Option<usize>,
}

/// A graph that was written.
#[derive(Debug, Serialize)]
pub(crate) struct JsonSaved {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) bytes: u64,
}

/// How the model was built.
#[derive(Debug, Serialize)]
pub(crate) struct JsonParameters {
    pub(crate) nodes: u32,
    /// As it was asked for; null if the model's own.
    pub(crate) topology: Option<String>,
    pub(crate) bugs: Vec<String>,
    /// Which features are switched on; null if the model chooses.
    pub(crate) features: Option<Vec<String>>,
    pub(crate) duplicate: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) set: BTreeMap<String, i64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) faults: BTreeMap<String, u32>,
}

/// What the verdict speaks of.
#[derive(Debug, Serialize)]
pub(crate) struct JsonCoverage {
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) disabled: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) must_contain: Option<String>,
    /// What was left out because it makes no difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reduction: Vec<&'static str>,
    /// An upper bound on the chance that two states shared a fingerprint and one was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omission_probability: Option<f64>,
}

/// The counterexample.
#[derive(Debug, Serialize, Default)]
pub(crate) struct JsonViolation {
    pub(crate) property: String,
    pub(crate) message: String,
    pub(crate) depth: usize,
    /// Null if there is none: of a state that should be reachable and is not.
    pub(crate) trace: Option<String>,
    /// The step, counted from 1, from which on the counterexample repeats for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repeats_from: Option<usize>,
}

/// What was found of one property.
#[derive(Debug, Serialize)]
pub(crate) struct JsonProperty {
    pub(crate) name: String,
    pub(crate) violations: u64,
    /// The steps of the shortest counterexample found.
    pub(crate) depth: Option<usize>,
}

/// What was counted.
#[derive(Debug, Serialize)]
pub(crate) struct JsonStats {
    pub(crate) states: u64,
    pub(crate) stored: u64,
    pub(crate) events: u64,
    pub(crate) executions: u64,
    pub(crate) transitions: u64,
    pub(crate) safe_events: u64,
    pub(crate) unsafe_events: u64,
    pub(crate) tree_events: u64,
    pub(crate) non_tree_events: u64,
    pub(crate) deepest_events: u64,
    pub(crate) dead_ends: u64,
    pub(crate) depth: u32,
    pub(crate) seconds: f64,
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// What several searches with different seeds counted.
#[derive(Debug, Serialize)]
pub(crate) struct JsonReplications {
    pub(crate) count: usize,
    pub(crate) violated: usize,
    pub(crate) seconds: Spread,
    pub(crate) stored: Spread,
    pub(crate) events: Spread,
}

/// Minimum, maximum and average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) average: f64,
}

impl Spread {
    /// The spread of `values`, of which there is at least one.
    pub(crate) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        Spread {
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.clone().fold(f64::NEG_INFINITY, f64::max),
            average: values.sum::<f64>() / count,
        }
    }
}
