//! The options of `everypath check`.

use super::CommonArgs;
use super::network::NetworkArgs;
use clap::{Args, ValueEnum};
use everypath_native::{Backend, Restart, Sampler, TimeMode};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

#[derive(Debug, Args)]
#[command(after_help = "\
What is looked for: crashes, aborts, failed assertions, unexpected exit codes, panics that nobody
handles, deadlocks, livelocks and threads that never stop.

Examples:
  everypath check -- ./bank                        explore every schedule of a program
  everypath check --strategy random --seed 7 --max-executions 1000000 -- ./bank --accounts 2
  everypath check --peer './server 7000' -- ./client 127.0.0.1 7000
  everypath check --with './server 7000' -- ./client 127.0.0.1 7000
  everypath check --exit-code 3 -- ./bank          the program is expected to fail
  everypath check --oracle 'grep -q balanced' -- ./bank
  everypath check scenario.toml --seed 7           options in a file; those given here come first
  everypath replay everypath-trace.json            repeat what went wrong, step by step")]
pub(crate) struct CheckArgs {
    /// How schedules are chosen
    #[arg(long, value_enum, default_value_t = CheckStrategy::Dfs)]
    pub(crate) strategy: CheckStrategy,

    /// What is left out because it can make no difference (dfs) [default: dpor, or sleep with
    /// --state-matching]
    #[arg(long, value_enum)]
    pub(crate) reduction: Option<ReductionName>,

    /// Keep the hash of every state, and do not go on from one that was met before (dfs)
    #[arg(long)]
    pub(crate) state_matching: bool,

    /// Explore only schedules with at most N preemptions, which are few and show most bugs; the
    /// verdict is sampled (dfs, without reduction)
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,

    /// How many steps must come in a certain order for the bugs that are looked for (pct)
    #[arg(long, value_name = "D", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=everypath_native::MAX_DEPTH as i64))]
    pub(crate) pct_depth: u32,

    /// When a pending time-out may fire
    #[arg(long, value_enum, default_value_t = TimeName::Ordered)]
    pub(crate) time: TimeName,

    /// The exit code that counts as success
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(i32).range(0..=255))]
    pub(crate) exit_code: i32,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// What standard output must be, byte by byte, at the end of every execution
    #[arg(long, value_name = "FILE")]
    pub(crate) expect_stdout: Option<PathBuf>,

    /// A command that must end with code 0 at the end of every execution: it runs in a copy of what
    /// the program wrote, and reads what the program said
    #[arg(long, value_name = "COMMAND")]
    pub(crate) oracle: Option<String>,

    /// Put a file into the program's folder, for the program only (repeatable)
    #[arg(long, value_name = "HOST:SCRATCH")]
    pub(crate) file: Vec<Placement>,

    /// Repeat a sample of the executions, carried and put back in every other way, and compare
    #[arg(long)]
    pub(crate) verify: bool,

    /// Seconds that a thread may run without a scheduling point
    #[arg(long, value_name = "S", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) watchdog: u32,

    /// What carries the program's threads
    #[arg(long, value_enum, default_value_t = BackendName::Fibers, hide_short_help = true)]
    pub(crate) backend: BackendName,

    /// How the program is put back to its start
    #[arg(long, value_enum, default_value_t = RestartName::Automatic, hide_short_help = true)]
    pub(crate) restart: RestartName,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// A file that describes all this: a key for each option, and the program
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "command")]
    pub(crate) scenario: Option<PathBuf>,

    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "PROGRAM [ARGS]…")]
    pub(crate) command: Vec<OsString>,

    /// What only a scenario can say
    #[arg(skip)]
    pub(crate) setting: Setting,
}

/// Where and with what a scenario's program runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
}

/// A file for the program: where it comes from, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) host: PathBuf,
    pub(crate) scratch: PathBuf,
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let inside = |path: &Path| {
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        };
        match text.rsplit_once(':') {
            Some((host, scratch)) if !host.is_empty() && !scratch.is_empty() => {
                let scratch = PathBuf::from(scratch);
                if inside(&scratch) {
                    Ok(Placement { host: host.into(), scratch })
                } else {
                    Err("expected SCRATCH to be a path inside the program's folder".into())
                }
            }
            _ => Err("expected HOST:SCRATCH, two paths".into()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckStrategy {
    /// Every schedule, depth-first, up to equivalence
    Dfs,
    /// Every choice is made at random; the verdict is sampled
    Random,
    /// Threads have priorities at random that change a few times (--pct-depth); sampled, with a bound
    Pct,
    /// Steps have priorities at random, drawn again for those that race; sampled
    Pos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReductionName {
    /// Schedules that only swap independent steps
    Dpor,
    /// The same by a simpler algorithm, which begins some of them in vain
    #[value(hide = true)]
    SourceDpor,
    /// Steps that only lead to states which are reached by other ways
    Sleep,
    /// Nothing
    None,
}

impl CheckArgs {
    /// How schedules are sampled; none if all are explored.
    pub(crate) fn sampler(&self) -> Option<Sampler> {
        match self.strategy {
            CheckStrategy::Dfs => None,
            CheckStrategy::Random => Some(Sampler::Random),
            CheckStrategy::Pct => Some(Sampler::Pct { depth: self.pct_depth }),
            CheckStrategy::Pos => Some(Sampler::Pos),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeName {
    /// The earliest one, at any point
    Ordered,
    /// The earliest one, once nothing else can run
    Quiescent,
    /// Each, at any point
    Any,
}

impl TimeName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            TimeName::Ordered => "ordered",
            TimeName::Quiescent => "quiescent",
            TimeName::Any => "any",
        }
    }
}

impl From<TimeName> for TimeMode {
    fn from(name: TimeName) -> Self {
        match name {
            TimeName::Ordered => TimeMode::Ordered,
            TimeName::Quiescent => TimeMode::Quiescent,
            TimeName::Any => TimeMode::Any,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendName {
    /// One kernel thread carries all of them
    Fibers,
    /// A kernel thread each
    Threads,
}

impl From<BackendName> for Backend {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Fibers => Backend::Fibers,
            BackendName::Threads => Backend::Threads,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RestartName {
    /// By copying, or by tracking above a megabyte
    Automatic,
    /// All of its memory is copied back
    Copy,
    /// Only the pages it wrote are copied back
    Tracked,
    /// A fork runs each execution
    Fork,
    /// A fresh process runs each execution
    Exec,
}

impl From<RestartName> for Restart {
    fn from(name: RestartName) -> Self {
        match name {
            RestartName::Automatic | RestartName::Exec => Restart::Automatic,
            RestartName::Copy => Restart::Copy,
            RestartName::Tracked => Restart::Tracked,
            RestartName::Fork => Restart::Fork,
        }
    }
}
