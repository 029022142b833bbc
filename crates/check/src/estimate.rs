//! What is left of a search that did not come to its end.

use everypath_native::Explored;
use serde::Serialize;

/// An estimate of how large the whole is.
#[derive(Clone, Debug, Serialize)]
pub struct Remaining {
    /// Which share of the search was done; none if that cannot be estimated: how much of what lies
    /// behind a state was met before depends on the order in which states are explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_share: Option<f64>,
    /// How many executions it would have had in the end; none if that is beyond all measure, or
    /// cannot be estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_executions: Option<f64>,
    /// How many alternatives are known that were not explored.
    pub alternatives_left: u64,
}

impl Remaining {
    /// Of a search over all schedules, or all states, that was stopped; none if it was not.
    pub(crate) fn of(explored: &Explored) -> Option<Self> {
        if explored.complete {
            return None;
        }
        if explored.states.is_some() {
            let (estimated_share, estimated_executions) = (None, None);
            let alternatives_left = explored.left;
            return Some(Remaining { estimated_share, estimated_executions, alternatives_left });
        }
        explored.estimate.map(|estimate| Remaining {
            estimated_share: Some(estimate.share()),
            estimated_executions: explored.estimated_executions().map(f64::round),
            alternatives_left: estimate.left,
        })
    }
}
