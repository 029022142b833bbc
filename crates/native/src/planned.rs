//! Executions that a search has planned.

use everypath_schedules::Alternative;
use everypath_shim_abi::{Choice, EnabledStep};

/// An execution to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedExecution {
    /// What it follows.
    pub(crate) schedule: Vec<Choice>,
    /// Of how many steps it is known what could be taken.
    pub(crate) known: usize,
    /// What sleeps then.
    pub(crate) sleep: Vec<EnabledStep>,
}

impl PlannedExecution {
    /// As the search puts it.
    pub(crate) fn new(
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<EnabledStep>],
    ) -> Self {
        PlannedExecution {
            schedule: schedule.to_vec(),
            known,
            sleep: sleep.iter().map(|sleeping| sleeping.step).collect(),
        }
    }
}
