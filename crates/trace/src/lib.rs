//! Steps, schedules, verdicts and the trace file format: the words every other crate speaks.
//!
//! - [`Step`]: one visible action of one actor; a sequence of them is a schedule.
//! - [`Verdict`] and [`Coverage`]: what was concluded, and how much was looked at.
//! - [`Message`]: what one party sent to another, and what became of it.
//! - [`Span`]: a lock that is held, or waited for. [`Frame`], [`Place`], [`Excerpt`]: stacks and
//!   what the source says there.
//! - [`Trace`]: a schedule plus what became visible; the only input of reports.
//! - [`CheckConfig`]: what a check of a native program is; a trace contains it whole.
//! - [`Control`]: stops a search from another thread and says how far it has come ([`Progress`]).
//! - `file` (feature `file`): traces on disk, with errors a person can act on.
//!
//! The feature `clap` makes options of a command line of the fields of [`CheckConfig`].

mod check_config;
mod control;
mod message;
mod source;
mod span;
mod step;
mod trace;
mod verdict;

#[cfg(feature = "file")]
pub mod file;

pub use check_config::{
    BadValue, ByteSize, CHECKED_TEST, CacheName, CheckConfig, FilePlacement, IdleName, MemoryName,
    OthersExit, Partition, PeerAnswers, PeerFailure, PeerTree, RacesName, ReductionName,
    RestoreMethod, Seconds, Strategy, TcpFaults, ThreadBackend, TimeName, UdpAtPort, UdpRules,
};
pub use control::{Control, Progress};
pub use message::{Message, Moment, Party};
pub use source::{Excerpt, Frame, Place};
pub use span::{Span, SpanKind};
pub use step::Step;
pub use trace::{
    Assumption, Config, Explanation, FoundStep, Line, RacingStep, SearchRecord, ShuffleRecord,
    Target, Trace, TraceStep, Violation,
};
pub use verdict::{Coverage, Verdict};
