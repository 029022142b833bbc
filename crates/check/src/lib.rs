//! Checks of native programs, as a library: for the command line, and for tests of your own.
//!
//! ```no_run
//! use everypath_check::{Check, CheckConfig, Verdict};
//!
//! let config = CheckConfig::new("./bank");
//! let report = Check::new(config).run(&mut ()).unwrap();
//! assert_eq!(report.verdict, Verdict::Holds);
//! ```
//!
//! - [`CheckConfig`]: what a check is; its fields are the options of `everypath check`.
//! - [`Check`]: searches, confirms what it found in a fresh process, minimises and explains it.
//! - [`Observer`]: shows the progress of a search and may stop it; `()` only enforces the limits.
//! - [`Report`]: the verdict with its coverage, assumptions, counts and counterexample.
//! - [`own_tests`], [`tests_of`]: existing `#[test]` functions, each as a program.
//! - [`Replay`]: repeats the counterexample of a trace.
//! - [`Host`]: what programs inherit from this process.
//! - [`CheckError`]: a configuration that makes no sense. Everything else is a verdict.
//!
//! Inside: `launch`, `sandbox` and `datagrams` (from the configuration to a process), `exploration` and
//! `search` (which search is meant, and running it), `conclude` (from what was explored to a verdict),
//! `joint`, `confirmation`, `emission` and `failure_file` (programs that are explored one by one),
//! `finding` (a verdict in the making), `report` and `stats` (the result), `sample_traces` (passing
//! executions), `sample` and `estimate` (what is known of executions that were not run).

mod assumptions;
mod check;
mod conclude;
mod confirmation;
mod datagrams;
mod emission;
mod error;
mod estimate;
mod exploration;
mod failure_file;
mod finding;
mod host;
mod joint;
mod launch;
mod observer;
mod parts;
mod phases;
mod refinement;
mod replay;
mod report;
mod sample;
mod sample_traces;
mod sandbox;
mod script;
mod search;
mod sources;
mod stats;
mod suggestions;
mod tests_of;

pub use check::Check;
pub use error::CheckError;
pub use estimate::Remaining;
pub use failure_file::{Emission, FailureFile, VisibleFailure};
pub use finding::Confirmation;
pub use host::Host;
pub use observer::{Limits, Observer, Search};
pub use replay::{Replay, Replayed};
pub use report::{
    Counterexample, CoverageReport, Finding, FindingKind, Refinement, Report, SampleTrace,
};
pub use sample::{PctBound, Sample};
pub use stats::{CacheStats, EndingCount, ExitCodesCount, JointStats, ProgramStats, Stats};
pub use tests_of::{TestFunction, own_tests, tests_of};

pub use everypath_native::{Compared, Error, MAX_RELOCKS, Specification, Standing};
pub use everypath_trace::{CheckConfig, Coverage, Trace, Verdict};
