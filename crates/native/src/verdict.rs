//! Which property an execution violates by the way it ended. The sentence about it is made by
//! `describe`.

use crate::execution::Execution;
use crate::panics::Panic;
use everypath_shim_abi::{HeapMisuse, Outcome, Race, Setup, Waiting};

/// What the outcome of an execution means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The execution ended as expected.
    Expected,
    /// It violates a property.
    Violated(Property),
    /// Neither can be said.
    Undecided(Doubt),
}

/// A property of executions that is checked without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    /// What was left behind, output and files, was rejected: the judge names the property.
    Output,
    ExitCode,
    Panic,
    /// A thread panicked and its result was dropped.
    UnhandledPanic,
    Crash,
    Abort,
    Assertion,
    DoubleFree,
    InvalidFree,
    HeapOverflow,
    Leak,
    /// Two threads access the same memory, one of them to write, one not atomically, and nothing orders
    /// them.
    DataRace,
    /// Memory was accessed that another thread had freed, or may have.
    UseAfterFree,
    /// A peer crashed, aborted or exited with an error because of what the program sent.
    PeerFailure,
    Deadlock,
    Idle,
    Livelock,
    Hang,
}

/// Why there is no verdict about an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A thread spins on plain memory that another thread could still change.
    Spinning,
    /// A thread runs for long, and may end.
    Computing,
    TooLong,
    Uncontrolled,
    Diverged,
    Defect,
}

/// The exit code of a Rust program whose main function panicked.
const PANICKED: i32 = 101;

impl Property {
    /// Its name in traces and results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Property::Output => "output",
            Property::ExitCode => "exit-code",
            Property::Panic | Property::UnhandledPanic => "panic",
            Property::Crash => "crash",
            Property::Abort => "abort",
            Property::Assertion => "assertion",
            Property::DoubleFree => "double free",
            Property::InvalidFree => "invalid free",
            Property::HeapOverflow => "heap overflow",
            Property::Leak => "leak",
            Property::DataRace => "data race",
            Property::UseAfterFree => "use after free",
            Property::PeerFailure => "peer-failure",
            Property::Deadlock => "deadlock",
            Property::Idle => "idle",
            Property::Livelock => "livelock",
            Property::Hang => "hang",
        }
    }
}

/// Decides what the outcome of an execution means.
pub(crate) fn decide(execution: &Execution, setup: &Setup) -> Decision {
    let panicked = || Panic::first_of(execution).is_some();
    let property = match execution.outcome {
        outcome if setup.expects(outcome, execution.detail) => return Decision::Expected,
        Outcome::Unaccepted if execution.judgement.is_none() => return Decision::Expected,
        Outcome::Unaccepted => Property::Output,
        Outcome::Abandoned | Outcome::Quiet => return Decision::Expected,
        // A panic that was caught is no reason for another code.
        Outcome::Exited | Outcome::OtherExited if execution.detail == PANICKED && panicked() => {
            Property::Panic
        }
        Outcome::Exited | Outcome::OtherExited => Property::ExitCode,
        Outcome::Signalled => Property::Crash,
        Outcome::Aborted if panicked() => Property::Panic,
        Outcome::Aborted => Property::Abort,
        Outcome::Assertion => Property::Assertion,
        Outcome::HeapMisuse => match HeapMisuse::from_detail(execution.detail) {
            Some(HeapMisuse::DoubleFree) => Property::DoubleFree,
            Some(HeapMisuse::InvalidFree) => Property::InvalidFree,
            Some(HeapMisuse::Overflow) => Property::HeapOverflow,
            Some(HeapMisuse::UseAfterFree) => Property::UseAfterFree,
            Some(HeapMisuse::Leak) => Property::Leak,
            None => return Decision::Undecided(Doubt::Defect),
        },
        Outcome::DataRace if frees(execution) => Property::UseAfterFree,
        Outcome::DataRace => Property::DataRace,
        Outcome::Panicked => Property::UnhandledPanic,
        Outcome::PeerFailed => Property::PeerFailure,
        Outcome::Deadlock => Property::Deadlock,
        Outcome::Idle => Property::Idle,
        Outcome::Livelock => Property::Livelock,
        Outcome::Hang if others_can_run(execution) => return Decision::Undecided(Doubt::Spinning),
        Outcome::Hang if execution.address == 0 => return Decision::Undecided(Doubt::Computing),
        Outcome::Hang => Property::Hang,
        Outcome::TooLong => return Decision::Undecided(Doubt::TooLong),
        Outcome::Uncontrolled | Outcome::NeedsLibrary => {
            return Decision::Undecided(Doubt::Uncontrolled);
        }
        Outcome::Diverged => return Decision::Undecided(Doubt::Diverged),
        Outcome::None
        | Outcome::Paused
        | Outcome::Asking
        | Outcome::SleepSetBlocked
        | Outcome::Unwanted
        | Outcome::Killed
        | Outcome::Defect => return Decision::Undecided(Doubt::Defect),
    };
    Decision::Violated(property)
}

/// Whether one of the accesses of a data race frees the memory.
fn frees(execution: &Execution) -> bool {
    Race::from_detail(execution.detail).frees.contains(&true)
}

/// Whether a thread is enabled besides the one that hangs.
fn others_can_run(execution: &Execution) -> bool {
    execution.threads.iter().any(|entry| {
        i32::from(entry.number) != execution.detail && entry.waiting == Waiting::Nothing
    })
}
