//! How schedules or states are searched depth-first, as the options say.

use super::{CacheName, CheckArgs, CheckStrategy, ReductionName, RestartName};
use crate::usage::Usage;
use everypath_schedules::reduction::Reduction;
use everypath_schedules::stateful::Sleep;

/// What is searched depth-first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exploration {
    /// Schedules, each from the start.
    Schedules(Reduction),
    /// Schedules with at most so many preemptions.
    Bounded(u32),
    /// States.
    States(Sleep),
}

impl Exploration {
    /// What the options ask for, if they fit together.
    pub(crate) fn of(args: &CheckArgs) -> Result<Self, Usage> {
        if let Some(most) = args.preemptions {
            return Exploration::bounded(args, most);
        }
        if args.state_matching {
            return Exploration::states(args);
        }
        match args.reduction {
            Some(ReductionName::Sleep) => {
                Err(Usage::new("--reduction sleep is for --state-matching; dpor includes it"))
            }
            Some(ReductionName::None) => Ok(Exploration::Schedules(Reduction::None)),
            Some(ReductionName::SourceDpor) => Ok(Exploration::Schedules(Reduction::Source)),
            Some(ReductionName::Dpor) | None => Ok(Exploration::Schedules(Reduction::Optimal)),
        }
    }

    fn bounded(args: &CheckArgs, most: u32) -> Result<Self, Usage> {
        let refused = if args.strategy != CheckStrategy::Dfs {
            "--preemptions bounds --strategy dfs; for samples with few preemptions choose \
             --strategy pct"
        } else if args.state_matching {
            "--preemptions bounds schedules, and --state-matching explores states: leave one out"
        } else if !matches!(args.reduction, None | Some(ReductionName::None)) {
            "--preemptions needs --reduction none: what a reduction leaves out may be all that is \
             within the bound"
        } else {
            return Ok(Exploration::Bounded(most));
        };
        Err(Usage::new(refused))
    }

    fn states(args: &CheckArgs) -> Result<Self, Usage> {
        let refused = if args.strategy != CheckStrategy::Dfs {
            "--state-matching needs --strategy dfs: samples do not go back to states"
        } else if matches!(args.restart, RestartName::Fork | RestartName::Exec) {
            "--state-matching goes back to states by copying: leave --restart out"
        } else if !args.network.peer.is_empty() && args.network.cache == CacheName::None {
            "--state-matching would have to put peers back to what they were: leave --cache none out"
        } else if !args.network.with.is_empty() {
            "--state-matching compares states of one process: leave --with out"
        } else if args.expect_stdout.is_some() || args.oracle.is_some() {
            "--state-matching does not judge what executions leave behind: leave --expect-stdout \
             and --oracle out"
        } else if matches!(args.reduction, Some(ReductionName::Dpor | ReductionName::SourceDpor)) {
            "--reduction dpor would miss schedules with --state-matching; choose sleep or none"
        } else if args.reduction == Some(ReductionName::None) {
            return Ok(Exploration::States(Sleep::Never));
        } else {
            return Ok(Exploration::States(Sleep::Independent));
        };
        Err(Usage::new(refused))
    }

    /// As traces name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Exploration::Schedules(Reduction::None) => "dfs",
            Exploration::Bounded(_) => "dfs with bounded preemptions",
            Exploration::Schedules(Reduction::SleepSets) => "dfs with sleep sets",
            Exploration::Schedules(Reduction::Source) => "dfs with source-dpor",
            Exploration::Schedules(Reduction::Optimal) => "dfs with dpor",
            Exploration::States(Sleep::Never) => "dfs with state matching",
            Exploration::States(Sleep::Independent) => "dfs with state matching and sleep sets",
        }
    }
}
