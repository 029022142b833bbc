//! What is left of a search that did not come to its end.

use everypath_native::Explored;
use everypath_report::{grouped, percent};
use serde::Serialize;

/// An estimate of how large the whole is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Remaining {
    /// Which share of the search was done; none if that cannot be estimated: how much of what lies
    /// behind a state was met before depends on the order in which states are explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_share: Option<f64>,
    /// How many executions it would have had in the end; none if that is beyond all measure, or
    /// cannot be estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_executions: Option<f64>,
    /// How many alternatives are known that were not explored.
    alternatives_left: u64,
}

impl Remaining {
    /// Of a search over all schedules, or all states, that was stopped; none if it was not.
    pub(super) fn of(explored: &Explored) -> Option<Self> {
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

    /// In words, a line.
    pub(super) fn text(&self) -> String {
        let Some(share) = self.estimated_share else {
            let steps = grouped(self.alternatives_left);
            return format!(
                "{steps} steps from states that were met are left; how many states lie behind them \
                 cannot be estimated\n"
            );
        };
        let done = percent(share);
        let whole = match self.estimated_executions {
            Some(executions) => format!("about {} executions", about(executions)),
            None => "more executions than can be counted".into(),
        };
        format!("An estimate: {done} of the search is done; all of it has {whole}\n")
    }
}

/// A number with two digits that matter.
fn about(number: f64) -> String {
    let magnitude = number.max(1.0).log10().floor();
    let unit = 10_f64.powf(magnitude - 1.0);
    match magnitude as i32 {
        ..2 => format!("{number:.0}"),
        2..15 => grouped(((number / unit).round() * unit).round() as u64),
        _ => format!("{:.1} * 10^{magnitude}", number / unit / 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn estimates_have_two_digits() {
        for (number, expected) in [
            (1.0, "1"),
            (42.4, "42"),
            (123.0, "120"),
            (98_765.0, "99,000"),
            (1.234e30, "1.2 * 10^30"),
        ] {
            assert_eq!(about(number), expected);
        }
    }
}
