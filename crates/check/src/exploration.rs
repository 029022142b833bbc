//! Which search a configuration asks for.

use crate::error::CheckError;
use everypath_native::{MAX_DEPTH, Sampler};
use everypath_schedules::reduction::Reduction;
use everypath_schedules::stateful::Sleep;
use everypath_trace::{CacheName, CheckConfig, ReductionName, RestoreMethod, Strategy};

/// The PCT bug depth if nobody says.
const DEFAULT_PCT_DEPTH: u32 = 3;

/// A search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exploration {
    /// Schedules, depth-first, each from the start.
    Schedules(Reduction),
    /// Schedules with at most so many preemptions, depth-first.
    Bounded(u32),
    /// Schedules with no preemption, then with one, and so on.
    Rising,
    /// States, depth-first.
    States(Sleep),
    /// Schedules that are chosen at random.
    Sampled(Sampler),
}

impl Exploration {
    /// What the options ask for, if they go together.
    pub(crate) fn of(config: &CheckConfig) -> Result<Self, CheckError> {
        let sampler = sampler(config)?;
        if let Some(most) = config.preemptions {
            return Exploration::bounded(config, most);
        }
        if config.state_matching {
            return Exploration::states(config);
        }
        if config.strategy == Strategy::Icb {
            return Exploration::rising(config);
        }
        let reduction = match config.reduction {
            Some(ReductionName::None) => Reduction::None,
            Some(ReductionName::Sleep) => Reduction::SleepSets,
            Some(ReductionName::SourceDpor) => Reduction::Source,
            Some(ReductionName::Dpor) | None => Reduction::Optimal,
        };
        Ok(match sampler {
            Some(sampler) => Exploration::Sampled(sampler),
            None => Exploration::Schedules(reduction),
        })
    }

    fn bounded(config: &CheckConfig, most: u32) -> Result<Self, CheckError> {
        let refused = if config.strategy != Strategy::Dfs {
            "--preemptions bounds --strategy dfs; for samples with few preemptions choose \
             --strategy pct"
        } else if config.state_matching {
            "--preemptions bounds schedules, and --state-matching explores states: leave one out"
        } else if !matches!(config.reduction, None | Some(ReductionName::None)) {
            "--preemptions needs --reduction none: what a reduction leaves out may be all that is \
             within the bound"
        } else {
            return Ok(Exploration::Bounded(most));
        };
        Err(CheckError::options(refused))
    }

    fn rising(config: &CheckConfig) -> Result<Self, CheckError> {
        match config.reduction {
            None | Some(ReductionName::None) => Ok(Exploration::Rising),
            Some(_) => Err(CheckError::options(
                "--strategy icb needs --reduction none: what a reduction leaves out may be all that \
                 is within a bound of preemptions",
            )),
        }
    }

    fn states(config: &CheckConfig) -> Result<Self, CheckError> {
        let refused = if config.strategy != Strategy::Dfs {
            "--state-matching needs --strategy dfs: samples do not go back to states"
        } else if matches!(config.restart, RestoreMethod::Fork | RestoreMethod::Exec) {
            "--state-matching goes back to states by copying: leave --restart out"
        } else if !config.peer.is_empty() && config.cache == CacheName::None {
            "--state-matching would have to restore the state of peers: leave --cache none out"
        } else if !config.with.is_empty() {
            "--state-matching compares states of one process: leave --with out"
        } else if config.expect_stdout.is_some()
            || config.oracle.is_some()
            || config.refines.is_some()
        {
            "--state-matching does not judge what executions leave behind: leave --expect-stdout, \
             --oracle and --refines out"
        } else if matches!(config.reduction, Some(ReductionName::Dpor | ReductionName::SourceDpor))
        {
            "--reduction dpor would miss schedules with --state-matching; choose sleep or none"
        } else if config.reduction == Some(ReductionName::None) {
            return Ok(Exploration::States(Sleep::Never));
        } else {
            return Ok(Exploration::States(Sleep::Independent));
        };
        Err(CheckError::options(refused))
    }

    /// As traces name it.
    pub(crate) fn name(self) -> String {
        match self {
            Exploration::Schedules(Reduction::None) => "dfs".into(),
            Exploration::Bounded(_) => "dfs with bounded preemptions".into(),
            Exploration::Rising => "iterative context bounding".into(),
            Exploration::Schedules(Reduction::SleepSets) => "dfs with sleep sets".into(),
            Exploration::Schedules(Reduction::Source) => "dfs with source-dpor".into(),
            Exploration::Schedules(Reduction::Optimal) => "dfs with dpor".into(),
            Exploration::States(Sleep::Never) => "dfs with state matching".into(),
            Exploration::States(Sleep::Independent) => {
                "dfs with state matching and sleep sets".into()
            }
            Exploration::Sampled(Sampler::Random) => "random".into(),
            Exploration::Sampled(Sampler::Pct { depth }) => format!("pct with depth {depth}"),
            Exploration::Sampled(Sampler::Pos) => "pos".into(),
        }
    }
}

/// How schedules are sampled; none if all are explored.
fn sampler(config: &CheckConfig) -> Result<Option<Sampler>, CheckError> {
    if config.pct_depth.is_some() && config.strategy != Strategy::Pct {
        return Err(CheckError::options(
            "--pct-depth is of --strategy pct: add that, or leave it out",
        ));
    }
    let depth = config.pct_depth.unwrap_or(DEFAULT_PCT_DEPTH);
    if depth == 0 || depth as usize > MAX_DEPTH {
        return Err(CheckError::options(format!(
            "--pct-depth {depth}: expected a number from 1 to {MAX_DEPTH}"
        )));
    }
    Ok(match config.strategy {
        Strategy::Dfs | Strategy::Icb => None,
        Strategy::Random => Some(Sampler::Random),
        Strategy::Pct => Some(Sampler::Pct { depth }),
        Strategy::Pos => Some(Sampler::Pos),
    })
}
