//! What is left of a search that did not come to its end.

use everypath_native::Explored;
use serde::Serialize;

/// What is known of the rest. How large it is, nobody knows: a reduced search finds alternatives
/// while it goes on, and how much of what lies behind a state was met before depends on the order in
/// which states are explored.
#[derive(Clone, Debug, Serialize)]
pub struct Remaining {
    /// How many executions the whole search has, at least: those that were run, and one for each
    /// alternative; none if states are matched, since an alternative may lead to a known one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions_at_least: Option<u64>,
    /// How many alternatives are known that were not explored.
    pub alternatives_left: u64,
}

impl Remaining {
    /// Of a search over all schedules, or all states, that was stopped; none if it was not, or if
    /// there is nothing left that is known.
    pub(crate) fn of(explored: &Explored) -> Option<Self> {
        let alternatives_left = explored.left;
        let has_states = explored.states.is_some();
        let executions_at_least = (!has_states).then(|| explored.executions + alternatives_left);
        (!explored.complete && alternatives_left > 0)
            .then_some(Remaining { executions_at_least, alternatives_left })
    }
}
