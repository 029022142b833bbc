//! The machine-readable result.

use serde::Serialize;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replications: Option<JsonReplications>,
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
    /// An upper bound on the chance that two states shared a fingerprint and one was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) omission_probability: Option<f64>,
}

impl JsonCoverage {
    /// A coverage without anything that only models have.
    pub(crate) fn new(coverage: everypath_trace::Coverage) -> Self {
        JsonCoverage {
            kind: coverage.kind(),
            depth: None,
            disabled: Vec::new(),
            must_contain: None,
            omission_probability: None,
        }
    }
}

/// The counterexample.
#[derive(Debug, Serialize)]
pub(crate) struct JsonViolation {
    pub(crate) property: String,
    pub(crate) message: String,
    pub(crate) depth: usize,
    pub(crate) trace: String,
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
