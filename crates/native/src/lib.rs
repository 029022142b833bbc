//! Native programs: unmodified, under full control.
//!
//! - [`Program`]: inspects a program file before it is started.
//! - [`Launch`]: what to start, with which backend and restore method.
//! - [`sample`]: executions with randomly chosen schedules.
//! - [`GoodTuring`], [`Promise`]: estimates of what a sample has missed.
//! - [`explore()`]: runs every schedule, up to equivalence.
//! - [`executions`]: the executions of [`sample`] one after the other, as an iterator.
//! - [`diverse`]: passing executions that differ most, and faults that did not happen.
//! - [`explore_states`]: a search over states, which does not continue from visited ones.
//! - [`replay`]: replays one execution exactly, with stacks and source lines.
//! - [`minimise()`]: fewer preemptions, context switches and steps in a counterexample.
//! - [`explain`]: the critical step of a counterexample, and the step that races with it.
//! - [`compare`]: the same schedules under every backend and restore method.
//! - [`Judge`]: properties of the output and the files of executions.
//! - [`Reached`]: goals of the program (`sometimes`, `reachable`) that no execution has reached.
//! - [`Names`]: descriptions of steps, blocked threads and violations (which are decided in
//!   `verdict`).
//! - [`Companion`]: another program under the same control, for closed systems.
//! - [`explore_jointly`]: several communicating programs, each explored alone.
//! - [`Environment`]: answers to the program's upcalls.
//! - [`peers`]: the real processes that a program communicates with.
//! - [`doctor`]: what this machine supports.
//! - [`symbols`]: addresses to functions, source lines and variables; stacks.
//!
//! Inside: `worker` (a process under the shim and its commands), `region` (the memory shared with
//! it), `runner` and `speculation` (executions for a search of all schedules), `patching` (patches
//! in the shim's format), `shim` (the embedded library).

mod absence;
mod closed;
mod compare;
mod critical_step;
mod cross_check;
mod dependence;
mod describe;
mod detector;
mod diverse;
#[expect(unsafe_code, reason = "asks the kernel and the C library for what std does not tell")]
pub mod doctor;
mod environment;
mod error;
mod execution;
mod executions;
mod exercised;
mod exhaustive;
mod fresh_peers;
mod good_turing;
mod joint;
mod joint_requests;
mod judge;
mod launch;
mod libraries;
mod memory;
mod messages;
mod minimise;
mod oracle;
mod panics;
mod partition;
mod patching;
pub mod peers;
mod planned;
pub mod program;
mod reached;
#[expect(unsafe_code, reason = "maps the memory that is shared with a worker")]
mod region;
mod replay;
mod runner;
mod sample;
mod schedule;
mod semaphores;
mod served;
#[expect(unsafe_code, reason = "anonymous files need a system call that std does not have")]
mod shim;
mod speculation;
mod states;
pub mod symbols;
mod symmetry;
mod verdict;
#[expect(unsafe_code, reason = "starts and reads processes in ways that std does not offer")]
mod worker;

pub use absence::absences;
pub use closed::{Companion, CompanionError, ExitCodes, MAX_COMPANIONS, generates_code, in_words};
pub use compare::compare;
pub use critical_step::explain;
pub use cross_check::{CrossCheck, coarsely};
pub use describe::{Ending, Names, SourceLines, too_long};
pub use diverse::{Diverse, diverse};
pub use environment::Environment;
pub use error::Error;
pub use everypath_commtree::joint as histories;
pub use execution::{Execution, Explored};
pub use executions::{Executions, executions};
pub use exhaustive::{Exhaustive, explore};
pub use fresh_peers::{Repeated, repeat_with_fresh_peers};
pub use good_turing::{GoodTuring, Promise};
pub use joint::{
    Finish, Goal, JointExplored, JointSearch, JointSetting, Together, explore_jointly,
};
pub use judge::{Compared, Judge, PlacedFile, Specification};
pub use launch::{Launch, Library};
pub use libraries::with_learnt_libraries;
pub use memory::{Armed, Conflict, Instruction, NotAnAccess, Races, unsynchronised};
pub use minimise::minimise;
pub use partition::{PartitionError, partitions};
pub use program::{Program, ProgramError};
pub use reached::Reached;
pub use replay::{Place, Replayed, Stack, Standing, find_allocations, replay, stand};
pub use sample::{Sampler, Sampling, sample};
pub use schedule::{NotAChoice, schedule};
pub use served::with_served_addresses;
pub use shim::anonymous_file;
pub use states::{StateSpace, explore_states};
pub use symmetry::leaders;

pub use everypath_shim_abi::{quiet, syscalls};

pub use everypath_perturb::{BadRules, Budget, Direction, Multiplicities, Rules};
pub use everypath_shim_abi::{
    ANY_CODE, Backend, Choice, Crossing, Datagrams, Event, Fault, Faults, IdleMode, MAX_DEPTH,
    MAX_LOOKS, MAX_OUTPUT, MAX_PORTS, MAX_RELOCKS, Outcome, Restart, STANDARD_INPUT, Setup,
    TIMEOUT, TimeMode,
};

/// The generator behind sampled schedules, as traces name it.
pub const GENERATOR: &str = everypath_shim_abi::Splitmix::NAME;
